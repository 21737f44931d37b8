package sqlite

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval"
	"github.com/elenchus-go/debate/internal/test/crashtest"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/report/progress"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// evalChild names the variable with the folder of an evaluation that will be killed.
const evalChild = "DEBATE_KILLED_EVALUATION"

// note is a file to which processes append lines that survive them.
type note struct {
	mu   sync.Mutex
	file *os.File
}

func (n *note) write(words ...string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, err := n.file.WriteString(strings.Join(words, "\t") + "\tend\n")
	return err
}

// notedStore notes the turns whose commit is acknowledged.
type notedStore struct {
	*Store
	note *note
}

func (s notedStore) Commit(ctx context.Context, c store.Change) error {
	err := s.Store.Commit(ctx, c)
	for _, e := range c.Entries {
		if err == nil && e.Key != "" {
			err = s.note.write("ack", c.ID, e.Key)
		}
	}
	return err
}

// guesser gives an answer that depends on the step, and notes each call.
type guesser struct {
	note    *note // may be nil
	latency time.Duration
}

func (g guesser) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	step, _ := debate.StepFrom(ctx)
	if g.note != nil {
		if err := g.note.write("call", step.Debate, step.Key.String()); err != nil {
			return providers.Response{}, err
		}
	}
	if g.latency > 0 {
		select {
		case <-time.After(g.latency):
		case <-ctx.Done():
			return providers.Response{}, ctx.Err()
		}
	}
	sum := 0
	for _, c := range step.Debate + step.Key.String() {
		sum = sum*31 + int(c)
	}
	var reply any = vote.Ballot{Answer: fmt.Sprint(sum >> 3 & 1), Confidence: 50}
	switch r.SchemaName {
	case decision.Contract.Name():
		reply = map[string]any{"summary": "x", "reasons": []map[string]string{{"text": "y"}}, "option": 1 + sum>>3&1, "confidence": 60}
	case oversight.CredenceContract.Name():
		reply = oversight.Credence{Reason: "x", First: float64(sum&7) / 7, Second: 1 - float64(sum&7)/7}
	}
	text, err := json.Marshal(reply)
	return providers.Response{Text: string(text), Usage: transcript.Usage{Input: 100, Output: 10}, FinishReason: "stop"}, err
}

// guesses returns an evaluation of one answer against a vote with a revision.
func guesses(tasks int) eval.Evaluation {
	voters := debate.Config{Protocol: vote.Protocol{Extract: "{{extract}}"}, Participants: []debate.Participant{{Name: "Ann"}, {Name: "Ben"}, {Name: "Cem"}}}
	e := eval.Evaluation{Name: "guesses", Concurrency: 4}
	for i := range tasks {
		e.Tasks = append(e.Tasks, eval.Task{ID: fmt.Sprint(i), Topic: fmt.Sprintf("Question %d?", i), Gold: []string{"1"}})
	}
	for name, c := range map[string]debate.Config{"single": eval.Samples(debate.Participant{Name: "Ann"}, 1), "vote": voters} {
		f, _ := eval.Template(c) // it has no other placeholders
		e.Arms = append(e.Arms, eval.Arm{Name: name, Config: f})
	}
	e.Baseline = "single"
	if e.Arms[0].Name != "single" {
		e.Arms[0], e.Arms[1] = e.Arms[1], e.Arms[0]
	}
	return e
}

// killedTasks is the number of tasks of the evaluation that is killed.
const killedTasks = 40

// evaluate runs the evaluation in a folder until it is complete or killed.
func evaluate(folder string) error {
	s, n, err := noted(folder)
	if err != nil {
		return err
	}
	_, err = guesses(killedTasks).Run(context.Background(), debate.Options{Store: s, Providers: map[string]providers.Provider{"m": guesser{n, 2 * time.Millisecond}}})
	return err
}

// noted opens the store of a folder, which notes what it commits.
func noted(folder string) (s notedStore, n *note, err error) {
	db, err := Open(filepath.Join(folder, "e.db"))
	if err != nil {
		return s, n, err
	}
	f, err := os.OpenFile(filepath.Join(folder, "notes"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	n = &note{file: f}
	return notedStore{db, n}, n, err
}

// killed starts this program again and again with a variable of the environment, and kills it at random times until it is
// complete. It returns the number of kills.
func killed(t *testing.T, variable, folder string) (kills int) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts dozens of processes")
	}
	for complete := false; !complete; {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), variable+"="+folder)
		require.NoError(t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		life := time.Duration(20+rand.IntN(400)) * time.Millisecond
		if kills > 15 && !crashtest.Soak() { // enough of them
			life = 5 * time.Minute
		}
		select {
		case err := <-ended:
			require.NoError(t, err)
			complete = true
		case <-time.After(life):
			_ = cmd.Process.Kill() // it may just have ended
			complete = <-ended == nil
			kills++
		}
	}
	require.Positive(t, kills)
	return kills
}

// Evaluations that are killed at random times ask for each committed reply once, and come to the same report.
func TestEvaluationsSurviveKills(t *testing.T) {
	folder := t.TempDir()
	kills := killed(t, evalChild, folder)
	calls := checkNotes(t, filepath.Join(folder, "notes"))
	s, err := Open(filepath.Join(folder, "e.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	models := map[string]providers.Provider{"m": guesser{}}
	got, err := guesses(killedTasks).Report(t.Context(), debate.Options{Store: s, Providers: models})
	require.NoError(t, err)
	want, err := guesses(killedTasks).Run(t.Context(), debate.Options{Providers: models})
	require.NoError(t, err)
	for _, p := range []*eval.Report{got, want} {
		for i := range p.Arms {
			p.Arms[i].Latency = 0
		}
	}
	require.Equal(t, want, got)
	require.Empty(t, got.Incomplete)
	const turns, inFlight = killedTasks * 12, 4 * 3 // one call, six of a vote, and five more on the same budget
	require.GreaterOrEqual(t, calls, turns)
	require.LessOrEqual(t, calls, turns+kills*inFlight)
	t.Logf("%d kills, %d calls for %d turns", kills, calls, turns)
}

// checkNotes checks that no call was made after its reply was committed. It returns the number of calls.
func checkNotes(t *testing.T, path string) (calls int) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	committed := map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		words := strings.Split(lines.Text(), "\t")
		if words[len(words)-1] != "end" || len(words) != 4 { // a part of a line that a killed process wrote
			continue
		}
		step := words[1] + " " + words[2]
		switch words[0] {
		case "call":
			calls++
			require.False(t, committed[step], "%s was asked for again", step)
		case "ack":
			committed[step] = true
		}
	}
	return calls
}

// An evaluation keeps at most 1 kB for each run, beside its tasks, also with many judges. DEBATE_EVAL_TASKS sets the number of tasks.
func TestMemoryOfEvaluations(t *testing.T) {
	few, many := 200, 300 // with five judges, a run takes a larger part of its limit
	if text := os.Getenv("DEBATE_EVAL_TASKS"); text != "" {
		_, err := fmt.Sscan(text, &many)
		require.NoError(t, err)
		few = many
	}
	for name, c := range map[string]debate.Config{
		"single": eval.Samples(debate.Participant{Name: "Ann"}, 1),
		"panel of five judges": {
			Protocol:     procon.Protocol{Decision: decision.Task{Options: []string{"0", "1"}}},
			Participants: []debate.Participant{{Name: "Ann", Side: "pro"}, {Name: "Ben", Side: "con"}}, Limits: debate.Limits{MaxRounds: 1},
			Judges: []debate.Participant{{Name: "Judge 1"}, {Name: "Judge 2"}, {Name: "Judge 3"}, {Name: "Judge 4"}, {Name: "Judge 5"}},
		},
		"judge in both orders": {Topic: "{{topic}}", Protocol: oversight.Protocol{Mode: oversight.Direct, A: "{{a}}", B: "{{b}}"}, Judges: []debate.Participant{{Name: "Judge 1"}, {Name: "Judge 2"}}},
	} {
		tasks := few
		if len(c.Judges) == 5 {
			tasks = many
		}
		t.Run(name, func(t *testing.T) { measureMemory(t, tasks, c) })
	}
}

// measureMemory runs an evaluation of a configuration and requires at most 1 kB for each run.
func measureMemory(t *testing.T, tasks int, c debate.Config) {
	s, err := Open(filepath.Join(t.TempDir(), "e.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	f, err := eval.Template(c)
	require.NoError(t, err)
	o := debate.Options{Store: s, Providers: map[string]providers.Provider{"m": guesser{}}}
	some := func(name string, tasks int) eval.Evaluation {
		e := guesses(tasks)
		e.Name = name
		e.Arms = []eval.Arm{{Name: "arm", Config: f}}
		e.Baseline = ""
		e.Concurrency = 1 // debates in progress do not count
		for i := range e.Tasks {
			e.Tasks[i].Choices = []string{"0", "1"}
		}
		return e
	}
	_, err = some("first", 40).Run(t.Context(), o) // fills what does not grow with the number of runs
	require.NoError(t, err)
	e := some("second", tasks)
	held := func() int64 { // the least of three, because all that is allocated while the collection runs counts as live
		least := int64(math.MaxInt64)
		for range 3 {
			runtime.GC()
			live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
			metrics.Read(live)
			least = min(least, int64(live[0].Value.Uint64()))
		}
		return least
	}
	before := held()
	most := int64(0)
	read := 0
	e.Progress = func(p progress.Tasks) {
		if p.Tasks > 0 && p.Tasks%(tasks/5) == 0 {
			most = max(most, held()-before)
		}
	}
	done, inStatistics := make(chan struct{}), make(chan int64, 1)
	e.Results = writerFunc(func(b []byte) (int, error) {
		read++
		if read == tasks { // the statistics follow
			go func() {
				most := int64(0)
				for {
					select {
					case <-done:
						inStatistics <- most
						return
					default:
						most = max(most, held()-before)
					}
				}
			}()
		}
		return len(b), nil
	})
	p, err := e.Run(t.Context(), o)
	close(done)
	require.NoError(t, err)
	most = max(most, <-inStatistics)
	require.Equal(t, tasks, p.Arms[0].Runs)
	if len(c.Judges) > 2 {
		require.Equal(t, tasks, p.Arms[0].Agreement.Gold)
	}
	t.Logf("%d bytes for each of %d runs", most/int64(tasks), tasks)
	require.Less(t, most, int64(tasks)*1000)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

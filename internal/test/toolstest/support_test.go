package toolstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// world is a model with tools. The model's replies depend only on the request, so that a debate that is interrupted goes on as
// it would have.
type world struct {
	rounds int // that each step makes
	calls  int // of each round; defaults to 1
	name   string
	args   func(s debate.Step, round, call int) string
	fail   func(s debate.Step, call int) *providers.Error // of each call of the model; nil if it succeeds
	dead   string                                         // the model that fails after its first round
	vague  bool                                           // the first reply to a schema is not valid

	mu      sync.Mutex
	asked   map[transcript.Key][]providers.Request
	ran     map[string]int // calls of tools, by ID
	results func(c tool.Call) (tool.Result, error)
}

type query struct {
	Q string `json:"q"`
}

// tools returns the tools of the world.
func (w *world) tools() []tool.Tool {
	run := func(ctx context.Context, q query) (tool.Result, error) {
		c, _ := tool.CallFrom(ctx)
		w.mu.Lock()
		if w.ran == nil {
			w.ran = map[string]int{}
		}
		w.ran[c.ID]++
		w.mu.Unlock()
		if w.results != nil {
			return w.results(c)
		}
		return tool.Result{Text: "Found: " + q.Q, Sources: []tool.Source{{URI: "file:" + q.Q, Title: q.Q, Text: "All about " + q.Q}}}, nil
	}
	return []tool.Tool{
		tool.Func(tool.Spec{Name: "search", Description: "Searches."}, run),
		tool.Func(tool.Spec{Name: "order", Description: "Orders.", Once: true}, run),
		tool.Func(tool.Spec{Name: "buy", Description: "Buys.", Once: true, Approval: true}, run),
		tool.Func(tool.Spec{Name: "ask", Description: "Asks.", Approval: true}, run),
	}
}

// Generate implements providers.Provider.
func (w *world) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	s, _ := debate.StepFrom(ctx)
	seen := r
	seen.OnChunk = nil
	w.mu.Lock()
	if w.asked == nil {
		w.asked = map[transcript.Key][]providers.Request{}
	}
	w.asked[s.Key] = append(w.asked[s.Key], seen)
	n := len(w.asked[s.Key])
	w.mu.Unlock()
	if w.fail != nil {
		if e := w.fail(s, n); e != nil {
			return providers.Response{}, e
		}
	}
	if w.dead != "" && r.Model == w.dead && roundsIn(r) > 0 {
		return providers.Response{}, &providers.Error{Kind: providers.InvalidRequest, Err: errors.New("it failed")}
	}
	return (&scripted.Provider{Replies: []scripted.Reply{w.reply(s, r)}}).Generate(ctx, r)
}

func (w *world) reply(s debate.Step, r providers.Request) scripted.Reply {
	if done := roundsIn(r); r.MayCallTools() && done < w.rounds {
		y := scripted.Reply{Text: "Let me look."}
		for i := range max(w.calls, 1) {
			args := fmt.Sprintf(`{"q":"%s %s %d %d"}`, strings.ReplaceAll(s.Key.String(), `"`, ""), s.Kind, done, i)
			if w.args != nil {
				args = w.args(s, done, i)
			}
			name := w.name
			if name == "" {
				name = "search"
			}
			y.ToolCalls = append(y.ToolCalls, providers.ToolCall{ID: fmt.Sprint(i), Name: name, Arguments: json.RawMessage(args)})
		}
		return y
	}
	if last := r.Messages[len(r.Messages)-1]; w.vague && r.Schema != nil && !strings.Contains(last.Text, "last reply is invalid") {
		return scripted.Reply{Text: "I would rather not say."}
	}
	if r.Schema != nil {
		return scripted.Values{"should_continue": true}.Reply(r)
	}
	return scripted.Reply{Text: fmt.Sprintf("%s in round %d has %d results.", s.Key.Actor, s.Key.Round, roundsIn(r))}
}

func roundsIn(r providers.Request) (n int) {
	for _, m := range r.Messages {
		if len(m.Parts) > 0 && m.Parts[0].ToolResult != nil {
			n++
		}
	}
	return n
}

// config returns a debate of two participants and a judge, who all have a tool.
func config(w *world) debate.Config {
	c := debatetest.PairConfig(panel.Protocol{})
	c.ID, c.Limits.MaxRounds = "d", 2
	name := w.name
	if name == "" {
		name = "search"
	}
	for i := range c.Participants {
		c.Participants[i].Tools, c.Participants[i].Provider = []string{name}, "m"
	}
	c.Judges[0].Tools, c.Judges[0].Provider = []string{name}, "m"
	return c
}

// newEngine returns an engine with the world's model and tools.
func newEngine(t testing.TB, w *world, s store.Store) *debate.Engine {
	t.Helper()
	return debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"m": w}, Store: s, Tools: w.tools(), KeepReplies: true})
}

// run creates and runs a debate.
func run(t testing.TB, w *world, c debate.Config, s store.Store) *debate.Debate {
	t.Helper()
	d := debatetest.Create(t, newEngine(t, w, s), c)
	debatetest.Finish(t, d)
	return d
}

// events returns the stored events of a debate.
func events(t testing.TB, d *debate.Debate) (list []debate.Event) {
	t.Helper()
	for m, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		list = append(list, m.Event)
	}
	return list
}

// roundsOf returns the entries with tool calls.
func roundsOf(list []debate.Event) (rounds []debate.ToolsCalled) {
	for _, ev := range list {
		if r, ok := ev.(debate.ToolsCalled); ok {
			rounds = append(rounds, r)
		}
	}
	return rounds
}

// texts returns the texts of the turns.
func texts(t testing.TB, d *debate.Debate) (list []string) {
	t.Helper()
	for _, turn := range debatetest.Result(t, d).Turns {
		list = append(list, turn.Key.String()+": "+turn.Text)
	}
	return list
}

// failingStore is a store that a process loses after some entries.
type failingStore struct {
	store.Store

	mu   sync.Mutex
	left int // entries that can still be committed
}

var errPower = errors.New("the power has failed")

func (s *failingStore) Commit(ctx context.Context, c store.Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left -= len(c.Entries)
	if s.left < 0 {
		s.left = -1
		return errPower
	}
	return s.Store.Commit(ctx, c)
}

// interrupted runs a debate until n entries are stored, with before. It returns the debate for a process that goes on with after.
func interrupted(t testing.TB, c debate.Config, n int, before, after *world) *debate.Debate {
	t.Helper()
	db := store.Memory()
	first := debatetest.Create(t, newEngine(t, before, &failingStore{Store: db, left: n}), c)
	_, err := debatetest.Run(t, first)
	require.ErrorIs(t, err, errPower)
	return debatetest.Open(t, newEngine(t, after, db), c.ID)
}

// requirePrompts requires that PromptOf returns the last request of each step.
func requirePrompts(t testing.TB, w *world, d *debate.Debate) {
	t.Helper()
	for _, turn := range debatetest.Result(t, d).Turns {
		p := debatetest.PromptOf(t, d, turn.Key)
		require.Empty(t, p.Missing, "%s", turn.Key)
		asked := w.asked[turn.Key]
		require.NotEmpty(t, asked)
		require.Equal(t, asked[len(asked)-1], p.Request, "%s", turn.Key)
	}
}

// merge adds the requests and calls of another process.
func (w *world) merge(other *world) {
	if w.asked == nil {
		w.asked = map[transcript.Key][]providers.Request{}
	}
	if w.ran == nil {
		w.ran = map[string]int{}
	}
	for k, list := range other.asked {
		w.asked[k] = append(slices.Clip(w.asked[k]), list...)
	}
	for id, n := range other.ran {
		w.ran[id] += n
	}
}

package debate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// callSite is a place where a model is called. Each actor has a provider of its own, under its own name.
type callSite struct {
	name     string
	key      string // of the step
	reply    string // the contract of its reply; empty: free text
	before   int    // such replies that the actor has given before
	pair     bool   // A and B debate alone
	said     string // what the model says before it fails
	summed   bool   // a summary concludes, not a verdict
	speaker  bool
	judge    bool
	history  bool // its prompt shows earlier turns, which can be left out
	complete bool // a round is complete
}

// callSites are all places where a debate calls a model. What adds another place adds a line here.
var callSites = []callSite{
	{name: "personas", key: "1/0/personas/personas/", reply: "personas/1"},
	{name: "first of three speakers", key: "1/2/respond/A/", before: 1, speaker: true, history: true, complete: true},
	{name: "middle of three speakers", key: "1/2/respond/B/", before: 1, speaker: true, history: true, complete: true},
	{name: "last of three speakers", key: "1/2/respond/C/", before: 1, speaker: true, history: true, complete: true},
	{name: "speaker in mid-sentence", key: "1/2/respond/B/", before: 1, said: "First of all", speaker: true, history: true, complete: true},
	{name: "one of two speakers, round 1", key: "1/1/respond/A/", pair: true, speaker: true},
	{name: "one of two speakers, round 2", key: "1/2/respond/A/", before: 1, pair: true, speaker: true, history: true, complete: true},
	{name: "judge", key: "1/2/assess/J/", reply: "assessment/1", before: 1, judge: true, history: true, complete: true},
	{name: "verdict", key: "1/2/verdict/J/", reply: "verdict/1", judge: true, history: true, complete: true},
	{name: "summary", key: "1/2/sum/summarizer/", summed: true, history: true, complete: true},
}

func (s callSite) actor() string { return strings.Split(s.key, "/")[3] }

// hangs is a model that never answers. All other faults are named for the kind of their error.
const hangs = providers.Kind("hangs")

// faults are how a model can fail, and how often the engine tries again then.
var faults = []struct {
	kind  providers.Kind
	tries int
}{
	{providers.Network, 3},
	{providers.RateLimit, 5},
	{providers.API, 2},
	{providers.Timeout, 2},
	{providers.InvalidResponse, 1},
	{providers.ContextOverflow, 0},
	{providers.Authentication, 0},
	{providers.Validation, 0},
	{hangs, 0}, // the step's time is over
}

// fault is a cell of the matrix.
type fault struct {
	site  callSite
	kind  providers.Kind
	tries int
	once  bool
	mode  panel.Mode
}

func (f fault) name() string {
	often := "always"
	if f.once {
		often = "once"
	}
	return fmt.Sprintf("%s/%s/%s/%s", f.site.name, f.kind, often, f.mode)
}

// What becomes of a debate.
const (
	retried   = "retried"
	shortened = "shortened"
	dropped   = "dropped"
	cut       = "partial"
	lost      = "quorum lost"
	fallen    = "fallback"
	stopped   = "error"
)

// expected is what the rules say of a cell, and how many attempts fail: at least, at most.
func (f fault) expected() (what string, least, most int) {
	overflow := f.kind == providers.ContextOverflow && f.site.history
	switch {
	case f.once && overflow:
		return shortened, 1, 1
	case f.once && f.tries > 0:
		return retried, 1, 1
	}
	least, most = f.tries+1, f.tries+1
	if overflow {
		least, most = 2, 10
	}
	switch {
	case f.kind == providers.Authentication || f.kind == providers.Validation:
		return stopped, 1, 1
	case f.site.judge:
		return fallen, least, most
	case f.site.said != "":
		return cut, least, most
	case f.site.speaker && !f.site.pair:
		return dropped, least, most
	case f.site.speaker && f.site.complete:
		return lost, least, most
	}
	return stopped, least, most
}

// turns are the keys that stand in the end, as the rules say.
func (f fault) turns(what string) []string {
	speakers := []string{"A", "B", "C"}
	if f.site.pair {
		speakers = speakers[:2]
	}
	last := "1/2/verdict/J/"
	if f.site.summed {
		last = "1/2/sum/summarizer/"
	}
	keys := []string{"1/0/personas/personas/"}
	for round := 1; round <= 2; round++ {
		for _, s := range speakers {
			keys = append(keys, fmt.Sprintf("1/%d/respond/%s/", round, s))
		}
		keys = append(keys, fmt.Sprintf("1/%d/assess/J/", round))
	}
	keys = append(keys, last)
	at := slices.Index(keys, f.site.key)
	switch {
	case what == dropped:
		keys = slices.Delete(keys, at, at+1)
	case what == fallen && f.site.reply == "assessment/1": // the stand-in never ends a debate
		keys = keys[:at+1]
		for _, s := range speakers {
			keys = append(keys, fmt.Sprintf("1/3/respond/%s/", s))
		}
		keys = append(keys, "1/3/assess/J/", "1/3/verdict/J/")
	case what == stopped || what == lost:
		said := append([]string(nil), keys[:at]...)
		for _, key := range keys[at+1:] { // those who spoke at the same time have spoken
			if f.site.speaker && f.mode == panel.Simultaneous && strings.HasPrefix(key, f.site.key[:len("1/1/respond/")]) {
				said = append(said, key)
			}
		}
		if keys = said; what == lost {
			keys = append(keys, last)
		}
	}
	return keys
}

// troupe plays all models of a debate, of which one fails.
type troupe struct {
	fault fault

	mu      sync.Mutex
	mended  bool
	failed  int            // calls
	calls   map[string]int // by actor
	replies map[string]int // by actor and contract
	purse   purse
}

// purse counts what models use, failed calls included.
type purse struct {
	mu   sync.Mutex
	used transcript.Usage
}

func (p *purse) of(m providers.Provider) providers.Provider {
	return generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		resp, err := m.Generate(ctx, r)
		used := resp.Usage
		if err != nil {
			used = providers.AsError(err).Partial.Usage
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.used = p.used.Add(used)
		return resp, err
	})
}

// check checks that all of it is counted, here and by who reads the journal.
func (p *purse) check(t *testing.T, d *debate.Debate) {
	t.Helper()
	require.Equal(t, p.used, result(t, d).Total.Usage)
	require.Equal(t, p.used, head(t, d).Usage)
	require.Equal(t, p.used, result(t, d.In(t, chatter())).Total.Usage)
}

func (w *troupe) provider(name string) providers.Provider {
	return generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		w.mu.Lock()
		w.calls[name]++
		n, of := w.replies[name+r.Reply], w.fault
		hit := !w.mended && name == of.site.actor() && r.Reply == of.site.reply && n >= of.site.before && (!of.once || w.failed == 0)
		if hit {
			w.failed++
		} else {
			w.replies[name+r.Reply]++
		}
		w.mu.Unlock()
		if hit {
			return of.happen(ctx, r)
		}
		text := fmt.Sprintf("%s speaks the %d. time, %s", name, n+1, strings.Repeat("and has reasons for it, ", 20))
		if r.Reply != "" {
			e := echo{names: namesIn(r)}
			text = e.say(uint64(n+3), r) // 3 lets the debate go on, 4 ends it with the second assessment
		}
		if err := r.OnChunk(text); err != nil {
			return providers.Response{}, err
		}
		return providers.Response{Text: text, Finish: providers.Stop, Usage: transcript.Usage{Input: 10, Output: 5}}, nil
	})
}

// happen is the fault.
func (f fault) happen(ctx context.Context, r providers.Request) (providers.Response, error) {
	partial := providers.Response{Text: f.site.said, Usage: transcript.Usage{Input: 10, Output: 1}}
	if f.site.said != "" {
		if err := r.OnChunk(f.site.said); err != nil {
			return providers.Response{}, err
		}
	}
	if f.kind == hangs {
		<-ctx.Done()
		return providers.Response{}, providers.Ended(ctx, partial)
	}
	return providers.Response{}, &providers.Error{Kind: f.kind, Partial: partial, Err: errors.New("made to fail")}
}

var called = regexp.MustCompile(`Assess (.+), each exactly once`)

// namesIn are those whom a reply is to speak of.
func namesIn(r providers.Request) []string {
	for _, m := range r.Messages {
		if found := called.FindStringSubmatch(m.Text); found != nil {
			return strings.Split(strings.ReplaceAll(found[1], " and ", ", "), ", ")
		}
	}
	names := []string{"A", "B"}
	if strings.Contains(r.Messages[0].Text+r.Messages[len(r.Messages)-1].Text, "\n- C") { // as personas are asked for
		names = append(names, "C")
	}
	return names
}

// debate is the one that the fault happens in.
func (f fault) debate(t *testing.T) (*debate.Debate, *troupe) {
	t.Helper()
	p := panel.Protocol{Mode: f.mode, Personas: panel.Binary}
	cfg := debate.Config{
		ID: "d", Topic: "Ban cars?", Protocol: p, Limits: debate.Limits{MaxRounds: 3},
		Judges:  []debate.Participant{{Name: "J", Provider: "J"}},
		Casting: debate.Participant{Provider: "personas"}, Summarizer: debate.Participant{Provider: "summarizer"},
	}
	if f.site.summed {
		cfg.Protocol = summed{p}
	}
	w := &troupe{fault: f, calls: map[string]int{}, replies: map[string]int{}}
	all := map[string]providers.Provider{}
	for _, name := range []string{"A", "B", "C"} {
		if name != "C" || !f.site.pair {
			cfg.Participants = append(cfg.Participants, debate.Participant{Name: name, Provider: name})
		}
	}
	for _, name := range []string{"A", "B", "C", "J", protocol.Casting, protocol.Summarizing} {
		all[name] = w.purse.of(w.provider(name))
	}
	d, err := debate.New(t.Context(), cfg, debate.Options{Providers: all})
	require.NoError(t, err)
	return d, w
}

// Every fault at every place where a model is called: the debate ends as the rules say, within a time, and loses nothing.
// A goroutine that is left behind, or waits for ever, fails the bubble that each runs in.
func TestFaultsAtEveryCallOfAModel(t *testing.T) {
	results, cells := map[string]string{}, 0
	for _, site := range callSites {
		for _, kind := range faults {
			for _, once := range []bool{true, false} {
				for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
					f := fault{site, kind.kind, kind.tries, once, mode}
					cells++
					t.Run(f.name(), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) { results[f.name()] = f.check(t) })
					})
				}
			}
		}
	}
	if len(results) == cells && !t.Failed() { // all were run
		checkFaultTable(t, results)
	}
}

// check runs a cell, and says what became of the debate.
func (f fault) check(t *testing.T) string {
	d, w := f.debate(t)
	began := time.Now()
	events, err := run(t, d)
	require.Less(t, time.Since(began), 20*time.Minute)
	what, least, most := f.expected()
	res := result(t, d)

	require.Equal(t, f.turns(what), keys(res))
	checkKept(t, events, res)
	w.purse.check(t, d)
	require.GreaterOrEqual(t, w.failed, least)
	if what != fallen || f.site.reply != "assessment/1" || f.once { // else it is asked for another
		require.LessOrEqual(t, w.failed, most)
	}
	f.checkEvents(t, events, what, w)
	is := f.outcome(res, err)
	require.Equal(t, what, is)
	if what == stopped {
		f.checkRetry(t, d, w, err)
	}
	for actor, n := range w.calls { // nothing was called again but what had failed
		spoken := 0
		for _, turn := range result(t, d).Turns {
			if turn.Actor == actor && !slices.Contains(turn.Flags, transcript.Fallback) && !slices.Contains(turn.Flags, transcript.Partial) {
				spoken++
			}
		}
		if actor == f.site.actor() {
			n -= w.failed
		}
		require.Equal(t, spoken, n, actor)
	}
	return is
}

// outcome is what became of the debate, as its result tells.
func (f fault) outcome(res *debate.Result, err error) string {
	var marked *transcript.Turn
	for i := range res.Turns {
		if res.Turns[i].Key.String() == f.site.key {
			marked = &res.Turns[i]
		}
	}
	flagged := func(flag transcript.Flag) bool { return marked != nil && slices.Contains(marked.Flags, flag) }
	is := string(res.State) + " " + string(res.Ending.Outcome)
	switch {
	case res.State == fsm.Error && err != nil:
		return stopped
	case res.State != fsm.Completed || err != nil:
	case flagged(transcript.Fallback) && (res.Ending.Round == 3) == (f.site.reply == "assessment/1"):
		return fallen
	case res.Ending.Outcome == transcript.QuorumLost && res.Verdict != nil:
		return lost
	case res.Ending.Outcome != transcript.JudgeDecided || res.Ending.Round != 2:
	case marked == nil && slices.ContainsFunc(res.Participants, func(s debate.Status) bool { return s.Name == f.site.actor() && s.State == "dropped" }):
		return dropped
	case flagged(transcript.Partial) && marked.Text == f.site.said:
		return cut
	case marked != nil && len(marked.Flags) == 0 && marked.Window != nil:
		return shortened
	case marked != nil && len(marked.Flags) == 0:
		return retried
	}
	return is
}

// checkKept checks that what was committed stands in the result, word by word.
func checkKept(t *testing.T, events []debate.Event, res *debate.Result) {
	t.Helper()
	said := map[transcript.Key]string{}
	for _, ev := range events {
		if done, ok := ev.(debate.TurnDone); ok {
			said[done.Turn.Key] = done.Turn.Text
		}
	}
	require.Len(t, res.Turns, len(said))
	for _, turn := range res.Turns {
		require.NotEmpty(t, turn.Text)
		require.Equal(t, said[turn.Key], turn.Text)
	}
}

// checkEvents checks what is told of the step that failed.
func (f fault) checkEvents(t *testing.T, events []debate.Event, what string, w *troupe) {
	t.Helper()
	started, failed, gone, left, warned := 0, 0, false, 0, 0
	for _, ev := range events {
		switch ev := ev.(type) {
		case debate.TurnStarted:
			if ev.Key.String() == f.site.key {
				started++
				require.Equal(t, started, ev.N)
			}
		case debate.TurnFailed:
			if ev.Key.Actor == f.site.actor() {
				failed++
				gone = ev.Again < 0
			} else {
				require.Fail(t, "somebody else failed", "%v", ev.Key)
			}
			require.Equal(t, f.kind == providers.ContextOverflow && !gone, ev.Again == 0, "only a shorter prompt is tried at once")
		case debate.Dropped:
			left++
			require.Equal(t, f.site.actor(), ev.Name)
			require.Equal(t, w.failed, ev.Failure.Attempts)
		case debate.Warning:
			warned++
		}
	}
	require.Equal(t, w.failed, failed, "each failed call is told of")
	require.Equal(t, what != retried && what != shortened, gone, "the last failure says that no attempt follows")
	require.Equal(t, what == dropped, left == 1)
	require.Equal(t, what == fallen || what == cut || what == shortened, warned > 0)
}

// checkRetry checks what a debate in error says, and that it goes on when the fault is gone.
func (f fault) checkRetry(t *testing.T, d *debate.Debate, w *troupe, err error) {
	t.Helper()
	var failure *debate.Failure
	require.ErrorAs(t, err, &failure)
	require.True(t, failure.Recoverable)
	require.Equal(t, f.site.key, failure.Key.String())
	require.Equal(t, f.site.actor(), failure.Provider)
	require.Equal(t, w.failed, failure.Attempts)
	require.Len(t, failure.Tried, w.failed)
	if f.kind != hangs {
		require.Equal(t, f.kind, failure.Kind)
	}
	before := result(t, d)
	w.mended = true
	require.NoError(t, d.Retry(t.Context()))
	_, err = run(t, d)
	require.NoError(t, err)
	after := result(t, d)
	require.Equal(t, fsm.Completed, after.State)
	require.Equal(t, f.turns(retried), keys(after))
	for _, turn := range before.Turns {
		require.Contains(t, after.Turns, turn)
	}
	w.purse.check(t, d)
}

// checkFaultTable checks docs/reliability.md, or writes it.
func checkFaultTable(t *testing.T, results map[string]string) {
	t.Helper()
	const file, begin, end = "docs/reliability.md", "<!-- faults -->\n", "<!-- /faults -->"
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok, "%s has no mark %s", file, begin)
	is, tail, ok := strings.Cut(rest, end)
	require.True(t, ok, "%s has no mark %s", file, end)
	want := faultTables(results)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(head+begin+want+end+tail), 0o644))
		return
	}
	require.Equal(t, want, is, "run go test . -run Fault -update, and read the difference")
}

func faultTables(results map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d cells: %d places, %d faults, once and always, sequential and simultaneous.\n", len(results), len(callSites), len(faults))
	for _, often := range []string{"always", "once"} {
		fmt.Fprintf(&b, "\n| %s |", often)
		for _, kind := range faults {
			fmt.Fprintf(&b, " %s |", kind.kind)
		}
		b.WriteString("\n|---|" + strings.Repeat("---|", len(faults)) + "\n")
		for _, site := range callSites {
			fmt.Fprintf(&b, "| %s |", site.name)
			for _, kind := range faults {
				what := []string{}
				for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
					what = append(what, results[fault{site, kind.kind, kind.tries, often == "once", mode}.name()])
				}
				fmt.Fprintf(&b, " %s |", strings.Join(slices.Compact(what), ", "))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

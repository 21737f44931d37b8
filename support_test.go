package debate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// assessmentReply returns an assessment as a reply.
func assessmentReply(t testing.TB, goOn bool, names ...string) string {
	t.Helper()
	return debatetest.Encode(t, debatetest.Assessment(goOn, names...))
}

const verdictReply = `{"summary": "A draw.", "quality": 50}`

// scriptedJudge returns a judge that lets a debate of A and B continue for some rounds, and then concludes.
func scriptedJudge(t testing.TB, rounds int, names ...string) *scripted.Provider {
	t.Helper()
	if len(names) == 0 {
		names = []string{"A", "B"}
	}
	said := 0
	return &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		if debatetest.AsksFor(r, "verdict") {
			return scripted.Reply{Text: verdictReply}
		}
		said++
		return scripted.Reply{Text: assessmentReply(t, said < rounds, names...)}
	}}
}

// talkingModel returns a participant's model that always replies.
func talkingModel() *scripted.Provider {
	return &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		return scripted.Reply{Text: fmt.Sprintf("Statement after %d messages.", len(r.Messages)), Chunks: 3}
	}}
}

func providersOf(m, j providers.Provider) map[string]providers.Provider {
	return map[string]providers.Provider{"m": m, "j": j}
}

// failingProvider returns a model that always returns the same error.
type failingProvider struct{ err error }

func (f failingProvider) Generate(context.Context, providers.Request) (providers.Response, error) {
	return providers.Response{}, f.err
}

// countEvents counts events without keeping them.
func countEvents(events iter.Seq2[debate.Event, error]) (n int, err error) {
	for _, err := range events {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// newPanelDebate returns a debate of A and B whose judge lets it continue for some rounds.
func newPanelDebate(t testing.TB, rounds int, change func(*debate.Config, *debate.Options)) *debate.Debate {
	t.Helper()
	cfg, opts := debatetest.PairConfig(nil), debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, rounds))}
	if change != nil {
		change(&cfg, &opts)
	}
	return debatetest.New(t, cfg, opts)
}

// unjudgedPanel is a panel without judges.
type unjudgedPanel struct{ panel.Protocol }

func (unjudgedPanel) Name() string { return "unjudged/1" }

func (unjudgedPanel) Check(*protocol.Record) []protocol.Problem { return nil }

func (u unjudgedPanel) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage == transcript.Speech {
		return u.Protocol.Phases(r)
	}
	return nil
}

func (unjudgedPanel) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

// longSpeech holds a reply of about 300 tokens.
var longSpeech = strings.Repeat("The kerb is where the freedom of one driver ends and that of others begins. ", 21)

// problemFields returns the fields of the problems in an error.
func problemFields(t *testing.T, err error) (list []string) {
	t.Helper()
	var problems *debate.Problems
	require.ErrorAs(t, err, &problems)
	for _, p := range problems.List {
		list = append(list, p.Field)
		require.Contains(t, err.Error(), p.String())
	}
	return list
}

// storedEvents returns the stored events of a debate.
func storedEvents(t *testing.T, d *debate.Debate) (events []debate.Event) {
	t.Helper()
	for m, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		events = append(events, m.Event)
	}
	return events
}

// slowModel returns a model that takes ten seconds for a reply of two chunks.
func slowModel() *scripted.Provider {
	return &scripted.Provider{Func: func(providers.Request) scripted.Reply {
		return scripted.Reply{Text: "take your time", Chunks: 2, Latency: 10 * time.Second}
	}}
}

// runUntilTurn drives a debate until a turn of the given kind begins, and then stops driving.
func runUntilTurn(t *testing.T, d *debate.Debate, kind transcript.Kind) {
	t.Helper()
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if s, ok := ev.(debate.TurnStarted); ok && s.Kind == kind {
			return
		}
	}
	t.Fatalf("no turn of kind %s", kind)
}

// unavailableModel returns a model whose service is down.
func unavailableModel(kind providers.ErrorKind) *scripted.Provider {
	return &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Err: errorOfKind(kind, 0)} }}
}

// scriptedJudgeOfAll returns a judge of all remaining participants that lets a debate continue until it has given
// the given number of assessments.
func scriptedJudgeOfAll(t testing.TB, rounds int) *scripted.Provider {
	t.Helper()
	var said atomic.Int64 // judges reply at the same time
	return &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		if debatetest.AsksFor(r, "verdict") {
			return scripted.Reply{Text: verdictReply}
		}
		return scripted.Reply{Text: assessmentReply(t, said.Add(1) < int64(rounds), assessedNames(r)...)}
	}}
}

// droppedNames returns the names of those who were dropped, in order.
func droppedNames(events []debate.Event) (list []string) {
	for _, ev := range events {
		if d, ok := ev.(debate.Dropped); ok {
			list = append(list, d.Name)
		}
	}
	return list
}

// warningTexts returns the texts of warnings, in order.
func warningTexts(events []debate.Event) (list []string) {
	for _, ev := range events {
		if w, ok := ev.(debate.Warning); ok {
			list = append(list, w.Key.Actor+": "+w.Text)
		}
	}
	return list
}

// attemptSummaries returns the provider, model and kind of error of each attempt at a turn.
func attemptSummaries(attempts []transcript.Attempt) (list []string) {
	for _, a := range attempts {
		list = append(list, strings.Join(strings.Fields(a.Provider+" "+a.Model+" "+a.ErrorKind), " "))
	}
	return list
}

// modelFailingFirst returns a model whose first calls fail with an error that is not retried and has a usage.
func modelFailingFirst(times int, kind providers.ErrorKind, cost transcript.Usage) *scripted.Provider {
	p := talkingModel()
	for range times {
		err := &providers.Error{Kind: kind, Err: errors.New("cut"), Partial: providers.Response{Text: "cut", Usage: cost}}
		p.Replies = append(p.Replies, scripted.Reply{Err: err, Usage: cost})
	}
	return p
}

// sleepContext sleeps for a time or until ctx ends.
func sleepContext(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// startAndPause has the engine drive a debate, and pauses it.
func startAndPause(t *testing.T, d *debate.Debate) {
	require.NoError(t, d.Start(t.Context()))
	time.Sleep(time.Second)
	require.NoError(t, d.Pause(t.Context()))
	time.Sleep(time.Minute)
}

func decodeJSON(t testing.TB, raw []byte, v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(raw, v), "%s", raw)
}

var assessedPattern = regexp.MustCompile(`Assess (.+), each exactly once`)

// assessedNames returns the names that a reply must contain.
func assessedNames(r providers.Request) []string {
	for _, m := range r.Messages {
		if found := assessedPattern.FindStringSubmatch(m.Text); found != nil {
			return strings.Split(strings.ReplaceAll(found[1], " and ", ", "), ", ")
		}
	}
	return nil
}

// panelModes lists the sequential and the simultaneous mode.
var panelModes = []panel.Mode{panel.Sequential, panel.Simultaneous}

// measureRunning returns how much running time a debate has counted, and how much time has passed.
func measureRunning(t *testing.T, d *debate.Debate) (running, passed time.Duration) {
	began := time.Now()
	debatetest.Finish(t, d)
	require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
	return debatetest.Result(t, d).RunningTime, time.Since(began)
}

// hintsByKind maps each kind of error to a part of its hint.
var hintsByKind = map[providers.ErrorKind]string{
	providers.Network:         "check its address and the network",
	providers.RateLimit:       "raise its limits",
	providers.ServerError:     "Retry may help",
	providers.Timeout:         "raise Limits.StepTimeout",
	providers.ContextOverflow: "lower the Window",
	providers.Authentication:  "Options.Providers",
	providers.InvalidRequest:  "check that it has a model",
	providers.InvalidResponse: "follows a format",
	providers.ContentFiltered: "change the topic or the wording",
	providers.Billing:         "check its credit",
	providers.OutOfMemory:     "NumCtx",
}

// newDebateWithModel returns a debate whose first speaker uses the given model, as the only one on provider "m".
func newDebateWithModel(t testing.TB, m providers.Provider, change func(*debate.Config, *debate.Options)) *debate.Debate {
	t.Helper()
	return newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
		c.Participants[1].Provider, c.OnOverflow = "other", debate.Degrade
		o.Providers["m"], o.Providers["other"] = m, talkingModel()
		if change != nil {
			change(c, o)
		}
	})
}

// errorOfKind returns an error of a kind.
func errorOfKind(kind providers.ErrorKind, after time.Duration) *providers.Error {
	return &providers.Error{Kind: kind, RetryAfter: after, Err: errors.New("down")}
}

// answerLine returns the answer that a turn gives.
func answerLine(t transcript.Turn) string {
	_, answer, _ := strings.Cut(t.Text, "ANSWER ")
	return answer
}

// configWithRules returns a debate that continues to its limit unless a rule ends it.
func configWithRules(limit int, rules ...detect.Rule) debate.Config {
	c := debatetest.PairConfig(panel.Protocol{Mode: panel.Simultaneous})
	c.Detect, c.Limits.MaxRounds = rules, limit
	return c
}

// unjudgedDefaults is a protocol without judges, with reasonable defaults.
type unjudgedDefaults struct{ panel.Protocol }

func (unjudgedDefaults) Name() string { return "talk/1" }

func (unjudgedDefaults) Check(*protocol.Record) []protocol.Problem { return nil }

func (p unjudgedDefaults) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage != transcript.Speech {
		return nil
	}
	return p.Protocol.Phases(r)
}

func (unjudgedDefaults) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

func (unjudgedDefaults) Defaults() protocol.Defaults {
	return protocol.Defaults{MinRounds: 2, MaxRounds: 3, OutputTokens: 90, StepTokens: 10, JudgeTokens: 20, Temperatures: []float64{0.1, 0.2}}
}

func (unjudgedDefaults) Answer(r *protocol.Record) protocol.Answer {
	return protocol.Answer{Text: r.Turns[len(r.Turns)-1].Text}
}

// watchAll follows a debate to its end.
func watchAll(t *testing.T, d *debate.Debate, after int64) (events []debate.Event) {
	for ev, err := range d.Watch(t.Context(), after) {
		require.NoError(t, err)
		events = append(events, ev)
	}
	return events
}

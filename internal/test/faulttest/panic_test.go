package faulttest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// bug is code of the program that panics, or ends its goroutine, at one place.
type bug struct {
	place string
	exit  bool // runtime.Goexit, not panic
	armed atomic.Bool
	hits  atomic.Int32
}

// at fails if it is called for the bug's place.
func (b *bug) at(place string) {
	if !b.armed.Load() || b.place != place {
		return
	}
	b.hits.Add(1)
	if b.exit {
		runtime.Goexit()
	}
	panic("a bug at " + place)
}

// The places of bugs. Each is in code that a program gives to the library.
var bugPlaces = map[string]struct {
	step bool // a step fails, not the plan
	paid bool // a call was in progress
}{
	"provider":           {true, true},
	"provider in stream": {true, true},
	"judge's provider":   {true, true},
	"phases":             {},
	"phases in a round":  {},
	"end":                {},
	"show":               {true, false},
	"token counter":      {}, // the check before the first call counts tokens
	"extract answer":     {},
}

// buggyPanel is a panel with a bug.
type buggyPanel struct {
	panel.Protocol
	Bug *bug `json:"-"`
}

func (buggyPanel) Name() string { return "buggy/1" }

func (p buggyPanel) Phases(r *protocol.Record) []protocol.Phase {
	p.Bug.at("phases")
	if len(r.Turns) == 2 { // both have spoken; while their phase is open, the engine does not ask again
		p.Bug.at("phases in a round")
	}
	list := p.Protocol.Phases(r)
	for i := range list {
		list[i].Steps = slices.Clone(list[i].Steps)
		for j := range list[i].Steps {
			list[i].Steps[j].Show = func(*transcript.Turn) bool {
				p.Bug.at("show")
				return true
			}
		}
	}
	return list
}

func (p buggyPanel) End(r *protocol.Record) transcript.Ending {
	p.Bug.at("end")
	return p.Protocol.End(r)
}

// Answer implements protocol.Answerer.
func (p buggyPanel) Answer(*protocol.Record) protocol.Answer {
	p.Bug.at("answer")
	return protocol.Answer{Text: "yes"}
}

// Count implements window.TokenCounter.
func (b *bug) Count(_, text string) int {
	b.at("token counter")
	return window.Estimate(text)
}

// bugged is a debate whose program has a bug.
type bugged struct {
	*bug
	store   store.Store
	mu      sync.Mutex
	prompts strings.Builder
}

// provider returns a provider that fails at a place.
func (b *bugged) provider(place string) providers.Provider {
	return debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
		b.mu.Lock()
		for _, m := range r.Messages {
			b.prompts.WriteString(m.Text)
		}
		b.mu.Unlock()
		b.at(place)
		text := enginetest.Reply(r, []string{"A", "B"}, "So it is.", 0)
		if err := r.OnChunk(text); err != nil {
			return providers.Response{}, err
		}
		b.at(place + " in stream")
		return providers.Response{Text: text, Usage: transcript.Usage{Input: 10, Output: 5}}, nil
	})
}

// options returns the options of an engine with the bug.
func (b *bugged) options() debate.Options {
	return debate.Options{
		Store: b.store, Protocols: []protocol.Protocol{buggyPanel{Bug: b.bug}}, TokenCounter: b.bug,
		Providers:     map[string]providers.Provider{"m": b.provider("provider"), "j": b.provider("judge's provider")},
		ExtractAnswer: func(transcript.Turn) string { b.at("extract answer"); return "" },
	}
}

// engine returns an engine with the bug.
func (b *bugged) engine(t *testing.T) *debate.Engine {
	t.Helper()
	return debatetest.Engine(t, b.options())
}

// config returns a debate with the bug.
func (b *bugged) config(mode panel.Mode) debate.Config {
	cfg := debatetest.PairConfig(buggyPanel{Protocol: panel.Protocol{Mode: mode}, Bug: b.bug})
	cfg.Limits, cfg.Detect = debate.Limits{MaxRounds: 1}, []detect.Rule{{Signal: detect.Unanimous, Method: "answers"}}
	return cfg
}

// newBugged creates a debate. Its bug is armed.
func newBugged(t *testing.T, place string, mode panel.Mode) *bugged {
	t.Helper()
	b := &bugged{bug: &bug{place: place}, store: store.Memory()}
	debatetest.Create(t, b.engine(t), b.config(mode))
	b.armed.Store(true)
	return b
}

// driveModes run a debate until it stops. They return the error that the driver gives.
var driveModes = map[string]func(context.Context, *debate.Debate) error{
	"run": func(ctx context.Context, d *debate.Debate) (last error) {
		for _, err := range d.Run(ctx) {
			last = err
		}
		return last
	},
	"once": func(ctx context.Context, d *debate.Debate) (err error) {
		for more := true; more && err == nil; {
			more, err = d.RunOnce(ctx)
		}
		return err
	},
	"start": func(ctx context.Context, d *debate.Debate) error {
		if err := d.Start(ctx); err != nil {
			return err
		}
		synctest.Wait()
		r, err := d.Result(ctx)
		if err == nil && r.Failure != nil {
			err = r.Failure
		}
		return err
	},
}

// A panic in the program's own code is a failure in the journal, whoever drives the debate. Nothing tries it again. With correct
// code, Retry continues with all participants.
func TestABugIsAFailure(t *testing.T) {
	for place, kind := range bugPlaces {
		for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
			for name, drive := range driveModes {
				t.Run(fmt.Sprintf("%s/%s/%s", place, mode, name), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						b := newBugged(t, place, mode)
						d := debatetest.Open(t, b.engine(t), "d")
						err := drive(t.Context(), d)
						f := b.requireFailed(t, err)
						require.Equal(t, kind.step, f.Key.Actor != "", f.Key)
						require.Equal(t, kind.paid, len(f.AttemptDetails) > 0)
						b.requireRetried(t)
					})
				})
			}
		}
	}
}

// The lifecycle asks whether a debate waits for people. If the protocol cannot say so, the failure is reported all the same.
func TestABugInADebateWithPeopleIsAFailure(t *testing.T) {
	for name, drive := range driveModes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &bugged{bug: &bug{place: "phases"}, store: store.Memory()}
				cfg := b.config(panel.Sequential)
				cfg.Participants[1] = debate.Participant{Name: "B", Human: true}
				debatetest.Create(t, b.engine(t), cfg)
				b.armed.Store(true)
				d := debatetest.Open(t, b.engine(t), "d")
				err := drive(t.Context(), d)
				_ = b.requireFailed(t, err)
			})
		})
	}
}

// requireFailed requires that the debate is in error because of the bug, and returns the failure.
func (b *bugged) requireFailed(t *testing.T, got error) *debate.Failure {
	t.Helper()
	d := debatetest.Open(t, b.engine(t), "d")
	r := debatetest.Result(t, d)
	require.Equal(t, fsm.Error, r.State)
	f := r.Failure
	require.Equal(t, providers.Panic, f.Kind)
	require.Contains(t, f.Message, "a bug at "+b.place)
	require.Contains(t, f.Stack, "faulttest.(*bug).at")
	require.LessOrEqual(t, len(f.Stack), 8<<10)
	require.True(t, f.Recoverable)
	var returned *debate.Failure
	require.ErrorAs(t, got, &returned)
	require.Equal(t, debatetest.Encode(t, f), debatetest.Encode(t, returned))
	require.LessOrEqual(t, b.hits.Load(), int32(3), "nothing tries it again")

	var failures []*debate.Failure
	var used transcript.Usage
	for m, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		switch ev := m.Event.(type) {
		case debate.StateChanged:
			if ev.Failure != nil {
				failures = append(append(failures, ev.Failure), ev.OtherFailures...)
			}
		case debate.TurnDone:
			used = used.Add(ev.Turn.Usage)
		}
	}
	require.NotEmpty(t, failures)
	for _, f := range failures {
		for _, a := range f.AttemptDetails {
			require.Positive(t, a.Usage.Input)
			used = used.Add(a.Usage)
		}
	}
	status := debatetest.Status(t, d)
	require.Equal(t, used, status.Usage, "budgets count the call")
	whole := debatetest.Call(t, report.Collect, d)
	require.False(t, strings.Contains(debatetest.Encode(t, whole), "[running"), "the report has no stack")
	return f
}

// requireRetried corrects the program and requires that the debate continues to its end.
func (b *bugged) requireRetried(t *testing.T) {
	t.Helper()
	b.armed.Store(false)
	d := debatetest.Open(t, b.engine(t), "d")
	require.NoError(t, d.Retry(t.Context()))
	r := debatetest.RunResult(t, d)
	require.Equal(t, []string{"1/1/respond/A/", "1/1/respond/B/", "1/1/assess/J/", "1/1/verdict/J/"}, debatetest.TurnKeys(r))
	require.NotContains(t, b.prompts.String(), "[running")
	require.NotContains(t, b.prompts.String(), "a bug at")
}

// A bug in the body of the caller's loop is the caller's, and changes nothing in the debate.
func TestABugOfTheViewerReachesTheCaller(t *testing.T) {
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		for _, exit := range []bool{false, true} {
			for _, event := range []string{"state", "turn_started", "chunk", "turn", "ended"} {
				t.Run(fmt.Sprintf("%s/exit=%v/%s", mode, exit, event), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						b := newBugged(t, event, mode)
						b.exit = exit
						d := debatetest.Open(t, b.engine(t), "d")
						reached, seen := false, 0
						var value any
						var done sync.WaitGroup
						done.Go(func() {
							defer func() { value = recover() }()
							for ev, err := range d.Run(t.Context()) {
								seen++
								if err == nil {
									b.at(ev.Meta().Type)
								}
							}
							reached = true
						})
						done.Wait()
						require.False(t, reached)
						if exit {
							require.Nil(t, value)
						} else {
							require.Equal(t, "a bug at "+event, value)
						}
						require.EqualValues(t, 1, b.hits.Load())
						require.NotEqual(t, fsm.Error, debatetest.Result(t, d).State)
						require.Nil(t, debatetest.Result(t, d).Failure)
						b.armed.Store(false)
						debatetest.Finish(t, d)
						require.Len(t, debatetest.Result(t, d).Turns, 4)
					})
				})
			}
		}
	}
}

// If a person decides about failures, a bug becomes a question, and the driver in the background waits for the answer.
func TestABugIsAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBugged(t, "provider", panel.Sequential)
		d := debatetest.Open(t, b.engine(t), "d")
		cfg := debatetest.PairConfig(buggyPanel{Bug: b.bug})
		cfg.Limits, cfg.OnFailure = debate.Limits{MaxRounds: 1}, debate.Ask
		require.NoError(t, d.Edit(t.Context(), cfg))
		require.NoError(t, d.Start(t.Context()))
		synctest.Wait()
		r := debatetest.Result(t, d)
		require.Equal(t, fsm.Paused, r.State)
		require.Equal(t, providers.Panic, r.Question.Failure.Kind)
		require.NotEmpty(t, r.Question.Failure.Stack)
		require.Len(t, r.Question.Choices, 2, "dropping the actor would hide the bug")
		b.armed.Store(false)
		require.NoError(t, d.Decide(t.Context(), debatetest.Result(t, d).Question.ID, "retry"))
		synctest.Wait()
		require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
		require.Len(t, debatetest.Result(t, d).Turns, 4)
	})
}

// checkedModel is a model whose check has a bug.
type checkedModel struct {
	providers.Provider
	bug *bug
}

func (c checkedModel) Check(context.Context, string) error {
	c.bug.at("check")
	return nil
}

// checkedEngine returns an engine with a model whose check has the bug.
func (b *bugged) checkedEngine(t *testing.T) *debate.Engine {
	t.Helper()
	return debatetest.Engine(t, debate.Options{
		Store: b.store, Protocols: []protocol.Protocol{buggyPanel{Bug: b.bug}}, ExtractAnswer: func(transcript.Turn) string { return "" },
		Providers: map[string]providers.Provider{"m": checkedModel{b.provider("provider"), b.bug}, "j": b.provider("judge's provider")},
	})
}

// A bug in the check of a key or model is a problem of the configuration: no step has begun that could fail.
func TestABugInACheckIsAProblem(t *testing.T) {
	for name, drive := range driveModes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBugged(t, "check", panel.Sequential)
				d := debatetest.Open(t, b.checkedEngine(t), "d")
				err := drive(t.Context(), d)
				if name != "start" {
					require.ErrorContains(t, err, "participants[0].provider: provider m: check of its key and model: panic: ")
				}
				require.Equal(t, fsm.Configuring, debatetest.Result(t, d).State)
				require.EqualValues(t, 1, b.hits.Load())
				b.armed.Store(false)
				debatetest.Finish(t, d)
			})
		})
	}
}

// Reading and controlling a debate survives bugs, too.
func TestABugDoesNotReachReaders(t *testing.T) {
	b := newBugged(t, "answer", panel.Sequential)
	d := debatetest.Open(t, b.engine(t), "d")
	require.Contains(t, strings.Join(debatetest.Result(t, d).Warnings, "\n"), "the protocol cannot compute the answer: panic: a bug at answer")
	events := debatetest.Finish(t, d)
	require.Contains(t, events[len(events)-1].(debate.Ended).Result.Warnings, "the protocol cannot compute the answer: panic: a bug at answer")

	b = newBugged(t, "token counter", panel.Sequential)
	d = debatetest.Open(t, b.engine(t), "d")
	err := d.Inject(t.Context(), debate.Remark{From: "Pat", Text: "Be brief."})
	require.ErrorAs(t, err, new(*debate.Failure))
	require.ErrorContains(t, err, "inject a remark into debate d: ")
	b.armed.Store(false)
	require.NoError(t, d.Inject(t.Context(), debate.Remark{From: "Pat", Text: "Be brief."}))

	b = newBugged(t, "phases", panel.Simultaneous)
	b.armed.Store(false)
	d = debatetest.Open(t, b.engine(t), "d")
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if _, ok := ev.(debate.TurnStarted); ok {
			break
		}
	}
	b.armed.Store(true)
	other := debatetest.Open(t, b.engine(t), "d")
	status := debatetest.Status(t, other)
	require.NotEmpty(t, status.Plan.Key, "a worker meets the bug and reports it")
	for m, err := range other.ReplayAs(t.Context(), "A") {
		require.NoError(t, err)
		require.Equal(t, "d", m.Status().ID)
		require.Equal(t, "d", m.Result().ID)
		_ = m.Refusal(fsm.Pause)
	}
	require.Empty(t, debatetest.Waiting(t, other))
	b.hits.Store(0)
	_, err = other.RunOnce(t.Context())
	_ = b.requireFailed(t, err)
	b.requireRetried(t)
}

// If the protocol panics while Resume finds out what comes next, the debate fails.
func TestABugDuringResumeIsAFailure(t *testing.T) {
	b := newBugged(t, "phases", panel.Sequential)
	b.armed.Store(false)
	d := debatetest.Open(t, b.engine(t), "d")
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if _, ok := ev.(debate.TurnStarted); ok {
			break
		}
	}
	require.NoError(t, d.Pause(t.Context()))
	b.armed.Store(true)
	require.NoError(t, debatetest.Open(t, b.engine(t), "d").Resume(t.Context()))
	_ = b.requireFailed(t, debatetest.Result(t, d).Failure)
	b.requireRetried(t)
}

// The driver looks at each entry of another process while a call is in progress. If the protocol panics then, the call
// goes on, and the failure is that of the driver, which meets the bug when the call has ended.
func TestABugDuringACallIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBugged(t, "phases", panel.Sequential)
		b.armed.Store(false)
		model := newGate(b.provider("provider"))
		e := newTestEngine(t, debate.Options{
			Store: b.store, Protocols: []protocol.Protocol{buggyPanel{Bug: b.bug}}, ExtractAnswer: func(transcript.Turn) string { return "" },
			Providers: map[string]providers.Provider{"m": model, "j": b.provider("judge's provider")},
		})
		d := debatetest.Open(t, e, "d")
		require.NoError(t, d.Start(t.Context()))
		<-model.arrived
		other := debatetest.Open(t, b.engine(t), "d")
		b.armed.Store(true)
		require.NoError(t, other.Annotate(t.Context(), "note", 1))
		synctest.Wait()
		require.GreaterOrEqual(t, b.hits.Load(), int32(2), "in the other process, and in the driver's")
		require.Equal(t, fsm.AwaitingResponses, debatetest.Status(t, d).State)
		b.hits.Store(0)
		model.openGate()
		synctest.Wait()
		_ = b.requireFailed(t, debatetest.Result(t, d).Failure)
		b.requireRetried(t)
	})
}

package faulttest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// exitPlaces are the places at which the program ends the goroutine: in a provider, a protocol, a tool and an observer, and in
// other hooks.
var exitPlaces = []string{
	"provider", "provider in stream", "judge's provider", "check", "phases", "phases in a round", "end", "show", "answer", "tool",
	"begin of a drive", "begin of a step", "begin of an attempt", "begin of a tool",
	"end of a drive", "end of a step", "end of an attempt", "end of a tool", "commit", "event", "token counter", "extract answer",
}

// The rule is that of Go: runtime.Goexit ends the goroutine on which it is called, and nothing else. If that is the goroutine that
// drives the debate, the drive has ended, and the debate is as it was last committed. If it is that of a step of a parallel phase,
// the step has failed. In either case, nobody waits for it: the debate can be controlled and driven again, another debate gets
// its place, and the engine closes. In this test, somebody who waits for ever is a deadlock.
func TestAGoroutineThatEndsBlocksNobody(t *testing.T) {
	for _, place := range exitPlaces {
		for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
			for name, drive := range driveModes {
				t.Run(fmt.Sprintf("%s/%s/%s", place, mode, name), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						b := &bugged{bug: &bug{place: place, exit: true}, store: store.Memory()}
						e := b.exitingEngine(t)
						d := debatetest.Create(t, e, b.exitingConfig("d", mode))
						other := debatetest.Create(t, e, b.exitingConfig("other", mode))
						b.armed.Store(true)
						apart(func() { _ = drive(t.Context(), d) })
						synctest.Wait()
						require.Positive(t, b.hits.Load())
						b.armed.Store(false)

						require.NoError(t, d.Annotate(t.Context(), "note", 1))
						require.NoError(t, other.Start(t.Context()))
						synctest.Wait()
						require.Equal(t, fsm.Completed, debatetest.Status(t, other).State, "it has the place")
						if debatetest.Status(t, d).State == fsm.Error {
							require.NoError(t, d.Retry(t.Context()))
						}
						if !debatetest.Status(t, d).State.Final() {
							debatetest.Finish(t, d)
						}
						require.Equal(t, fsm.Completed, debatetest.Status(t, d).State)
						require.Len(t, debatetest.Result(t, d).Turns, 4)
						require.NoError(t, e.Close(t.Context()))
					})
				})
			}
		}
	}
}

// Only a step that has a goroutine of its own can be told from one that still runs.
func TestAStepWhoseGoroutineEnds(t *testing.T) {
	for mode, state := range map[panel.Mode]fsm.State{panel.Sequential: fsm.AwaitingResponses, panel.Simultaneous: fsm.Error} {
		for name, drive := range driveModes {
			t.Run(fmt.Sprintf("%s/%s", mode, name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := &bugged{bug: &bug{place: "provider", exit: true}, store: store.Memory()}
					d := debatetest.Create(t, b.exitingEngine(t), b.exitingConfig("d", mode))
					b.armed.Store(true)
					returned := false
					apart(func() {
						_ = drive(t.Context(), d)
						returned = true
					})
					synctest.Wait()
					r := debatetest.Result(t, d)
					require.Equal(t, state, r.State)
					require.Empty(t, r.Turns)
					require.Equal(t, mode == panel.Simultaneous || name == "start", returned, "the caller of Run and RunOnce calls the provider of a sequential phase")
					if state == fsm.Error {
						require.Equal(t, providers.Panic, r.Failure.Kind)
						require.Equal(t, "the goroutine ended early", r.Failure.Message)
					}
				})
			})
		}
	}
}

// A driver that is about to begin, and reads a journal whose status is wrong, asks the protocol.
func TestAGoroutineThatEndsBeforeTheDrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bugged{bug: &bug{place: "phases", exit: true}, store: store.Memory()}
		e := b.exitingEngine(t)
		d := debatetest.Create(t, e, b.exitingConfig("d", panel.Sequential))
		for ev, err := range d.Run(t.Context()) {
			require.NoError(t, err)
			if _, ok := ev.(debate.TurnStarted); ok {
				break
			}
		}
		status := debatetest.Status(t, d)
		status.Topic = "another"
		require.NoError(t, b.store.Commit(t.Context(), store.Change{ID: "d", After: status.Seq, Status: status}))
		b.armed.Store(true)
		apart(func() { _ = d.Start(t.Context()) })
		require.Positive(t, b.hits.Load())
		b.armed.Store(false)
		debatetest.Finish(t, d)
		require.NoError(t, e.Close(t.Context()))
	})
}

// apart calls f on a goroutine that f may end, and waits for the end of that goroutine.
func apart(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// exitingConfig returns a debate in which everybody has a tool, so that all places are reached.
func (b *bugged) exitingConfig(id string, mode panel.Mode) debate.Config {
	cfg := b.config(mode)
	cfg.ID = id
	for i := range cfg.Participants {
		cfg.Participants[i].Tools = []string{"look"}
	}
	return cfg
}

// exitingEngine returns an engine that drives one debate at a time in the background.
func (b *bugged) exitingEngine(t *testing.T) *debate.Engine {
	t.Helper()
	o := b.options()
	o.MaxDebates = 1
	o.Observer = b.observer()
	look := func(context.Context, struct{}) (tool.Result, error) {
		b.at("tool")
		return tool.Result{Text: "So it is."}, nil
	}
	o.Tools = []tool.Tool{tool.Func(tool.Spec{Name: "look", Description: "Looks."}, look)}
	o.Providers["m"] = checkedModel{callOnce{o.Providers["m"]}, b.bug}
	return debatetest.Engine(t, o)
}

// observer returns an observer with the bug.
func (b *bugged) observer() debate.Observer {
	return debate.Observer{
		Begin: func(ctx context.Context, s debate.Step) (context.Context, func(debate.Outcome)) {
			what := "a drive"
			switch {
			case s.Tool != "":
				what = "a tool"
			case s.Number > 0:
				what = "an attempt"
			case s.Key != transcript.Key{}:
				what = "a step"
			}
			b.at("begin of " + what)
			return ctx, func(debate.Outcome) { b.at("end of " + what) }
		},
		Commit: func(context.Context, string, debate.Event) { b.at("commit") },
		Event:  func(string, debate.Event) { b.at("event") },
	}
}

// callOnce calls the tool once in each step that has one.
type callOnce struct{ providers.Provider }

func (c callOnce) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	resp, err := c.Provider.Generate(ctx, r)
	called := false
	for _, m := range r.Messages {
		called = called || len(m.Parts) > 0 && m.Parts[0].ToolResult != nil
	}
	if err == nil && r.MayCallTools() && !called {
		resp.Text, resp.FinishReason = "", providers.ToolCalls
		resp.Parts = []providers.Part{{ToolCall: &providers.ToolCall{ID: "1", Name: "look", Arguments: json.RawMessage(`{}`)}}}
	}
	return resp, err
}

package debateotel

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// notInJournals reports whether an attribute describes the request of a call.
func notInJournals(a attribute.KeyValue) bool {
	key := string(a.Key)
	return strings.HasPrefix(key, "gen_ai.request.") && key != keyRequestModel && key != keyRequestStream || key == keyOutputType
}

// replayOf returns what another process records of a stored debate.
func replayOf(t *testing.T, s store.Store, o Options) *recorder {
	t.Helper()
	r := newRecorder(o)
	e := debatetest.Engine(t, debate.Options{Store: s})
	d := debatetest.Open(t, e, "d")
	require.NoError(t, r.Replay(t.Context(), d))
	return r
}

// requireSame requires that a replay gives the same trees, with the same times.
func requireSame(t *testing.T, r *recorder, s store.Store) {
	t.Helper()
	want := strings.Split(describe(r.trees(t), notInJournals), "\n")
	got := strings.Split(describe(replayOf(t, s, Options{}).trees(t), notInJournals), "\n")
	for i := range min(len(want), len(got)) {
		require.Equal(t, want[i], got[i], "line %d", i+1)
	}
	require.Len(t, got, len(want))
}

// A replay of a debate of each protocol gives the tree that was recorded while it ran.
func TestAReplayGivesTheSameTree(t *testing.T) {
	for name, cfg := range enginetest.PresetConfigs() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, s := newRecorder(Options{}), store.Memory()
				_, d := start(t, r, &model{cfg: cfg}, func(o *debate.Options) { o.Store = s })
				debatetest.Finish(t, d)
				requireSame(t, r, s)
			})
		})
	}
}

// So does a replay of a debate in which something failed.
func TestAReplayOfFailures(t *testing.T) {
	for name, act := range troubles() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRecorder(Options{})
				m := &model{cfg: pair(), act: act}
				s := store.Memory()
				_, d := start(t, r, m, func(o *debate.Options) { o.Store = s })
				runToStop(t, d)
				requireSame(t, r, s)
			})
		})
	}
}

// So does a replay of a debate with pauses, whether its calls end before or after the resume.
func TestAReplayOfPauses(t *testing.T) {
	for name, wait := range map[string]time.Duration{"a long pause": time.Hour, "a short pause": 900 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, s := newRecorder(Options{}), store.Memory()
				e, d := start(t, r, &model{cfg: pair()}, func(o *debate.Options) { o.Store = s })
				require.NoError(t, d.Start(t.Context()))
				for range 3 {
					time.Sleep(8300 * time.Millisecond)
					require.NoError(t, d.Pause(t.Context()))
					time.Sleep(wait)
					require.NoError(t, d.Resume(t.Context()))
				}
				time.Sleep(time.Hour)
				require.NoError(t, e.Close(t.Context()))
				require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
				requireSame(t, r, s)
			})
		})
	}
}

// A debate that failed and was then retried, reset or canceled is replayed too.
func TestAReplayOfControls(t *testing.T) {
	for name, then := range map[string]func(context.Context, *debate.Debate) error{
		"a retry":  func(ctx context.Context, d *debate.Debate) error { return d.Retry(ctx) },
		"a reset":  func(ctx context.Context, d *debate.Debate) error { return d.Reset(ctx) },
		"a cancel": func(ctx context.Context, d *debate.Debate) error { return d.Cancel(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRecorder(Options{})
				m := &model{cfg: pair()}
				s := store.Memory()
				m.cfg.Judges = m.cfg.Judges[:1]
				var failed atomic.Bool
				m.act = func(_ context.Context, s debate.Step) error {
					if s.Key.Actor == "J" && !failed.Swap(true) {
						return &providers.Error{Kind: providers.Authentication}
					}
					return nil
				}
				_, d := start(t, r, m, func(o *debate.Options) { o.Store = s })
				runToStop(t, d)
				require.Equal(t, fsm.Error, debatetest.Result(t, d).State)
				time.Sleep(time.Minute)
				require.NoError(t, then(t.Context(), d))
				if !debatetest.Result(t, d).State.Final() {
					debatetest.Finish(t, d)
				}
				requireSame(t, r, s)
			})
		})
	}
}

// A debate that still runs is replayed as far as it is stored.
func TestAReplayOfADebateThatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := newRecorder(Options{}), store.Memory()
		e, d := start(t, r, &model{cfg: pair()}, func(o *debate.Options) { o.Store = s })
		require.NoError(t, d.Start(t.Context()))
		time.Sleep(17 * time.Second)
		roots := replayOf(t, s, Options{}).trees(t)
		require.Len(t, roots, 1)
		require.Len(t, roots[0].all("invoke_agent"), len(debatetest.Result(t, d).Turns))
		again := newRecorder(Options{})
		require.NoError(t, again.Replay(t.Context(), d), "in the engine that drives it")
		requireSame(t, again, s)
		require.NoError(t, e.Close(t.Context()))
	})
}

// People's replies are no steps of an engine, live or replayed. The debate waits for them without an open span.
func TestAReplayOfADebateWithAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := pair()
		cfg.Participants[1].Human = true
		r, s := newRecorder(Options{}), store.Memory()
		_, d := start(t, r, &model{cfg: cfg}, func(o *debate.Options) { o.Store = s })
		for !debatetest.Result(t, d).State.Final() {
			debatetest.Finish(t, d)
			r.trees(t)
			waiting := debatetest.Waiting(t, d)
			for _, a := range waiting {
				time.Sleep(time.Hour)
				require.NoError(t, d.Answer(t.Context(), a.Key, "I say no.", "b@example.com"))
			}
		}
		require.Empty(t, find(r.trees(t), "invoke_agent B"))
		require.NotEmpty(t, find(r.trees(t), "invoke_agent A"))
		requireSame(t, r, s)
	})
}

// With texts, a replay differs only in prompts and in the replies of calls.
func TestAReplayWithTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(Options{Texts: true})
		d := secretive(r, t)
		runToStop(t, d)
		again := newRecorder(Options{Texts: true})
		require.NoError(t, again.Replay(t.Context(), d))
		messages := func(r *recorder) (list []string) {
			for _, n := range find(r.trees(t), "") {
				list = append(list, n.Name()+": "+n.attr(keyTopic)+n.Status().Description)
				if n.SpanKind() == trace.SpanKindInternal {
					list = append(list, n.attr(keyOutput))
				}
			}
			return list
		}
		require.Equal(t, messages(r), messages(again))
	})
}

// Steps of a parallel phase stand in the journal as they ended. If the clocks of two machines differ, phases stay whole.
func TestTheOrderOfReplayedSteps(t *testing.T) {
	r := newRecorder(Options{})
	x := &replay{t: &r.tracing, id: "d"}
	base := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, s := range []struct {
		phase, actor string
		began        int
	}{{"speak", "A", 11}, {"speak", "B", 10}, {"judge", "J", 9}, {"judge", "K", 12}} {
		at := base.Add(time.Duration(s.began) * time.Second)
		x.step(transcript.Key{Run: 1, Round: 1, Phase: s.phase, Actor: s.actor}, transcript.Speech, replayedStep{began: at, ended: at.Add(time.Minute)})
	}
	x.drives[0].record(t.Context(), &r.tracing, "d", trace.SpanContext{})
	var names []string
	for _, s := range r.spans.Started() {
		names = append(names, s.Name())
	}
	require.Equal(t, []string{
		"invoke_workflow", "debate.round 1", "debate.phase speak", "invoke_agent B", "invoke_agent A", "debate.phase judge", "invoke_agent J", "invoke_agent K",
	}, names)
}

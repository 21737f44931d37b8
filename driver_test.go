package debate_test

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

func TestSimultaneousSpeakersTakeTheTimeOfTheSlowest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		latency := []time.Duration{7 * time.Second, 3 * time.Second}
		next := make(chan time.Duration, 2)
		next <- latency[0]
		next <- latency[1]
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Protocol = panel.Protocol{Mode: panel.Simultaneous}
			o.Providers["m"] = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
				return scripted.Reply{Text: "at once", Chunks: 4, Latency: <-next}
			}}
		})
		began := time.Now()
		debatetest.Finish(t, d)
		require.Equal(t, latency[0], time.Since(began), "the slowest, not the sum")
		require.Equal(t, []string{"1/1/respond/A/", "1/1/respond/B/", "1/1/assess/J/", "1/1/verdict/J/"}, debatetest.TurnKeys(debatetest.Result(t, d)), "in the order of the seats")
	})
}

func TestRoundDelayWaitsBetweenRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPanelDebate(t, 3, func(c *debate.Config, _ *debate.Options) { c.Limits.RoundDelay = time.Minute })
		began := time.Now()
		debatetest.Finish(t, d)
		require.Equal(t, 2*time.Minute, time.Since(began))
	})
}

func TestTheEndOfTheContextEndsTheDrivingOnly(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	why := errors.New("the user has closed the lid")
	var got error
	for ev, err := range d.Run(ctx) {
		if got = err; err != nil {
			continue
		}
		if _, ok := ev.(debate.Chunk); ok {
			cancel(why)
		}
	}
	require.ErrorIs(t, got, why)
	require.Equal(t, fsm.AwaitingResponses, debatetest.Result(t, d).State)
	require.Empty(t, debatetest.Result(t, d).Turns)
	debatetest.Finish(t, d)
	require.Len(t, debatetest.Result(t, d).Turns, 4)
}

func TestADetachedDebateGoesOnThroughAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["m"] = slowModel() })
		require.NoError(t, d.Start(t.Context()))
		time.Sleep(5 * time.Second)
		require.NoError(t, d.Pause(t.Context()))
		time.Sleep(time.Hour)
		require.Len(t, debatetest.Result(t, d).Turns, 1)
		require.ErrorAs(t, d.Start(t.Context()), new(*fsm.Refused))
		require.NoError(t, d.Resume(t.Context()))
		watchAll(t, d, 0)
		require.Equal(t, 15*time.Second, debatetest.Result(t, d).RunningTime, "5 of A, 10 of B: what A said while paused does not count")
	})
}

func TestOneEngineDrivesADebateOnce(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if _, ok := ev.(debate.Chunk); ok {
			_, err := debatetest.Run(t, d)
			require.ErrorIs(t, err, debate.ErrBusy)
			_, err = d.RunOnce(t.Context())
			require.ErrorIs(t, err, debate.ErrBusy)
		}
	}
	require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
}

func TestDoIsOneUnit(t *testing.T) {
	d := newPanelDebate(t, 1, func(c *debate.Config, _ *debate.Options) { c.Protocol = panel.Protocol{Mode: panel.Simultaneous} })
	var turns []int
	for more := true; more; {
		var err error
		more, err = d.RunOnce(t.Context())
		require.NoError(t, err)
		turns = append(turns, len(debatetest.Result(t, d).Turns))
	}
	require.Equal(t, []int{0, 2, 3, 4}, turns, "the check, both speeches, the assessment, the verdict")
	more, err := d.RunOnce(t.Context())
	require.NoError(t, err)
	require.False(t, more)
}

// countedLoads counts the loads of a store.
type countedLoads struct {
	store.Store
	store.Watcher
	loads *atomic.Int32
}

func (s countedLoads) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	s.loads.Add(1)
	return s.Store.Load(ctx, id, after)
}

func TestRunWhileRunsPlanAfterPlan(t *testing.T) {
	var loads atomic.Int32
	d := newPanelDebate(t, 2, func(_ *debate.Config, o *debate.Options) {
		memory := store.Memory()
		o.Store = countedLoads{memory, memory.(store.Watcher), &loads}
	})
	loads.Store(0)
	asked := 0
	more, err := d.RunWhile(t.Context(), func(s store.Status) bool {
		require.NotEmpty(t, s.Plan.Key)
		asked++
		return asked < 3
	})
	require.NoError(t, err)
	require.True(t, more)
	require.Equal(t, 3, asked, "after the check and after two turns")
	require.Equal(t, int32(1), loads.Load(), "the journal is read once")
	require.Len(t, debatetest.Result(t, d).Turns, 2)
	more, err = d.RunWhile(t.Context(), func(store.Status) bool { return true })
	require.NoError(t, err)
	require.False(t, more)
	require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
}

func TestRunWhileSeesWhatOthersCommit(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	other := d.OpenWithProvider(t, talkingModel())
	asked := 0
	more, err := d.RunWhile(t.Context(), func(store.Status) bool {
		if asked++; asked == 2 { // after the check and a turn
			require.NoError(t, other.Pause(t.Context()))
		}
		return true
	})
	require.NoError(t, err)
	require.False(t, more)
	require.Equal(t, fsm.Paused, debatetest.Result(t, d).State)
	require.Len(t, debatetest.Result(t, d).Turns, 1)
}

func TestAPanicOfTheConditionOfRunWhilePasses(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	require.Panics(t, func() { _, _ = d.RunWhile(t.Context(), func(store.Status) bool { panic("mine") }) })
	debatetest.Finish(t, d)
	require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
}

func TestCloseLetsCallsInFlightCommit(t *testing.T) {
	for _, tt := range []struct {
		name  string
		grace time.Duration
		turns int
	}{{"within its time", time.Minute, 1}, {"or cuts them", time.Second, 0}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory := store.Memory()
				e := debatetest.Engine(t, debate.Options{Store: memory, Providers: providersOf(slowModel(), scriptedJudge(t, 1))})
				d := debatetest.Create(t, e, debatetest.PairConfig(nil))
				require.NoError(t, d.Start(t.Context()))
				time.Sleep(2 * time.Second)
				ctx, cancel := context.WithTimeout(t.Context(), tt.grace)
				defer cancel()
				err := e.Close(ctx)
				require.Equal(t, tt.turns == 0, errors.Is(err, context.DeadlineExceeded))
				require.Len(t, debatetest.Result(t, d).Turns, tt.turns)
				require.Equal(t, fsm.AwaitingResponses, debatetest.Result(t, d).State)
				_, err = debatetest.Run(t, d)
				require.ErrorIs(t, err, debate.ErrClosed)
				require.NoError(t, e.Close(t.Context()), "closing twice is no error")
			})
		})
	}
}

func TestRunEndsWithErrClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := debatetest.Engine(t, debate.Options{Providers: providersOf(slowModel(), scriptedJudge(t, 1))})
		d := debatetest.Create(t, e, debatetest.PairConfig(nil))
		go func() {
			time.Sleep(time.Second)
			_ = e.Close(t.Context())
		}()
		_, err := debatetest.Run(t, d)
		require.ErrorIs(t, err, debate.ErrClosed)
		require.Len(t, debatetest.Result(t, d).Turns, 1)
	})
}

func TestAParticipantMakesOneCallAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running, most, all := map[string]int{}, map[string]int{}, 0
		total := 0
		say := func(name string) providers.Provider {
			return debatetest.ProviderFunc(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
				mu.Lock()
				running[name]++
				total++
				most[name], all = max(most[name], running[name]), max(all, total)
				mu.Unlock()
				defer func() {
					mu.Lock()
					defer mu.Unlock()
					running[name]--
					total--
				}()
				return providers.Response{Text: "I say."}, sleepContext(ctx, 10*time.Second)
			})
		}
		began := time.Now()
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Protocol, c.Participants = debatetest.Mesh{}, nil
			for _, name := range []string{"A", "B", "C"} {
				c.Participants = append(c.Participants, debate.Participant{Name: name, Provider: name})
				o.Providers[name] = say(name)
			}
			o.Providers["j"] = scriptedJudgeOfAll(t, 1)
		})
		debatetest.Finish(t, d)
		require.Equal(t, map[string]int{"A": 1, "B": 1, "C": 1}, most)
		require.Equal(t, 3, all, "others speak at the same time")
		require.Equal(t, (10+2*10+10)*time.Second, time.Since(began), "each criticises two, one after the other")
		require.Len(t, debatetest.Result(t, d).Turns, 3+6+3+2)
	})
}

// The wait for an earlier call of the same actor does not count towards a step's time.
func TestAStepsTimeBeginsWithItsOwnCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Protocol, c.Limits.StepTimeout = debatetest.Mesh{}, time.Minute
			c.Participants = append(c.Participants, debate.Participant{Name: "C", Provider: "m"})
			o.Providers["m"] = debatetest.ProviderFunc(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
				return providers.Response{Text: "I say."}, sleepContext(ctx, 40*time.Second)
			})
			o.Providers["j"] = scriptedJudgeOfAll(t, 1)
		})
		debatetest.Finish(t, d)
		require.Len(t, debatetest.Result(t, d).Turns, 3+6+3+2)
	})
}

// blockingLogHandler is a log handler that blocks when a driver logs why it ends.
type blockingLogHandler struct {
	slog.Handler
	in, out chan struct{}
}

func (g blockingLogHandler) Enabled(context.Context, slog.Level) bool { return true }

func (g blockingLogHandler) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "drive debate" {
		g.in <- struct{}{}
		<-g.out
	}
	return nil
}

func TestAStartWhileTheLastDriverLeavesIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := blockingLogHandler{slog.DiscardHandler, make(chan struct{}), make(chan struct{})}
		d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) {
			o.Providers["m"], o.Logger = modelFailingFirst(1, providers.Authentication, transcript.Usage{}), slog.New(g)
		})
		require.NoError(t, d.Start(t.Context()))
		<-g.in // the debate is in error, and its driver has not left
		require.NoError(t, d.Retry(t.Context()))
		require.NoError(t, d.Start(t.Context()))
		close(g.out)
		synctest.Wait()
		require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
	})
}

func TestCloseReturnsWithItsContextThoughAViewerIsAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := debatetest.Engine(t, debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 1))})
		d := debatetest.Create(t, e, debatetest.PairConfig(nil))
		work, left := make(chan struct{}), make(chan error)
		go func() {
			var last error
			for _, last = range d.Run(t.Context()) {
				<-work
			}
			left <- last
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		closed := make(chan error, 1)
		go func() { closed <- e.Close(ctx) }()
		time.Sleep(time.Minute)
		require.Len(t, closed, 1, "it waits no longer than its context")
		require.ErrorIs(t, <-closed, context.DeadlineExceeded)
		close(work)
		require.ErrorIs(t, <-left, debate.ErrClosed)
	})
}

func TestADebateUnderTheIDOfADeletedOneRuns(t *testing.T) {
	for name, between := range map[string]func(){"at once": func() {}, "later": func() { time.Sleep(time.Minute) }} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := debatetest.Engine(t, debate.Options{Providers: providersOf(slowModel(), scriptedJudge(t, 1))})
				old := debatetest.Create(t, e, debatetest.PairConfig(nil))
				startAndPause(t, old)
				require.NoError(t, e.Delete(t.Context(), "d"))
				between()
				cfg := debatetest.PairConfig(nil)
				cfg.Topic = "Ban bikes?"
				d := debatetest.Create(t, e, cfg)
				require.Equal(t, debatetest.Result(t, d), debatetest.Result(t, old), "an old handle shows the debate that there is")
				require.NoError(t, d.Start(t.Context()))
				time.Sleep(time.Hour)
				require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
				require.Equal(t, "Ban bikes?", debatetest.Result(t, d).Topic)
				require.Len(t, debatetest.Result(t, d).Turns, 4)
			})
		})
	}
}

func TestAPauseDuringTheRoundDelayEndsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPanelDebate(t, 3, func(c *debate.Config, _ *debate.Options) { c.Limits.RoundDelay = time.Hour })
		began := time.Now()
		time.AfterFunc(time.Minute, func() { _ = d.Pause(t.Context()) })
		debatetest.Finish(t, d)
		require.Equal(t, fsm.Paused, debatetest.Result(t, d).State)
		require.Equal(t, time.Minute, time.Since(began))
	})
}

var errNoSpace = errors.New("no space left on device")

// failingCommitStore is a store that fails a number of times to commit a turn of the given actor. If actor is empty,
// it fails for every commit except the first of a debate.
type failingCommitStore struct {
	store.Store
	actor string
	times atomic.Int64
}

func (f *failingCommitStore) Commit(ctx context.Context, c store.Change) error {
	hit := f.actor == "" && c.After > 1
	for _, e := range c.Entries {
		hit = hit || f.actor != "" && strings.Contains(e.Key, "/"+f.actor+"/")
	}
	if hit && f.times.Add(-1) >= 0 {
		return errNoSpace
	}
	return f.Store.Commit(ctx, c)
}

func (f *failingCommitStore) Watch(id string, wake func(int64)) (stop func()) {
	return f.Store.(store.Watcher).Watch(id, wake)
}

func TestAStartedDebateOutlastsAFailureOfTheStore(t *testing.T) {
	for name, tt := range map[string]struct {
		actor string
		calls int
	}{"after the check": {"", 2}, "after a speech": {"B", 5}, "after an assessment": {"J", 2}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model, broken := talkingModel(), &failingCommitStore{Store: store.Memory(), actor: tt.actor}
				broken.times.Store(3)
				d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
					c.Limits.MaxRounds, c.Protocol = 1, panel.Protocol{Format: panel.RoundLimited}
					o.Providers["m"], o.Store = model, broken
				})
				began := time.Now()
				require.NoError(t, d.Start(t.Context()))
				watchAll(t, d, 0)
				require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
				require.Equal(t, (1+2+4)*time.Second, time.Since(began))
				require.Len(t, model.Calls(), tt.calls)
			})
		})
	}
}

// unsteadyStore fails the first commit of each turn.
type unsteadyStore struct {
	store.Store
	store.Watcher
	tried map[string]bool
}

func (u unsteadyStore) Commit(ctx context.Context, c store.Change) error {
	if key := c.Entries[0].Key; key != "" && !u.tried[key] {
		u.tried[key] = true
		return errNoSpace
	}
	return u.Store.Commit(ctx, c)
}

func TestTheWaitAfterAFailureOfTheStoreIsShortAgainAfterATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := store.Memory()
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Limits.MaxRounds, c.Protocol = 2, panel.Protocol{Format: panel.RoundLimited}
			o.Store = unsteadyStore{memory, memory.(store.Watcher), map[string]bool{}}
		})
		began := time.Now()
		require.NoError(t, d.Start(t.Context()))
		watchAll(t, d, 0)
		turns := len(debatetest.Result(t, d).Turns)
		require.Greater(t, turns, 4)
		require.Equal(t, time.Duration(turns)*time.Second, time.Since(began))
	})
}

// After a delay, a single plan begins a round and runs its first calls. The viewer sees the events of the round in
// between.
func TestNothingIsCalledThatIsEndedOrPausedBeforeItsCall(t *testing.T) {
	for _, act := range []struct {
		name string
		do   func(*debate.Debate, context.Context) error
		want fsm.State
	}{
		{"stop", (*debate.Debate).Stop, fsm.Completed},
		{"cancel", (*debate.Debate).Cancel, fsm.Canceled},
		{"pause", (*debate.Debate).Pause, fsm.Paused},
	} {
		for name, handle := range map[string]func(*testing.T, *debate.Debate) *debate.Debate{
			"by the handle that runs": func(_ *testing.T, d *debate.Debate) *debate.Debate { return d },
			"by another engine":       func(t *testing.T, d *debate.Debate) *debate.Debate { return d.OpenWithProvider(t, talkingModel()) },
		} {
			for _, mode := range panelModes {
				t.Run(act.name+" "+name+" "+string(mode), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						m := slowModel()
						d := newPanelDebate(t, 5, func(c *debate.Config, o *debate.Options) {
							c.Protocol, c.Limits.RoundDelay, o.Providers["m"] = panel.Protocol{Mode: mode}, time.Minute, m
						})
						var acted time.Time
						for ev, err := range d.Run(t.Context()) {
							require.NoError(t, err)
							if p, ok := ev.(debate.PhaseStarted); ok && p.Round == 2 && p.Phase == "respond" {
								acted = time.Now()
								require.NoError(t, act.do(handle(t, d), t.Context()))
							}
						}
						require.Zero(t, time.Since(acted), "it ends at once")
						require.Len(t, m.Calls(), 2, "those of the first round")
						require.Equal(t, act.want, debatetest.Result(t, d).State)
					})
				})
			}
		}
	}
}

// failingLoadStore is a store that fails to load a number of times.
type failingLoadStore struct {
	store.Store
	store.Watcher
	times atomic.Int64
}

func (l *failingLoadStore) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	if l.times.Add(-1) >= 0 {
		return store.Status{}, nil, errNoSpace
	}
	return l.Store.Load(ctx, id, after)
}

// A store announces a commit once. If the driver cannot read then, it tries again.
func TestACallIsCutWhereTheStoreFailedAtTheFirstLook(t *testing.T) {
	for _, times := range []int64{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			memory := store.Memory()
			s := &failingLoadStore{Store: memory, Watcher: memory.(store.Watcher)}
			d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) {
				o.Store, o.Providers["m"] = s, debatetest.ProviderFunc(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
					<-ctx.Done()
					return providers.Response{}, providers.ContextError(ctx, providers.Response{})
				})
			})
			elsewhere := debatetest.Engine(t, debate.Options{Store: memory})
			other := debatetest.Open(t, elsewhere, d.ID())
			ran := make(chan error, 1)
			go func() {
				_, err := debatetest.Run(t, d)
				ran <- err
			}()
			synctest.Wait() // the call is in flight
			s.times.Store(times)
			began := time.Now()
			require.NoError(t, other.Cancel(t.Context()))
			require.NoError(t, <-ran)
			require.LessOrEqual(t, time.Since(began), time.Duration(times)*time.Second)
			require.Negative(t, s.times.Load(), "it did fail")
			require.Equal(t, fsm.Canceled, debatetest.Result(t, d).State)
		})
	}
}

// schedulingStore is a store that has workers drive its debates.
type schedulingStore struct {
	store.Store
	store.Watcher
}

func (schedulingStore) Schedules() bool { return true }

func TestWhereWorkersDriveDoNeedsAPlan(t *testing.T) {
	do := func(t *testing.T, d *debate.Debate, want bool) {
		t.Helper()
		more, err := d.RunOnce(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, more)
	}
	for _, tt := range []struct {
		name  string
		reach func(t *testing.T, d *debate.Debate)
		state fsm.State
	}{
		{"never started", func(*testing.T, *debate.Debate) {}, fsm.Configuring},
		{"rejected", func(t *testing.T, d *debate.Debate) {
			locked := d.OpenWithProvider(t, providerWithFailingCheck{talkingModel(), &providers.Error{Kind: providers.Authentication, Err: errors.New("set M_KEY")}})
			require.NoError(t, d.Start(t.Context()))
			_, err := locked.RunOnce(t.Context())
			require.ErrorAs(t, err, new(*debate.Problems))
		}, fsm.Configuring},
		{"paused", func(t *testing.T, d *debate.Debate) {
			require.NoError(t, d.Start(t.Context()))
			do(t, d, true)
			require.NoError(t, d.Pause(t.Context()))
		}, fsm.Paused},
		{"ready again", func(t *testing.T, d *debate.Debate) {
			broken := d.OpenWithProvider(t, failingProvider{&providers.Error{Kind: providers.Authentication, Err: errors.New("the key has expired")}})
			require.NoError(t, broken.Start(t.Context()))
			do(t, broken, true)
			_, err := broken.RunOnce(t.Context())
			require.ErrorAs(t, err, new(*debate.Failure))
			require.NoError(t, d.Retry(t.Context()))
		}, fsm.Ready},
		{"canceled", func(t *testing.T, d *debate.Debate) {
			require.NoError(t, d.Start(t.Context()))
			require.NoError(t, d.Cancel(t.Context()))
		}, fsm.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			memory, m := store.Memory(), talkingModel()
			d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) {
				o.Store, o.Providers["m"] = schedulingStore{memory, memory.(store.Watcher)}, m
			})
			tt.reach(t, d)
			before := debatetest.Status(t, d)
			require.Equal(t, tt.state, before.State)
			require.Zero(t, before.Plan)
			do(t, d, false)
			require.Equal(t, before, debatetest.Status(t, d))
			require.Empty(t, m.Calls())
		})
	}
}

// The turns of an actor in a parallel phase are committed in the order of its calls, so that what the engine learns from one
// call after the other does not depend on chance.
func TestTurnsOfAnActorAreCommittedInTheOrderOfItsCalls(t *testing.T) {
	phase := protocol.Phase{Name: "speak", Parallel: true}
	for i := range 60 {
		for _, name := range []string{"A", "B"} {
			phase.Steps = append(phase.Steps, debatetest.Step(name, strconv.Itoa(i), nil))
		}
	}
	cfg := debatetest.PairConfig(phased{phase})
	cfg.Judges, cfg.Limits = nil, debate.Limits{MaxRounds: 10, OutputTokens: 1 << 30}
	d := debatetest.New(t, cfg, debate.Options{Providers: map[string]providers.Provider{"m": talkingModel()}})
	list, err := debatetest.Run(t, d)
	require.NoError(t, err)
	last := map[string]transcript.Turn{}
	for _, ev := range list {
		if done, ok := ev.(debate.TurnDone); ok {
			before := last[done.Turn.Actor]
			require.True(t, before.Round < done.Turn.Round || before.Order < done.Turn.Order, "%s after %s", done.Turn.Key, before.Key)
			last[done.Turn.Actor] = done.Turn
		}
	}
	require.Equal(t, "59", last["A"].Target)
}

package debate_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// modes are those of turns one after the other, and all at once.
var modes = []panel.Mode{panel.Sequential, panel.Simultaneous}

// After a delay one and the same plan begins a round and calls for it. The viewer hears of the round in between.
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
			"by another engine":       func(t *testing.T, d *debate.Debate) *debate.Debate { return d.In(t, chatter()) },
		} {
			for _, mode := range modes {
				t.Run(act.name+" "+name+" "+string(mode), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						m := slow()
						d := panelOf(t, 5, func(c *debate.Config, o *debate.Options) {
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
						require.Equal(t, act.want, result(t, d).State)
					})
				})
			}
		}
	}
}

// lapsing is a store that fails to load a number of times.
type lapsing struct {
	store.Store
	store.Watcher
	times atomic.Int64
}

func (l *lapsing) Load(ctx context.Context, id string, after int64) (store.Head, []store.Entry, error) {
	if l.times.Add(-1) >= 0 {
		return store.Head{}, nil, errNoSpace
	}
	return l.Store.Load(ctx, id, after)
}

// A store tells of a commit once. When the driver cannot look then, it looks again.
func TestACallIsCutWhereTheStoreFailedAtTheFirstLook(t *testing.T) {
	for _, times := range []int64{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			memory := store.Memory()
			s := &lapsing{Store: memory, Watcher: memory.(store.Watcher)}
			d := panelOf(t, 1, func(_ *debate.Config, o *debate.Options) {
				o.Store, o.Providers["m"] = s, generate(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
					<-ctx.Done()
					return providers.Response{}, providers.Ended(ctx, providers.Response{})
				})
			})
			elsewhere, err := debate.NewEngine(debate.Options{Store: memory})
			require.NoError(t, err)
			other, err := elsewhere.Open(t.Context(), d.ID())
			require.NoError(t, err)
			ran := make(chan error, 1)
			go func() {
				_, err := run(t, d)
				ran <- err
			}()
			synctest.Wait() // the call is in flight
			s.times.Store(times)
			began := time.Now()
			require.NoError(t, other.Cancel(t.Context()))
			require.NoError(t, <-ran)
			require.LessOrEqual(t, time.Since(began), time.Duration(times)*time.Second)
			require.Negative(t, s.times.Load(), "it did fail")
			require.Equal(t, fsm.Canceled, result(t, d).State)
		})
	}
}

// took is how much running time a debate counts, and how much has passed.
func took(t *testing.T, d *debate.Debate) (running, passed time.Duration) {
	began := time.Now()
	_, err := run(t, d)
	require.NoError(t, err)
	require.Equal(t, fsm.Completed, result(t, d).State)
	return result(t, d).Running, time.Since(began)
}

func TestAStepThatSatOutARateLimitCountsWhole(t *testing.T) {
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, m := time.Now(), chatter()
				d := panelOf(t, 2, func(c *debate.Config, o *debate.Options) {
					c.Protocol = panel.Protocol{Mode: mode}
					o.Providers["m"] = generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
						if time.Since(began) < 40*time.Minute { // eight times as long as a step may take
							return providers.Response{}, &providers.Error{Kind: providers.RateLimit, Err: errors.New("slow down")}
						}
						return m.Generate(ctx, r)
					})
				})
				running, passed := took(t, d)
				require.InDelta(t, passed, running, float64(time.Millisecond))
				require.Greater(t, running, 40*time.Minute-time.Second)
			})
		})
	}
}

func TestRemarksTakeNoRunningTimeAway(t *testing.T) {
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := panelOf(t, 2, func(c *debate.Config, o *debate.Options) {
					c.Protocol, o.Providers["m"] = panel.Protocol{Mode: mode}, slow()
				})
				ctx, leave := context.WithCancel(t.Context())
				go func() {
					for wait(ctx, 3*time.Second) == nil {
						assert.NoError(t, d.Inject(t.Context(), debate.Remark{From: "Guest", Text: "And then?"}))
					}
				}()
				running, passed := took(t, d)
				leave()
				require.Equal(t, passed, running)
				require.Equal(t, "Guest", result(t, d).Turns[0].Actor)
			})
		})
	}
}

// counting is a store that counts what is loaded.
type counting struct {
	store.Store
	store.Watcher
	loads atomic.Int64
}

func (c *counting) Load(ctx context.Context, id string, after int64) (store.Head, []store.Entry, error) {
	c.loads.Add(1)
	return c.Store.Load(ctx, id, after)
}

func TestChunksAreWatchedWithoutALookAtTheJournal(t *testing.T) {
	const chunks = 100
	synctest.Test(t, func(t *testing.T) {
		memory := store.Memory()
		s := &counting{Store: memory, Watcher: memory.(store.Watcher)}
		d := panelOf(t, 2, func(_ *debate.Config, o *debate.Options) {
			o.Store, o.Providers["m"] = s, generate(func(_ context.Context, r providers.Request) (providers.Response, error) {
				synctest.Wait() // the viewer has read all that is stored
				before := s.loads.Load()
				for range chunks {
					if err := r.OnChunk("word "); err != nil {
						return providers.Response{}, err
					}
					synctest.Wait() // and now this piece
				}
				assert.Equal(t, before, s.loads.Load())
				return providers.Response{Text: "the last word"}, nil
			})
		})
		require.NoError(t, d.Start(t.Context()))
		live, heard := watch(t, d, 0), 0
		for _, ev := range live {
			if c, ok := ev.(debate.Chunk); ok && c.Text == "word " {
				heard++
			}
		}
		require.Equal(t, 4*chunks, heard, "each as it came")
		require.Equal(t, storedJSON(t, watch(t, d, 0)), storedJSON(t, live), "and all that is stored")
		require.IsType(t, debate.Ended{}, live[len(live)-1])
	})
}

// scheduling is a store whose debates workers drive.
type scheduling struct {
	store.Store
	store.Watcher
}

func (scheduling) Schedules() bool { return true }

func TestWhereWorkersDriveDoNeedsAPlan(t *testing.T) {
	do := func(t *testing.T, d *debate.Debate, want bool) {
		t.Helper()
		more, err := d.Do(t.Context())
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
			c := pair(nil)
			c.Participants[0].Provider = "elsewhere"
			require.NoError(t, d.Edit(t.Context(), c))
			require.NoError(t, d.Start(t.Context()))
			_, err := d.Do(t.Context())
			require.ErrorAs(t, err, new(*debate.Problems))
		}, fsm.Configuring},
		{"paused", func(t *testing.T, d *debate.Debate) {
			require.NoError(t, d.Start(t.Context()))
			do(t, d, true)
			require.NoError(t, d.Pause(t.Context()))
		}, fsm.Paused},
		{"ready again", func(t *testing.T, d *debate.Debate) {
			broken := d.In(t, fails{&providers.Error{Kind: providers.Authentication, Err: errors.New("the key has expired")}})
			require.NoError(t, broken.Start(t.Context()))
			do(t, broken, true)
			_, err := broken.Do(t.Context())
			require.ErrorAs(t, err, new(*debate.Failure))
			require.NoError(t, d.Retry(t.Context()))
		}, fsm.Ready},
		{"canceled", func(t *testing.T, d *debate.Debate) {
			require.NoError(t, d.Start(t.Context()))
			require.NoError(t, d.Cancel(t.Context()))
		}, fsm.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			memory, m := store.Memory(), chatter()
			d := panelOf(t, 1, func(_ *debate.Config, o *debate.Options) {
				o.Store, o.Providers["m"] = scheduling{memory, memory.(store.Watcher)}, m
			})
			tt.reach(t, d)
			before := head(t, d)
			require.Equal(t, tt.state, before.State)
			require.Zero(t, before.Plan)
			do(t, d, false)
			require.Equal(t, before, head(t, d))
			require.Empty(t, m.Calls())
		})
	}
}

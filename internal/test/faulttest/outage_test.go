package faulttest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// server is a model that cannot be reached from a call on, until it is up again.
type server struct {
	mu     sync.Mutex
	calls  int
	down   int                            // number of the call at which it goes down; 0 for never
	only   func(r providers.Request) bool // the requests that do not reach it; nil for all
	upTime time.Time                      // when it is up again; zero for never
	outage time.Duration                  // 0 for ever
	failed int
}

func (s *server) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	s.mu.Lock()
	s.calls++
	if s.down > 0 && s.calls == s.down && s.outage > 0 {
		s.upTime = time.Now().Add(s.outage)
	}
	down := s.down > 0 && s.calls >= s.down && (s.upTime.IsZero() || time.Now().Before(s.upTime)) && (s.only == nil || s.only(r))
	if down {
		s.failed++
	}
	s.mu.Unlock()
	if down {
		return providers.Response{}, &providers.Error{Kind: providers.Network, Err: errors.New("connection refused")}
	}
	time.Sleep(time.Second)
	text := enginetest.Reply(r, []string{"A", "B", "C"}, "So it is.", 0)
	return providers.Response{Text: text, Usage: transcript.Usage{Input: 10, Output: 5}}, r.OnChunk(text)
}

// repair makes the server reachable.
func (s *server) repair() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = 0
}

// newServed creates a debate of three participants whose models are all on the servers m and j.
func newServed(t *testing.T, s store.Store, mode panel.Mode, m, j *server) *debate.Debate {
	t.Helper()
	_, d := servedBy(t, s, mode, m, j)
	return d
}

// servedBy does so and returns the engine too.
func servedBy(t *testing.T, s store.Store, mode panel.Mode, m, j *server) (*debate.Engine, *debate.Debate) {
	t.Helper()
	e := debatetest.Engine(t, debate.Options{Store: s, Providers: map[string]providers.Provider{"m": m, "j": j}})
	cfg := debatetest.PairConfig(panel.Protocol{Mode: mode})
	cfg.Participants = append(cfg.Participants, debate.Participant{Name: "C", Provider: "m"})
	cfg.Limits = debate.Limits{MinRounds: 6, MaxRounds: 6, RunningTime: 30 * time.Minute}
	d := debatetest.Create(t, e, cfg)
	return e, d
}

// onceWithDeadline drives a debate as workers do, with a deadline for each job. A job that fails is tried again.
func onceWithDeadline(ctx context.Context, d *debate.Debate) error {
	for {
		job, cancel := context.WithTimeout(ctx, 2*time.Minute)
		more, err := d.RunOnce(job)
		cancel()
		if _, failed := errors.AsType[*debate.Failure](err); failed || err == nil && !more {
			return err
		}
		if err != nil {
			time.Sleep(10 * time.Second)
		}
	}
}

// untilStopped runs a debate in the background until it stops.
func untilStopped(ctx context.Context, d *debate.Debate) error {
	if err := d.Start(ctx); err != nil {
		return err
	}
	for {
		time.Sleep(time.Second)
		r, err := d.Result(ctx)
		switch {
		case err != nil:
			return err
		case r.Failure != nil:
			return r.Failure
		case !r.State.Active():
			return nil
		}
	}
}

var outageDrivers = map[string]func(context.Context, *debate.Debate) error{
	"run": driveModes["run"], "jobs": onceWithDeadline, "start": untilStopped,
}

// turnKeysWithoutOutage returns the turns of the debate when its servers are always up.
func turnKeysWithoutOutage(t *testing.T, mode panel.Mode) (keys []string) {
	synctest.Test(t, func(t *testing.T) {
		d := newServed(t, store.Memory(), mode, &server{}, &server{})
		debatetest.Finish(t, d)
		keys = debatetest.TurnKeys(debatetest.Result(t, d))
	})
	return keys
}

// A server that is restarted in the middle of a debate costs nobody the place in it.
func TestADebateOutlivesAnOutage(t *testing.T) {
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		want := turnKeysWithoutOutage(t, mode)
		for name, drive := range outageDrivers {
			for at, servers := range map[string][2]*server{
				"speaker": {{down: 8, outage: 25 * time.Second}, {}},
				"long":    {{down: 8, outage: 10 * time.Minute}, {}},
				"judge":   {{}, {down: 3, outage: 25 * time.Second}},
				"verdict": {{}, {down: 7, outage: 3 * time.Minute}},
			} {
				t.Run(string(mode)+"/"+name+"/"+at, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						m, j := &server{down: servers[0].down, outage: servers[0].outage}, &server{down: servers[1].down, outage: servers[1].outage}
						d := newServed(t, store.Memory(), mode, m, j)
						require.NoError(t, drive(t.Context(), d))
						r := debatetest.Result(t, d)
						require.Equal(t, fsm.Completed, r.State)
						require.Equal(t, transcript.RoundLimit, r.Ending.Outcome)
						require.Equal(t, want, debatetest.TurnKeys(r))
						for _, turn := range r.Turns {
							require.Empty(t, turn.Flags)
						}
						require.Positive(t, m.failed+j.failed)
					})
				})
			}
		}
	}
}

// A server that stays down stops the debate in error when its time budget is over. Retry continues with everyone.
func TestAnOutageEndsInAnError(t *testing.T) {
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		want := turnKeysWithoutOutage(t, mode)
		for name, drive := range outageDrivers {
			for at, downs := range map[string][2]int{"speaker": {8, 0}, "judge": {0, 3}, "verdict": {0, 7}} {
				t.Run(string(mode)+"/"+name+"/"+at, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						m, j := &server{down: downs[0]}, &server{down: downs[1]}
						d := newServed(t, store.Memory(), mode, m, j)
						began := time.Now()
						err := drive(t.Context(), d)
						var failed *debate.Failure
						require.ErrorAs(t, err, &failed)
						require.Equal(t, providers.Network, failed.Kind)
						require.True(t, failed.Unreachable)
						require.Contains(t, failed.Hint(), "cannot be reached")
						r := debatetest.Result(t, d)
						require.Equal(t, fsm.Error, r.State)
						for _, p := range r.Participants {
							require.NotEqual(t, "dropped", p.State)
						}
						took := time.Since(began)
						require.LessOrEqual(t, took, 32*time.Minute, "the budget limits the wait")
						if at != "verdict" { // a conclusion has the time that is reserved for it
							require.Greater(t, took, 20*time.Minute, "the debate waits")
						}
						require.Less(t, r.RunningTime, 2*time.Minute, "the wait takes no running time")
						m.repair()
						j.repair()
						require.NoError(t, d.Retry(t.Context()))
						require.NoError(t, drive(t.Context(), d))
						r = debatetest.Result(t, d)
						require.Equal(t, fsm.Completed, r.State)
						require.Equal(t, transcript.RoundLimit, r.Ending.Outcome)
						require.Equal(t, want, debatetest.TurnKeys(r))
					})
				})
			}
		}
	}
}

// If the provider answers other debates meanwhile, only the participant whose calls fail is dropped.
func TestAProviderThatAnswersOthersIsReachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &server{}
		broken := debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
			if r.Model == "broken" {
				return providers.Response{}, &providers.Error{Kind: providers.Network, Err: errors.New("reset by peer")}
			}
			return model.Generate(ctx, r)
		})
		e := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"m": broken, "j": broken}})
		cfg := debatetest.PairConfig(nil)
		cfg.ID = "other"
		cfg.Limits.MinRounds = 100
		cfg.Limits.MaxRounds = 100
		other := debatetest.Create(t, e, cfg)
		require.NoError(t, other.Start(t.Context()))

		cfg = debatetest.PairConfig(nil)
		cfg.Participants = append(cfg.Participants, debate.Participant{Name: "C", Provider: "m", Model: "broken"})
		cfg.Limits = debate.Limits{MaxRounds: 2}
		d := debatetest.Create(t, e, cfg)
		r := debatetest.RunResult(t, d)
		require.Equal(t, fsm.Completed, r.State)
		require.Equal(t, "dropped", r.Participants[2].State)
		require.NoError(t, other.Cancel(t.Context()))
		require.NoError(t, e.Close(t.Context()))
	})
}

// The waits of an outage are in the journal, so the time of all jobs together is limited.
func TestJobsShareTheTimeOfAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store.Memory()
		d := newServed(t, s, panel.Sequential, &server{down: 1}, &server{})
		began := time.Now()
		require.ErrorAs(t, onceWithDeadline(t.Context(), d), new(*debate.Failure))
		require.Less(t, time.Since(began), 32*time.Minute)
		require.Contains(t, debatetest.Result(t, d).Annotations, "outage")
	})
}

// restarted is a server that cannot be reached for 20 s. Calls that are in flight when it goes down break off, some after the
// first half of their replies. Some replies are empty at first, so that the steps of a phase do not call at the same time.
type restarted struct {
	reply func(r providers.Request) string
	down  time.Time

	mu     sync.Mutex
	asked  map[uint64]bool
	broken int // calls that the outage has broken off
}

func (s *restarted) isDown() bool {
	since := time.Since(s.down)
	return since >= 0 && since < 20*time.Second
}

// delivers reports whether the server is up for the time.
func (s *restarted) delivers(took time.Duration) bool {
	for ; took > 0 && !s.isDown(); took -= 100 * time.Millisecond {
		time.Sleep(100 * time.Millisecond)
	}
	return !s.isDown()
}

func (s *restarted) Generate(_ context.Context, r providers.Request) (resp providers.Response, err error) {
	failed := &providers.Error{Kind: providers.Network, Err: errors.New("connection refused")}
	h := fnv.New64a()
	fmt.Fprint(h, r.SchemaName, r.Messages)
	sum := h.Sum64()
	s.mu.Lock()
	first := !s.asked[sum]
	s.asked[sum] = true
	s.mu.Unlock()
	text, took := s.reply(r), time.Duration(1+sum%7)*time.Second
	switch {
	case s.isDown():
		return resp, failed
	case first && sum%3 == 0:
		text, took = "", time.Second
	}
	half := ""
	if s.delivers(took) && sum%2 == 0 {
		half = text[:len(text)/2]
		if err := r.OnChunk(half); half != "" && err != nil {
			return resp, err
		}
	}
	if s.isDown() || !s.delivers(took) {
		s.mu.Lock()
		s.broken++
		s.mu.Unlock()
		failed.Err, failed.Partial.Text = errors.New("connection reset"), half
		return resp, failed
	}
	return providers.Response{Text: text, FinishReason: providers.Stop}, r.OnChunk(text[len(half):])
}

// A server that is restarted costs nobody the place in a debate, wherever the steps of a parallel phase are by then.
func TestAnOutageInAParallelPhase(t *testing.T) {
	run := func(t *testing.T, cfg debate.Config, at time.Duration) (keys []string, took time.Duration, broken int) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			s := &restarted{reply: func(r providers.Request) string { return enginetest.PresetReply(cfg, r) }, down: began.Add(at), asked: map[uint64]bool{}}
			d := debatetest.New(t, cfg, debate.Options{Providers: map[string]providers.Provider{"m": s}})
			require.NoError(t, d.Start(t.Context())) // Run would not wait for a provider that has never answered
			for ev, err := range d.Watch(t.Context(), 0) {
				require.NoError(t, err)
				_, dropped := ev.(debate.Dropped)
				require.False(t, dropped)
			}
			r := debatetest.Result(t, d)
			require.Equal(t, fsm.Completed, r.State)
			for _, turn := range r.Turns {
				if turn.Actor != protocol.Embedder { // a debate does not wait for vectors
					require.Empty(t, turn.Flags, turn.Key)
				}
			}
			keys = debatetest.TurnKeys(r)
			took = time.Since(began)
			broken = s.broken
		})
		return keys, took, broken
	}
	for name, cfg := range enginetest.PresetConfigs() {
		t.Run(name, func(t *testing.T) {
			want, length, _ := run(t, cfg, -time.Hour)
			broken := 0
			for at := time.Second; at < length; at += length / 20 {
				keys, took, n := run(t, cfg, at)
				require.Equal(t, want, keys, at)
				require.Less(t, took, length+3*time.Minute, at)
				broken += n
			}
			require.Positive(t, broken)
		})
	}
}

// A call that was answered before the outage proves nothing, although it began after those that fail.
func TestAnAnswerBeforeAnOutageIsNoneAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down, calls := time.Now().Add(5*time.Second), 0
		var mu sync.Mutex
		m := debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
			mu.Lock()
			calls++
			n := calls
			mu.Unlock()
			s := &restarted{down: down}
			text, took := "So be it.", 8*time.Second
			switch n { // the second call of one participant begins after those of the others, and ends before the outage
			case 3:
				text, took = "", time.Second
			case 4:
				took = 2 * time.Second
			}
			if !s.delivers(took) {
				return providers.Response{}, &providers.Error{Kind: providers.Network, Err: errors.New("connection refused")}
			}
			return providers.Response{Text: enginetest.Reply(r, []string{"A", "B", "C"}, text, 0), FinishReason: providers.Stop}, nil
		})
		cfg := debatetest.PairConfig(panel.Protocol{Mode: panel.Simultaneous})
		cfg.Participants = append(cfg.Participants, debate.Participant{Name: "C", Provider: "m"})
		cfg.Limits = debate.Limits{MaxRounds: 1}
		d := debatetest.New(t, cfg, debate.Options{Providers: map[string]providers.Provider{"m": m, "j": m}})
		r := debatetest.RunResult(t, d)
		require.Equal(t, fsm.Completed, r.State)
		require.Len(t, r.Turns, 5)
	})
}

// A participant whose calls alone fail is dropped, even if nobody else called while it retried: it waits, and by
// then the provider has answered others.
func TestAProviderThatAnswersOthersDuringTheWaitIsReachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
			if r.Model == "broken" {
				return providers.Response{}, &providers.Error{Kind: providers.Network, Err: errors.New("reset by peer")}
			}
			time.Sleep(25 * time.Second)
			return providers.Response{Text: enginetest.Reply(r, []string{"A", "B", "C"}, "So it is.", 0), FinishReason: providers.Stop}, nil
		})
		e := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"m": m, "j": m}})
		cfg := debatetest.PairConfig(nil)
		cfg.ID, cfg.Limits = "other", debate.Limits{MinRounds: 50, MaxRounds: 50, OutputTokens: 1 << 30}
		other := debatetest.Create(t, e, cfg)
		require.NoError(t, other.Start(t.Context()))

		cfg.ID, cfg.Limits = "d", debate.Limits{MaxRounds: 2}
		cfg.Participants = append(cfg.Participants, debate.Participant{Name: "C", Provider: "m", Model: "broken"})
		d := debatetest.Create(t, e, cfg)
		debatetest.Finish(t, d)
		require.Equal(t, "dropped", debatetest.Result(t, d).Participants[2].State)
		require.NoError(t, other.Cancel(t.Context()))
		require.NoError(t, e.Close(t.Context()))
	})
}

// A step that waits for its next attempt waits no longer once the debate is paused or its engine is closed. What runs
// ends, nothing fails, and the debate continues with everybody.
func TestNothingWaitsWhileTheDebateIsPaused(t *testing.T) {
	type end = func(e *debate.Engine, d, other *debate.Debate, ctx context.Context) error
	for how, end := range map[string]end{
		"pause":          func(_ *debate.Engine, d, _ *debate.Debate, ctx context.Context) error { return d.Pause(ctx) },
		"pause by other": func(_ *debate.Engine, _, other *debate.Debate, ctx context.Context) error { return other.Pause(ctx) },
		"close":          func(e *debate.Engine, _, _ *debate.Debate, ctx context.Context) error { return e.Close(ctx) },
	} {
		for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
			for _, wait := range []time.Duration{15 * time.Second, 5 * time.Minute} { // between retries, and for the provider
				t.Run(fmt.Sprintf("%s/%s/%v", how, mode, wait), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						s, m := store.Memory(), &server{down: 5}
						e, d := servedBy(t, s, mode, m, m)
						o := debatetest.Engine(t, debate.Options{Store: s, Providers: map[string]providers.Provider{"m": m, "j": m}})
						other := debatetest.Open(t, o, d.ID())
						done, ended := make(chan error, 1), time.Time{}
						go func() {
							var last error
							for _, err := range d.Run(t.Context()) {
								last = err
							}
							ended = time.Now()
							done <- last
						}()
						time.Sleep(wait)
						began := time.Now()
						require.NoError(t, end(e, d, other, t.Context()))
						err := <-done
						require.LessOrEqual(t, ended.Sub(began), time.Second, "a call takes as long")
						if how == "close" {
							require.ErrorIs(t, err, debate.ErrClosed)
						} else {
							require.NoError(t, err)
							require.Equal(t, fsm.Paused, debatetest.Result(t, other).State)
							require.NoError(t, other.Resume(t.Context()))
						}
						m.repair()
						r := debatetest.RunResult(t, other)
						require.Equal(t, fsm.Completed, r.State)
						for _, turn := range r.Turns {
							require.Empty(t, turn.Flags)
						}
						for _, p := range r.Participants {
							require.NotEqual(t, "dropped", p.State)
						}
					})
				})
			}
		}
	}
}

// A debate that was paused and resumed during a call retries that call.
func TestACallAfterAShortPauseIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d *debate.Debate
		calls := 0
		m := debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
			calls++
			if calls == 2 {
				require.NoError(t, d.Pause(context.Background()))
				synctest.Wait()
				require.NoError(t, d.Resume(context.Background()))
				synctest.Wait()
				return providers.Response{}, &providers.Error{Kind: providers.ServerError, Err: errors.New("busy")}
			}
			return providers.Response{Text: enginetest.Reply(r, []string{"A", "B"}, "So it is.", 0)}, nil
		})
		d = newPairOn(t, store.Memory(), m, nil)
		r := debatetest.RunResult(t, d)
		require.Equal(t, fsm.Completed, r.State)
		require.Len(t, r.Turns[1].Attempts, 2)
	})
}

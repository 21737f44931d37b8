package enginetest

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

var recoveryTests = map[string]func(*env){
	"a debate interrupted after any event equals an undisturbed one":       (*env).interruptedAnywhere,
	"a debate with a process for each event equals an undisturbed one":     (*env).processPerEvent,
	"a store that fails at any commit neither loses nor duplicates turns":  (*env).commitFails,
	"after an authentication error, Retry calls the missing steps":         (*env).authenticationFails,
	"a process that dies in its first call leaves its name":                (*env).namedDies,
	"two processes that run one debate concurrently get the result of one": (*env).runTwice,
}

func (s *env) interruptedAnywhere() {
	s.forEachMode(func(s *env, cfg debate.Config, want reference) {
		id := cfg.ID
		moments := s.moments()
		for i, kind := range want.events {
			if !moments.Tries(kind) {
				continue
			}
			cfg.ID = fmt.Sprint(id, i+1)
			s.runSubtest(fmt.Sprint("event ", i+1), func(s *env) { s.interruptedAfter(i+1, cfg, s.runInMemory(cfg).text) })
		}
	})
}

func (s *env) interruptedAfter(n int, cfg debate.Config, want string) {
	first, second := s.newProcess(), s.newProcess()
	require.True(s, s.runUntilEvent(s.create(first, cfg), n))
	d := s.open(second, cfg.ID)
	stood := s.result(d).Turns
	s.runToEnd(d)
	require.Equal(s, want, s.transcript(d))
	s.requireNoRepeatedCalls(first, nil)
	s.requireNoRepeatedCalls(second, stood)
	if reflect.DeepEqual(cfg.Protocol, modes["in sequence"]) {
		require.Equal(s, turnDigests(s.result(d).Turns), append(first.model.requestDigests(), second.model.requestDigests()...), "each step is called once")
	}
}

func (s *env) processPerEvent() {
	s.forEachMode(func(s *env, cfg debate.Config, want reference) {
		d := s.create(s.newProcess(), cfg)
		for !s.status(d).State.Final() {
			p := s.newProcess()
			d = s.open(p, cfg.ID)
			stood := s.result(d).Turns
			s.runUntilEvent(d, 1)
			s.requireNoRepeatedCalls(p, stood)
		}
		require.Equal(s, want.text, s.transcript(s.openInNewProcess(cfg.ID)))
	})
}

func (s *env) commitFails() {
	s.forEachMode(func(s *env, cfg debate.Config, want reference) {
		id, moments := cfg.ID, s.moments()
		for n := 1; n <= want.commits; n++ {
			for when, after := range map[string]bool{"before": false, "after": true} {
				if !moments.Tries(when) {
					continue
				}
				cfg.ID = fmt.Sprint(id, n, when)
				s.runSubtest(fmt.Sprint(when, " commit ", n), func(s *env) {
					s.create(s.newProcess(), cfg)
					o := s.runDebate(s.open(s.newProcessOver(&failingStore{Store: s.backend.Open(s), failAt: int64(n), afterCommit: after}), cfg.ID))
					require.ErrorIs(s, o.err, errDisk)
					p := s.newProcess()
					d := s.open(p, cfg.ID)
					stood := s.result(d).Turns
					s.runToEnd(d)
					s.requireNoRepeatedCalls(p, stood)
					require.Equal(s, s.runInMemory(cfg).text, s.transcript(d))
					s.requireJournalValid(cfg.ID)
				})
			}
		}
	})
}

func (s *env) authenticationFails() {
	s.forEachMode(func(s *env, cfg debate.Config, want reference) {
		first := s.newProcess()
		first.model.hook = failAuthenticationOfB
		o := s.runDebate(s.create(first, cfg))
		var failure *debate.Failure
		require.ErrorAs(s, o.err, &failure)
		require.Equal(s, providers.Authentication, failure.Kind)

		second := s.newProcess()
		d := s.open(second, cfg.ID)
		r := s.result(d)
		require.Equal(s, fsm.Error, r.State)
		require.Equal(s, failure.Key, r.Failure.Key)
		require.Equal(s, providers.Authentication, r.Failure.Kind)
		require.Equal(s, []string{"1/1/respond/A/"}, s.turnKeys(d), "the turns of others are kept")
		require.ErrorAs(s, s.runDebate(d).err, &failure, "the error persists without Retry")
		require.NoError(s, d.Retry(s.ctx))

		third := s.newProcess()
		d = s.open(third, cfg.ID)
		require.Equal(s, fsm.Ready, s.status(d).State)
		s.runToEnd(d)
		require.Equal(s, want.text, s.transcript(d))
		require.Empty(s, second.model.requestDigests())
		require.ElementsMatch(s, turnDigests(s.result(d).Turns)[1:], third.model.requestDigests(), "each missing step is called once")
	})
}

func (s *env) runTwice() {
	s.forEachMode(func(s *env, cfg debate.Config, want reference) {
		s.create(s.newProcess(), cfg)
		var meeting sync.WaitGroup // both processes meet at their first calls
		meeting.Add(2)
		var procs []*process
		var done []<-chan runOutcome
		for range 2 {
			p := s.newProcess()
			meet := sync.OnceFunc(func() { meeting.Done(); meeting.Wait() })
			p.model.hook = func(context.Context, providers.Request) error { meet(); return nil }
			procs, done = append(procs, p), append(done, s.runInBackground(s.open(p, cfg.ID)))
		}
		for i, p := range procs {
			o := await(s, done[i], "the end of a process")
			require.NoError(s, o.err)
			require.IsType(s, debate.Ended{}, o.events[len(o.events)-1])
			s.requireNoRepeatedCalls(p, nil)
		}
		require.Equal(s, want.text, s.transcript(s.openInNewProcess(cfg.ID)))
		s.requireJournalValid(cfg.ID)
	})
}

// namedDies has a process with a name die in its first call. Another one with the same name continues at once: no heartbeat is due
// for an hour.
func (s *env) namedDies() {
	if _, keeps := s.backend.Open(s).(store.Heartbeats); !keeps {
		s.Skip("the store keeps no heartbeats")
	}
	for name, drive := range map[string]func(*debate.Debate){
		"start": func(d *debate.Debate) { require.NoError(s, d.Start(s.ctx)) },
		"run":   func(d *debate.Debate) { s.runInBackground(d) },
	} {
		s.runSubtest(name, func(s *env) {
			named := func(o *debate.Options) { o.Name, o.HeartbeatInterval = "service", time.Hour }
			mortal := &mortalStore{Store: s.backend.Open(s)}
			called := make(chan struct{})
			old := s.newProcessOver(mortal, named)
			old.model.hook = func(ctx context.Context, _ providers.Request) error {
				close(called)
				<-ctx.Done()
				return context.Cause(ctx)
			}
			cfg := pair(nil)
			cfg.ID = "named-" + name
			drive(s.create(old, cfg))
			<-called
			mortal.dead.Store(true)

			next := s.newProcess(named)
			require.NoError(s, next.Recover(s.ctx))
			for ev, err := range s.open(next, cfg.ID).Watch(s.ctx, 0) {
				require.NoError(s, err)
				if end, ended := ev.(debate.Ended); ended {
					require.Equal(s, fsm.Completed, end.Result.State)
				}
			}
			_ = old.Close(s.ctx)
			require.NoError(s, next.Close(s.ctx))
		})
	}
}

// mortalStore is the store of a process that dies: nothing more is written.
type mortalStore struct {
	store.Store

	dead atomic.Bool
}

func (m *mortalStore) Commit(ctx context.Context, c store.Change) error {
	if m.dead.Load() {
		return errDisk
	}
	return m.Store.Commit(ctx, c)
}

// Beat implements store.Heartbeats.
func (m *mortalStore) Beat(ctx context.Context, h store.Heartbeat, since time.Time, ids ...string) ([]string, error) {
	if m.dead.Load() {
		return nil, errDisk
	}
	return m.Store.(store.Heartbeats).Beat(ctx, h, since, ids...)
}

// Forget implements store.Heartbeats.
func (m *mortalStore) Forget(ctx context.Context, driver string, ids ...string) error {
	if m.dead.Load() {
		return errDisk
	}
	return m.Store.(store.Heartbeats).Forget(ctx, driver, ids...)
}

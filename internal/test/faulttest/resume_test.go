package faulttest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/store"
)

// disturbed is a store that calls functions before it writes a heartbeat, and after a commit. Both may be nil.
type disturbed struct {
	*mortal
	beforeBeat  func() error
	afterCommit func()
}

func (s *disturbed) Beat(ctx context.Context, h store.Heartbeat, since time.Time, ids ...string) ([]string, error) {
	if s.beforeBeat != nil {
		if err := s.beforeBeat(); err != nil {
			return nil, err
		}
	}
	return s.mortal.Beat(ctx, h, since, ids...)
}

func (s *disturbed) Commit(ctx context.Context, c store.Change) error {
	err := s.mortal.Commit(ctx, c)
	if s.afterCommit != nil {
		s.afterCommit()
	}
	return err
}

// leftPaused starts a debate and pauses it. Then the engine that drives it dies.
func leftPaused(t *testing.T, shared store.Store, m *meter) {
	t.Helper()
	dying := newMortal(shared)
	old := newTestEngine(t, processOptions(dying, m, "old"))
	d := debatetest.Create(t, old, pairConfig("d"))
	require.NoError(t, d.Start(t.Context()))
	time.Sleep(time.Second)
	require.NoError(t, d.Pause(t.Context()))
	time.Sleep(time.Minute)
	require.Equal(t, "old", debatetest.Status(t, d).Driver.Name)
	dying.die(t, old)
	time.Sleep(time.Minute) // its last heartbeat is too old
}

// Resume in another process leaves a debate to the engine that drives it. That repeats no call.
func TestResumeLeavesADebateToItsEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared, m := store.Memory(), newMeter()
		d := debatetest.Create(t, newTestEngine(t, processOptions(shared, m, "old")), pairConfig("d"))
		require.NoError(t, d.Start(t.Context()))
		time.Sleep(time.Second)
		require.NoError(t, d.Pause(t.Context()))
		time.Sleep(time.Minute)
		other := debatetest.Open(t, newTestEngine(t, processOptions(shared, m, "other")), "d")
		require.NoError(t, other.Resume(t.Context()))
		time.Sleep(time.Hour)
		r := debatetest.Result(t, other)
		require.Equal(t, fsm.Completed, r.State)
		require.EqualValues(t, len(r.Turns), m.calls.Load())
	})
}

// Resume drives nothing in the background that was not driven there before: the caller of Run or RunOnce drives.
func TestResumeLeavesADebateToItsCaller(t *testing.T) {
	resume := func(t *testing.T, d *debate.Debate) {
		require.NoError(t, d.Pause(t.Context()))
		require.NoError(t, d.Resume(t.Context()))
	}
	for name, during := range map[string]func(*testing.T, *debate.Debate, store.Store){
		"in the loop of Run": func(t *testing.T, d *debate.Debate, _ store.Store) {
			for ev, err := range d.Run(t.Context()) {
				require.NoError(t, err)
				if _, ok := ev.(debate.TurnDone); ok {
					require.Equal(t, "x", debatetest.Status(t, d).Driver.Name)
					resume(t, d)
					break
				}
			}
		},
		"an engine could not drive it": func(t *testing.T, d *debate.Debate, s store.Store) {
			for ev, err := range d.Run(t.Context()) {
				require.NoError(t, err)
				if _, ok := ev.(debate.PhaseStarted); ok {
					break
				}
			}
			lacking := debatetest.Open(t, newTestEngine(t, debate.Options{Store: s, Name: "lacking"}), "d")
			require.ErrorIs(t, lacking.Start(t.Context()), debate.ErrUnsupported)
			require.NotEmpty(t, debatetest.Status(t, d).Driver.Missing)
			resume(t, d)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, m := store.Memory(), newMeter()
				d := debatetest.Create(t, newTestEngine(t, processOptions(s, m, "x")), pairConfig("d"))
				during(t, d, s)
				calls := m.calls.Load()
				time.Sleep(time.Hour)
				require.Equal(t, calls, m.calls.Load())
				require.Equal(t, fsm.AwaitingResponses, debatetest.Status(t, d).State)
			})
		})
	}
}

// If Resume cannot find out who drives the debate, or cannot say that this engine does, it returns the error. The debate
// is no longer paused, and a second call continues it.
func TestResumeIsRepeatedAfterAnErrorOfTheStore(t *testing.T) {
	for name, fail := range map[string]func(*disturbed) (repair func()){
		"read the status": func(s *disturbed) func() {
			broken := &unreadable{Store: s.Store}
			s.Store, s.afterCommit = broken, func() { broken.broken.Store(true) }
			return func() { s.afterCommit = nil; broken.broken.Store(false) }
		},
		"write a heartbeat": func(s *disturbed) func() {
			s.beforeBeat = func() error { return errors.New("read-only") }
			return func() { s.beforeBeat = nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shared, m := store.Memory(), newMeter()
				leftPaused(t, shared, m)
				s := &disturbed{mortal: newMortal(shared)}
				d := debatetest.Open(t, newTestEngine(t, processOptions(s, m, "other")), "d")
				repair := fail(s)
				require.Error(t, d.Resume(t.Context()))
				repair()
				require.NotEqual(t, fsm.Paused, debatetest.Status(t, d).State)
				require.NoError(t, d.Resume(t.Context()))
				time.Sleep(time.Hour)
				require.Equal(t, fsm.Completed, debatetest.Status(t, d).State)
			})
		})
	}
}

// What another process does to a debate at the same moment is no error of Resume.
func TestAnotherProcessIsFasterThanResume(t *testing.T) {
	for name, tt := range map[string]struct {
		act  func(*testing.T, store.Store, *debate.Debate) error
		want fsm.State
	}{
		"it cancels": {func(t *testing.T, _ store.Store, d *debate.Debate) error { return d.Cancel(t.Context()) }, fsm.Canceled},
		"it drives": {func(t *testing.T, s store.Store, _ *debate.Debate) error {
			now := time.Now()
			_, err := s.(store.Heartbeats).Beat(t.Context(), store.Heartbeat{Name: "third", At: now}, now.Add(-time.Minute), "d")
			return err
		}, fsm.AwaitingResponses},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shared, m := store.Memory(), newMeter()
				leftPaused(t, shared, m)
				calls := m.calls.Load()
				third := debatetest.Open(t, newTestEngine(t, processOptions(shared, m, "third")), "d")
				s := &disturbed{mortal: newMortal(shared), beforeBeat: func() error { return tt.act(t, shared, third) }}
				d := debatetest.Open(t, newTestEngine(t, processOptions(s, m, "other")), "d")
				require.NoError(t, d.Resume(t.Context()))
				time.Sleep(time.Hour)
				require.Equal(t, tt.want, debatetest.Status(t, d).State)
				require.Equal(t, calls, m.calls.Load())
			})
		})
	}
}

// scheduling is a store whose debates workers drive.
type scheduling struct{ *mortal }

func (scheduling) Schedules() bool { return true }

// Where workers drive, an engine that recovers debates does not say that it drives them.
func TestRecoverLeavesDebatesToWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newTestEngine(t, processOptions(scheduling{newMortal(store.Memory())}, newMeter(), "x"))
		d := debatetest.Create(t, e, pairConfig("d"))
		require.NoError(t, d.Start(t.Context()))
		require.NoError(t, e.Recover(t.Context()))
		time.Sleep(time.Minute)
		require.True(t, debatetest.Status(t, d).State.Active())
		require.Zero(t, debatetest.Status(t, d).Driver)
	})
}

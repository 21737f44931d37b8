package faulttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// meter counts calls that take ten seconds.
type meter struct {
	debatetest.DigestModel
	calls atomic.Int64
}

func newMeter() *meter {
	return &meter{DigestModel: debatetest.DigestModel{Names: []string{"A", "B"}, Latency: func() time.Duration { return 10 * time.Second }}}
}

func (m *meter) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	m.calls.Add(1)
	return m.DigestModel.Generate(ctx, r)
}

// processOptions returns the options of a process with a name.
func processOptions(s store.Store, m providers.Provider, name string) debate.Options {
	return debate.Options{Store: s, Providers: map[string]providers.Provider{"m": m, "j": m}, Name: name}
}

// mortal is the store of a process. When the process dies, nothing more is written or read.
type mortal struct {
	store.Store
	store.Watcher
	store.Heartbeats

	dead  atomic.Bool
	mu    sync.Mutex
	beats []time.Time
}

func newMortal(s store.Store) *mortal {
	return &mortal{Store: s, Watcher: s.(store.Watcher), Heartbeats: s.(store.Heartbeats)}
}

var errDead = errors.New("the process has died")

func (m *mortal) Commit(ctx context.Context, c store.Change) error {
	if m.dead.Load() {
		return errDead
	}
	return m.Store.Commit(ctx, c)
}

func (m *mortal) Beat(ctx context.Context, h store.Heartbeat, since time.Time, ids ...string) ([]string, error) {
	if m.dead.Load() {
		return nil, errDead
	}
	m.mu.Lock()
	m.beats = append(m.beats, time.Now())
	m.mu.Unlock()
	return m.Heartbeats.Beat(ctx, h, since, ids...)
}

// written returns the times of the heartbeats.
func (m *mortal) written() []time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.beats)
}

func (m *mortal) Forget(ctx context.Context, driver string, ids ...string) error {
	if m.dead.Load() {
		return errDead
	}
	return m.Heartbeats.Forget(ctx, driver, ids...)
}

// die ends a process without letting it write anything.
func (m *mortal) die(t *testing.T, e *debate.Engine) {
	m.dead.Store(true)
	now, cancel := context.WithCancel(t.Context())
	cancel()
	_ = e.Close(now)
}

func pairConfig(id string) debate.Config {
	c := debatetest.PairConfig(nil)
	c.ID, c.Limits.MaxRounds = id, 2
	return c
}

// In a rolling deploy the new process leaves the debates of the old one alone until that closes, and repeats no call.
func TestARollingDeployPaysForEachCallOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared, m := store.Memory(), newMeter()
		old, next := newTestEngine(t, processOptions(shared, m, "old")), newTestEngine(t, processOptions(shared, m, "next"))
		d := debatetest.Create(t, old, pairConfig("d"))
		require.NoError(t, d.Start(t.Context()))
		time.Sleep(13 * time.Second)
		require.NoError(t, next.Recover(t.Context()))
		time.Sleep(3 * time.Second)
		e, err := old.Create(t.Context(), pairConfig("e")) // begins after the new process has looked
		require.NoError(t, err)
		require.NoError(t, e.Start(t.Context()))
		time.Sleep(2 * time.Second)
		other := debatetest.Open(t, next, "d")
		require.Equal(t, "old", debatetest.Status(t, other).Driver.Name)
		require.WithinRange(t, debatetest.Status(t, other).Driver.At, time.Now().Add(-10*time.Second), time.Now())
		require.NoError(t, old.Close(t.Context()))
		require.Zero(t, debatetest.Status(t, debatetest.Open(t, next, "e")).Driver.At, "the old process has left")
		time.Sleep(10 * time.Second)
		require.Equal(t, "next", debatetest.Status(t, other).Driver.Name)
		time.Sleep(5 * time.Minute)
		turns := 0
		for _, id := range []string{"d", "e"} {
			r := debatetest.Result(t, debatetest.Open(t, next, id))
			require.Equal(t, fsm.Completed, r.State)
			turns += len(r.Turns)
		}
		require.EqualValues(t, turns, m.calls.Load())
		require.Zero(t, debatetest.Status(t, other).Driver)
	})
}

// Recover continues each debate whose process has died, in whatever state, and pays again only for calls in flight.
func TestRecoverContinuesWhatADeadProcessLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared, m := store.Memory(), newMeter()
		dying := newMortal(shared)
		old := newTestEngine(t, processOptions(dying, m, "old"))
		create := func(id string) *debate.Debate {
			return debatetest.Create(t, old, pairConfig(id))
		}
		create("configuring")
		paused := create("paused")
		require.NoError(t, paused.Start(t.Context()))
		time.Sleep(time.Second)
		require.NoError(t, paused.Pause(t.Context()))
		running := create("running")
		require.NoError(t, running.Start(t.Context()))
		failed := create("ready")
		bad := newTestEngine(t, processOptions(shared, debatetest.ProviderFunc(func(context.Context, providers.Request) (providers.Response, error) {
			return providers.Response{}, &providers.Error{Kind: providers.Authentication, Err: errors.New("no key")}
		}), "bad"))
		_, err := debatetest.Run(t, debatetest.Open(t, bad, "ready"))
		require.Error(t, err)
		require.NoError(t, failed.Retry(t.Context()))
		require.Equal(t, fsm.Ready, debatetest.Status(t, failed).State)
		damage(t, shared, create("damaged"))
		foreign := pairConfig("foreign")
		foreign.Protocol = customPanel{}
		f := debatetest.Create(t, old, foreign)
		require.NoError(t, f.Start(t.Context()))
		time.Sleep(15 * time.Second)
		before := debatetest.Status(t, running).Seq
		dying.die(t, old)

		next := newTestEngine(t, processOptions(shared, m, "next"))
		require.NoError(t, next.Recover(t.Context()), "the old process may be alive")
		time.Sleep(5 * time.Second)
		require.Equal(t, before, debatetest.Status(t, running).Seq, "nobody drives it yet")
		time.Sleep(45 * time.Second) // its last heartbeat is too old
		err = next.Recover(t.Context())
		time.Sleep(5 * time.Minute)
		for id, want := range map[string]fsm.State{
			"configuring": fsm.Configuring, "paused": fsm.Paused, "running": fsm.Completed, "ready": fsm.Completed,
		} {
			require.Equal(t, want, debatetest.Status(t, debatetest.Open(t, next, id)).State, id)
		}
		require.ErrorIs(t, err, debate.ErrUnsupported)
		require.ErrorContains(t, err, "foreign")
		require.ErrorContains(t, err, "damaged")
		require.NotContains(t, err.Error(), "running")
		require.Contains(t, debatetest.Status(t, debatetest.Open(t, next, "foreign")).Driver.Missing[0], `"custom/1" is unknown`)

		require.NoError(t, debatetest.Open(t, next, "paused").Resume(t.Context())) // was driven in the background
		time.Sleep(time.Minute)
		require.NotEqual(t, fsm.Paused, debatetest.Status(t, debatetest.Open(t, next, "paused")).State)
		time.Sleep(5 * time.Minute)
		require.Equal(t, fsm.Completed, debatetest.Status(t, debatetest.Open(t, next, "paused")).State)
	})
}

// damage replaces a debate by one whose second entry cannot be read, and which seems to run.
func damage(t *testing.T, s store.Store, d *debate.Debate) {
	status := debatetest.Status(t, d)
	status.Seq, status.State = 2, fsm.AwaitingResponses
	require.NoError(t, s.Commit(t.Context(), store.Change{ID: d.ID(), After: 1, Status: status, Entries: []store.Entry{
		{Seq: 2, Type: "state", At: status.Updated, Data: json.RawMessage(`{"type": "state", "seq": 2, "to": 7}`)},
	}}))
}

// Where services recover at the same moment, one of them drives each debate.
func TestServicesThatRecoverTogetherShareTheDebates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared, m := store.Memory(), newMeter()
		dying := newMortal(shared)
		old := newTestEngine(t, processOptions(dying, m, "old"))
		d := debatetest.Create(t, old, pairConfig("d"))
		require.NoError(t, d.Start(t.Context()))
		time.Sleep(15 * time.Second)
		dying.die(t, old)
		calls := m.calls.Load()
		turns := len(debatetest.Result(t, d).Turns)
		time.Sleep(time.Minute)
		var all sync.WaitGroup
		for _, name := range []string{"a", "b", "c"} {
			e := newTestEngine(t, processOptions(shared, m, name))
			all.Go(func() { _ = e.Recover(context.WithoutCancel(t.Context())) })
		}
		all.Wait()
		time.Sleep(5 * time.Minute)
		r := debatetest.Result(t, d)
		require.Equal(t, fsm.Completed, r.State)
		require.EqualValues(t, len(r.Turns)-turns, m.calls.Load()-calls)
	})
}

// If the name of the engine was chosen, the first heartbeat of each debate is written at once besides.
func TestAnEngineWritesOneHeartbeatPerInterval(t *testing.T) {
	for name, signed := range map[string]int{"": 0, "x": 3} {
		t.Run(fmt.Sprintf("name %q", name), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				s := newMortal(store.Memory())
				e := newTestEngine(t, processOptions(s, newMeter(), name))
				for _, id := range []string{"a", "b", "c"} {
					d := debatetest.Create(t, e, pairConfig(id))
					require.NoError(t, d.Start(t.Context()))
					time.Sleep(2 * time.Second)
				}
				time.Sleep(55 * time.Second)
				beats := s.written()
				require.GreaterOrEqual(t, len(beats), 5+signed)
				for i, at := range beats[:signed] {
					require.Equal(t, began.Add(time.Duration(i)*2*time.Second), at)
				}
				beats = beats[signed:]
				for i := range beats[1:] {
					require.GreaterOrEqual(t, beats[i+1].Sub(beats[i]), 10*time.Second)
				}
			})
		})
	}
}

// A debate that waits in the background is announced once, however often it changes meanwhile.
func TestAPausedDebateIsAnnouncedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newMortal(store.Memory())
		e := newTestEngine(t, processOptions(s, newMeter(), "x"))
		d := debatetest.Create(t, e, pairConfig("d"))
		require.NoError(t, d.Start(t.Context()))
		time.Sleep(500 * time.Millisecond)
		require.NoError(t, d.Pause(t.Context()))
		time.Sleep(12 * time.Second) // the call in flight ends
		before := len(s.written())
		for range 50 {
			require.NoError(t, d.Annotate(t.Context(), "n", 1))
			synctest.Wait()
		}
		require.Len(t, s.written(), before)
		require.Equal(t, "x", debatetest.Status(t, d).Driver.Name)
		require.NoError(t, d.Cancel(t.Context()))
		synctest.Wait()
	})
}

// A debate that was driven in the background until it was paused continues after Resume or Decide, although its engine
// has gone and no engine recovers.
func TestADebateContinuesWhenItsEngineHasGone(t *testing.T) {
	for name, tt := range map[string]struct {
		broken bool // the model fails, and a person is asked
		human  bool // people speak, one after the other
		resume func(*testing.T, *debate.Debate) error
	}{
		"Answer": {false, true, func(t *testing.T, d *debate.Debate) error {
			for range 2 {
				asked := debatetest.Waiting(t, d)
				require.NoError(t, d.Answer(t.Context(), asked[0].Key, "No.", ""))
			}
			return nil
		}},
		"Resume": {false, false, func(t *testing.T, d *debate.Debate) error { return d.Resume(t.Context()) }},
		"Decide": {true, false, func(t *testing.T, d *debate.Debate) error {
			return d.Decide(t.Context(), debatetest.Result(t, d).Question.ID, "retry")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shared, m := store.Memory(), &failingModel{broken: tt.broken}
				dying := newMortal(shared)
				old := newTestEngine(t, processOptions(dying, m, "old"))
				c := pairConfig("d")
				asking(&c)
				c.Limits.MaxRounds = 1
				if tt.human {
					c.Participants = []debate.Participant{{Name: "A", Human: true}, {Name: "B", Human: true}}
				}
				d := debatetest.Create(t, old, c)
				require.NoError(t, d.Start(t.Context()))
				time.Sleep(500 * time.Millisecond)
				if !tt.human {
					require.NoError(t, d.Pause(t.Context()))
				}
				time.Sleep(time.Minute)
				require.Equal(t, fsm.Paused, debatetest.Status(t, d).State)
				require.Equal(t, "old", debatetest.Status(t, d).Driver.Name)
				dying.die(t, old)
				m.broken = false
				time.Sleep(time.Minute) // its last heartbeat is too old

				other := debatetest.Open(t, newTestEngine(t, processOptions(shared, m, "other")), "d")
				require.NoError(t, tt.resume(t, other))
				time.Sleep(time.Hour)
				require.Equal(t, fsm.Completed, debatetest.Status(t, other).State)
			})
		})
	}
}

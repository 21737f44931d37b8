package fsm

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	looplab "github.com/looplab/fsm"
	"github.com/stretchr/testify/require"
)

// engaged returns a machine whose engine is at work already.
func engaged(t *testing.T, s Snapshot) *Machine {
	t.Helper()
	m, err := New(s)
	require.NoError(t, err)
	m.engine = looplab.NewFSM(s.name(), lifecycle().descs, nil)
	return m
}

func TestAMachineGoesOnFromWhateverThereCanBe(t *testing.T) {
	for _, s := range everySnapshot() {
		m, err := New(s)
		require.NoError(t, err)
		require.Equal(t, s, m.Snapshot())
	}
}

func TestAMachineRefusesWhatThereCannotBe(t *testing.T) {
	for _, s := range []Snapshot{
		{},
		{State: "running"},
		{State: "unheard of"},
		{State: Paused},
		{State: Paused, Left: Paused},
		{State: Paused, Left: Ready},
		{State: Paused, Left: "running"},
		{State: Ready, Left: Judging},
	} {
		_, err := New(s)
		require.Error(t, err, "%+v", s)
	}
	_, err := New(Snapshot{State: Paused, Left: Ready})
	require.EqualError(t, err, `make machine: no debate can be in state "paused" having left "ready"`)
}

func TestACommitSeesTheDecisionBeforeItIsTrue(t *testing.T) {
	m := engaged(t, Snapshot{State: Ready})
	got, err := m.Fire(Start, Facts{ValidConfig: true}, func(next Snapshot) error {
		require.Equal(t, Snapshot{State: Initializing}, next)
		require.Equal(t, Snapshot{State: Ready}, m.Snapshot())
		require.Equal(t, "ready", m.engine.Current())
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, Snapshot{State: Initializing}, got)
}

func TestARefusedEventIsNotCommitted(t *testing.T) {
	m := engaged(t, Snapshot{State: Ready})
	_, err := m.Fire(Start, Facts{}, func(Snapshot) error { panic("unreachable") })
	require.EqualError(t, err, "fire start: hasValidConfig does not hold in state ready, possible are [edit cancel]")
}

func TestACommitThatFailsChangesNothing(t *testing.T) {
	m := engaged(t, Snapshot{State: Judging})
	full := errors.New("disk full")
	got, err := m.Fire(Pause, Facts{}, func(Snapshot) error { return full })
	require.Same(t, full, err)
	requireUntouched(t, m, Snapshot{State: Judging})
	require.Equal(t, Snapshot{State: Judging}, got)
}

func TestACommitThatPanicsChangesNothing(t *testing.T) {
	m := engaged(t, Snapshot{State: Judging})
	require.PanicsWithValue(t, "boom", func() {
		_, _ = m.Fire(Pause, Facts{}, func(Snapshot) error { panic("boom") })
	})
	requireUntouched(t, m, Snapshot{State: Judging})
}

// requireUntouched also fires, since a machine that cannot go on is not untouched.
func requireUntouched(t *testing.T, m *Machine, s Snapshot) {
	t.Helper()
	require.Equal(t, s, m.Snapshot())
	require.Equal(t, s.name(), m.engine.Current())
	got, err := m.Fire(Cancel, Facts{}, nil)
	require.NoError(t, err)
	require.Equal(t, Snapshot{State: Canceled}, got)
}

func TestFollowExecutesWhatSomeFactsAllow(t *testing.T) {
	for _, from := range everySnapshot() {
		for _, e := range specEvents {
			for _, to := range everySnapshot() {
				possible := false
				for _, f := range everyFacts() {
					next, ok := expect(from, e, f)
					possible = possible || ok && next == to
				}
				requireFollows(t, from, e, to, possible)
			}
		}
	}
}

func requireFollows(t *testing.T, from Snapshot, e Event, to Snapshot, possible bool) {
	t.Helper()
	m, err := New(from)
	require.NoError(t, err)
	if err := m.Follow(e, to); possible {
		require.NoError(t, err)
		require.Equal(t, to, m.Snapshot())
		require.Equal(t, to.name(), m.engine.Current())
	} else {
		require.Error(t, err)
		require.Equal(t, from, m.Snapshot())
		require.Nil(t, m.engine)
	}
}

func TestFollowSaysWhatDoesNotLeadThere(t *testing.T) {
	m := engaged(t, Snapshot{State: Paused, Left: Judging})
	require.EqualError(t, m.Follow(Resume, Snapshot{State: Awaiting}),
		"follow resume to running.awaiting_responses: it does not lead there from paused(running.judging)")
	requireUntouched(t, m, Snapshot{State: Paused, Left: Judging})
}

func TestADivergingEngineIsReportedAndReplaced(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	pause := compile(table).out[Snapshot{State: Judging}][2].name
	for name, spoil := range map[string]func(*Machine){
		"it stands elsewhere": func(m *Machine) { m.engine.SetState("elsewhere") },
		"it is locked for ever": func(m *Machine) {
			require.Error(t, m.engine.Event(ended, pause))
			require.ErrorAs(t, m.engine.Event(context.Background(), pause), new(looplab.InTransitionError))
		},
		"it leads elsewhere": func(m *Machine) {
			m.engine = looplab.NewFSM("running.judging", looplab.Events{{Name: pause, Src: []string{"running.judging"}, Dst: "elsewhere"}}, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, paused := engaged(t, Snapshot{State: Judging}), Snapshot{State: Paused, Left: Judging}
			spoil(m)
			got, err := m.Fire(Pause, Facts{}, nil)
			require.ErrorIs(t, err, ErrDivergence)
			require.ErrorContains(t, err, "execute pause from running.judging to paused(running.judging): looplab/fsm disagrees with the table: ")
			require.Equal(t, paused, got, "what was committed stands")
			require.Equal(t, paused, m.Snapshot())
			got, err = m.Fire(Resume, Facts{Decided: true}, nil)
			require.NoError(t, err)
			require.Equal(t, Snapshot{State: Judging}, got)
		})
	}
}

// TestFiringFromManyGoroutinesIsOnePath fires at random from all sides; the commits, in their order, are one legal path.
func TestFiringFromManyGoroutinesIsOnePath(t *testing.T) {
	type step struct {
		e    Event
		f    Facts
		next Snapshot
	}
	m := engaged(t, Snapshot{State: Configuring})
	var path []step // commits are one at a time: the race detector says if not
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 400 {
				e, f := specEvents[(i*7+g*5)%(len(specEvents)-1)], factsOf(uint8(i*11+g))
				if e == Concluded {
					continue // the debate shall not end
				}
				_, _ = m.Fire(e, f, func(next Snapshot) error {
					path = append(path, step{e, f, next})
					return nil
				})
				_ = m.Snapshot()
			}
		})
	}
	all.Wait()
	at := Snapshot{State: Configuring}
	for _, s := range path {
		next, err := Next(at, s.e, s.f)
		require.NoError(t, err)
		require.Equal(t, s.next, next)
		at = next
	}
	require.Greater(t, len(path), 20)
	requireUntouched(t, m, at)
}

func TestAMachineMayBeReadWhileACommitTakesItsTime(t *testing.T) {
	m := engaged(t, Snapshot{State: Ready})
	began, end, done := make(chan bool), make(chan bool), make(chan error)
	go func() {
		_, err := m.Fire(Edit, Facts{}, func(Snapshot) error {
			began <- true
			<-end
			return nil
		})
		done <- err
	}()
	<-began
	require.Equal(t, Snapshot{State: Ready}, m.Snapshot())
	end <- true
	require.NoError(t, <-done)
	require.Equal(t, Snapshot{State: Configuring}, m.Snapshot())
}

func TestASnapshotSurvivesJSON(t *testing.T) {
	for _, s := range everySnapshot() {
		text, err := json.Marshal(s)
		require.NoError(t, err)
		var got Snapshot
		require.NoError(t, json.Unmarshal(text, &got))
		require.Equal(t, s, got)
	}
	text, err := json.Marshal([]Snapshot{{State: Ready}, {State: Paused, Left: Judging}})
	require.NoError(t, err)
	require.Equal(t, `[{"state":"ready"},{"state":"paused","left":"running.judging"}]`, string(text))
}

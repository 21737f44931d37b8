package fsm

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"

	looplab "github.com/looplab/fsm"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// engaged returns a machine that already holds an engine.
func engaged(t *testing.T, s Position) *Machine {
	t.Helper()
	m, err := New(s)
	require.NoError(t, err)
	m.engine = looplab.NewFSM(s.engineName(), lifecycle().events, nil)
	return m
}

// fire executes what the table decides.
func fire(m *Machine, e Event, f Facts) (Position, error) {
	next, err := Next(m.Position(), e, f)
	if err == nil {
		err = m.Execute(e, next)
	}
	return m.Position(), err
}

func TestAMachineGoesOnFromWhateverThereCanBe(t *testing.T) {
	for _, s := range everySnapshot() {
		m, err := New(s)
		require.NoError(t, err)
		require.Equal(t, s, m.Position())
	}
}

func TestAMachineRefusesWhatThereCannotBe(t *testing.T) {
	for _, s := range []Position{
		{},
		{State: "running"},
		{State: "unheard of"},
		{State: Paused},
		{State: Paused, PausedFrom: Paused},
		{State: Paused, PausedFrom: Ready},
		{State: Paused, PausedFrom: "running"},
		{State: Ready, PausedFrom: Judging},
	} {
		_, err := New(s)
		require.Error(t, err, "%+v", s)
	}
	_, err := New(Position{State: Paused, PausedFrom: Ready})
	require.EqualError(t, err, `make machine: no debate can have state "paused" and paused_from "ready"`)
}

// requireUntouched also fires an event, to show that the machine still works.
func requireUntouched(t *testing.T, m *Machine, s Position) {
	t.Helper()
	require.Equal(t, s, m.Position())
	require.Equal(t, s.engineName(), m.engine.Current())
	got, err := fire(m, Cancel, Facts{})
	require.NoError(t, err)
	require.Equal(t, Position{State: Canceled}, got)
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

func requireFollows(t *testing.T, from Position, e Event, to Position, possible bool) {
	t.Helper()
	m, err := New(from)
	require.NoError(t, err)
	if err := m.Execute(e, to); possible {
		require.NoError(t, err)
		require.Equal(t, to, m.Position())
		require.Equal(t, to.engineName(), m.engine.Current())
	} else {
		require.Error(t, err)
		require.Equal(t, from, m.Position())
		require.Nil(t, m.engine)
	}
}

func TestFollowSaysWhatDoesNotLeadThere(t *testing.T) {
	m := engaged(t, Position{State: Paused, PausedFrom: Judging})
	require.EqualError(t, m.Execute(Resume, Position{State: AwaitingResponses}),
		"execute resume to running.awaiting_responses: no such transition from paused(running.judging)")
	requireUntouched(t, m, Position{State: Paused, PausedFrom: Judging})
}

func TestADivergingEngineIsReportedAndReplaced(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	pause := compile(table).transitions[Position{State: Judging}][2].name
	for name, spoil := range map[string]func(*Machine){
		"in another state": func(m *Machine) { m.engine.SetState("elsewhere") },
		"it is locked for ever": func(m *Machine) {
			require.Error(t, m.engine.Event(ended, pause))
			require.ErrorAs(t, m.engine.Event(context.Background(), pause), new(looplab.InTransitionError))
		},
		"it leads elsewhere": func(m *Machine) {
			m.engine = looplab.NewFSM("running.judging", looplab.Events{{Name: pause, Src: []string{"running.judging"}, Dst: "elsewhere"}}, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, paused := engaged(t, Position{State: Judging}), Position{State: Paused, PausedFrom: Judging}
			spoil(m)
			got, err := fire(m, Pause, Facts{})
			require.ErrorIs(t, err, ErrDivergence)
			require.ErrorContains(t, err, "execute pause from running.judging to paused(running.judging): looplab/fsm disagrees with the table: ")
			require.Equal(t, paused, got, "what was committed stands")
			require.Equal(t, paused, m.Position())
			got, err = fire(m, Resume, Facts{NoOpenQuestion: true})
			require.NoError(t, err)
			require.Equal(t, Position{State: Judging}, got)
		})
	}
}

func TestAReleasedMachineGoesOn(t *testing.T) {
	m := engaged(t, Position{State: Judging})
	m.Release()
	m.Release()
	require.Nil(t, m.engine)
	requireFollows(t, Position{State: Ready}, Start, Position{State: Initializing}, true) // possibly with the same engine
	got, err := fire(m, Pause, Facts{})
	require.NoError(t, err)
	require.Equal(t, Position{State: Paused, PausedFrom: Judging}, got)
	require.Equal(t, got.engineName(), m.engine.Current())
}

func TestManyGoroutinesMayFollow(t *testing.T) {
	m := engaged(t, Position{State: Configuring})
	var all sync.WaitGroup
	var moved atomic.Int32
	for g := range 8 {
		all.Go(func() {
			for i := range 400 {
				e, f := specEvents[(i*7+g*5)%(len(specEvents)-1)], factsOf(uint8(i*11+g))
				if e == Concluded {
					continue // the debate must not end
				}
				if _, err := fire(m, e, f); err == nil { // otherwise the table refused it, or another goroutine was faster
					moved.Add(1)
				} else {
					assert.NotErrorIs(t, err, ErrDivergence)
				}
			}
		})
	}
	all.Wait()
	require.Greater(t, int(moved.Load()), 20)
	requireUntouched(t, m, m.Position())
}

func TestASnapshotSurvivesJSON(t *testing.T) {
	for _, s := range everySnapshot() {
		text, err := json.Marshal(s)
		require.NoError(t, err)
		var got Position
		require.NoError(t, json.Unmarshal(text, &got))
		require.Equal(t, s, got)
	}
	text, err := json.Marshal([]Position{{State: Ready}, {State: Paused, PausedFrom: Judging}})
	require.NoError(t, err)
	require.Equal(t, `[{"state":"ready"},{"state":"paused","paused_from":"running.judging"}]`, string(text))
}

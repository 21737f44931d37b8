package fsm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	looplab "github.com/looplab/fsm"
)

// ErrDivergence reports that looplab/fsm did not execute what the table decided. The decision stands, and the machine
// continues from it.
var ErrDivergence = errors.New("looplab/fsm disagrees with the table")

// Machine executes the lifecycle of one debate. It is safe for concurrent use. [New] makes one.
type Machine struct {
	mu      sync.Mutex // held while a transition is executed
	current atomic.Pointer[Position]
	engine  *looplab.FSM // nil until the first transition, and after a divergence or Release
}

// engines holds released engines. All have the same table, and SetState puts one into any state.
var engines = sync.Pool{New: func() any { return looplab.NewFSM("", lifecycle().events, nil) }}

// New returns a machine that starts at a position.
func New(s Position) (*Machine, error) {
	if _, ok := lifecycle().transitions[s]; !ok {
		return nil, fmt.Errorf("make machine: no debate can have state %q and paused_from %q", s.State, s.PausedFrom)
	}
	m := &Machine{}
	m.current.Store(&s)
	return m, nil
}

// Position returns the current position of the machine. It never blocks.
func (m *Machine) Position() Position { return *m.current.Load() }

// Execute executes a transition that was decided and committed before, such as one from a journal. It returns an
// error and changes nothing if no row of the table leads from the current position to this one.
func (m *Machine) Execute(e Event, to Position) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.Position()
	out := lifecycle().transitions[at]
	for i := range out {
		if out[i].on == e && out[i].to == to {
			return m.fire(&out[i])
		}
	}
	return fmt.Errorf("execute %s to %s: no such transition from %s", e, to.engineName(), at.engineName())
}

// fire executes a transition in looplab/fsm, on an engine in the state of the machine.
func (m *Machine) fire(t *transition) error {
	if m.engine == nil {
		m.engine = engines.Get().(*looplab.FSM)
		m.engine.SetState(m.Position().engineName())
	}
	m.current.Store(&t.to)
	err := m.engine.Event(context.Background(), t.name)
	if _, same := errors.AsType[looplab.NoTransitionError](err); same { // source and target are the same state
		err = nil
	}
	if is := m.engine.Current(); err == nil && is != t.toName {
		err = fmt.Errorf("looplab/fsm went to %s", is)
	}
	if err == nil {
		return nil
	}
	m.engine = nil
	return fmt.Errorf("execute %s: %w: %w", t.name, ErrDivergence, err)
}

// Release returns the machine's engine for use by other machines, so that a waiting debate holds none. The machine
// takes another engine when it needs one.
func (m *Machine) Release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.engine != nil {
		engines.Put(m.engine)
		m.engine = nil
	}
}

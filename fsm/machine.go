package fsm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	looplab "github.com/looplab/fsm"
)

// ErrDivergence says that looplab/fsm did not execute what the table decided. The decision stands, and the machine
// has gone on from it.
var ErrDivergence = errors.New("looplab/fsm disagrees with the table")

// Machine executes the lifecycle of one debate. It is safe for use by many goroutines, and [New] makes one.
type Machine struct {
	mu      sync.Mutex // held while a transition is executed
	current atomic.Pointer[Position]
	engine  *looplab.FSM // nil until it is needed, and after a divergence or Release
}

// engines are released ones. All have the same table, and SetState brings one to any state.
var engines = sync.Pool{New: func() any { return looplab.NewFSM("", lifecycle().events, nil) }}

// New returns a machine that goes on from the snapshot.
func New(s Position) (*Machine, error) {
	if _, ok := lifecycle().transitions[s]; !ok {
		return nil, fmt.Errorf("make machine: no debate can be in state %q having left %q", s.State, s.PausedFrom)
	}
	m := &Machine{}
	m.current.Store(&s)
	return m, nil
}

// Position returns where the machine stands. It never waits.
func (m *Machine) Position() Position { return *m.current.Load() }

// Execute executes a transition that was decided and committed before, such as one read from a journal. It is an error,
// and changes nothing, if the event cannot lead there under any facts.
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
	return fmt.Errorf("execute %s to %s: it does not lead there from %s", e, to.engineName(), at.engineName())
}

// fire has looplab/fsm do what was decided and committed, on an engine that stands where the machine does.
func (m *Machine) fire(t *transition) error {
	if m.engine == nil {
		m.engine = engines.Get().(*looplab.FSM)
		m.engine.SetState(m.Position().engineName())
	}
	m.current.Store(&t.to)
	err := m.engine.Event(context.Background(), t.name)
	if _, same := errors.AsType[looplab.NoTransitionError](err); same { // it leads where it came from
		err = nil
	}
	if is := m.engine.Current(); err == nil && is != t.toName {
		err = fmt.Errorf("it went to %s", is)
	}
	if err == nil {
		return nil
	}
	m.engine = nil
	return fmt.Errorf("execute %s: %w: %w", t.name, ErrDivergence, err)
}

// Release gives the machine's engine back for other machines, so that a debate that waits holds none. The machine goes on
// with another one when it is needed.
func (m *Machine) Release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.engine != nil {
		engines.Put(m.engine)
		m.engine = nil
	}
}

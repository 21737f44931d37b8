package fsm

import (
	"fmt"
	"slices"
	"sync"

	looplab "github.com/looplab/fsm"
)

// Next says where the event leads. It is pure: it decides, and executes nothing. An event that is not possible is a
// [*Refused], with the snapshot unchanged.
func Next(s Position, e Event, f Facts) (Position, error) {
	t, err := lifecycle().next(s, e, f)
	if err != nil {
		return s, err
	}
	return t.to, nil
}

// Refused is the error of an event that is not possible.
type Refused struct {
	State    State   // State is where the debate stands.
	Event    Event   // Event is what was refused.
	Possible []Event // Possible lists what would not be refused, in the order of the table.
	Guard    string  // Guard names the guard that did not hold; empty if the event is never possible in this state.
}

// Error says what was refused, why, and what is possible.
func (r *Refused) Error() string {
	cause, possible := "not possible", "nothing is"
	if r.Guard != "" {
		cause = r.Guard + " does not hold"
	}
	if len(r.Possible) > 0 {
		possible = fmt.Sprintf("possible are %s", r.Possible)
	}
	return fmt.Sprintf("fire %s: %s in state %s, %s", r.Event, cause, r.State, possible)
}

// transition is a row of the table for one snapshot that it may leave.
type transition struct {
	name   string // unique: looplab/fsm knows the transition as an event of this name
	on     Event
	when   *guard
	to     Position
	toName string // to's name
}

// graph is a compiled table.
type graph struct {
	transitions map[Position][]transition // what leaves each snapshot that there can be, in the order of the table
	events      []looplab.EventDesc       // the same for looplab/fsm
}

var lifecycle = sync.OnceValue(func() *graph { return compile(table) })

func compile(table []row) *graph {
	g := &graph{transitions: map[Position][]transition{}}
	for _, s := range snapshots(table) {
		g.transitions[s] = nil
		for _, r := range table {
			if r.leaves(s.State) {
				g.add(s, r)
			}
		}
	}
	return g
}

// snapshots lists what there can be: each state, and a pause for each state that can be paused.
func snapshots(table []row) []Position {
	var all []Position
	for _, s := range states {
		if s != Paused {
			all = append(all, Position{State: s})
		}
		if slices.ContainsFunc(table, func(r row) bool { return r.to == Paused && r.leaves(s) }) {
			all = append(all, Position{State: Paused, PausedFrom: s})
		}
	}
	return all
}

func (g *graph) add(from Position, r row) {
	to := r.target(from)
	name := fmt.Sprintf("%s from %s to %s", r.label(), from.engineName(), to.engineName())
	g.transitions[from] = append(g.transitions[from], transition{name, r.on, r.when, to, to.engineName()})
	g.events = append(g.events, looplab.EventDesc{Name: name, Src: []string{from.engineName()}, Dst: to.engineName()})
}

// label is the event and its guard, as drawings and the engine name them.
func (r row) label() string {
	if r.when.name == "" {
		return string(r.on)
	}
	return fmt.Sprintf("%s [%s]", r.on, r.when.name)
}

func (r row) leaves(s State) bool { return slices.ContainsFunc(r.from, s.in) }

func (r row) target(from Position) Position {
	switch r.to {
	case pausedState:
		return Position{State: from.PausedFrom}
	case Paused:
		return Position{State: Paused, PausedFrom: from.State}
	default:
		return Position{State: r.to}
	}
}

func (g *graph) next(s Position, e Event, f Facts) (*transition, error) {
	out := g.transitions[s]
	for i := range out {
		if out[i].on == e && out[i].when.holds(f) {
			return &out[i], nil
		}
	}
	return nil, g.refuse(s, e, f)
}

func (g *graph) refuse(s Position, e Event, f Facts) *Refused {
	r := &Refused{State: s.State, Event: e, Possible: g.possible(s, f)}
	for _, t := range g.transitions[s] {
		if t.on == e {
			r.Guard = t.when.name
		}
	}
	return r
}

func (g *graph) possible(s Position, f Facts) []Event {
	var events []Event
	for _, t := range g.transitions[s] {
		if t.when.holds(f) && !slices.Contains(events, t.on) {
			events = append(events, t.on)
		}
	}
	return events
}

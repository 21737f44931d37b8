package fsm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	looplab "github.com/looplab/fsm"
)

// Next returns the position to which an event leads. It is pure: it decides and executes nothing. If the event is not
// possible, it returns the position unchanged and a [*Refused].
func Next(s Position, e Event, f Facts) (Position, error) {
	t, err := lifecycle().next(s, e, f)
	if err != nil {
		return s, err
	}
	return t.to, nil
}

// Refused is the error for an event that is not possible.
type Refused struct {
	State    State   // State is the current state of the debate.
	Event    Event   // Event is the refused event.
	Possible []Event // Possible lists the events that are possible, in the order of the table.
	// Methods lists the methods of a debate that are possible, such as "Resume". Decide is among them if a question is
	// open.
	Methods []string
	Guard   string // Guard names the guard that does not hold. It is empty if the event is never possible in this state.
}

// Error names the refused method, the state, the guard that does not hold, and the methods that are possible.
func (r *Refused) Error() string {
	if r.State.Final() {
		return fmt.Sprintf("already %s", r.State)
	}
	cause := ""
	if r.Guard != "" {
		cause = fmt.Sprintf(": guard %s does not hold", r.Guard)
	}
	return fmt.Sprintf("%s is not possible in state %s%s; possible methods: %s", cmp.Or(r.Event.method(), string(r.Event)), r.State, cause, strings.Join(r.Methods, ", "))
}

// method returns the method of a debate that fires the event, or "" if only the engine fires it. An event that is not in
// the table stands for a method that fires none.
func (e Event) method() string {
	switch e {
	case Accept, Reject, Initialized, Responded, Assessed, Advance, Concluded, Fail, "":
		return ""
	case Validate: // Start validates a configuration first
		return "Start"
	default:
		return strings.ToUpper(string(e[:1])) + string(e[1:])
	}
}

// transition is a row of the table for one position that it can leave.
type transition struct {
	name   string // unique; the name of the event in looplab/fsm
	on     Event
	when   *guard
	to     Position
	toName string // engine name of to
}

// graph is a compiled table.
type graph struct {
	transitions map[Position][]transition // transitions that leave each possible position, in the order of the table
	events      []looplab.EventDesc       // the same transitions for looplab/fsm
}

var lifecycle = sync.OnceValue(func() *graph { return compile(table) })

// compile compiles a table.
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

// snapshots returns all possible positions: each state, and a pause for each state that can be paused.
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

// add adds the transition of a row from a position.
func (g *graph) add(from Position, r row) {
	to := r.target(from)
	name := fmt.Sprintf("%s from %s to %s", label(r.on, r.when.name), from.engineName(), to.engineName())
	g.transitions[from] = append(g.transitions[from], transition{name, r.on, r.when, to, to.engineName()})
	g.events = append(g.events, looplab.EventDesc{Name: name, Src: []string{from.engineName()}, Dst: to.engineName()})
}

// label returns an event and its guard, as diagrams and the engine name them.
func label(on Event, guard string) string {
	if guard == "" {
		return string(on)
	}
	return fmt.Sprintf("%s [%s]", on, guard)
}

// leaves reports whether the row applies to a state.
func (r row) leaves(s State) bool { return slices.ContainsFunc(r.from, s.in) }

// target returns the position to which the row leads.
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

// next returns the first transition that the event and the facts allow.
func (g *graph) next(s Position, e Event, f Facts) (*transition, error) {
	out := g.transitions[s]
	for i := range out {
		if out[i].on == e && out[i].when.holds(f) {
			return &out[i], nil
		}
	}
	return nil, g.refuse(s, e, f)
}

// refuse returns the error for an event that is not possible.
func (g *graph) refuse(s Position, e Event, f Facts) *Refused {
	r := &Refused{State: s.State, Event: e, Possible: g.possible(s, f)}
	for _, t := range g.transitions[s] {
		if t.on == e {
			r.Guard = t.when.name
		}
	}
	if s.State == Paused && !f.NoOpenQuestion {
		r.Methods = append(r.Methods, "Decide")
	}
	if s.State == Paused && f.AwaitsPeople {
		r.Methods = append(r.Methods, "Answer", "Decline")
	}
	for _, e := range r.Possible {
		if m := e.method(); m != "" {
			r.Methods = append(r.Methods, m)
		}
	}
	return r
}

// possible returns the events that are possible, in the order of the table.
func (g *graph) possible(s Position, f Facts) []Event {
	var events []Event
	for _, t := range g.transitions[s] {
		if t.when.holds(f) && !slices.Contains(events, t.on) {
			events = append(events, t.on)
		}
	}
	return events
}

package fsm

import (
	"fmt"
	"slices"
	"strings"
)

// Mermaid returns the lifecycle as a Mermaid state diagram with the current state highlighted. For an empty or
// unknown state nothing is highlighted. The same state always gives the same text.
func Mermaid(current State) string {
	var inner, outer strings.Builder
	for _, a := range Arrows() {
		if a.From.in(running) && a.To.in(running) {
			fmt.Fprintf(&inner, "        %s\n", a.mermaid())
		} else {
			fmt.Fprintf(&outer, "    %s\n", a.mermaid())
		}
	}
	for _, s := range states {
		if s.Final() {
			fmt.Fprintf(&outer, "    %s --> [*]\n", s.id())
		}
	}
	return fmt.Sprintf(diagramFormat, Configuring, running, AwaitingResponses.id(), &inner, &outer, Paused) + markCurrent(current)
}

const diagramFormat = `stateDiagram-v2
    [*] --> %s
    state %s {
        [*] --> %s
%s    }
%s    note right of %s : resume returns to the state before the pause
`

// markCurrent returns the lines that highlight the current state.
func markCurrent(current State) string {
	if !slices.Contains(states, current) {
		return ""
	}
	return "    classDef current fill:#ffd54f,stroke:#e65100,stroke-width:3px,color:#000\n" +
		"    class " + current.id() + " current\n"
}

// Arrow is a row of the table, drawn from one of its states to one state.
type Arrow struct {
	From, To State  // From and To are states, or "running", which contains the states whose names begin with "running.".
	On       Event  // On is the event that leads from one to the other.
	Guard    string // Guard names the condition under which it does. It is empty if there is none.
}

// Arrows returns the lifecycle as arrows between states, in the order of the table. An arrow that leaves or reaches "running"
// stands for one from, or to, each of its states. Of two arrows of the same state and event, the first one whose guard holds
// applies.
func Arrows() (list []Arrow) {
	for _, r := range table {
		targets := []State{r.to}
		if r.to == pausedState {
			targets = pausable()
		}
		for _, from := range r.from {
			for _, to := range targets {
				list = append(list, Arrow{from, to, r.on, r.when.name})
			}
		}
	}
	return list
}

// pausable returns the states that can be paused.
func pausable() []State {
	return table[slices.IndexFunc(table, func(r row) bool { return r.to == Paused })].from
}

// mermaid returns the arrow as a line of a Mermaid diagram.
func (a Arrow) mermaid() string {
	return fmt.Sprintf("%s --> %s : %s", a.From.id(), a.To.id(), label(a.On, a.Guard))
}

// id returns the name of the state within its compound state, because Mermaid does not allow dots in names.
func (s State) id() string { return strings.TrimPrefix(string(s), string(running)+".") }

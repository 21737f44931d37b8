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
	for _, r := range table {
		for _, a := range r.arrows() {
			if a.from.in(running) && a.to.in(running) {
				fmt.Fprintf(&inner, "        %s\n", a)
			} else {
				fmt.Fprintf(&outer, "    %s\n", a)
			}
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

// arrow is one row of the table drawn from one of its states. A compound state is drawn as one state.
type arrow struct {
	from, to State
	label    string
}

// arrows returns the arrows of a row.
func (r row) arrows() []arrow {
	targets := []State{r.to}
	if r.to == pausedState {
		targets = pausable()
	}
	var all []arrow
	for _, from := range r.from {
		for _, to := range targets {
			all = append(all, arrow{from, to, r.label()})
		}
	}
	return all
}

// pausable returns the states that can be paused.
func pausable() []State {
	return table[slices.IndexFunc(table, func(r row) bool { return r.to == Paused })].from
}

func (a arrow) String() string {
	return fmt.Sprintf("%s --> %s : %s", a.from.id(), a.to.id(), a.label)
}

// id returns the name of the state within its compound state, because Mermaid does not allow dots in names.
func (s State) id() string { return strings.TrimPrefix(string(s), string(running)+".") }

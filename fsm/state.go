package fsm

import (
	"slices"
	"strings"
)

// Active returns the states in which a driver has work, in the order of a debate's life.
func Active() []State {
	return slices.DeleteFunc(slices.Clone(states), func(s State) bool { return !s.Active() })
}

// Final reports whether a debate in this state is over for good.
func (s State) Final() bool { return s == Completed || s == Canceled }

// Active reports whether a driver has work in this state.
func (s State) Active() bool {
	return s == Validating || s == Initializing || s == Completing || s.in(running)
}

// in reports whether s is the state c or a leaf of the compound state c.
func (s State) in(c State) bool {
	return s == c || strings.HasPrefix(string(s), string(c)+".")
}

// Position is the complete state of the lifecycle. A debate can continue from it without anything else.
type Position struct {
	State      State `json:"state"`                 // State is the current state of the debate.
	PausedFrom State `json:"paused_from,omitempty"` // PausedFrom is the paused state, or empty unless paused.
}

// engineName returns the state's name in looplab/fsm. A pause has a different name for each state that was paused.
func (s Position) engineName() string {
	if s.PausedFrom == "" {
		return string(s.State)
	}
	return string(s.State) + "(" + string(s.PausedFrom) + ")"
}

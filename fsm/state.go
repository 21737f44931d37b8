package fsm

import (
	"slices"
	"strings"
)

// Active lists the states in which a driver has work, in the order of a debate's life.
func Active() []State {
	return slices.DeleteFunc(slices.Clone(states), func(s State) bool { return !s.Active() })
}

// Final tells whether a debate in this state is over for good.
func (s State) Final() bool { return s == Completed || s == Canceled }

// Active tells whether a driver has work in this state.
func (s State) Active() bool {
	return s == Validating || s == Initializing || s == Completing || s.in(running)
}

// in tells whether s is the state c, or a leaf of the compound state c.
func (s State) in(c State) bool {
	return s == c || strings.HasPrefix(string(s), string(c)+".")
}

// Position is all that the lifecycle remembers of a debate, and all that is needed to go on from there.
type Position struct {
	State      State `json:"state"`                 // State is where the debate stands.
	PausedFrom State `json:"paused_from,omitempty"` // Left is the state that a pause left; empty unless paused.
}

// engineName tells snapshots apart: a pause has one engineName for each state that it left.
func (s Position) engineName() string {
	if s.PausedFrom == "" {
		return string(s.State)
	}
	return string(s.State) + "(" + string(s.PausedFrom) + ")"
}

// Package silence says which steps of a fork are silent.
package silence

import (
	"math"
	"slices"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// List holds what is silent in a fork: what its own edits name, and before that what is silent in the debates that it is a fork
// of.
type List []Part

// Part names turns and seats that are silent after the first entries of a journal.
type Part struct {
	From  int64            `json:"from"` // number of these entries
	Turns []transcript.Key `json:"turns,omitempty"`
	Seats []string         `json:"seats,omitempty"`
}

// Fork returns what is silent in a fork of the first entries of a debate. The edits name turns and seats, or neither.
func (l List) Fork(from int64, turns []transcript.Key, seats []string) List {
	l = slices.Clone(l)
	for i := range l {
		l[i].From = min(l[i].From, from)
	}
	if len(turns)+len(seats) == 0 {
		return l
	}
	return append(l, Part{from, turns, seats})
}

// Has reports whether a step that may run after the entry seq is silent.
func (l List) Has(seq int64, s *protocol.Step) bool {
	return s.Kind == transcript.Speech && s.Contract == "" && slices.ContainsFunc(l, func(p Part) bool {
		return seq >= p.From && (slices.Contains(p.Turns, s.Key) || slices.Contains(p.Seats, s.Actor))
	})
}

// Without returns a phase of a stage at the cursor without the silent steps, as far as no entry between changes that.
func (l List) Without(at transcript.Cursor, stage transcript.Kind, p protocol.Phase) protocol.Phase {
	if l == nil {
		return p
	}
	p.Steps = slices.DeleteFunc(slices.Clone(p.Steps), func(s protocol.Step) bool {
		s.Kind = stage
		s.Run, s.Round, s.Phase = at.Run, at.Round, p.Name
		return l.Has(math.MaxInt64, &s)
	})
	return p
}

// Remaining returns the names that are not silent.
func (l List) Remaining(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(l, func(p Part) bool { return slices.Contains(p.Seats, name) })
	})
}

// Is reports whether a planned step is silent.
func Is(s protocol.Step) bool { return s.Kind == transcript.Silence }

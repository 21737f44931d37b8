package forks

import (
	"fmt"
	"math"
	"slices"

	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Silent holds what is silent in a fork: what its own edits name, and before that what is silent in the debates that it is a fork
// of.
type Silent []journal.Silence

// Fork returns what is silent in a fork of the first entries of a debate. The edits name turns and seats, or neither.
func (l Silent) Fork(from int64, turns []transcript.Key, seats []string) Silent {
	l = slices.Clone(l)
	for i := range l {
		l[i].From = min(l[i].From, from)
	}
	if len(turns)+len(seats) == 0 {
		return l
	}
	return append(l, journal.Silence{From: from, Turns: turns, Seats: seats})
}

// Has reports whether a step that may run after the entry seq is silent.
func (l Silent) Has(seq int64, s *protocol.Step) bool {
	return s.Kind == transcript.Speech && s.Contract == "" && slices.ContainsFunc(l, func(p journal.Silence) bool {
		return seq >= p.From && (slices.Contains(p.Turns, s.Key) || slices.Contains(p.Seats, s.Actor))
	})
}

// Without returns a phase of a stage at the cursor without the silent steps, as far as no entry between changes that.
func (l Silent) Without(at transcript.Cursor, stage transcript.Kind, p protocol.Phase) protocol.Phase {
	if l == nil {
		return p
	}
	p.Steps = slices.DeleteFunc(slices.Clone(p.Steps), func(s protocol.Step) bool {
		s.Kind = stage
		s.Run = at.Run
		s.Round = at.Round
		s.Phase = p.Name
		return l.Has(math.MaxInt64, &s)
	})
	return p
}

// Remaining returns the names of the seats that are not silent after the entry seq.
func (l Silent) Remaining(seq int64, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(l, func(p journal.Silence) bool { return seq >= p.From && slices.Contains(p.Seats, name) })
	})
}

// IsSilent reports whether a planned step is silent.
func IsSilent(s protocol.Step) bool { return s.Kind == transcript.Silence }

// CheckSilentTurns returns a problem for each turn that cannot be silent. find returns the turn with a key, or nil if it cannot be read,
// and reports whether the debate has it.
func CheckSilentTurns(keys []transcript.Key, find func(transcript.Key) (*transcript.Turn, bool)) (list []protocol.Problem) {
	for i, key := range keys {
		field := fmt.Sprintf("silent.turns[%d]", i)
		switch t, has := find(key); {
		case !has:
			list = append(list, protocol.Problemf(field, "the debate has no turn %s", key))
		case t == nil:
		case t.Kind != transcript.Speech && t.Kind != transcript.Silence:
			list = append(list, protocol.Problemf(field, "%s is no speech, but a turn of kind %s", key, t.Kind))
		case t.Contract != "":
			list = append(list, protocol.Problemf(field, "%s has the contract %s, and the protocol counts on its values", key, t.Contract))
		}
	}
	return list
}

// CheckSilentSeats returns a problem for each participant that cannot be silent. left are the participants who would remain, and steps
// are those of all stages and rounds.
func CheckSilentSeats(seats, participants, left []string, steps []protocol.Step) (list []protocol.Problem) {
	for i, name := range seats {
		field := fmt.Sprintf("silent.seats[%d]", i)
		if !slices.Contains(participants, name) {
			list = append(list, protocol.Problemf(field, "%q is not a participant", name))
		}
		at := slices.IndexFunc(steps, func(s protocol.Step) bool {
			return s.Actor == name && s.Kind == transcript.Speech && s.Contract != ""
		})
		if at >= 0 {
			list = append(list, protocol.Problemf(field,
				"%q replies with the contract %s, and the protocol counts on its values", name, steps[at].Contract))
		}
	}
	if len(seats) > 0 && len(left) < 2 {
		list = append(list, protocol.Problemf("silent.seats",
			"at least two participants must remain, but there are %d: leave out turns instead", len(left)))
	}
	return list
}

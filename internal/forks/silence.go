package forks

import (
	"fmt"
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

// WithSilence returns a protocol whose silent steps have the kind of their turns. Without two participants who speak, it cannot go on.
func WithSilence(p protocol.Protocol, silent Silent) protocol.Protocol { return withSilence{p, silent} }

type withSilence struct {
	protocol.Protocol

	silent Silent
}

func (p withSilence) Check(r *protocol.Record) []protocol.Problem {
	found := p.Protocol.Check(r)
	names := r.ParticipantNames()
	speaking := len(p.silent.Remaining(r.Seq, names))
	if speaking < 2 && speaking < len(names) {
		found = append(found, protocol.Problemf("participants", "%d of them speak, at least two must", speaking))
	}
	return found
}

func (p withSilence) Phases(r *protocol.Record) []protocol.Phase {
	phases := p.Protocol.Phases(r)
	if r.Cursor.Stage != transcript.Speech {
		return phases
	}
	phases = slices.Clone(phases)
	for i := range phases {
		phases[i].Steps = slices.Clone(phases[i].Steps)
		for j := range phases[i].Steps {
			s := phases[i].Steps[j]
			s.Kind = transcript.Speech
			s.Run = r.Cursor.Run
			s.Round = r.Cursor.Round
			s.Phase = phases[i].Name
			if p.silent.Has(r.Seq, &s) {
				phases[i].Steps[j].Kind = transcript.Silence
			}
		}
	}
	return phases
}

// Remaining returns the names of the seats that are not silent after the entry seq.
func (l Silent) Remaining(seq int64, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(l, func(p journal.Silence) bool { return seq >= p.From && slices.Contains(p.Seats, name) })
	})
}

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

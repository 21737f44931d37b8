package outcome

import (
	"slices"
	"strings"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// SeniorPhase is the phase of the senior judge.
const SeniorPhase = "senior"

// SelectedJury is a jury that may decide only where its calibration permits it. Elsewhere the senior judge decides. Without a selection,
// the jury always decides.
type SelectedJury struct {
	agreement.Selection

	Phase string // in which the jury decides
	// Said returns the turns of a phase in which judges decide.
	Said func(r *protocol.Record, phase string) []transcript.Turn
	// Item returns the decisions in turns. Defaults to those for a participant or an option.
	Item func(r *protocol.Record, turns []transcript.Turn) agreement.Item
}

// Decides returns what the jury decides: A is the first participant, or the first option. It is None if there is no selection, or if the
// jury must not decide.
func (s SelectedJury) Decides(r *protocol.Record) agreement.Decision {
	decided, may := s.Decide(s.item(r))
	if !may {
		return agreement.None
	}
	return decided
}

// item returns the decisions of the jury.
func (s SelectedJury) item(r *protocol.Record) agreement.Item {
	turns := s.Said(r, s.Phase)
	if s.Item != nil {
		return s.Item(r, turns)
	}
	names := []string{"", ""}
	if len(r.Participants) == 2 {
		names = r.ParticipantNames()
	}
	return agreement.ItemOf(r.ID, names[0], names[1], turns...)
}

// Members returns the judges without the senior one.
func (s SelectedJury) Members(r *protocol.Record) []transcript.Key {
	return protocol.Actors(s.Jury(r.Judges)...)
}

// Seniors returns the senior judge if the jury does not decide.
func (s SelectedJury) Seniors(r *protocol.Record) []transcript.Key {
	if !slices.Contains(r.Judges, s.Senior) || s.Decides(r) != agreement.None {
		return nil
	}
	return protocol.Actors(s.Senior)
}

// Concluding returns the turns that decide the debate: those of the jury, or those of the senior judge with a warning that says why.
func (s SelectedJury) Concluding(r *protocol.Record) (turns []transcript.Turn, decided agreement.Decision, warnings []string) {
	turns = s.Said(r, s.Phase)
	if s.IsZero() {
		return turns, agreement.None, nil
	}
	senior := s.Said(r, SeniorPhase)
	decided = s.Decides(r)
	if decided != agreement.None || len(turns)+len(senior) == 0 {
		return turns, decided, nil
	}
	if len(senior) > 0 || s.Lost(r.Judges) {
		warnings = []string{s.Refusal(s.item(r), r.Judges)}
	}
	return senior, decided, warnings
}

// InBothOrders returns the steps of judges, and then those in the opposite order of what they judge.
func InBothOrders(judges []transcript.Key) []transcript.Key {
	all := slices.Clone(judges)
	for _, k := range judges {
		all = append(all, transcript.Key{Actor: k.Actor, Target: judge.Swapped})
	}
	return all
}

// SaidInBothOrders returns the turns of judges in a phase, and then those in the opposite order of what they judge.
func SaidInBothOrders(r *protocol.Record, kind transcript.Kind, phase string) []transcript.Turn {
	turns := r.Said(kind, phase)
	slices.SortStableFunc(turns, func(a, b transcript.Turn) int { return strings.Compare(a.Target, b.Target) })
	return turns
}

package debate

import (
	"slices"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// isBlind reports whether the person who speaks for a seat must not know who says what: a step is open, or is still to come, in
// which this person sees the participants under pseudonyms.
func (r *record) isBlind(seat string) bool {
	who := r.config.Actor(seat)
	if who == nil || !who.Human || r.lifecycle.State.Final() {
		return false
	}
	if who.Blind {
		return true
	}
	if slices.ContainsFunc(r.next(), func(s protocol.Step) bool {
		return s.Actor == seat && s.Blind
	}) {
		return true
	}
	return r.willBeBlind(seat)
}

// willBeBlind reports whether a seat has a blind step in this round or a later one, or in the conclusion. It asks the protocol
// about this round, the next one and the last one: those between them have the phases of one of these.
func (r *record) willBeBlind(seat string) bool {
	at := r.Cursor
	defer func() { r.Cursor = at }()
	stages := []transcript.Kind{transcript.Speech, transcript.Assessment}
	if at.Stage != transcript.Conclusion {
		for _, round := range []int{max(at.Round, 1), at.Round + 1, r.MaxRounds} {
			if round > max(r.MaxRounds, 1) || round < at.Round {
				continue
			}
			r.Cursor.Round = round
			for _, stage := range stages {
				if r.hasBlindStep(seat, stage) {
					return true
				}
			}
		}
	}
	return r.hasBlindStep(seat, transcript.Conclusion)
}

// hasBlindStep reports whether a seat has yet to speak in a blind step of a stage in the round at hand.
func (r *record) hasBlindStep(seat string, stage transcript.Kind) bool {
	r.Cursor.Stage = stage
	for _, p := range r.phases(stage) {
		for _, s := range p.Steps {
			if s.Actor != seat || !s.Blind {
				continue
			}
			s.Run = r.Cursor.Run
			s.Round = r.Cursor.Round
			s.Phase = p.Name
			if _, done := r.Find(s.Key); !done {
				return true
			}
		}
	}
	return false
}

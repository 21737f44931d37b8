package oversight

import (
	"crypto/sha256"
	"slices"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// text returns the text of an answer.
func (p Protocol) text(a answer) string {
	if a == answerA {
		return p.A
	}
	return p.B
}

// drawn returns an answer that the seed draws for a purpose.
func drawn(r *protocol.Record, purpose string) answer {
	if sha256.Sum256([]byte("oversight\x00" + r.Seed + "\x00" + purpose))[0]&1 == 0 {
		return answerA
	}
	return answerB
}

// first returns the answer that a reader sees first. All judges see the same one.
func first(r *protocol.Record, swapped bool) answer {
	a := drawn(r, "order")
	if swapped {
		return a.other()
	}
	return a
}

// firstChoice returns the answer that a participant who chooses sees first.
func firstChoice(r *protocol.Record) answer { return drawn(r, "order of choice") }

// defended returns the answers that participants defend, by name. It has those who have dropped out, too. It is empty until the first
// participant has chosen, if it does.
func (p Protocol) defended(r *protocol.Record) map[string]answer {
	names := slices.Sorted(slices.Values(append(r.ParticipantNames(), r.Dropped...))) // does not depend on who has dropped out
	side := map[string]answer{}
	if len(names) == 0 || p.speakers() == 0 {
		return side
	}
	leader, a := names[0], drawn(r, "assignment")
	if p.chooses() {
		turn, chosen := chosenIn(r)
		if !chosen {
			return side
		}
		leader, a = turn.Actor, firstChoice(r)
		if c, err := transcript.Decode[Choice](turn); err == nil && c.Answer == second {
			a = a.other()
		}
	}
	for _, name := range names {
		side[name] = a.other()
	}
	side[leader] = a
	return side
}

// chosenIn returns the turn in which a participant has chosen its answer.
func chosenIn(r *protocol.Record) (transcript.Turn, bool) {
	turns := r.TurnsOf(1)
	at := slices.IndexFunc(turns, func(t transcript.Turn) bool { return t.Phase == phaseChoose })
	if at < 0 {
		return transcript.Turn{}, false
	}
	return turns[at], true
}

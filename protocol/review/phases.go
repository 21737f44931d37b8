package review

import (
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Phases returns the findings and the attacks on them, or at the end the rulings of the judges. Without a finding whose quote was
// found, there is nothing to attack and nothing to decide.
func (Protocol) Phases(r *protocol.Record) []protocol.Phase {
	switch r.Cursor.Stage {
	case transcript.Speech:
		return speeches(r)
	case transcript.Conclusion:
		return rulings(r)
	default:
		return nil
	}
}

// Deciding returns the phase of the rulings.
func (Protocol) Deciding() []string { return []string{phaseRule} }

// speeches returns the phases of the round.
func speeches(r *protocol.Record) []protocol.Phase {
	find := protocol.Phase{Name: phaseFind, Parallel: true}
	attack := protocol.Phase{Name: phaseAttack, Parallel: true}
	found := examine(r)
	for _, name := range r.ParticipantNames() {
		find.Steps = append(find.Steps, protocol.Step{
			Key: transcript.Key{Actor: name}, Prompt: "review-find", Contract: ClaimsContract.Name(), Show: remarksOnly,
		})
		others := found.without(name)
		if others.isEmpty() {
			continue
		}
		attack.Steps = append(attack.Steps, protocol.Step{
			Key: transcript.Key{Actor: name}, Prompt: "review-attack", Contract: VotesContract.Name(), Show: remarksOnly,
			Vars: others.vars(), Check: checkVotes(others.numbers()),
		})
	}
	if len(attack.Steps) == 0 {
		return []protocol.Phase{find}
	}
	return []protocol.Phase{find, attack}
}

// rulings returns the phase in which each judge decides, if there is anything to decide.
func rulings(r *protocol.Record) []protocol.Phase {
	found := examine(r)
	if found.isEmpty() {
		return nil
	}
	phase := protocol.Phase{Name: phaseRule, Parallel: true}
	for _, name := range r.Judges {
		phase.Steps = append(phase.Steps, protocol.Step{
			Key: transcript.Key{Actor: name}, Prompt: "review-rule", Contract: RulingsContract.Name(), Blind: true, Show: attacksOnly,
			Vars: found.vars(), Check: checkRulings(found.numbers()),
		})
	}
	if len(phase.Steps) == 0 {
		return nil
	}
	return []protocol.Phase{phase}
}

func remarksOnly(t *transcript.Turn) bool { return t.Kind == transcript.Remark }

func attacksOnly(t *transcript.Turn) bool {
	return t.Kind == transcript.Remark || t.Phase == phaseAttack
}

package council

import (
	"slices"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Phases returns the answers and the rankings of the round, or the chair's answer at the end.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase {
	switch r.Cursor.Stage {
	case transcript.Speech:
		return p.round(r)
	case transcript.Conclusion:
		if len(r.Judges) == 0 {
			return nil
		}
		return []protocol.Phase{{Name: phaseConclude, Steps: []protocol.Step{{
			Key: transcript.Key{Actor: r.Judges[0]}, Prompt: "council-conclude", Contract: AnswerContract.Name(), Blind: true,
			Vars: map[string]string{"scores": scoreList(standings(r, rankings(r)))},
		}}}}
	default:
		return nil
	}
}

// round returns the phases of the round. A member ranks the answers of members that dropped out after they answered.
func (p Protocol) round(r *protocol.Record) []protocol.Phase {
	answers := protocol.Phase{Name: phaseAnswer, Parallel: true}
	rankings := protocol.Phase{Name: phaseRank, Parallel: true}
	authors := authorsOf(r)
	for _, s := range r.Participants {
		answers.Steps = append(answers.Steps, protocol.Step{Key: transcript.Key{Actor: s.Name}, Prompt: "council-answer", Show: remarksOnly})
		ranked := p.rankedBy(s.Name, authors)
		if len(ranked) == 0 {
			continue
		}
		rankings.Steps = append(rankings.Steps, protocol.Step{
			Key: transcript.Key{Actor: s.Name}, Prompt: "council-rank", Contract: RankingContract.Name(), Blind: true,
			Show: func(t *transcript.Turn) bool {
				return t.Kind == transcript.Remark || t.Phase == phaseAnswer && slices.Contains(ranked, t.Actor)
			},
		})
	}
	if len(rankings.Steps) == 0 {
		return []protocol.Phase{answers}
	}
	return []protocol.Phase{answers, rankings}
}

// Names returns the members whose answers a ranking must contain. For other steps it returns nil.
func (p Protocol) Names(r *protocol.Record, s protocol.Step) []string {
	if s.Phase != phaseRank {
		return nil
	}
	return p.rankedBy(s.Actor, authorsOf(r))
}

func remarksOnly(t *transcript.Turn) bool { return t.Kind == transcript.Remark }

// Deciding returns the phase of the conclusion.
func (Protocol) Deciding() []string { return []string{phaseConclude} }

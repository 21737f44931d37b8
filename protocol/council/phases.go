package council

import (
	"slices"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// flow returns the answers and the rankings of the round, and the chair's answer at the end.
func (p Protocol) flow() protocol.Flow {
	return protocol.Flow{Stages: []protocol.Stage{
		{Kind: transcript.Speech, Name: phaseAnswer, Prompt: "council-answer", Parallel: true, Show: protocol.Remarks},
		{
			Kind: transcript.Speech, Name: phaseRank, Prompt: "council-rank", Contract: RankingContract, Parallel: true, Blind: true,
			Who: p.rankers, Each: p.showRanked,
		},
		{
			Kind: transcript.Conclusion, Name: phaseConclude, Prompt: "council-conclude", Contract: AnswerContract, Blind: true,
			Decides: true,
			Each: func(r *protocol.Record, s *protocol.Step) {
				s.Vars = map[string]string{"scores": scoreList(standings(r, rankings(r)))}
			},
		},
	}}
}

// rankers returns the members who have an answer to rank.
func (p Protocol) rankers(r *protocol.Record) []transcript.Key {
	authors := authorsOf(r)
	return slices.DeleteFunc(protocol.Participants(r), func(k transcript.Key) bool { return len(p.rankedBy(k.Actor, authors)) == 0 })
}

// showRanked shows a member the answers that it ranks. They may be of members that dropped out after they answered.
func (p Protocol) showRanked(r *protocol.Record, s *protocol.Step) {
	ranked := p.rankedBy(s.Actor, authorsOf(r))
	s.Show = func(t *transcript.Turn) bool {
		return t.Kind == transcript.Remark || t.Phase == phaseAnswer && slices.Contains(ranked, t.Actor)
	}
}

// Phases returns the phases of the stage and round.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase { return p.flow().Phases(r) }

// Names returns the members whose answers a ranking must contain. For other steps it returns nil.
func (p Protocol) Names(r *protocol.Record, s protocol.Step) []string {
	if s.Phase != phaseRank {
		return nil
	}
	return p.rankedBy(s.Actor, authorsOf(r))
}

// Deciding returns the phase of the conclusion.
func (p Protocol) Deciding() []string { return p.flow().Deciding() }

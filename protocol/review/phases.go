package review

import (
	"slices"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// flow lists the findings and the attacks on them, and at the end the rulings of the judges. Without a finding whose quote was found,
// there is nothing to attack and nothing to decide.
var flow = protocol.Flow{Stages: []protocol.Stage{
	{
		Kind: transcript.Speech, Name: phaseFind, Prompt: "review-find", Contract: ClaimsContract, Parallel: true,
		Show: protocol.Remarks,
	},
	{
		Kind: transcript.Speech, Name: phaseAttack, Prompt: "review-attack", Contract: VotesContract, Parallel: true,
		Show: protocol.Remarks, Who: attackers,
		Each: func(r *protocol.Record, s *protocol.Step) {
			found := examine(r).without(s.Actor)
			s.Vars = found.vars()
			s.Check = checkVotes(found.numbers())
		},
	},
	{
		Kind: transcript.Conclusion, Name: phaseRule, Prompt: "review-rule", Contract: RulingsContract, Parallel: true, Blind: true,
		Decides: true,
		Who:     protocol.Judges,
		If: func(r *protocol.Record) bool {
			found := examine(r)
			return !found.isEmpty()
		},
		Show: func(t *transcript.Turn) bool { return t.Kind == transcript.Remark || t.Phase == phaseAttack },
		Each: func(r *protocol.Record, s *protocol.Step) {
			found := examine(r)
			s.Vars = found.vars()
			s.Check = checkRulings(found.numbers())
		},
	},
}}

// attackers returns the reviewers for whom there is a finding by another one.
func attackers(r *protocol.Record) []transcript.Key {
	found := examine(r)
	return slices.DeleteFunc(protocol.Participants(r), func(k transcript.Key) bool {
		others := found.without(k.Actor)
		return others.isEmpty()
	})
}

// Phases returns the phases of the stage.
func (Protocol) Phases(r *protocol.Record) []protocol.Phase { return flow.Phases(r) }

// Deciding returns the phase of the rulings.
func (Protocol) Deciding() []string { return flow.Deciding() }

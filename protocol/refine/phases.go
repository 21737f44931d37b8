package refine

import (
	"cmp"
	"strconv"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// flow returns the summaries that are due, the proposals, critiques and refinements of a round, and the judge's digest and solution at
// the end. Before the first turn it has every phase that may become due, so that budgets reserve enough.
func (p Protocol) flow() protocol.Flow {
	critiques := p.speeches(phaseCritique, (*memory).needsProposal)
	critiques.Contract = CritiqueContract
	critiques.Who = pairs
	return protocol.Flow{
		Seats: protocol.Seats{
			Participants: protocol.Range{Least: 2, Most: 8, Takes: "refine takes 2 to 8"},
			Judges:       protocol.Range{Least: 1, Most: 1, Takes: "refine needs one"},
		},
		Stages: []protocol.Stage{
			{
				Kind: transcript.Speech, Name: phaseSummarize, Prompt: "refine-summary", Contract: SummaryContract, Parallel: true,
				Who: p.due, Each: p.summarize,
			},
			p.speeches(phasePropose, (*memory).needsRefinement),
			critiques,
			p.speeches(phaseRefine, (*memory).needsCritiques),
			{
				Kind: transcript.Conclusion, Name: phaseDigest, Prompt: "refine-digest", Contract: SummaryContract, Decides: true,
				If: p.digests,
				Each: func(r *protocol.Record, s *protocol.Step) {
					s.Vars = map[string]string{"limit": strconv.Itoa(p.finalPolicy().TargetLength)}
					s.Show = p.judgeView(r).visible
				},
			},
			{
				Kind: transcript.Conclusion, Name: phaseSynthesize, Prompt: "refine-synthesis", Contract: SolutionContract, Decides: true,
				Each: p.showJudge,
			},
		},
	}
}

// speeches returns a phase of all agents, each of whom sees what it needs.
func (p Protocol) speeches(phase string, needs func(m *memory, t *transcript.Turn, of string) bool) protocol.Stage {
	return protocol.Stage{
		Kind: transcript.Speech, Name: phase, Prompt: "refine-" + phase, Parallel: true,
		Each: func(r *protocol.Record, s *protocol.Step) {
			of := s.Target
			m := p.memory(r, s.Actor)
			s.Show = m.visible(func(t *transcript.Turn) bool { return needs(m, t, of) })
			s.Vars = p.vars(r, s.Actor, phase)
		},
	}
}

// pairs returns each agent with each other one, whose proposal it criticizes.
func pairs(r *protocol.Record) (keys []transcript.Key) {
	names := r.ParticipantNames()
	for _, name := range names {
		for _, other := range names {
			if other != name {
				keys = append(keys, transcript.Key{Actor: name, Target: other})
			}
		}
	}
	return keys
}

// due returns the steps that summarize the views of agents before the current round, as far as they are too long.
func (p Protocol) due(r *protocol.Record) (keys []transcript.Key) {
	for _, name := range r.ParticipantNames() {
		limit := p.policyOf(name)
		if limit.Disabled {
			continue
		}
		size, _ := perspectiveOf(r, name, r.Cursor.Round)
		if size > limit.Threshold || r.Cursor.Round > 1 && nothingSaid(r) {
			keys = append(keys, transcript.Key{Actor: protocol.Summarizer, Target: name})
		}
	}
	return keys
}

// summarize shows the view of an agent that is to be summarized.
func (p Protocol) summarize(r *protocol.Record, s *protocol.Step) {
	_, s.Show = perspectiveOf(r, s.Target, r.Cursor.Round)
	s.Vars = map[string]string{"limit": strconv.Itoa(p.policyOf(s.Target).TargetLength)}
}

// vars returns the parameters of an agent's prompt: its role, and the focus in this phase. Only "focus" depends on the
// phase.
func (p Protocol) vars(r *protocol.Record, agent, phase string) map[string]string {
	name := ""
	for _, s := range r.Participants {
		if s.Name == agent {
			name = s.Role
		}
	}
	name = cmp.Or(name, defaultRole)
	own := p.Roles[name]
	focus := map[string]string{phasePropose: own.Propose, phaseCritique: own.Critique, phaseRefine: own.Refine}[phase]
	return map[string]string{"role": name, "system": own.System, "focus": focus}
}

// digests reports whether what the judge sees is so long that it is summarized first.
func (p Protocol) digests(r *protocol.Record) bool {
	limit := p.finalPolicy()
	return !limit.Disabled && (p.judgeView(r).size > limit.Threshold || nothingSaid(r))
}

// showJudge shows the judge the digest if there is a valid one, or else the debate.
func (p Protocol) showJudge(r *protocol.Record, s *protocol.Step) {
	s.Show = p.judgeView(r).visible
	digest, made := r.FindCurrent(phaseDigest, s.Actor, "")
	if made && valid(digest) {
		s.Show = func(t *transcript.Turn) bool { return t.Kind == transcript.Remark || t.Key == digest.Key }
	}
}

// nothingSaid reports whether the debate has no turns yet.
func nothingSaid(r *protocol.Record) bool { return len(r.Turns) == 0 }

// Phases returns the phases of the stage and round.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase { return p.flow().Phases(r) }

// Deciding returns the phases of the digest and of the synthesis.
func (p Protocol) Deciding() []string { return p.flow().Deciding() }

// End returns the zero Ending: only the limits end the debate.
func (Protocol) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

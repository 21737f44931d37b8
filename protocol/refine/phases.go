package refine

import (
	"cmp"
	"strconv"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Phases returns the summaries that are due, the proposals, critiques and refinements of a round, or the judge's phases
// at the end. Before the first turn it returns every phase that may become due, so that budgets reserve enough.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase {
	switch r.Cursor.Stage {
	case transcript.Speech:
		return p.speechPhases(r)
	case transcript.Conclusion:
		return p.conclusionPhases(r)
	default:
		return nil
	}
}

// End returns the zero Ending: only the limits end the debate.
func (Protocol) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

// speechPhases returns the phases of the current round.
func (p Protocol) speechPhases(r *protocol.Record) []protocol.Phase {
	due := protocol.Phase{Name: phaseSummarize, Parallel: true}
	proposals := protocol.Phase{Name: phasePropose, Parallel: true}
	critiques := protocol.Phase{Name: phaseCritique, Parallel: true}
	refinements := protocol.Phase{Name: phaseRefine, Parallel: true}
	for _, s := range r.Participants {
		if step, ok := p.summaryStep(r, s.Name); ok {
			due.Steps = append(due.Steps, step)
		}
		m := p.memory(r, s.Name)
		proposals.Steps = append(proposals.Steps, p.step(s, phasePropose, m.visible(m.lastRefinement)))
		for _, other := range r.Participants {
			if other.Name != s.Name {
				step := p.step(s, phaseCritique, m.visible(m.proposalOf(other.Name)))
				step.Target, step.Contract = other.Name, CritiqueContract.Name()
				critiques.Steps = append(critiques.Steps, step)
			}
		}
		refinements.Steps = append(refinements.Steps, p.step(s, phaseRefine, m.visible(m.ownProposalAndCritiques)))
	}
	phases := []protocol.Phase{proposals, critiques, refinements}
	if len(due.Steps) > 0 {
		return append([]protocol.Phase{due}, phases...)
	}
	return phases
}

// step returns an agent's step of a phase.
func (p Protocol) step(s transcript.Profile, phase string, show func(*transcript.Turn) bool) (step protocol.Step) {
	step.Actor = s.Name
	step.Prompt = "refine-" + phase
	step.Show = show
	step.Vars = p.vars(s, phase)
	return step
}

// vars returns the parameters of an agent's prompt: its role, and the focus in this phase. Only "focus" depends on the
// phase.
func (p Protocol) vars(s transcript.Profile, phase string) map[string]string {
	name := cmp.Or(s.Role, defaultRole)
	own := p.Roles[name]
	focus := map[string]string{phasePropose: own.Propose, phaseCritique: own.Critique, phaseRefine: own.Refine}[phase]
	return map[string]string{"role": name, "system": own.System, "focus": focus}
}

// conclusionPhases returns the phases of the first judge: a digest if the view is long, and the solution.
func (p Protocol) conclusionPhases(r *protocol.Record) (phases []protocol.Phase) {
	if len(r.Judges) == 0 {
		return nil
	}
	judge := r.Judges[0]
	limit := p.FinalSummaryPolicy.withDefaults(defaultFinalThreshold)
	f := p.judgeView(r)
	show := f.visible
	if !limit.Disabled && (f.size > limit.Threshold || nothingSaid(r)) {
		step := protocol.Step{Prompt: "refine-digest", Contract: SummaryContract.Name(), Show: f.visible}
		step.Actor, step.Vars = judge, map[string]string{"limit": strconv.Itoa(limit.TargetLength)}
		phases = append(phases, protocol.Phase{Name: phaseDigest, Steps: []protocol.Step{step}})
		if t, ok := r.FindCurrent(phaseDigest, judge, ""); ok && valid(t) {
			show = f.digestOnly(t.Key)
		}
	}
	step := protocol.Step{Prompt: "refine-synthesis", Contract: SolutionContract.Name(), Show: show}
	step.Actor = judge
	return append(phases, protocol.Phase{Name: phaseSynthesize, Steps: []protocol.Step{step}})
}

// Deciding returns the phases of the digest and of the synthesis.
func (Protocol) Deciding() []string { return []string{phaseDigest, phaseSynthesize} }

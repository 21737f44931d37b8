package refine

import (
	"cmp"
	"strconv"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Phases are summaries where they are due, proposals, critiques and refinements in each round, and the judge's solution
// at the end. Before anything was said they are as many as they can become.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase {
	switch r.Cursor.Stage {
	case transcript.Speech:
		return p.round(r)
	case transcript.Conclusion:
		return p.conclusion(r)
	default:
		return nil
	}
}

// End is never early: the limits end the debate.
func (Protocol) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

func (p Protocol) round(r *protocol.Record) []protocol.Phase {
	due := protocol.Phase{Name: summarize, Parallel: true}
	proposals := protocol.Phase{Name: propose, Parallel: true}
	critiques := protocol.Phase{Name: critique, Parallel: true}
	refinements := protocol.Phase{Name: refine, Parallel: true}
	for _, s := range r.Seats {
		if step, ok := p.summing(r, s.Name); ok {
			due.Steps = append(due.Steps, step)
		}
		m := p.memory(r, s.Name)
		proposals.Steps = append(proposals.Steps, p.step(s, propose, m.show(m.last)))
		for _, other := range r.Seats {
			if other.Name != s.Name {
				step := p.step(s, critique, m.show(m.proposalOf(other.Name)))
				step.Target, step.Output = other.Name, CritiqueContract.Name()
				critiques.Steps = append(critiques.Steps, step)
			}
		}
		refinements.Steps = append(refinements.Steps, p.step(s, refine, m.show(m.criticized)))
	}
	phases := []protocol.Phase{proposals, critiques, refinements}
	if len(due.Steps) > 0 {
		return append([]protocol.Phase{due}, phases...)
	}
	return phases
}

func (p Protocol) step(s transcript.Seat, phase string, show func(*transcript.Turn) bool) (step protocol.Step) {
	step.Actor, step.Prompt, step.Show, step.Vars = s.Name, "refine-"+phase, show, p.vars(s, phase)
	return step
}

// vars are what an agent's prompt of a phase reads of its role. All but "focus" are the same in all phases.
func (p Protocol) vars(s transcript.Seat, phase string) map[string]string {
	name := cmp.Or(s.Role, generalist)
	own := p.Roles[name]
	focus := map[string]string{propose: own.Propose, critique: own.Critique, refine: own.Refine}[phase]
	return map[string]string{"role": name, "words": own.System, "focus": focus}
}

// conclusion is the first judge's: a digest where there is much to read, and the solution.
func (p Protocol) conclusion(r *protocol.Record) (phases []protocol.Phase) {
	if len(r.Judges) == 0 {
		return nil
	}
	judge, limit, f := r.Judges[0], p.Final.filled(finalAbove), p.final(r)
	show := f.shows
	if !limit.Off && (f.size > limit.Above || planned(r)) {
		step := protocol.Step{Prompt: "refine-digest", Output: SummaryContract.Name(), Show: f.shows}
		step.Actor, step.Vars = judge, map[string]string{"limit": strconv.Itoa(limit.To)}
		phases = append(phases, protocol.Phase{Name: digest, Steps: []protocol.Step{step}})
		if t, ok := r.At(digest, judge, ""); ok && holds(t) {
			show = f.instead(t.Key)
		}
	}
	step := protocol.Step{Prompt: "refine-synthesis", Output: SolutionContract.Name(), Show: show}
	step.Actor = judge
	return append(phases, protocol.Phase{Name: synthesize, Steps: []protocol.Step{step}})
}

package panel

import (
	"slices"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Phases returns one phase for each stage, or two for the setup.
func (p Protocol) Phases(r *protocol.Record) (phases []protocol.Phase) {
	switch r.Cursor.Stage {
	case transcript.Setup:
		if p.Personas != "" {
			phases = onePhase("personas", false, protocol.Step{Prompt: "personas", Contract: protocol.PersonasContract.Name(), Vars: p.vars()}, protocol.PersonaAssigner)
		}
		if p.Format == Oxford {
			phases = append(phases, p.votes(r, phaseBefore))
		}
		return phases
	case transcript.Speech:
		return p.speeches(r)
	case transcript.Assessment:
		if p.Format != Oxford {
			return p.judgePhases(phaseAssess, protocol.Step{Prompt: "assess", Contract: judge.AssessmentContract.Name()}, p.assessors(r))
		}
	case transcript.Conclusion:
		if p.Format == Oxford {
			return []protocol.Phase{p.votes(r, phaseAfter)}
		}
		return p.conclusion(r)
	case transcript.Remark, transcript.Summary, transcript.Embeddings, transcript.Silence:
	}
	return nil
}

// conclusion returns the phase in which the judges give their verdicts, or decide. That of the senior judge follows unless
// the jury decides.
func (p Protocol) conclusion(r *protocol.Record) []protocol.Phase {
	phases := p.concluding(r, phaseVerdict, p.jury(r))
	if senior := p.Selection.Senior; slices.Contains(r.Judges, senior) && p.decided(r) == agreement.None {
		phases = append(phases, p.concluding(r, phaseSenior, []string{senior})...)
	}
	return phases
}

// concluding returns a phase in which judges give their verdicts, or decide.
func (p Protocol) concluding(r *protocol.Record, name string, judges []string) []protocol.Phase {
	if !p.Decision.IsZero() {
		step := protocol.Step{Prompt: "decide", Contract: p.Decision.ContractName(), Check: p.Decision.CheckReply(r.Cursor.Round)}
		return p.judgePhases(name, step, judges)
	}
	phases := p.judgePhases(name, protocol.Step{Prompt: "verdict", Contract: judge.VerdictContract.Name()}, judges)
	if !p.ByScores {
		for i := range phases[0].Steps {
			s := &phases[0].Steps[i]
			s.Doubt = scoresOf(r, s.Actor, s.Target).doubt
		}
	}
	return phases
}

// jury returns the judges without the senior one.
func (p Protocol) jury(r *protocol.Record) []string { return p.Selection.Jury(r.Judges) }

// assessors returns the judges who assess the current round.
func (p Protocol) assessors(r *protocol.Record) []string {
	jury := p.jury(r)
	if !p.RotateJudges || len(jury) == 0 {
		return jury
	}
	at := max(r.Cursor.Round-1, 0) % len(jury)
	return jury[at : at+1]
}

// speeches returns the phase of the current round.
func (p Protocol) speeches(r *protocol.Record) []protocol.Phase {
	name, prompt := p.phaseAndPrompt(r.Cursor.Round, r.MaxRounds)
	// Editing the limit does not change a round that has begun.
	if begun := startedPhase(r); begun != "" && p.hasTasks() {
		name, prompt = begun, begun
	}
	steps, vars, advocate := make([]protocol.Step, len(r.Participants)), p.vars(), p.advocate(r)
	for i := range r.Participants {
		steps[i].Actor, steps[i].Prompt, steps[i].Vars = r.Participants[i].Name, prompt, vars
		if steps[i].Actor == advocate {
			steps[i].Target, steps[i].Prompt = advocateTarget, advocatePrompt
		}
	}
	return []protocol.Phase{{Name: name, Parallel: p.Mode == Simultaneous, Steps: steps}}
}

// startedPhase returns the speech phase of the current round that already has a turn, or "".
func startedPhase(r *protocol.Record) string {
	for _, t := range r.TurnsFrom(r.Cursor.Round) {
		if t.Kind == transcript.Speech || t.Kind == transcript.Silence {
			return t.Phase
		}
	}
	return ""
}

// phaseAndPrompt returns the names of a round's phase and prompt.
func (p Protocol) phaseAndPrompt(round, rounds int) (phase, prompt string) {
	switch {
	case p.Format == "":
		return "respond", string(FreeForm)
	case !p.hasTasks():
		return "respond", string(p.Format)
	case round == 1:
		return "opening", "opening"
	case round >= rounds:
		return "closing", "closing"
	}
	return "rebuttal", "rebuttal"
}

// judgePhases returns a parallel phase of all judges, each with two steps if the jury swaps the order. The judges see
// pseudonyms instead of names.
func (p Protocol) judgePhases(name string, step protocol.Step, judges []string) []protocol.Phase {
	step.Vars, step.Blind = p.vars(), true
	phases := onePhase(name, true, step, judges...)
	if !p.Jury.Swap {
		return phases
	}
	for _, s := range onePhase(name, true, step, judges...)[0].Steps {
		s.Target, s.Swap = judge.Swapped, true
		phases[0].Steps = append(phases[0].Steps, s)
	}
	return phases
}

// Deciding returns the phases of the verdicts and of the senior judge, or of the audience's votes. If the scores decide, the assessments do too.
func (p Protocol) Deciding() []string {
	switch {
	case p.Format == Oxford:
		return []string{phaseBefore, phaseAfter}
	case p.ByScores:
		return []string{phaseAssess, phaseVerdict, phaseSenior}
	}
	return []string{phaseVerdict, phaseSenior}
}

package panel

import (
	"slices"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Phases returns one phase for each stage, or two for the setup. The senior judge follows unless the jury decides.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase {
	return protocol.Flow{Stages: p.stages(r)}.Phases(r)
}

// stages returns the stages of the table to which the cursor points. An audience does not judge.
func (p Protocol) stages(r *protocol.Record) (list []protocol.Stage) {
	audience := p.Format == Oxford
	switch kind := r.Cursor.Stage; {
	case kind == transcript.Speech:
		list = []protocol.Stage{p.speeches(r)}
	case kind == transcript.Setup:
		if p.Personas != "" {
			list = append(list, p.personas())
		}
		if audience {
			list = append(list, p.votes(kind, phaseBefore))
		}
	case audience && kind == transcript.Conclusion:
		list = []protocol.Stage{p.votes(kind, phaseAfter)}
	case audience:
	case kind == transcript.Assessment:
		list = []protocol.Stage{p.judging(kind, phaseAssess, judge.AssessmentContract, p.assessors(r))}
	default:
		list = []protocol.Stage{p.concluding(phaseVerdict, p.jury(r))}
		if p.Selection.Senior == "" {
			break
		}
		if seniors := p.selected().Seniors(r); len(seniors) > 0 {
			list = append(list, p.concluding(outcome.SeniorPhase, seniors))
		}
	}
	return list
}

// personas returns the phase in which a model assigns personas.
func (p Protocol) personas() protocol.Stage {
	vars := p.vars()
	return protocol.Stage{
		Kind: transcript.Setup, Name: "personas", Prompt: "personas", Contract: protocol.PersonasContract,
		Who:  func(*protocol.Record) []transcript.Key { return protocol.Actors(protocol.PersonaAssigner) },
		Each: func(_ *protocol.Record, s *protocol.Step) { s.Vars = vars },
	}
}

// judging returns a parallel phase of judges, each with two steps if the jury swaps the order. The judges see pseudonyms
// instead of names.
func (p Protocol) judging(kind transcript.Kind, name string, contract *reply.Contract, judges []transcript.Key) protocol.Stage {
	vars := p.vars()
	if p.Jury.Swap {
		judges = outcome.InBothOrders(judges)
	}
	return protocol.Stage{
		Kind: kind, Name: name, Prompt: name, Contract: contract, Parallel: true, Blind: true,
		Who: func(*protocol.Record) []transcript.Key { return judges },
		Each: func(_ *protocol.Record, s *protocol.Step) {
			s.Vars = vars
			s.Swap = s.Target == judge.Swapped
		},
	}
}

// concluding returns a phase in which judges give their verdicts, or decide.
func (p Protocol) concluding(name string, judges []transcript.Key) protocol.Stage {
	stage := p.judging(transcript.Conclusion, name, judge.VerdictContract, judges)
	stage.Prompt = "verdict"
	each := stage.Each
	switch {
	case !p.Decision.IsZero():
		task := p.Decision
		stage.Prompt = "decide"
		stage.Each = func(r *protocol.Record, s *protocol.Step) {
			each(r, s)
			s.Contract = task.ContractName()
			s.Check = task.CheckReply(r.Cursor.Round)
		}
	case !p.ByScores:
		stage.Each = func(r *protocol.Record, s *protocol.Step) {
			each(r, s)
			s.Doubt = scoresOf(r, s.Actor, s.Target).doubt
		}
	}
	return stage
}

// jury returns the judges without the senior one.
func (p Protocol) jury(r *protocol.Record) []transcript.Key {
	return protocol.Actors(p.Selection.Jury(r.Judges)...)
}

// assessors returns the judges who assess the current round.
func (p Protocol) assessors(r *protocol.Record) []transcript.Key {
	members := p.jury(r)
	if !p.RotateJudges || len(members) == 0 {
		return members
	}
	at := max(r.Cursor.Round-1, 0) % len(members)
	return members[at : at+1]
}

// speeches returns the phase of the current round. One of the participants may be the devil's advocate.
func (p Protocol) speeches(r *protocol.Record) protocol.Stage {
	name, prompt := p.phaseAndPrompt(r.Cursor.Round, r.MaxRounds)
	// Editing the limit does not change a round that has begun.
	if begun := startedPhase(r); begun != "" && p.hasTasks() {
		name, prompt = begun, begun
	}
	vars := p.vars()
	stage := protocol.Stage{
		Kind: transcript.Speech, Name: name, Prompt: prompt, Parallel: p.Mode == Simultaneous,
		Each: func(_ *protocol.Record, s *protocol.Step) { s.Vars = vars },
	}
	if advocate := p.advocate(r); advocate != "" {
		stage.Each = func(_ *protocol.Record, s *protocol.Step) {
			s.Vars = vars
			if s.Actor == advocate {
				s.Target = advocateTarget
				s.Prompt = advocatePrompt
			}
		}
	}
	return stage
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

// Deciding returns the phases of the verdicts and of the senior judge, or of the audience's votes. If the scores decide, the
// assessments do too.
func (p Protocol) Deciding() []string {
	switch {
	case p.Format == Oxford:
		return []string{phaseBefore, phaseAfter}
	case p.ByScores:
		return []string{phaseAssess, phaseVerdict, outcome.SeniorPhase}
	}
	return []string{phaseVerdict, outcome.SeniorPhase}
}

// The step of the devil's advocate.
const (
	advocateTarget = "devil's advocate"
	advocatePrompt = "devils-advocate"
)

// advocate returns the name of the participant who argues against the consensus in the current round, or "". It depends
// only on the previous round, so it does not change when a participant drops out.
func (p Protocol) advocate(r *protocol.Record) string {
	if !p.DevilsAdvocate || r.Cursor.Round < 2 {
		return ""
	}
	var speakers []string
	var assessments []transcript.Turn
	for _, t := range r.TurnsOf(r.Cursor.Round - 1) {
		if t.Kind == transcript.Speech {
			speakers = append(speakers, t.Actor)
		}
		if t.Kind == transcript.Assessment {
			assessments = append(assessments, t)
		}
	}
	joint, ok := p.Jury.CombineAssessments(judge.Opinions[judge.Assessment](assessments...))
	if !ok || !joint.Value.Converged || len(speakers) == 0 {
		return ""
	}
	return speakers[(r.Cursor.Round-2)%len(speakers)]
}

// hasAdvocated reports whether the devil's advocate has spoken in the current round.
func hasAdvocated(r *protocol.Record) bool {
	return slices.ContainsFunc(r.TurnsOf(r.Cursor.Round), func(t transcript.Turn) bool {
		return t.Kind == transcript.Speech && t.Target == advocateTarget
	})
}

// Steps returns the steps that depend on earlier turns: those of the devil's advocate.
func (p Protocol) Steps(r *protocol.Record) (steps []protocol.Step) {
	if !p.DevilsAdvocate {
		return nil
	}
	for _, s := range r.Participants {
		step := protocol.Step{Kind: transcript.Speech, Prompt: advocatePrompt, Vars: p.vars()}
		step.Actor = s.Name
		step.Target = advocateTarget
		step.Phase = "respond"
		steps = append(steps, step)
	}
	return steps
}

package panel

import (
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Phases returns one phase for each stage, or two for the setup. The senior judge follows unless the jury decides.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase {
	var stages []protocol.Stage
	switch r.Cursor.Stage {
	case transcript.Setup:
		stages = []protocol.Stage{p.personas(), p.votes(transcript.Setup, phaseBefore)}
	case transcript.Speech:
		stages = []protocol.Stage{p.speeches(r)}
	case transcript.Assessment:
		stages = []protocol.Stage{p.judging(phaseAssess, "assess", judge.AssessmentContract, p.assessors)}
	default:
		selected := p.selected()
		stages = []protocol.Stage{
			p.concluding(phaseVerdict, selected.Members),
			p.concluding(outcome.SeniorPhase, selected.Seniors),
			p.votes(transcript.Conclusion, phaseAfter),
		}
	}
	return protocol.Flow{Stages: stages}.Phases(r)
}

// personas returns the phase in which a model assigns personas.
func (p Protocol) personas() protocol.Stage {
	return protocol.Stage{
		Kind: transcript.Setup, Name: "personas", Prompt: "personas", Contract: protocol.PersonasContract,
		If:   func(*protocol.Record) bool { return p.Personas != "" },
		Who:  func(*protocol.Record) []transcript.Key { return protocol.Actors(protocol.PersonaAssigner) },
		Each: func(_ *protocol.Record, s *protocol.Step) { s.Vars = p.vars() },
	}
}

// judging returns a parallel phase of judges, each with two steps if the jury swaps the order. The judges see pseudonyms
// instead of names. An audience does not judge.
func (p Protocol) judging(name, prompt string, contract *reply.Contract, who func(*protocol.Record) []transcript.Key) protocol.Stage {
	return protocol.Stage{
		Kind: transcript.Assessment, Name: name, Prompt: prompt, Contract: contract, Parallel: true, Blind: true,
		If: func(*protocol.Record) bool { return p.Format != Oxford },
		Who: func(r *protocol.Record) []transcript.Key {
			if p.Jury.Swap {
				return outcome.InBothOrders(who(r))
			}
			return who(r)
		},
		Each: func(_ *protocol.Record, s *protocol.Step) {
			s.Vars = p.vars()
			s.Swap = s.Target == judge.Swapped
		},
	}
}

// concluding returns a phase in which judges give their verdicts, or decide.
func (p Protocol) concluding(name string, who func(*protocol.Record) []transcript.Key) protocol.Stage {
	stage := p.judging(name, "verdict", judge.VerdictContract, who)
	stage.Kind = transcript.Conclusion
	each := stage.Each
	stage.Each = func(r *protocol.Record, s *protocol.Step) {
		each(r, s)
		switch {
		case !p.Decision.IsZero():
			s.Prompt = "decide"
			s.Contract = p.Decision.ContractName()
			s.Check = p.Decision.CheckReply(r.Cursor.Round)
		case !p.ByScores:
			s.Doubt = scoresOf(r, s.Actor, s.Target).doubt
		}
	}
	return stage
}

// assessors returns the judges who assess the current round.
func (p Protocol) assessors(r *protocol.Record) []transcript.Key {
	members := p.selected().Members(r)
	if !p.RotateJudges || len(members) == 0 {
		return members
	}
	at := max(r.Cursor.Round-1, 0) % len(members)
	return members[at : at+1]
}

// speeches returns the phase of the current round.
func (p Protocol) speeches(r *protocol.Record) protocol.Stage {
	name, prompt := p.phaseAndPrompt(r.Cursor.Round, r.MaxRounds)
	// Editing the limit does not change a round that has begun.
	if begun := startedPhase(r); begun != "" && p.hasTasks() {
		name, prompt = begun, begun
	}
	return protocol.Stage{
		Kind: transcript.Speech, Name: name, Prompt: prompt, Parallel: p.Mode == Simultaneous,
		Who: func(r *protocol.Record) []transcript.Key { return p.speakers(r) },
		Each: func(_ *protocol.Record, s *protocol.Step) {
			s.Vars = p.vars()
			if s.Target == advocateTarget {
				s.Prompt = advocatePrompt
			}
		},
	}
}

// speakers returns the participants, of whom one may be the devil's advocate.
func (p Protocol) speakers(r *protocol.Record) []transcript.Key {
	keys := protocol.Participants(r)
	advocate := p.advocate(r)
	for i := range keys {
		if keys[i].Actor == advocate {
			keys[i].Target = advocateTarget
		}
	}
	return keys
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

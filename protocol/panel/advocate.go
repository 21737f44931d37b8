package panel

import (
	"slices"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

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

package panel

import (
	"encoding/json"
	"strings"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// judgeTurns returns the turns of the judges in a phase of the current round.
func judgeTurns(r *protocol.Record, phase string) (list []transcript.Turn) {
	for _, name := range r.Judges {
		for _, order := range []string{"", judge.Swapped} {
			if t, ok := r.FindCurrent(phase, name, order); ok {
				list = append(list, t)
			}
		}
	}
	return list
}

// End returns why the judges end the debate after this round, or the zero Ending. The jury decides by majority. In the
// formats round-limited and structured-rounds the judges do not end the debate.
func (p Protocol) End(r *protocol.Record) transcript.Ending {
	if p.Format == RoundLimited || p.Format == StructuredRounds {
		return transcript.Ending{}
	}
	joint, ok := p.Jury.CombineAssessments(judge.Opinions[judge.Assessment](judgeTurns(r, phaseAssess)))
	if !ok {
		return transcript.Ending{}
	}
	outcome := transcript.Outcome("")
	says := func(a judge.Assessment) bool { return !a.ShouldContinue }
	switch {
	case p.Format == ConvergenceSeeking && joint.Value.Converged:
		outcome, says = transcript.Converged, func(a judge.Assessment) bool { return a.Converged }
	case p.Format == ConvergenceSeeking && joint.Value.DiminishingReturns:
		outcome, says = transcript.DiminishingReturns, func(a judge.Assessment) bool { return a.DiminishingReturns }
	case !joint.Value.ShouldContinue:
		outcome = transcript.JudgeDecided
	default:
		return transcript.Ending{}
	}
	for _, o := range joint.Opinions {
		if says(o.Value) {
			return transcript.Ending{Outcome: outcome, Evidence: o.Judge + ": " + o.Value.Reasoning}
		}
	}
	return transcript.Ending{Outcome: outcome}
}

// AssessmentJury returns the jury that combines the assessments.
func (p Protocol) AssessmentJury() judge.Jury { return p.Jury }

// DecodeAnswer returns the data of a debate's answer. It returns an error if there is no answer yet, or if another protocol
// gave it.
func DecodeAnswer(a protocol.Answer) (data judge.Opinion[judge.Verdict], err error) {
	err = a.Decode(Protocol{}.Name(), &data)
	return data, err
}

// Answer returns the joint verdict of the jury. The data is a judge.Opinion[judge.Verdict], even with a single judge.
func (p Protocol) Answer(r *protocol.Record) (a protocol.Answer) {
	joint, ok := p.Jury.CombineVerdicts(judge.Opinions[judge.Verdict](judgeTurns(r, phaseVerdict)))
	if !ok {
		return a
	}
	lines := append([]string{joint.Value.Text()}, append(joint.Dissent, joint.Disagreement...)...)
	a.Text = strings.Join(lines, "\n")
	a.Data, _ = json.Marshal(joint) // a decoded value always encodes
	return a
}

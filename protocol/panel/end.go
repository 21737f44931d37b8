package panel

import (
	"encoding/json"
	"strings"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// judgeTurns are what the judges said in a phase of the round at hand.
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

// End is the judges' word, as far as the format listens to it. The bench decides by majority.
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

// Answer is the bench's joint verdict. Its data is a judge.Opinion[judge.Verdict], of one judge as well.
func (p Protocol) Answer(r *protocol.Record) (a protocol.Answer) {
	joint, ok := p.Jury.CombineVerdicts(judge.Opinions[judge.Verdict](judgeTurns(r, phaseVerdict)))
	if !ok {
		return a
	}
	lines := append([]string{joint.Value.Text()}, append(joint.Dissent, joint.Disagreement...)...)
	a.Text = strings.Join(lines, "\n")
	a.Data, _ = json.Marshal(joint) // what was decoded encodes
	return a
}

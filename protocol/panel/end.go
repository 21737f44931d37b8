package panel

import (
	"errors"
	"strings"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// End returns why the judges end the debate after this round, or the zero Ending. The jury decides by majority. In the
// formats round-limited, structured-rounds and oxford the judges do not end the debate. With DevilsAdvocate they do not
// end it when the participants converge and the advocate has not spoken against the consensus.
func (p Protocol) End(r *protocol.Record) transcript.Ending {
	if p.Format == RoundLimited || p.hasTasks() {
		return transcript.Ending{}
	}
	joint, ok := p.Jury.CombineAssessments(judge.Opinions[judge.Assessment](judgeTurns(r, phaseAssess)...))
	if !ok || p.DevilsAdvocate && joint.Value.Converged && !hasAdvocated(r) {
		return transcript.Ending{}
	}
	var why transcript.Outcome
	says := func(a judge.Assessment) bool { return !a.ShouldContinue }
	switch {
	case p.Format == ConvergenceSeeking && joint.Value.Converged:
		why = transcript.Converged
		says = func(a judge.Assessment) bool { return a.Converged }
	case p.Format == ConvergenceSeeking && joint.Value.DiminishingReturns:
		why = transcript.DiminishingReturns
		says = func(a judge.Assessment) bool { return a.DiminishingReturns }
	case !joint.Value.ShouldContinue:
		why = transcript.JudgeDecided
	default:
		return transcript.Ending{}
	}
	for _, o := range joint.Opinions {
		if says(o.Value) {
			return transcript.Ending{Outcome: why, Evidence: o.Judge + ": " + o.Value.Reasoning}
		}
	}
	return transcript.Ending{Outcome: why}
}

// AssessmentJury returns the jury that combines the assessments.
func (p Protocol) AssessmentJury() judge.Jury { return p.Jury }

// DecodeAnswer returns the data of a debate's answer. It returns an error if there is no answer yet, if another protocol
// gave it, if it is a decision, or if it is the vote of an audience; see [decision.Joint] and [DecodeAudience].
func DecodeAnswer(a protocol.Answer) (judge.Opinion[judge.Verdict], error) {
	var data struct {
		audienceData
		judge.Opinion[judge.Verdict]
	}
	err := a.Decode(Protocol{}.Name(), &data)
	if err == nil && data.Audience != nil {
		err = errors.New("decode answer: it is the vote of an audience, use DecodeAudience")
	}
	return data.Opinion, err
}

// Answer returns the joint verdict of the jury. The data is a judge.Opinion[judge.Verdict], even with a single judge. With
// the format oxford, it returns the result of the audience's votes, and with a decision the joint decision.
func (p Protocol) Answer(r *protocol.Record) (a protocol.Answer) {
	turns, decided, warnings := p.selected().Concluding(r)
	a.Warnings = warnings
	switch {
	case p.Format == Oxford:
		return audienceAnswer(r)
	case len(turns) == 0:
		return a
	case !p.Decision.IsZero():
		a.Type = decision.Type
		a.Text, a.Data = p.Decision.CombineFor(decided.Number(), p.jointScores(r), turns...)
		return a
	}
	opinions := judge.Opinions[judge.Verdict](turns...)
	if p.ByScores {
		for i := range opinions {
			opinions[i].Value.Winner = ""
		}
	}
	winner := ""
	if n := decided.Number(); n > 0 {
		winner = r.Participants[n-1].Name
	}
	joint, _ := p.Jury.CombineVerdictsFor(winner, opinions)
	if p.ByScores {
		scores := p.jointScores(r)
		joint.Value.Winner, joint.Value.WinnerReasoning = scores.Leader(), "The scores decide: "+scores.String()+"."
		if len(scores) == 0 {
			joint.Value.WinnerReasoning = "There are no scores, so nobody wins."
		}
	} else {
		warnings = append(warnings, contradictions(r, opinions)...)
	}
	lines := append([]string{joint.Value.Text()}, append(joint.Dissent, joint.Disagreement...)...)
	return outcome.Answer(strings.Join(lines, "\n"), joint, warnings...)
}

package procon

import (
	"math"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol"
)

// Answer returns the joint judgment of the judges, or with a decision the joint decision. It is zero before the first one.
func (p Protocol) Answer(r *protocol.Record) (a protocol.Answer) {
	judgments := said(r, phaseJudge)
	if len(judgments) == 0 {
		return a
	}
	decisions, decided, warnings := p.selected().Concluding(r)
	a.Warnings = warnings
	if len(decisions) == 0 {
		return a
	}
	if p.Decision.IsZero() {
		judgments = decisions
	}
	winner := ""
	if n := decided.Number(); n > 0 && n <= len(r.Participants) {
		winner = r.Participants[n-1].Name
	}
	opinions := judge.Opinions[Judgment](judgments...)
	joint := combine(opinions, winner)
	if !p.Decision.IsZero() {
		a.Type = decision.Type
		a.Text, a.Data = p.Decision.CombineFor(decided.Number(), joint.scores(), decisions...)
		return a
	}
	for _, o := range opinions {
		if warning := o.Value.scores().Warning(o.Judge, false, o.Value.Winner); warning != "" && !o.Failed {
			warnings = append(warnings, warning)
		}
	}
	return outcome.Answer(joint.Text(), joint, warnings...)
}

// DecodeAnswer returns the data of a debate's answer. It returns an error if there is no answer yet, if another protocol
// gave it, or if it is a decision.
func DecodeAnswer(a protocol.Answer) (Judgment, error) {
	return outcome.Decode[Judgment](a, Protocol{})
}

// combine returns the joint judgment of several judges. The winner is that of the majority, unless it is decided. A judgment that
// is a default is ignored unless all are.
//
//   - The winner needs the votes of more than half of the judges. A judgment without a winner is a vote for no winner.
//   - The summary is that of the first judge who voted for the outcome.
//   - A score is the mean of the judges' scores. The winner's may be the lower one.
//   - NoNewArguments needs more than half of the judges.
func combine(opinions []judge.Opinion[Judgment], decided string) Judgment {
	verdicts := make([]judge.Opinion[judge.Verdict], len(opinions))
	for i, o := range opinions {
		verdicts[i] = judge.Opinion[judge.Verdict]{
			Judge: o.Judge, Failed: o.Failed, Value: judge.Verdict{Winner: o.Value.Winner, WinnerReasoning: o.Value.Summary},
		}
	}
	verdict, _ := judge.Jury{}.CombineVerdictsFor(decided, verdicts)
	joint := Judgment{Summary: verdict.Value.WinnerReasoning, Winner: verdict.Value.Winner, Dissent: verdict.Dissent}
	var counted []Judgment
	stale := 0
	for _, o := range opinions {
		if o.Failed && !verdict.Failed {
			continue
		}
		counted = append(counted, o.Value)
		if o.Value.NoNewArguments {
			stale++
		}
	}
	joint.NoNewArguments = 2*stale > len(counted)
	for _, s := range counted[0].Participants {
		joint.Participants = append(joint.Participants, ParticipantScore{Name: s.Name, Score: meanScore(counted, s.Name)})
	}
	return joint
}

// meanScore returns the mean score of a participant, rounded to hundredths. It returns a single score unchanged.
func meanScore(judgments []Judgment, name string) float64 {
	var scores []float64
	for _, j := range judgments {
		for _, s := range j.Participants {
			if s.Name == name {
				scores = append(scores, s.Score)
			}
		}
	}
	if len(scores) == 1 {
		return scores[0]
	}
	sum := 0.0
	for _, s := range scores {
		sum += s
	}
	return math.Round(100*sum/float64(len(scores))) / 100
}

package judge

import (
	"cmp"
	"fmt"
	"slices"
)

// Jury defines how the replies of several judges are combined, and whether each judge is asked twice. The zero Jury
// uses the mean and asks once.
type Jury struct {
	Aggregation string `json:"aggregation,omitempty"` // how scores are averaged: "mean" or "median"; defaults to "mean"
	Swap        bool   `json:"swap,omitempty"`        // ask each judge again, with the participants in the opposite order
}

// The values of Jury.Aggregation.
const (
	Mean   string = "mean"
	Median string = "median"
)

// Check returns a description of each invalid parameter.
func (b Jury) Check() []string {
	if known := []string{"", Mean, Median}; !slices.Contains(known, b.Aggregation) {
		return []string{fmt.Sprintf("aggregation %q is unknown, use one of %q", b.Aggregation, known[1:])}
	}
	return nil
}

// CombineAssessments combines the assessments of several judges into one. It returns false if there are no opinions.
//
//   - Failed opinions are ignored unless all opinions failed, so one failed judge does not spoil the result.
//   - Each judge is one voter. If a judge was asked twice, its scores are averaged. If its two answers for a flag
//     differ, it abstains on that flag.
//   - A flag is set if more than half of the voters that do not abstain set it. The debate continues unless more than
//     half vote against it. On a tie, therefore, no flag is set and the debate continues.
//   - Quality, criterion scores and participants' scores are each the mean or the median over the voters, rounded to
//     hundredths. A participant's score is aggregated from the voters' scores for that participant, so with medians
//     it can differ from the weighted mean of the aggregated criterion scores.
//   - Reasoning, strengths, weaknesses and recommendations come from the first voter that agrees with the jury on
//     whether to continue, or from the first voter if none agrees.
//   - Dissent lists the voters whose answer for a flag differs from the outcome, each with its reasoning.
//     Disagreement lists the judges whose answers differ between the two orders, and the scores that differ by more
//     than 3 points, between judges or between the two orders of one judge.
func (b Jury) CombineAssessments(opinions []Opinion[Assessment]) (Opinion[Assessment], bool) {
	voters, failed := votersOf(opinions)
	if len(voters) == 0 {
		return Opinion[Assessment]{}, false
	}
	joint := Opinion[Assessment]{Failed: failed, Opinions: opinions}
	for i, p := range flagFields {
		vote := p.ballot(voters)
		outcome, ok := vote.majority()
		if !ok {
			outcome = p.onTie
		}
		if i == 0 {
			joint.Value = cloneScores(cmp.Or(vote.firstFor(outcome), voters[0].values[0]))
		}
		*p.field(&joint.Value) = outcome
		joint.Dissent = append(joint.Dissent, vote.dissent(outcome, func(a *Assessment) string { return a.Reasoning })...)
		joint.Disagreement = append(joint.Disagreement, vote.contradictions()...)
	}
	for _, f := range numberFields(&joint.Value) {
		at := f.field(&joint.Value)
		if at == nil { // a second entry for the same participant; no contract accepts one
			continue
		}
		*at = b.average(f.meanByVoter(voters))
		joint.Disagreement = append(joint.Disagreement, f.disagreements(voters)...)
	}
	return joint, true
}

// ConvergedVotes returns each judge's vote on whether the participants converged, one for each judge that does not
// abstain. The rules of CombineAssessments apply.
func (Jury) ConvergedVotes(opinions []Opinion[Assessment]) (votes []bool) {
	voters, _ := votersOf(opinions)
	vote := convergedFlag.ballot(voters)
	for _, v := range voters {
		if converged, ok := vote.vote(v); ok {
			votes = append(votes, converged)
		}
	}
	return votes
}

// CombineVerdicts combines the verdicts of several judges into one. It returns false if there are no opinions. The
// rules of CombineAssessments apply, and in addition:
//
//   - The winner needs the votes of more than half of the voters that do not abstain. A verdict without a winner is a
//     vote for no winner. Without a majority there is no winner.
//   - All texts come from the first voter that named this winner. If there is none, they come from the first voter, but
//     its dissent is removed, and a fixed text replaces its reasons for the winner.
//   - Quality is on a scale of 100, so Disagreement lists qualities that differ by more than 30 points.
func (b Jury) CombineVerdicts(opinions []Opinion[Verdict]) (Opinion[Verdict], bool) {
	return b.CombineVerdictsFor("", opinions)
}

// CombineVerdictsFor is CombineVerdicts for a winner that is decided otherwise, such as by a calibrated margin. If decided is
// empty, the majority decides.
func (b Jury) CombineVerdictsFor(decided string, opinions []Opinion[Verdict]) (Opinion[Verdict], bool) {
	voters, failed := votersOf(opinions)
	if len(voters) == 0 {
		return Opinion[Verdict]{}, false
	}
	vote := ballot[Verdict, string]{voters, func(v *Verdict) string { return v.Winner }, func(winner string) string {
		if winner == "" {
			return "nobody won"
		}
		return winner + " won"
	}}
	joint := Opinion[Verdict]{Failed: failed, Opinions: opinions}
	winner := decided
	if winner == "" {
		winner, _ = vote.majority()
	}
	if v := vote.firstFor(winner); v != nil {
		joint.Value = *v
	} else {
		joint.Value = *voters[0].values[0]
		joint.Value.Winner, joint.Value.Dissent = winner, ""
		joint.Value.WinnerReasoning = "The judges did not agree on a winner."
	}
	joint.Dissent = vote.dissent(winner, func(v *Verdict) string { return v.WinnerReasoning })
	quality := numberField[Verdict]{"quality", func(v *Verdict) *float64 { return &v.Quality }, 30}
	joint.Value.Quality = b.average(quality.meanByVoter(voters))
	joint.Disagreement = append(vote.contradictions(), quality.disagreements(voters)...)
	return joint, true
}

// flagField is a yes-or-no field of an assessment.
type flagField struct {
	name  string
	field func(*Assessment) *bool
	onTie bool // the value if there is no majority
}

// flagFields lists the flags. The first one decides which voter's texts are used.
var flagFields = []flagField{
	{"should_continue", func(a *Assessment) *bool { return &a.ShouldContinue }, true},
	{"repetitive", func(a *Assessment) *bool { return &a.Repetitive }, false},
	{"drifting", func(a *Assessment) *bool { return &a.Drifting }, false},
	{"diminishing_returns", func(a *Assessment) *bool { return &a.DiminishingReturns }, false},
	convergedFlag,
}

var convergedFlag = flagField{"converged", func(a *Assessment) *bool { return &a.Converged }, false}

// ballot returns the vote of voters on the flag.
func (p flagField) ballot(voters []voter[Assessment]) ballot[Assessment, bool] {
	return ballot[Assessment, bool]{
		voters, func(a *Assessment) bool { return *p.field(a) }, func(v bool) string { return fmt.Sprintf("%s is %t", p.name, v) },
	}
}

// numberFields returns the numeric fields of an assessment.
func numberFields(a *Assessment) []numberField[Assessment] {
	list := []numberField[Assessment]{{"quality", func(a *Assessment) *float64 { return &a.Quality }, 3}}
	for _, p := range a.Participants {
		list = append(list, numberField[Assessment]{"score of " + p.Name, func(a *Assessment) *float64 {
			if s := a.participant(p.Name); s != nil {
				return &s.Score
			}
			return nil
		}, 3})
		for _, m := range p.Criteria {
			list = append(list, numberField[Assessment]{m.Criterion, func(a *Assessment) *float64 { return a.criterionScore(p.Name, m.Criterion) }, unlimited})
		}
	}
	return list
}

// average returns the mean or the median of values, rounded to hundredths. It returns a single value unchanged.
func (b Jury) average(values []float64) float64 {
	if b.Aggregation == Median {
		return median(values)
	}
	return mean(values)
}

package judge

import (
	"cmp"
	"fmt"
	"slices"
)

// Jury is how the words of several judges become one, and whether each judges twice. The zero Jury takes the mean.
type Jury struct {
	Aggregation string `json:"aggregation,omitempty"` // how scores are averaged: "mean" or "median"; defaults to mean
	Swap        bool   `json:"swap,omitempty"`        // each judges twice, the second time with the participants in the opposite order
}

// The averages of a bench's scores.
const (
	Mean   string = "mean"
	Median string = "median"
)

// Check says what is wrong with a bench's parameters.
func (b Jury) Check() []string {
	if known := []string{"", Mean, Median}; !slices.Contains(known, b.Aggregation) {
		return []string{fmt.Sprintf("aggregation %q is unknown, use one of %q", b.Aggregation, known[1:])}
	}
	return nil
}

// CombineAssessments makes one assessment of several; false: there is none.
//
//   - Opinions that failed count only where all have: one failed judge does not sink the bench.
//   - A judge is one voter. Where it judged twice, its numbers are averaged; where its two answers to a point differ,
//     it abstains on that point.
//   - A flag is up where more than half of the voters who do not abstain raise it. The debate goes on unless more
//     than half say that it should not. So a tie raises no flag, and goes on.
//   - Quality, marks and totals are each the mean or the median over the voters, rounded to hundredths. The total is
//     that of the voters' totals: with medians it can differ from the total of the marks.
//   - Reasoning, strengths, weaknesses and recommendations are those of the first voter who says of going on what the
//     bench says, and of the first of all where none does.
//   - Dissent names whose answer to a point is another, with the reasoning. Disagreement names who answered
//     differently in the two orders, and scores more than 3 points apart, between judges and between the orders.
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
		if at == nil { // of a participant's second entry, which no contract lets through
			continue
		}
		*at = b.average(f.meanByVoter(voters))
		joint.Disagreement = append(joint.Disagreement, f.disagreements(voters)...)
	}
	return joint, true
}

// CombineVerdicts makes one verdict of several; false: there is none. It goes as Assess does, and besides:
//
//   - The winner is who more than half of the voters name who do not abstain; to name nobody is a vote as well.
//     Without such a majority there is no winner.
//   - All texts are those of the first voter with that winner. Where there is none they are those of the first of
//     all, but for its reasons for a winner of its own, and its dissent.
//   - Quality is out of 100, and so worth a word where it is more than 30 apart.
func (b Jury) CombineVerdicts(opinions []Opinion[Verdict]) (Opinion[Verdict], bool) {
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
	winner, _ := vote.majority()
	if v := vote.firstFor(winner); v != nil {
		joint.Value = *v
	} else {
		joint.Value = *voters[0].values[0]
		joint.Value.Winner, joint.Value.Dissent = "", ""
		joint.Value.WinnerReasoning = "The judges did not come to one winner."
	}
	joint.Dissent = vote.dissent(winner, func(v *Verdict) string { return v.WinnerReasoning })
	quality := numberField[Verdict]{"quality", func(v *Verdict) *float64 { return &v.Quality }, 30}
	joint.Value.Quality = b.average(quality.meanByVoter(voters))
	joint.Disagreement = append(vote.contradictions(), quality.disagreements(voters)...)
	return joint, true
}

// flagField is one thing that an assessment says yes or no to.
type flagField struct {
	name  string
	field func(*Assessment) *bool
	onTie bool // what holds without a majority
}

// flagFields begin with the one that decides.
var flagFields = []flagField{
	{"should_continue", func(a *Assessment) *bool { return &a.ShouldContinue }, true},
	{"repetitive", func(a *Assessment) *bool { return &a.Repetitive }, false},
	{"drifting", func(a *Assessment) *bool { return &a.Drifting }, false},
	{"diminishing_returns", func(a *Assessment) *bool { return &a.DiminishingReturns }, false},
	{"converged", func(a *Assessment) *bool { return &a.Converged }, false},
}

func (p flagField) ballot(voters []voter[Assessment]) ballot[Assessment, bool] {
	return ballot[Assessment, bool]{
		voters, func(a *Assessment) bool { return *p.field(a) }, func(v bool) string { return fmt.Sprintf("%s is %t", p.name, v) },
	}
}

// numberFields are the numbers in an assessment.
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

// average is the mean or the median of some values, rounded to hundredths; of one value it is that value.
func (b Jury) average(values []float64) float64 {
	if b.Aggregation == Median {
		return median(values)
	}
	return mean(values)
}

package judge

import (
	"cmp"
	"fmt"
	"slices"
)

// Bench is how the words of several judges become one, and whether each judges twice. The zero Bench takes the mean.
type Bench struct {
	Scores string `json:"scores,omitempty"` // how scores are averaged: "mean" or "median"; defaults to mean
	Swap   bool   `json:"swap,omitempty"`   // each judges twice, the second time with the participants in the opposite order
}

// The averages of a bench's scores.
const (
	Mean   string = "mean"
	Median string = "median"
)

// Check says what is wrong with a bench's parameters.
func (b Bench) Check() []string {
	if known := []string{"", Mean, Median}; !slices.Contains(known, b.Scores) {
		return []string{fmt.Sprintf("scores %q is unknown, the averages are %q", b.Scores, known[1:])}
	}
	return nil
}

// Assess makes one assessment of several; false: there is none.
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
func (b Bench) Assess(opinions []Opinion[Assessment]) (Opinion[Assessment], bool) {
	voters, failed := seated(opinions)
	if len(voters) == 0 {
		return Opinion[Assessment]{}, false
	}
	joint := Opinion[Assessment]{Failed: failed, Opinions: opinions}
	for i, p := range points {
		vote := p.ballot(voters)
		outcome, ok := vote.majority()
		if !ok {
			outcome = p.tie
		}
		if i == 0 {
			joint.Value = copied(cmp.Or(vote.siding(outcome), voters[0].words[0]))
		}
		*p.of(&joint.Value) = outcome
		joint.Dissent = append(joint.Dissent, vote.dissent(outcome, func(a *Assessment) string { return a.Reasoning })...)
		joint.Disagreement = append(joint.Disagreement, vote.torn()...)
	}
	for _, f := range figures(&joint.Value) {
		at := f.of(&joint.Value)
		if at == nil { // of a participant's second entry, which no contract lets through
			continue
		}
		*at = b.average(f.byVoter(voters))
		joint.Disagreement = append(joint.Disagreement, f.spreads(voters)...)
	}
	return joint, true
}

// Conclude makes one verdict of several; false: there is none. It goes as Assess does, and besides:
//
//   - The winner is who more than half of the voters name who do not abstain; to name nobody is a vote as well.
//     Without such a majority there is no winner.
//   - All texts are those of the first voter with that winner. Where there is none they are those of the first of
//     all, but for its reasons for a winner of its own, and its dissent.
//   - Quality is out of 100, and so worth a word where it is more than 30 apart.
func (b Bench) Conclude(opinions []Opinion[Verdict]) (Opinion[Verdict], bool) {
	voters, failed := seated(opinions)
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
	if v := vote.siding(winner); v != nil {
		joint.Value = *v
	} else {
		joint.Value = *voters[0].words[0]
		joint.Value.Winner, joint.Value.Dissent = "", ""
		joint.Value.WinnerReasoning = "The judges did not come to one winner."
	}
	joint.Dissent = vote.dissent(winner, func(v *Verdict) string { return v.WinnerReasoning })
	quality := figure[Verdict]{"quality", func(v *Verdict) *float64 { return &v.Quality }, 30}
	joint.Value.Quality = b.average(quality.byVoter(voters))
	joint.Disagreement = append(vote.torn(), quality.spreads(voters)...)
	return joint, true
}

// point is one thing that an assessment says yes or no to.
type point struct {
	name string
	of   func(*Assessment) *bool
	tie  bool // what holds without a majority
}

// points begin with the one that decides.
var points = []point{
	{"should_continue", func(a *Assessment) *bool { return &a.ShouldContinue }, true},
	{"repetitive", func(a *Assessment) *bool { return &a.Repetitive }, false},
	{"drifting", func(a *Assessment) *bool { return &a.Drifting }, false},
	{"diminishing_returns", func(a *Assessment) *bool { return &a.DiminishingReturns }, false},
	{"converged", func(a *Assessment) *bool { return &a.Converged }, false},
}

func (p point) ballot(voters []voter[Assessment]) ballot[Assessment, bool] {
	return ballot[Assessment, bool]{
		voters, func(a *Assessment) bool { return *p.of(a) }, func(v bool) string { return fmt.Sprintf("%s is %t", p.name, v) },
	}
}

// figures are the numbers in an assessment.
func figures(a *Assessment) []figure[Assessment] {
	list := []figure[Assessment]{{"quality", func(a *Assessment) *float64 { return &a.Quality }, 3}}
	for _, p := range a.Participants {
		list = append(list, figure[Assessment]{"score of " + p.Name, func(a *Assessment) *float64 {
			if s := a.score(p.Name); s != nil {
				return &s.Score
			}
			return nil
		}, 3})
		for _, m := range p.Criteria {
			list = append(list, figure[Assessment]{m.Criterion, func(a *Assessment) *float64 { return a.mark(p.Name, m.Criterion) }, never})
		}
	}
	return list
}

// average is the mean or the median of some values, rounded to hundredths; of one value it is that value.
func (b Bench) average(values []float64) float64 {
	if b.Scores == Median {
		return median(values)
	}
	return mean(values)
}

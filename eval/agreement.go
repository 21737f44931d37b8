package eval

import (
	"math"
	"slices"

	"github.com/elenchus-go/debate/judge/agreement"
)

// agreementOf returns how far judges agree, or nil without any.
func agreementOf(list []*judged) *Agreement {
	a := Agreement{Debates: len(list)}
	for _, x := range list {
		for name := range x.values {
			if !slices.Contains(a.Judges, name) {
				a.Judges = append(a.Judges, name)
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.Sort(a.Judges)
	var decisions, votes []agreement.Unit
	var items []agreement.Item
	for _, x := range list {
		each, voted := agreement.Unit{Group: x.right.Group}, agreement.Unit{Group: x.right.Group}
		for _, name := range a.Judges {
			values := x.values[name]
			each.Values = append(each.Values, values...)
			vote := math.NaN()
			if len(values) > 0 && !slices.ContainsFunc(values, func(v float64) bool { return v != values[0] }) {
				vote = values[0]
			}
			voted.Values = append(voted.Values, vote)
		}
		decisions, votes, items = append(decisions, each), append(votes, voted), append(items, x.right)
	}
	a.Raw, a.AlphaDecisions, a.AlphaVotes = agreement.Raw(decisions, 0), agreement.Alpha(decisions, agreement.Nominal), agreement.Alpha(votes, agreement.Nominal)
	known := agreement.Summarize(items, a.Judges...)
	a.Gold, a.Effective = known.Gold, known.Effective
	return &a
}

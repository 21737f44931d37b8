package agreement

import (
	"math"

	"github.com/elenchus-go/debate/internal/statistics"
)

// A Summary says how far the judges of a jury agree on items, and, with gold labels, how far they can be trusted.
type Summary struct {
	Judges []string `json:"judges"`
	Items  int      `json:"items"`
	// Raw is the share of pairs of decisions that are equal, and AlphaDecisions Krippendorff's alpha of all decisions.
	// Decisions that cannot be read are left out.
	Raw            Interval `json:"raw"`
	AlphaDecisions Interval `json:"alpha_decisions"`
	// AlphaVotes is Krippendorff's alpha of the judges' votes. Judges that contradict themselves abstain, so it can be 1
	// for judges that prefer the answer shown first: read both.
	AlphaVotes Interval `json:"alpha_votes"`

	// The next fields are about the items with a gold label that all judges have judged.
	Gold        int      `json:"gold"`
	Majority    Interval `json:"majority"`    // accuracy of the majority, where a tie counts ½
	Unanimous   Interval `json:"unanimous"`   // accuracy where all decisions are equal; N is the number of these items
	Correlation Interval `json:"correlation"` // mean correlation of the errors of two judges
	// Effective is the number of judges with independent errors who are worth as much as these (Kish): k judges whose
	// errors have the mean correlation r are worth k/(1+(k-1)r).
	Effective Interval `json:"effective"`
}

// Summarize measures how far judges agree on items.
func Summarize(items []Item, judges ...string) Summary {
	s := Summary{Judges: judges, Items: len(items)}
	decisions, votes := units(items, judges)
	s.Raw, s.AlphaDecisions, s.AlphaVotes = Raw(decisions, 0), Alpha(decisions, Nominal), Alpha(votes, Nominal)
	labeled := gold(items, judges)
	var majority, unanimous []statistics.Observation
	for _, i := range labeled {
		group := i.Group
		majority = append(majority, statistics.Observation{Value: i.Majority(judges...).Credit(i.Gold), Group: group})
		if d, ok := i.Unanimous(judges...); ok {
			unanimous = append(unanimous, statistics.Observation{Value: d.Credit(i.Gold), Group: group})
		}
	}
	s.Gold, s.Majority, s.Unanimous = len(labeled), statistics.Share(majority), statistics.Share(unanimous)
	e := errorsOf(labeled, judges)
	s.Correlation = e.interval(e.correlation)
	s.Effective = e.interval(func(items []int) float64 {
		k := float64(len(judges))
		shared := 1 + (k-1)*e.correlation(items)
		if shared < 1e-9 { // errors that cancel each other out exactly
			return math.NaN()
		}
		return k / shared
	})
	return s
}

// units returns the items as units of ratings: by decision, and by vote.
func units(items []Item, judges []string) (decisions, votes []Unit) {
	for _, i := range items {
		each, voted := Unit{Group: i.Group}, Unit{Group: i.Group}
		for _, j := range judges {
			for _, d := range i.Decisions[j] {
				each.Values = append(each.Values, d.rating())
			}
			voted.Values = append(voted.Values, i.Vote(j).rating())
		}
		decisions, votes = append(decisions, each), append(votes, voted)
	}
	return decisions, votes
}

// rating returns a number for each decision, and NaN for none.
func (d Decision) rating() float64 {
	if d == Tie || d == A || d == B {
		return float64(d.decides())
	}
	return math.NaN()
}

// errorTable holds how far each judge is wrong on each item, from 0 to 1.
type errorTable struct {
	byJudge [][]float64
	groups  [][]int // indexes of items
	items   int
}

func errorsOf(items []Item, judges []string) errorTable {
	e := errorTable{items: len(items), groups: statistics.Groups(len(items), func(i int) string { return items[i].Group })}
	for _, j := range judges {
		of := make([]float64, len(items))
		for n, i := range items {
			of[n] = 1 - i.Score(j)
		}
		e.byJudge = append(e.byJudge, of)
	}
	return e
}

// interval returns the interval of a statistic of items.
func (e errorTable) interval(f func(items []int) float64) Interval {
	var drawn []int
	pick := func(draw []int) float64 {
		drawn = drawn[:0]
		for _, g := range draw {
			drawn = append(drawn, e.groups[g]...)
		}
		return f(drawn)
	}
	all := make([]int, len(e.groups))
	for g := range all {
		all[g] = g
	}
	value := pick(all)
	if math.IsNaN(value) || e.items == 0 {
		return Interval{N: e.items, Groups: len(e.groups), Method: statistics.Undefined}
	}
	return statistics.Percentile(value, e.items, len(e.groups), pick)
}

// correlation returns the mean of the correlations of each two judges' errors on items. It is not a number with fewer than
// two judges.
func (e errorTable) correlation(items []int) float64 {
	sum, pairs := 0.0, 0
	for a := range e.byJudge {
		for b := range a {
			sum += pearson(e.byJudge[a], e.byJudge[b], items)
			pairs++
		}
	}
	return sum / float64(pairs)
}

// pearson returns Pearson's correlation of x and y over items, or 0 if either has no variance.
func pearson(x, y []float64, items []int) float64 {
	n := float64(len(items))
	var sx, sy, sxx, syy, sxy float64
	for _, i := range items {
		sx, sy = sx+x[i], sy+y[i]
		sxx, syy, sxy = sxx+x[i]*x[i], syy+y[i]*y[i], sxy+x[i]*y[i]
	}
	vx, vy := sxx-sx*sx/n, syy-sy*sy/n
	if vx < 1e-12 || vy < 1e-12 {
		return 0
	}
	return (sxy - sx*sy/n) / math.Sqrt(vx*vy)
}

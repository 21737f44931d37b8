package agreement

import (
	"math"
	"slices"

	"github.com/elenchus-go/debate/internal/statistics"
	"github.com/elenchus-go/debate/judge/estimate"
)

// A Summary says how far the judges of a jury agree on items, and, with gold labels, how far they can be trusted.
type Summary struct {
	Judges []string `json:"judges"`
	Items  int      `json:"items"`
	// Raw is the share of pairs of decisions that are equal, and AlphaDecisions Krippendorff's alpha of all decisions.
	// Decisions that cannot be read are left out.
	Raw            estimate.Interval `json:"raw"`
	AlphaDecisions estimate.Interval `json:"alpha_decisions"`
	// AlphaVotes is Krippendorff's alpha of the judges' votes. Judges that contradict themselves abstain, so it can be 1
	// for judges that prefer the answer shown first: read both.
	AlphaVotes estimate.Interval `json:"alpha_votes"`

	// The next fields are about the items with a gold label that all judges have judged.
	Gold        int               `json:"gold"`
	Majority    estimate.Interval `json:"majority"`    // accuracy of the majority, where a tie counts ½
	Unanimous   estimate.Interval `json:"unanimous"`   // accuracy where all decisions are equal; N is the number of these items
	Correlation estimate.Interval `json:"correlation"` // mean correlation of the errors of two judges
	// Effective is the number of judges with independent errors who are worth as much as these (Kish): k judges whose
	// errors have the mean correlation r are worth k/(1+(k-1)r).
	Effective estimate.Interval `json:"effective"`
}

// Summarize measures how far judges agree on items.
func Summarize(items []Item, judges ...string) Summary {
	s := Summary{Judges: judges, Items: len(items)}
	decisions, votes := units(items, judges)
	s.Raw = Raw(decisions, 0)
	s.AlphaDecisions = Alpha(decisions, Nominal)
	s.AlphaVotes = Alpha(votes, Nominal)
	labeled := gold(items, judges)
	var majority, unanimous []statistics.Observation
	for _, i := range labeled {
		group := i.Group
		majority = append(majority, statistics.Observation{Value: i.Majority(judges...).Credit(i.Gold), Group: group})
		if d, ok := i.Unanimous(judges...); ok {
			unanimous = append(unanimous, statistics.Observation{Value: d.Credit(i.Gold), Group: group})
		}
	}
	s.Gold = len(labeled)
	s.Majority = statistics.Share(majority)
	s.Unanimous = statistics.Share(unanimous)
	e := tableOf(errorsOf(labeled, judges))
	s.Correlation, s.Effective = e.interval(e.correlation), e.interval(e.effective)
	return s
}

// Effective returns the effective number of judges; see [Summary]. The values of a unit are how far each judge is wrong about an item,
// from 0 to 1, in the same order of judges. Units in which a judge has no value are left out.
func Effective(units []Unit) estimate.Interval {
	e := tableOf(units)
	return e.interval(e.effective)
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
	items  []Unit  // with a value of each judge
	groups [][]int // indexes of items
}

// errorsOf returns how far judges are wrong on items.
func errorsOf(items []Item, judges []string) (units []Unit) {
	for _, i := range items {
		u := Unit{Group: i.Group, Values: make([]float64, len(judges))}
		for n, j := range judges {
			u.Values[n] = 1 - i.Score(j)
		}
		units = append(units, u)
	}
	return units
}

func tableOf(units []Unit) errorTable {
	whole := slices.DeleteFunc(slices.Clone(units), func(u Unit) bool { return u.count() < len(u.Values) })
	return errorTable{whole, statistics.Groups(len(whole), func(i int) string { return whole[i].Group })}
}

// interval returns the interval of a statistic of items.
func (e errorTable) interval(f func(items []int) float64) estimate.Interval {
	var drawn []int
	pick := func(draw []int) float64 {
		drawn = drawn[:0]
		for _, g := range draw {
			drawn = append(drawn, e.groups[g]...)
		}
		return f(drawn)
	}
	value := pick(each(len(e.groups)))
	if math.IsNaN(value) || len(e.items) == 0 {
		return estimate.Interval{N: len(e.items), Groups: len(e.groups), Method: statistics.Undefined}
	}
	return statistics.Percentile(value, len(e.items), len(e.groups), pick)
}

// effective returns the effective number of judges, by their errors on items.
func (e errorTable) effective(items []int) float64 {
	k := float64(e.judges())
	shared := 1 + (k-1)*e.correlation(items)
	if shared < 1e-9 { // errors that cancel each other out exactly
		return math.NaN()
	}
	return k / shared
}

func (e errorTable) judges() int {
	if len(e.items) == 0 {
		return 0
	}
	return len(e.items[0].Values)
}

// correlation returns the mean of the correlations of each two judges' errors on items. It is not a number with fewer than
// two judges.
func (e errorTable) correlation(items []int) float64 {
	sum, pairs := 0.0, 0
	for a := range e.judges() {
		for b := range a {
			sum += e.pearson(a, b, items)
			pairs++
		}
	}
	return sum / float64(pairs)
}

// pearson returns Pearson's correlation of the errors of two judges on items, or 0 if either has no variance.
func (e errorTable) pearson(a, b int, items []int) float64 {
	n := float64(len(items))
	var sx, sy, sxx, syy, sxy float64
	for _, i := range items {
		x, y := e.items[i].Values[a], e.items[i].Values[b]
		sx, sy = sx+x, sy+y
		sxx += x * x
		syy += y * y
		sxy += x * y
	}
	vx, vy := sxx-sx*sx/n, syy-sy*sy/n
	if vx < 1e-12 || vy < 1e-12 {
		return 0
	}
	return (sxy - sx*sy/n) / math.Sqrt(vx*vy)
}

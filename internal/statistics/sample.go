package statistics

import (
	"math"
	"slices"
)

// An Observation is a value of one question, or of one run of it.
type Observation struct {
	Value float64
	Group string // observations of the same group depend on one another; empty: it is a group of its own
}

// A group is the sum of the values of a group.
type group struct {
	sum float64
	n   int
}

func (g *group) add(other group) { g.sum, g.n = g.sum+other.sum, g.n+other.n }

func (g *group) mean() float64 { return g.sum / float64(g.n) }

// byGroup returns the groups of the values, in the order of their first values.
func byGroup(values []Observation) []group {
	groups := make([]group, 0, len(values))
	for _, indexes := range Groups(len(values), func(i int) string { return values[i].Group }) {
		var g group
		for _, i := range indexes {
			g.add(group{values[i].Value, 1})
		}
		groups = append(groups, g)
	}
	return groups
}

// Groups returns the indexes of the n items of each group, in the order of the groups' first items. Items with an empty
// name are groups of their own.
func Groups(n int, name func(int) string) [][]int {
	var groups [][]int
	at := map[string]int{}
	for i := range n {
		key := name(i)
		g, ok := at[key]
		if !ok || key == "" {
			g = len(groups)
			at[key], groups = g, append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}

func sum(groups []group) (total group) {
	for _, g := range groups {
		total.add(g)
	}
	return total
}

// standardError returns the standard error of the mean of all values, from the spread of the groups' means, each weighted
// by the number of its values. For groups of one size it is that of the mean of the groups' means. It is 0 with fewer
// than two groups.
func standardError(groups []group) float64 {
	if len(groups) < 2 {
		return 0
	}
	total, count := sum(groups), float64(len(groups))
	squares := 0.0
	for _, g := range groups {
		deviation := g.sum - total.mean()*float64(g.n)
		squares += deviation * deviation
	}
	perGroup := float64(total.n) / count
	se := math.Sqrt(squares/(count*(count-1))) / perGroup
	if se < 1e-12*math.Abs(total.mean()) { // the rounding of sums
		return 0
	}
	return se
}

// Source is a SplitMix64 generator of random numbers. Its value is its state. (Steele, Lea and Flood, OOPSLA 2014.)
type Source uint64

// Next returns the next number.
func (s *Source) Next() uint64 {
	*s += 0x9E3779B97F4A7C15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

const (
	resamples = 1000
	seed      = 1
)

// Resample draws n groups with replacement a thousand times, and returns the values of f for the draws, sorted. Each draw
// has n indexes of groups; f must not keep it. Values that are not numbers are left out.
func Resample(n int, f func(draw []int) float64) []float64 {
	s, draw := Source(seed), make([]int, n)
	values := make([]float64, 0, resamples)
	for range resamples {
		for i := range draw {
			draw[i] = int(s.Next() % uint64(n))
		}
		if v := f(draw); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return values
}

// percentiles returns the values that leave out the given share at each end of sorted values.
func percentiles(values []float64, tail float64) (low, high float64) {
	at := max(1, int(math.Round(tail*float64(len(values))))) // counted from 1
	return values[at-1], values[max(0, len(values)-1-at)]
}

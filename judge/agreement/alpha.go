package agreement

import (
	"math"
	"slices"

	"github.com/elenchus-go/debate/internal/statistics"
)

// A Level says what the numbers of ratings mean.
type Level string

// The levels of measurement, with Krippendorff's difference functions.
const (
	Nominal Level = "nominal" // names, which are equal or not
	Ordinal Level = "ordinal" // ranks
	Numeric Level = "numeric" // numbers with meaningful differences, such as scores; Krippendorff's interval metric
)

// A Unit is something that several raters have rated.
type Unit struct {
	Values []float64 // by rater; NaN: the rater gave none
	Group  string    // units of one group depend on one another; empty: a group of its own
}

// pairs calls f for each pair of ratings of the unit.
func (u Unit) pairs(f func(a, b float64)) {
	for i, a := range u.Values {
		for _, b := range u.Values[i+1:] {
			if !math.IsNaN(a) && !math.IsNaN(b) {
				f(a, b)
			}
		}
	}
}

func (u Unit) count() (n int) {
	for _, v := range u.Values {
		if !math.IsNaN(v) {
			n++
		}
	}
	return n
}

// Raw returns the share of pairs of ratings of the same unit that differ by at most tolerance: 0 for decisions. It does not
// take into account that raters who guess agree at times, too.
func Raw(units []Unit, tolerance float64) Interval {
	return resample(units, func(units []Unit) float64 {
		equal, all := 0, 0
		for _, u := range units {
			u.pairs(func(a, b float64) {
				all++
				if math.Abs(a-b) <= tolerance {
					equal++
				}
			})
		}
		return float64(equal) / float64(all)
	})
}

// Alpha returns Krippendorff's alpha: 1 if raters agree on each unit, and 0 if they agree as often as ratings that are dealt
// out by chance. It is undefined if no unit has two ratings, and if all ratings are equal.
//
// The definition is that of K. Krippendorff, Computing Krippendorff's Alpha-Reliability (2011).
func Alpha(units []Unit, level Level) Interval {
	return resample(units, func(units []Unit) float64 { return alpha(units, level) })
}

// resample returns the interval of a statistic of units, resampled by group.
func resample(units []Unit, f func([]Unit) float64) Interval {
	rated := slices.DeleteFunc(slices.Clone(units), func(u Unit) bool { return u.count() < 2 })
	groups := statistics.Groups(len(rated), func(i int) string { return rated[i].Group })
	value := f(rated)
	if math.IsNaN(value) {
		return Interval{N: len(rated), Groups: len(groups), Method: statistics.Undefined}
	}
	var drawn []Unit
	return statistics.Percentile(value, len(rated), len(groups), func(draw []int) float64 {
		drawn = drawn[:0]
		for _, g := range draw {
			for _, i := range groups[g] {
				drawn = append(drawn, rated[i])
			}
		}
		return f(drawn)
	})
}

// alpha returns Krippendorff's alpha of units, or NaN if it is undefined.
func alpha(units []Unit, level Level) float64 {
	if level == Numeric {
		return numericAlpha(units)
	}
	var values []float64
	for _, u := range units {
		if u.count() >= 2 {
			values = append(values, u.Values...)
		}
	}
	values = slices.DeleteFunc(values, math.IsNaN)
	slices.Sort(values)
	values = slices.Compact(values)
	at := func(v float64) int { i, _ := slices.BinarySearch(values, v); return i }
	together := make([]float64, len(values)*len(values)) // the coincidence matrix
	for _, u := range units {
		weight := 1 / float64(u.count()-1)
		u.pairs(func(a, b float64) {
			together[at(a)*len(values)+at(b)] += weight
			together[at(b)*len(values)+at(a)] += weight
		})
	}
	totals, n := make([]float64, len(values)), 0.0
	for i, o := range together {
		totals[i/len(values)] += o
		n += o
	}
	distance := level.distance(values, totals)
	observed, expected := 0.0, 0.0
	for c := range values {
		for k := range values {
			d := distance(c, k)
			observed += together[c*len(values)+k] * d
			expected += totals[c] * totals[k] * d
		}
	}
	if expected == 0 {
		return math.NaN()
	}
	return 1 - (n-1)*observed/expected
}

// numericAlpha returns alpha of numbers, of which the sum of all squared differences follows from their sums and squares.
func numericAlpha(units []Unit) float64 {
	var n, sum, squares, observed float64
	for _, u := range units {
		m := float64(u.count())
		if m < 2 {
			continue
		}
		n += m
		u.pairs(func(a, b float64) { observed += 2 * (a - b) * (a - b) / (m - 1) })
		for _, v := range u.Values {
			if !math.IsNaN(v) {
				sum, squares = sum+v, squares+v*v
			}
		}
	}
	expected := 2 * (n*squares - sum*sum)
	if expected <= 1e-12*n*squares {
		return math.NaN()
	}
	return 1 - (n-1)*observed/expected
}

// distance returns the difference function of two values, which it squares, from the values and how often each occurs.
func (l Level) distance(values, totals []float64) func(c, k int) float64 {
	switch l {
	case Ordinal:
		below := make([]float64, len(values)) // the number of ratings up to the middle of those with this value
		sum := 0.0
		for i, n := range totals {
			below[i] = sum + n/2
			sum += n
		}
		return func(c, k int) float64 { return (below[c] - below[k]) * (below[c] - below[k]) }
	case Nominal, Numeric: // numericAlpha needs no values one by one
	}
	return func(c, k int) float64 {
		if c == k {
			return 0
		}
		return 1
	}
}

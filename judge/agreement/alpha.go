package agreement

import (
	"math"
	"slices"

	"github.com/elenchus-go/debate/internal/statistics"
	"github.com/elenchus-go/debate/judge/estimate"
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
func Raw(units []Unit, tolerance float64) estimate.Interval {
	return resample(units, func(units []Unit, groups [][]int) func(draw []int) float64 {
		type count struct{ equal, all int }
		counts := make([]count, len(groups))
		for g, members := range groups {
			for _, i := range members {
				units[i].pairs(func(a, b float64) {
					counts[g].all++
					if math.Abs(a-b) <= tolerance {
						counts[g].equal++
					}
				})
			}
		}
		return func(draw []int) float64 {
			var c count
			for _, g := range draw {
				c.equal, c.all = c.equal+counts[g].equal, c.all+counts[g].all
			}
			return float64(c.equal) / float64(c.all)
		}
	})
}

// Alpha returns Krippendorff's alpha: 1 if raters agree on each unit, and 0 if they agree as often as ratings that are dealt
// out by chance. It is undefined if no unit has two ratings, and if all ratings are equal.
//
// The definition is that of K. Krippendorff, Computing Krippendorff's Alpha-Reliability (2011).
func Alpha(units []Unit, level Level) estimate.Interval {
	if level == Numeric {
		return resample(units, numericAlpha)
	}
	return resample(units, level.alpha)
}

// resample returns the interval of a statistic of units, resampled by group. prepare adds up the units of each group, which are
// given by their indexes, and returns a function that computes the statistic of a draw of groups.
func resample(units []Unit, prepare func(units []Unit, groups [][]int) func(draw []int) float64) estimate.Interval {
	rated := slices.DeleteFunc(slices.Clone(units), func(u Unit) bool { return u.count() < 2 })
	groups := statistics.Groups(len(rated), func(i int) string { return rated[i].Group })
	f := prepare(rated, groups)
	value := f(each(len(groups)))
	if math.IsNaN(value) {
		return estimate.Interval{N: len(rated), Groups: len(groups), Method: statistics.Undefined}
	}
	return statistics.Percentile(value, len(rated), len(groups), f)
}

// each returns the numbers from 0 to n-1.
func each(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// cell identifies a part of a coincidence matrix.
type cell struct {
	at     int // row times size plus column
	weight float64
}

// alpha returns a function that computes alpha of names or ranks, which is NaN if it is undefined.
func (l Level) alpha(units []Unit, groups [][]int) func(draw []int) float64 {
	var values []float64
	for _, u := range units {
		for _, v := range u.Values {
			if i, found := slices.BinarySearch(values, v); !found && !math.IsNaN(v) {
				values = slices.Insert(values, i, v)
			}
		}
	}
	size := len(values)
	byGroup := make([][]cell, len(groups))
	var cells []cell
	for g, members := range groups {
		cells = cells[:0]
		for _, i := range members {
			cells = units[i].appendCells(cells, values)
		}
		byGroup[g] = merged(cells)
	}
	together, totals := make([]float64, size*size), make([]float64, size)
	return func(draw []int) float64 {
		clear(together)
		clear(totals)
		for _, g := range draw {
			for _, c := range byGroup[g] {
				together[c.at] += c.weight
			}
		}
		n := 0.0
		for i, o := range together {
			totals[i/size] += o
			n += o
		}
		distance := l.distance(values, totals)
		observed, expected := 0.0, 0.0
		for c := range values {
			for k := range values {
				d := distance(c, k)
				observed += together[c*size+k] * d
				expected += totals[c] * totals[k] * d
			}
		}
		if expected == 0 {
			return math.NaN()
		}
		return 1 - (n-1)*observed/expected
	}
}

// appendCells appends the parts of a coincidence matrix that the pairs of ratings of a unit are.
func (u Unit) appendCells(cells []cell, values []float64) []cell {
	weight := 1 / float64(u.count()-1)
	u.pairs(func(a, b float64) {
		i, _ := slices.BinarySearch(values, a)
		j, _ := slices.BinarySearch(values, b)
		cells = append(cells, cell{i*len(values) + j, weight}, cell{j*len(values) + i, weight})
	})
	return cells
}

// merged returns the sums of cells at the same place. It sorts cells.
func merged(cells []cell) (list []cell) {
	slices.SortStableFunc(cells, func(a, b cell) int { return a.at - b.at })
	places := 0
	for i, c := range cells {
		if i == 0 || c.at != cells[i-1].at {
			places++
		}
	}
	list = make([]cell, 0, places)
	for i, c := range cells {
		if i == 0 || c.at != cells[i-1].at {
			list = append(list, c)
			continue
		}
		list[len(list)-1].weight += c.weight
	}
	return list
}

// numericAlpha returns a function that computes alpha of numbers, of which the sum of all squared differences follows from their
// sums and squares. It is NaN if it is undefined.
func numericAlpha(units []Unit, groups [][]int) func(draw []int) float64 {
	type sums struct{ n, sum, squares, observed float64 }
	byGroup := make([]sums, len(groups))
	for g, members := range groups {
		s := &byGroup[g]
		for _, i := range members {
			m := float64(units[i].count())
			s.n += m
			units[i].pairs(func(a, b float64) { s.observed += 2 * (a - b) * (a - b) / (m - 1) })
			for _, v := range units[i].Values {
				if !math.IsNaN(v) {
					s.sum, s.squares = s.sum+v, s.squares+v*v
				}
			}
		}
	}
	return func(draw []int) float64 {
		var t sums
		for _, g := range draw {
			s := byGroup[g]
			t.n += s.n
			t.sum += s.sum
			t.squares += s.squares
			t.observed += s.observed
		}
		expected := 2 * (t.n*t.squares - t.sum*t.sum)
		if expected <= 1e-12*t.n*t.squares {
			return math.NaN()
		}
		return 1 - (t.n-1)*t.observed/expected
	}
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

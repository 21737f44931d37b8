package statistics

import (
	"math"
	"slices"
)

// Ratings are strengths with their intervals.
type Ratings struct {
	Strengths
	Intervals []Interval // by player; groups are the player's pairs
	draws     [][]float64
}

// Rate returns the strengths of n players. Each pair holds the contests of two players on one motion, which depend on one
// another. The intervals are resampled over pairs, and their ends moved away from the estimate by the factor
// sqrt(k/(k-1))·t(k-1)/1.96, where k is the number of the player's pairs and t the quantile .975: percentiles of few pairs
// are too narrow (Hesterberg, The American Statistician 69, 2015, section 4.1). With fewer than ten pairs there is none. The
// ridge is that of FitStrengths.
func Rate(n int, pairs [][]Contest, ridge float64) Ratings {
	r := Ratings{Strengths: FitStrengths(n, slices.Concat(pairs...), ridge), Intervals: make([]Interval, n)}
	sums, at := slots(pairs)
	Resample(len(pairs), func(draw []int) float64 {
		for i, c := range sums {
			sums[i] = c.seats()
		}
		for _, p := range draw {
			for i, c := range pairs[p] {
				sum := &sums[at[p][i]]
				sum.Win += c.Win
				sum.Tie += c.Tie
				sum.Loss += c.Loss
			}
		}
		r.draws = append(r.draws, fitFrom(r.Strengths, sums, ridge).Players)
		return 0
	})
	count := make([]int, n)
	for _, p := range pairs {
		if len(p) > 0 {
			count[p[0].First]++
			count[p[0].Second]++
		}
	}
	for i := range r.Intervals {
		r.Intervals[i] = r.interval(count[i], func(s []float64) float64 { return s[i] })
	}
	return r
}

// slots returns a contest without results for each two players and their sides, and its number for each contest of each
// pair.
func slots(pairs [][]Contest) (list []Contest, at [][]int) {
	numbers := map[Contest]int{}
	for _, p := range pairs {
		var own []int
		for _, c := range p {
			i, known := numbers[c.seats()]
			if !known {
				i = len(list)
				numbers[c.seats()], list = i, append(list, c.seats())
			}
			own = append(own, i)
		}
		at = append(at, own)
	}
	return list, at
}

// Difference returns the interval of the strength of player a minus that of player b. It has the groups of the player with
// fewer pairs.
func (r Ratings) Difference(a, b int) Interval {
	return r.interval(min(r.Intervals[a].Groups, r.Intervals[b].Groups), func(s []float64) float64 { return s[a] - s[b] })
}

func (r Ratings) interval(pairs int, f func([]float64) float64) Interval {
	i := Interval{Value: f(r.Players), N: pairs, Groups: pairs, Method: TooFew}
	if pairs < minGroups {
		return i
	}
	values := make([]float64, len(r.draws))
	for d, s := range r.draws {
		values[d] = f(s)
	}
	slices.Sort(values)
	k := float64(pairs)
	stretch := math.Sqrt(k/(k-1)) * tQuantile(.975, k-1) / normalQuantile(.975)
	low, high := percentiles(values, .025)
	i.Low = i.Value - stretch*(i.Value-low)
	i.High = i.Value + stretch*(high-i.Value)
	i.Method = Bootstrap
	return i
}

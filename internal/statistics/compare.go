package statistics

import (
	"math"
	"slices"
)

// Holm returns the p-values of several tests, corrected by Holm's method, in the same order. If you call those tests
// significant whose corrected value is at most .05, the probability that any of them is wrong is at most .05.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	corrected := make([]float64, len(p))
	least := 0.0
	for rank, i := range order {
		least = max(least, min(1, p[i]*float64(len(p)-rank)))
		corrected[i] = least
	}
	return corrected
}

// Detectable returns the smallest mean difference that a comparison like this one shows four times out of five, with a
// two-sided test at 5 %. The values are the differences of questions that it found. With fewer than ten groups it is
// infinite.
func Detectable(differences []Observation) float64 {
	groups := byGroup(differences)
	if len(groups) < minGroups {
		return math.Inf(1)
	}
	return detectable(groups)
}

func detectable(groups []group) float64 {
	n := float64(len(groups))
	se := standardError(groups)
	if se == 0 { // at most this share of groups differs, as in mean; each then differs by at most 1
		se = math.Sqrt(Wilson(0, len(groups)).High / n)
	}
	return (tQuantile(.975, n-1) + tQuantile(.8, n-1)) * se
}

// Needed returns how many questions a comparison needs to show a mean difference, above 0, four times out of five, if the
// questions are like those of the values: the differences that a comparison found. With fewer than ten groups it is 0:
// nobody can tell.
func Needed(differences []Observation, difference float64) int {
	groups := byGroup(differences)
	if len(groups) < minGroups || difference <= 0 {
		return 0
	}
	ratio := detectable(groups) / difference
	return int(math.Ceil(ratio * ratio * float64(len(differences))))
}

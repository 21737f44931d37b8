package statistics

import "math"

// The least numbers of groups for an interval.
const (
	minGroups    = 10 // for the t distribution
	minResampled = 30 // for the bootstrap
)

// Share returns the interval of the mean of values between 0 and 1, such as the credits of answers.
//
// If each value is 0 or 1 and a group of its own, the interval is Wilson's. Otherwise, it is resampled over groups from 30
// groups on, and that of the t distribution over the means of groups for 10 to 29. With fewer groups there is none. In
// simulations of accuracies from .1 to .9, intervals of 30 groups or more contain the truth in 93 to 97 % of cases, and
// those of 10 groups in 91 to 98 %, or 90.5 % where the questions of a group depend on one another and the accuracy is .1 or
// .9 (make proofs ONLY=intervals).
func Share(values []Observation) Interval {
	groups := byGroup(values)
	if k, ok := successes(values); ok && len(groups) == len(values) {
		return Wilson(k, len(values))
	}
	return mean(groups, 0, 1)
}

// Difference returns the interval of the mean of differences between two shares of the same question, each between -1
// and 1. The rule is that of Share, without Wilson's interval.
func Difference(values []Observation) Interval { return mean(byGroup(values), -1, 1) }

// Mean returns the interval of the mean of any values, such as costs. The rule is that of Difference.
func Mean(values []Observation) Interval { return mean(byGroup(values), math.Inf(-1), math.Inf(1)) }

// successes returns how many values are 1. It reports false if a value is neither 0 nor 1.
func successes(values []Observation) (k int, ok bool) {
	for _, v := range values {
		switch v.Value {
		case 1:
			k++
		case 0:
		default:
			return 0, false
		}
	}
	return k, true
}

// mean returns the interval of the mean of all values, which are between least and most.
func mean(groups []group, least, most float64) Interval {
	total := sum(groups)
	i := Interval{N: total.n, Groups: len(groups), Method: TooFew}
	if total.n == 0 {
		return i
	}
	i.Value = total.mean()
	se := standardError(groups)
	switch {
	case len(groups) < minGroups:
		return i
	case se == 0:
		// All groups have the same mean, from which the data show no spread. Wilson's interval says how large a share of
		// groups may differ; these have any values.
		rest := Wilson(0, len(groups)).High
		i.Low = i.Value
		i.High = i.Value
		i.Method = WilsonScore
		if !math.IsInf(least, 0) {
			i.Low, i.High = i.Value-rest*(i.Value-least), i.Value+rest*(most-i.Value)
		}
		return i
	case len(groups) < minResampled:
		half := tQuantile(.975, float64(len(groups)-1)) * se
		i.Low = i.Value - half
		i.High = i.Value + half
		i.Method = StudentT
	default:
		i.Low, i.High = resampled(groups)
		i.Method = Bootstrap
	}
	i.Low, i.High = max(i.Low, least), min(i.High, most)
	return i
}

// resampled returns the ends of the bootstrap interval of the mean. The percentiles are those of Hesterberg's expanded
// interval (The American Statistician 69, 2015, section 4.1): percentiles of few groups are too narrow, as a normal
// interval is that divides by n and has no quantile of the t distribution.
func resampled(groups []group) (low, high float64) {
	n := float64(len(groups))
	tail := normalCDF(-math.Sqrt(n/(n-1)) * tQuantile(.975, n-1))
	means := Resample(len(groups), func(draw []int) float64 {
		var s group
		for _, g := range draw {
			s.add(groups[g])
		}
		return s.mean()
	})
	return percentiles(means, tail)
}

// Percentile returns the interval of an estimate that f computes from groups: from the 25th to the 975th of its values for
// a thousand draws. With fewer than 30 groups it is unknown.
func Percentile(value float64, observations, groups int, f func(draw []int) float64) Interval {
	i := Interval{Value: value, N: observations, Groups: groups, Method: TooFew}
	if groups < minResampled {
		return i
	}
	if values := Resample(groups, f); len(values) > 0 {
		i.Low, i.High = percentiles(values, .025)
		i.Method = Bootstrap
	}
	return i
}

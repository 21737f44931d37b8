package statistics

import "math"

// ShareChange returns the interval of the difference of two shares, of which k of n and k0 of n0 independent observations are:
// the first share minus the second. Confidence is that of the interval, such as .95.
//
// Each share has the exact interval of Clopper and Pearson, and the ends are those of the farthest and the nearest shares of both. Where the
// method of variance estimates recovery (Newcombe, Statistics in Medicine 17, 1998, method 10, here with exact intervals in
// place of Wilson's) shows a change, it gives the end next to 0. Sums over all results for several numbers of observations
// and all shares show that the interval contains the difference at least as often as it says.
func ShareChange(k, n, k0, n0 int, confidence float64) Interval {
	i := Interval{N: n + n0, Groups: n + n0, Method: TooFew}
	if n == 0 || n0 == 0 {
		return i
	}
	p, p0 := float64(k)/float64(n), float64(k0)/float64(n0)
	low, high := exact(k, n, confidence)
	low0, high0 := exact(k0, n0, confidence)
	i.Value, i.Method = p-p0, ClopperPearson
	i.Low, i.High = low-high0, high-low0
	if near := i.Value - math.Hypot(p-low, high0-p0); near > 0 {
		i.Low = near
	}
	if near := i.Value + math.Hypot(high-p, p0-low0); near < 0 {
		i.High = near
	}
	i.Low, i.High = max(-1, i.Low), min(1, i.High)
	return i
}

// exact returns the interval of Clopper and Pearson of a share.
func exact(k, n int, confidence float64) (low, high float64) {
	one := (1 + confidence) / 2
	return 1 - UpperBound(n-k, n, one), UpperBound(k, n, one)
}

// EnoughForShares returns the least number of observations of each kind with which the interval of ShareChange would be
// without 0 if a share turned from 1 to 0.
func EnoughForShares(confidence float64) int {
	for n := 1; ; n++ {
		if ShareChange(0, n, n, n, confidence).High < 0 {
			return n
		}
	}
}

// A Sample is a list of observations of a kind, in strata: those of one stratum were drawn in the same way.
type Sample [][]float64

// MeanChange returns the interval of the difference of the means of two samples: the mean of the first minus that of the
// second. The mean of a sample is that of the means of its strata, of which both must have the same number. All values are
// between least and most. Confidence is that of the interval, such as .95.
//
// If a stratum of either sample has no value, the difference is that of the strata that both have, and has no interval.
//
// The interval is Welch's, with the variance within strata. If the values of a sample do not differ within strata, the data show
// no spread: then the exact interval of a share says how many values may differ, and these may be any.
func MeanChange(a, b Sample, least, most, confidence float64) Interval {
	inA, inB := inBoth(a, b)
	x, y := spreadOf(inA), spreadOf(inB)
	i := Interval{N: x.n + y.n, Groups: x.n + y.n, Value: x.mean - y.mean, Method: TooFew}
	if len(inA) < len(a) || x.df < 1 || y.df < 1 {
		return i
	}
	i.Method = Welch
	if x.variance > 0 && y.variance > 0 {
		sum := x.variance + y.variance
		df := sum * sum / (x.variance*x.variance/x.df + y.variance*y.variance/y.df)
		half := tQuantile((1+confidence)/2, df) * math.Sqrt(sum)
		i.Low, i.High = i.Value-half, i.Value+half
	} else {
		low, high := x.ends(least, most, confidence)
		low0, high0 := y.ends(least, most, confidence)
		i.Low = i.Value - math.Hypot(x.mean-low, high0-y.mean)
		i.High = i.Value + math.Hypot(high-x.mean, y.mean-low0)
	}
	i.Low, i.High = max(i.Low, least-most), min(i.High, most-least)
	return i
}

// inBoth returns the strata of which both samples have values.
func inBoth(a, b Sample) (inA, inB Sample) {
	for k := range a {
		if len(a[k]) > 0 && len(b[k]) > 0 {
			inA, inB = append(inA, a[k]), append(inB, b[k])
		}
	}
	return inA, inB
}

// spread holds the mean of a sample, and the variance of that mean.
type spread struct {
	mean, variance, df float64
	n                  int
}

// spreadOf returns the spread of a sample, whose strata all have values.
func spreadOf(s Sample) (x spread) {
	squares, weights := 0.0, 0.0
	for _, list := range s {
		mean, own := 0.0, 0.0
		for _, v := range list {
			mean += v / float64(len(list))
		}
		for _, v := range list {
			own += (v - mean) * (v - mean)
		}
		if own > 1e-18*(1+mean*mean) { // else the rounding of sums
			squares += own
		}
		x.mean += mean / float64(len(s))
		x.n += len(list)
		weights += 1 / float64(len(list))
	}
	strata := float64(len(s))
	x.df = float64(x.n) - strata
	if x.df > 0 {
		x.variance = squares / x.df * weights / (strata * strata)
	}
	return x
}

// ends returns the interval of the mean of one sample.
func (x spread) ends(least, most, confidence float64) (low, high float64) {
	if x.variance > 0 {
		half := tQuantile((1+confidence)/2, x.df) * math.Sqrt(x.variance)
		return x.mean - half, x.mean + half
	}
	rest := UpperBound(0, x.n, (1+confidence)/2)
	return x.mean - rest*(x.mean-least), x.mean + rest*(most-x.mean)
}

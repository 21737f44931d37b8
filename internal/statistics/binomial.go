package statistics

import "math"

// BinomialCDF returns the probability of at most k successes in n trials that succeed with probability p.
func BinomialCDF(k, n int, p float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	}
	return incompleteBeta(float64(n-k), float64(k+1), 1-p)
}

// UpperBound returns the exact upper bound (Clopper and Pearson, 1934) of the probability of a success, of which k were
// seen in n trials. The bound is one-sided: it is above the probability with the given confidence.
func UpperBound(k, n int, confidence float64) float64 {
	if k >= n {
		return 1
	}
	return increasing(0, 1, confidence, func(p float64) float64 { return 1 - BinomialCDF(k, n, p) })
}

// Wilson returns the interval of a share of which k of n observations are (Wilson, 1927). It is for observations that
// are independent. Without observations, the interval is unknown.
func Wilson(k, n int) Interval {
	if n == 0 {
		return Interval{Method: TooFew}
	}
	p := float64(k) / float64(n)
	m := float64(n)
	z := normalQuantile(.975)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m)) / (1 + z*z/m)
	return Interval{Value: p, Low: max(0, middle-half), High: min(1, middle+half), N: n, Groups: n, Method: WilsonScore}
}

// McNemar returns the two-sided p-value of McNemar's exact test: the probability that chance alone divides the questions
// on which two arms differ at least as unevenly as into first, those that only the first answered right, and second.
func McNemar(first, second int) float64 {
	return min(1, 2*BinomialCDF(min(first, second), first+second, .5))
}

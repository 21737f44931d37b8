package statistics

import "math"

// incompleteBeta returns the regularized incomplete beta function I_x(a, b), for a and b above 0. It is the continued
// fraction of Numerical Recipes, section 6.4, by Lentz's method.
func incompleteBeta(a, b, x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2): // the fraction converges fast below this bound
		return 1 - incompleteBeta(b, a, 1-x)
	}
	lab, _ := math.Lgamma(a + b)
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	front := math.Exp(lab - la - lb + a*math.Log(x) + b*math.Log1p(-x))
	return front * betaFraction(a, b, x) / a
}

func betaFraction(a, b, x float64) float64 {
	const tiny, epsilon, steps = 1e-300, 1e-16, 100_000
	away := func(v float64) float64 { // keeps a denominator away from 0
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/away(1-(a+b)*x/(a+1))
	h := d
	for m := 1.0; m <= steps; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d, c = 1/away(1+even*d), away(1+even/c)
		h *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d, c = 1/away(1+odd*d), away(1+odd/c)
		h *= d * c
		if math.Abs(d*c-1) < epsilon {
			break
		}
	}
	return h
}

// increasing returns the x between low and high at which an increasing function is p, by bisection.
func increasing(low, high, p float64, f func(float64) float64) float64 {
	for range 200 {
		middle := low + (high-low)/2
		if middle == low || middle == high {
			break
		}
		if f(middle) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return low + (high-low)/2
}

// normalQuantile returns the quantile p of the standard normal distribution: 1.96 for .975.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// normalCDF returns the share of the standard normal distribution below x.
func normalCDF(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// tQuantile returns the quantile p, at least .5, of Student's t distribution with df degrees of freedom: 2.262 for .975
// and 9.
func tQuantile(p, df float64) float64 {
	cdf := func(t float64) float64 { return 1 - incompleteBeta(df/2, .5, df/(df+t*t))/2 }
	high := 1.0
	for cdf(high) < p && high < 1e300 {
		high *= 2
	}
	return increasing(0, high, p, cdf)
}

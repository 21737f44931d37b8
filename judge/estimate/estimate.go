// Package estimate defines estimates with their confidence intervals, as evaluations, audits, tournaments, analyses of influence
// and measures of agreement return them.
//
//	if i := report.Arms[0].Accuracy; i.Known() {
//		fmt.Printf("%.2f, between %.2f and %.2f\n", i.Value, i.Low, i.High)
//	}
//
// All intervals have a confidence of 95 %.
package estimate

import (
	"fmt"
	"math"
)

// A Method says how an interval was computed.
type Method string

// The methods of intervals.
const (
	TooFew      Method = "too few"   // there is no interval: Low and High mean nothing
	Undefined   Method = "undefined" // there is no estimate either, because the data have no spread, or are too few
	WilsonScore Method = "Wilson"    // for shares of independent observations
	StudentT    Method = "t"         // the t distribution over groups, for 10 to 29 groups
	Bootstrap   Method = "bootstrap" // percentile bootstrap over groups, for 30 groups or more

	ClopperPearson Method = "Clopper-Pearson" // for differences of two shares, from the exact interval of each
	Welch          Method = "Welch"           // for differences of two means: the t distribution, with a variance of each
)

// An Interval is an estimate with its confidence interval. With few groups of observations, such as fewer than 10 groups of
// questions, the interval is unknown.
type Interval struct {
	Value  float64 `json:"value"` // the estimate; 0 without observations
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	N      int     `json:"n"`      // observations
	Groups int     `json:"groups"` // groups of observations that depend on one another
	Method Method  `json:"method"`
}

// Known reports whether there are enough observations for the interval.
func (i Interval) Known() bool { return i.Method != TooFew && i.Method != Undefined && i.Method != "" }

// Above reports whether the whole interval is above x.
func (i Interval) Above(x float64) bool { return i.Known() && i.Low > x }

// Below reports whether the whole interval is below x.
func (i Interval) Below(x float64) bool { return i.Known() && i.High < x }

// halfWidth is the half width of an interval of 95 % of the standard normal distribution.
var halfWidth = math.Sqrt2 * math.Erfinv(.95)

// P returns the two-sided p-value of the hypothesis that the value is 0 and only chance moves the estimate, from the width of
// the interval. It is 1 if the interval is unknown or has no width.
func (i Interval) P() float64 {
	if !i.Known() || i.High <= i.Low {
		return 1
	}
	return math.Erfc(math.Abs(i.Value) / (i.High - i.Low) * 2 * halfWidth / math.Sqrt2)
}

// String returns the estimate and its interval, such as "0.750 [0.612, 0.851]", or "0.750 [too few]".
func (i Interval) String() string {
	if i.N == 0 || i.Method == Undefined {
		return "–"
	}
	if !i.Known() {
		return fmt.Sprintf("%.3f [too few]", i.Value)
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f]", i.Value, i.Low, i.High)
}

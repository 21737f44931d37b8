package statistics

import "github.com/elenchus-go/debate/judge/estimate"

type (
	// Interval is an estimate with its confidence interval.
	Interval = estimate.Interval
	// Method says how an interval was computed.
	Method = estimate.Method
)

// The methods of intervals.
const (
	TooFew      = estimate.TooFew
	Undefined   = estimate.Undefined
	WilsonScore = estimate.WilsonScore
	StudentT    = estimate.StudentT
	Bootstrap   = estimate.Bootstrap

	ClopperPearson = estimate.ClopperPearson
	Welch          = estimate.Welch
)

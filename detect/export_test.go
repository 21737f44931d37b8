package detect

// The detectors, for tests.
type (
	Repetition         = repetition
	Echo               = echo
	DiminishingReturns = diminishingReturns
	Drift              = drift
	Engagement         = engagement
	Convergence        = convergence
)

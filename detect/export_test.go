package detect

// The detectors, exported for tests.
type (
	Repetition         = repetition
	Echo               = semanticRepetition
	DiminishingReturns = diminishingReturns
	Drift              = drift
	Engagement         = engagement
	Convergence        = convergence
)

package detect

// RepetitionThreshold is exported for tests.
const RepetitionThreshold = repetitionThreshold

// The detectors, exported for tests.
type (
	Repetition         = repetition
	Echo               = semanticRepetition
	DiminishingReturns = diminishingReturns
	Drift              = drift
	Convergence        = convergence
)

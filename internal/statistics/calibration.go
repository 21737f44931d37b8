package statistics

import "math"

// Brier returns the mean square of the distance between probabilities and outcomes, which are 1 for true and 0 for false.
// 0 is perfect, and .25 is what .5 gives for each. It is not a number without probabilities.
func Brier(probabilities []float64, outcomes []bool) float64 {
	squares := 0.0
	for i, p := range probabilities {
		squares += (p - indicator(outcomes[i])) * (p - indicator(outcomes[i]))
	}
	return squares / float64(len(probabilities))
}

// CalibrationError returns the expected calibration error: the distance between the mean probability and the share of
// true outcomes in each of ten bins of equal width, averaged over the probabilities. A probability at a bin's end is in
// the next bin, except for 1.
func CalibrationError(probabilities []float64, outcomes []bool) float64 {
	var bins [10]float64
	for i, p := range probabilities {
		// Rounding moves .3, which times ten is below 3 in some sums, into its bin.
		bin := int(math.Floor(math.Round(p*1e12) / 1e11))
		bins[min(max(bin, 0), 9)] += p - indicator(outcomes[i])
	}
	total := 0.0
	for _, b := range bins {
		total += math.Abs(b)
	}
	return total / float64(len(probabilities))
}

func indicator(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

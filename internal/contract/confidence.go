package contract

import "fmt"

// CheckConfidence returns a violation if a confidence on a scale of 100 looks like a share of 1: a confidence of 1 could mean 1 %
// or certainty. The field of the reply must be named "confidence".
func CheckConfidence(confidence float64) []string {
	if confidence > 0 && confidence <= 1 {
		return []string{fmt.Sprintf("/confidence: %v looks like a share of 1: give a number from 2 to 100, or 0", confidence)}
	}
	return nil
}

package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge/measured"
)

// biasOf returns the bias with a name.
func biasOf(t *testing.T, list []measured.Bias, name string) measured.Bias {
	t.Helper()
	for _, b := range list {
		if b.Name == name {
			return b
		}
	}
	t.Fatalf("no bias %s in %v", name, list)
	return measured.Bias{}
}

// salted returns pairs whose questions no other seed has.
func salted(seed, n int) []Pair {
	pairs := pairsOf(n)
	for i := range pairs {
		pairs[i].Question = fmt.Sprint(seed, pairs[i].Question)
		pairs[i].ID = fmt.Sprint(seed, ".", i)
	}
	return pairs
}

var biasNames = []string{"position", "length", "family", "verbosity", "formatting", "instruction"}

// Each bias is planted with a known size. Where it is, the estimate has its sign and its size; where it is not, zero is inside
// the interval. Intervals of 95 % leave the truth out at times.
func TestPlantedBiases(t *testing.T) {
	const audits, n, size = 20, 120, .5
	for planted, judge := range map[string]simulated{
		"none":        {accuracy: .7},
		"position":    {accuracy: .7, position: size},
		"length":      {accuracy: .7, length: size},
		"family":      {accuracy: .7, family: size},
		"verbosity":   {accuracy: .7, verbosity: size},
		"formatting":  {accuracy: .7, formatting: size},
		"instruction": {accuracy: .7, instruction: size},
		// Together they show no other bias, such as one by length.
		"position, verbosity": {accuracy: .7, position: size, verbosity: size},
	} {
		t.Run(planted, func(t *testing.T) {
			zeros := map[string]int{}
			found := map[string]int{}
			sizes := 0
			mean := 0.0
			for seed := range audits {
				list := measure(judge.observedBy(salted(1000+seed, n)), "sim").biases
				for _, name := range biasNames {
					b := biasOf(t, list, name)
					require.True(t, b.Interval.Known(), "%s: %v", name, b.Interval)
					if b.Interval.Low <= 0 && b.Interval.High >= 0 {
						zeros[name]++
					}
					if b.Shown() && b.Interval.Value > 0 {
						found[name]++
					}
					if name == planted {
						mean += b.Interval.Value / audits
						if truth := truthOf(name, size); b.Interval.Low <= truth && b.Interval.High >= truth {
							sizes++
						}
					}
				}
			}
			for _, name := range biasNames {
				switch {
				case slices.Contains(strings.Split(planted, ", "), name):
					assert.GreaterOrEqual(t, found[name], audits*9/10, "%s is found", name)
				case planted == "length" && name != "position" && name != "family": // a plant makes an answer longer
					assert.GreaterOrEqual(t, zeros[name]+found[name], audits*9/10, "%s is found, or zero is inside its interval", name)
				default:
					assert.GreaterOrEqual(t, zeros[name], audits*85/100, "zero is inside the interval of %s", name)
					assert.LessOrEqual(t, found[name], audits*5/100, "%s is not found", name)
				}
			}
			if slices.Contains(biasNames, planted) {
				assert.InDelta(t, truthOf(planted, size), mean, .03)
				assert.GreaterOrEqual(t, sizes, audits*85/100, "intervals that contain the size")
			}
		})
	}
}

// truthOf returns the expected figure of a bias that decides with a probability.
func truthOf(name string, size float64) float64 {
	switch name {
	case "position", "length", "family":
		return size
	}
	return size / 2 // half of the decisions are for the answer with the plant anyway
}

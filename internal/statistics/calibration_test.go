package statistics

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/recorded"
)

// The figures are those of the references of the recorded data, section 7.
func TestPeoplesCredences(t *testing.T) {
	type debate struct {
		Gold     string       `json:"gold"`
		Credence [][4]float64 `json:"credence_a"`
	}
	want := []struct{ mean, above, brier, calibration float64 }{
		{.4945, .3668, .2994, .1711}, {.4873, .4404, .3157, .2003}, {.5034, .4373, .3047, .1943}, {.5190, .4655, .2978, .1896},
	}
	debates := recorded.Lines[debate](t, "credences.jsonl")
	for step, w := range want {
		var p []float64
		var y []bool
		right, above := 0.0, 0
		for _, d := range debates {
			for _, credence := range d.Credence {
				c := credence[step] / 100
				p, y = append(p, c), append(y, d.Gold == "A")
				if d.Gold != "A" {
					c = 1 - c
				}
				right += c
				if c > .5 {
					above++
				}
			}
		}
		require.Len(t, p, 638)
		assert.InDelta(t, w.mean, right/638, 5e-5)
		assert.InDelta(t, w.above, float64(above)/638, 5e-5)
		assert.InDelta(t, w.brier, Brier(p, y), 5e-5)
		assert.InDelta(t, w.calibration, CalibrationError(p, y), 5e-5)
	}
}

package window

import "slices"

// Calibration is how much a model's own tokens differ from estimates. The zero Calibration takes them to be the same.
// It is a value, folded from what a debate has seen of the model, in order: the same turns give the same Calibration on
// any machine, since it reckons in whole thousandths.
//
// Its factor is the median of the last nine ratios of reported to estimated tokens. Until there are nine, a ratio of 1
// is among them, and of two in the middle the greater counts: so the factor rises at once and falls after the second.
// It moves only where the median is more than 5 % away, since each move may change what prompts show. It is never less
// than what prompts that were too long have shown.
type Calibration struct {
	reported  int    // the factor by what was reported, in thousandths, less 1000
	minFactor int    // the least by prompts that were too long, in thousandths
	recent    [9]int // ratios in thousandths
	count     int    // ratios so far
}

// What a service reports is believed within these bounds.
const (
	minTokens    = 100    // a shorter prompt is mostly the service's own frame
	minRatio     = 500    // in thousandths; with less it has left out what it read from its cache
	maxRatio     = 4_000  // in thousandths; no tokenizer needs more
	maxMinFactor = 16_000 // in thousandths
)

// WithReported takes in how many tokens a provider counted of a prompt that was estimated. It passes over what says nothing
// of the model's tokens: no count, an estimate of less than 100, and a count of less than half or more than four times
// the estimate.
func (c Calibration) WithReported(estimated, counted int) Calibration {
	if estimated < minTokens {
		return c
	}
	ratio := counted * 1000 / estimated
	if ratio < minRatio || ratio > maxRatio {
		return c
	}
	c.recent[c.count%len(c.recent)] = ratio
	c.count++
	now, next := 1000+c.reported, c.median()
	if away := max(next-now, now-next); away*20 > now {
		c.reported = next - 1000
	}
	return c
}

func (c Calibration) median() int {
	ratios := append(make([]int, 0, len(c.recent)), c.recent[:min(c.count, len(c.recent))]...)
	if len(ratios) < cap(ratios) {
		ratios = append(ratios, 1000)
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// WithOverflow takes in that a service found a prompt too long that was estimated and should have fitted into a room of so
// many tokens. From then on a prompt like it is taken not to fit, and the factor is at least a tenth greater than
// before. More than 16 it does not become.
func (c Calibration) WithOverflow(estimated, room int) Calibration {
	c.minFactor = c.factor() * 11 / 10
	if estimated > 0 {
		c.minFactor = max(c.minFactor, room*1000/estimated+1)
	}
	c.minFactor = min(c.minFactor, maxMinFactor)
	return c
}

// Factor is by how much an estimate is to be multiplied.
func (c Calibration) Factor() float64 { return float64(c.factor()) / 1000 }

// ToEstimated is how many estimated tokens fit into a room of so many of the model's own.
func (c Calibration) ToEstimated(tokens int) int { return tokens * 1000 / c.factor() }

func (c Calibration) factor() int { return max(1000+c.reported, c.minFactor) }

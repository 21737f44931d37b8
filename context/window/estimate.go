package window

import (
	"slices"
)

// TokenCounter counts the tokens of texts. It is safe for concurrent use, and the same text always has the same
// count. A debate without a TokenCounter uses [Estimate].
type TokenCounter interface {
	// Count returns how many tokens a text has for a model. For an unknown model it returns the best available
	// estimate.
	Count(model, text string) int
}

// Estimate returns approximately how many tokens a text has. It adds a weight for each letter, digit, punctuation
// mark and so on, and needs no vocabulary.
func Estimate(text string) int {
	sum := 0
	for ; len(text) >= 4; text = text[4:] { // four at once, because each reply and each task is counted
		sum += int(weights[text[0]]) + int(weights[text[1]]) + int(weights[text[2]]) + int(weights[text[3]])
	}
	for i := range len(text) {
		sum += int(weights[text[i]])
	}
	return (sum + 99) / 100
}

// weights holds the weight of each byte of UTF-8, in hundredths of a token. The first byte of a character carries the
// whole weight of the character.
var weights = func() (w [256]uint8) {
	for b := range w {
		switch {
		case b >= 0xF0:
			w[b] = 150 // emoji and rare scripts
		case b >= 0xE0:
			w[b] = 85 // CJK and most other scripts of three bytes
		case b >= 0xC0:
			w[b] = 45 // Latin with accents, Greek, Cyrillic, Hebrew, Arabic
		case b >= 0x80: // further bytes of a character
		case 'a' <= b|0x20 && b|0x20 <= 'z':
			w[b] = 25
		case '0' <= b && b <= '9':
			w[b] = 35
		case b == ' ':
			w[b] = 2
		default:
			w[b] = 55 // punctuation, line ends, control characters
		}
	}
	return w
}()

// Calibration is the ratio of a model's own token counts to estimates. The zero Calibration is a ratio of 1. It is a
// value that is computed from the turns of a debate, in order. It uses whole thousandths, so the same turns give the
// same Calibration on any machine.
//
// The factor is the median of the last nine ratios of reported to estimated tokens. If there are fewer than nine, a
// ratio of 1, or the factor of [Calibration.Start], is added, and if two ratios are in the middle, the greater counts.
// The factor therefore rises at once and falls after the second ratio. It changes only if the median is more than 5 %
// away, because each change may change which messages prompts show. It is never less than the factor that prompts
// rejected as too long imply.
type Calibration struct {
	reported  int    // factor from reported counts, in thousandths, minus 1000
	start     int    // factor before the first report, in thousandths, minus 1000
	minFactor int    // minimum factor, from prompts that were too long, in thousandths
	recent    [9]int // the last ratios, in thousandths
	count     int    // number of ratios so far
	largest   int    // largest count that was used
	cut       int    // count of the first prompt if it seemed to be cut, otherwise 0
	others    int    // factor from reported counts of the others with which this one starts, in thousandths; 0 if there are none
}

// Start returns the Calibration with which another actor of the same model starts: it has the same factor until counts are
// reported for the actor's own prompts.
func (c Calibration) Start() Calibration {
	next := Calibration{reported: c.factor() - 1000, start: c.factor() - 1000, others: c.others}
	if c.count > 0 {
		next.others = 1000 + c.reported
	}
	return next
}

// Bounds within which reported counts are used.
const (
	minTokens    = 100    // a shorter prompt consists mostly of what the service adds
	minRatio     = 500    // in thousandths; a lower count omits tokens that were read from a cache
	maxRatio     = 4_000  // in thousandths; no tokenizer needs more
	maxMinFactor = 16_000 // in thousandths
)

// A server that cuts prompts without an error reports what it has read, so the counts stop growing and the ratio falls. A
// fall by a fifth is larger than any that texts cause: in docs/measured/windows.md, a single text differs from its calibrated
// estimate by 18.3 % at most, and a prompt, which has many texts, by less.
const (
	cutRatio = 800 // of the median of the earlier ratios, in thousandths
	firstCut = 700 // of the factor of others, whose prompts are of another kind, in thousandths
	cutLeast = 500 // of the largest count so far, in thousandths; a lower count omits tokens that were read from a cache
)

// SuspectsCut reports whether a service seems to have cut a prompt with this estimate, of which it counted so many tokens.
// The ratio has fallen by more than a fifth below the median of the earlier ratios, and the count is no larger than the
// largest one so far. [Calibration.WithReported] ignores such a count. A model that has changed is not suspected for long,
// because a count that is larger than all before is used.
func (c Calibration) SuspectsCut(estimated, counted int) bool {
	if c.count == 0 || estimated < minTokens || counted > c.largest || counted*1000 < c.largest*cutLeast {
		return false
	}
	ratio := counted * 1000 / estimated
	known := slices.Sorted(slices.Values(c.recent[:min(c.count, len(c.recent))]))
	return ratio >= minRatio && ratio*1000 < known[(len(known)-1)/2]*cutRatio
}

// SuspectsFirstCut reports whether a service seems to have cut a prompt of an actor without counts of its own, by the factor
// of other actors with the same model. least is the estimate of the part of the prompt that every service counts: without a
// schema. The count is less than seven tenths of what the factor says, and it has not grown by more than a quarter since the
// first prompt that seemed to be cut: what a service leaves of prompts does not grow.
func (c Calibration) SuspectsFirstCut(least, counted int) bool {
	if c.others == 0 || c.count > 0 || least < minTokens || counted < minTokens || c.cut > 0 && counted*4 > c.cut*5 {
		return false
	}
	return counted*1_000_000 < least*c.others*firstCut
}

// WithCut returns the Calibration after a provider reported the token count of a prompt that it seems to have cut. The count
// changes no factor.
func (c Calibration) WithCut(counted int) Calibration {
	if c.count == 0 && c.cut == 0 {
		c.cut = counted
	}
	return c
}

// WithReported returns the Calibration after a provider reported the token count of a prompt with this estimate. It
// ignores reports that say nothing about the model's tokenizer: a count of 0, an estimate of less than 100, a count of
// less than half or more than four times the estimate, and a count for which SuspectsCut returns true.
func (c Calibration) WithReported(estimated, counted int) Calibration {
	if estimated < minTokens {
		return c
	}
	ratio := counted * 1000 / estimated
	if ratio < minRatio || ratio > maxRatio || c.SuspectsCut(estimated, counted) {
		return c
	}
	c.largest = max(c.largest, counted)
	c.recent[c.count%len(c.recent)] = ratio
	c.count++
	now, next := 1000+c.reported, c.median()
	if away := max(next-now, now-next); away*20 > now {
		c.reported = next - 1000
	}
	return c
}

// median returns the median of the recent ratios.
func (c Calibration) median() int {
	ratios := append(make([]int, 0, len(c.recent)), c.recent[:min(c.count, len(c.recent))]...)
	if len(ratios) < cap(ratios) {
		ratios = append(ratios, 1000+c.start)
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// WithOverflow returns the Calibration after a service rejected a prompt as too long, although its estimate should
// have fit into room tokens. Afterwards a prompt with this estimate no longer fits, and the factor has grown by at
// least a tenth. The minimum factor is at most 16.
func (c Calibration) WithOverflow(estimated, room int) Calibration {
	c.minFactor = c.factor() * 11 / 10
	if estimated > 0 {
		c.minFactor = max(c.minFactor, room*1000/estimated+1)
	}
	c.minFactor = min(c.minFactor, maxMinFactor)
	return c
}

// Factor returns the number by which to multiply an estimate.
func (c Calibration) Factor() float64 { return float64(c.factor()) / 1000 }

// ToEstimated converts a number of the model's tokens to estimated tokens.
func (c Calibration) ToEstimated(tokens int) int { return tokens * 1000 / c.factor() }

// factor returns the factor in thousandths.
func (c Calibration) factor() int { return max(1000+c.reported, c.minFactor) }

// Package window keeps prompts inside a model's context window.
//
// It is pure arithmetic on token counts: a turn is estimated once with [Estimate], when it is committed, and [Sliding]
// chooses from the counts alone which turns a prompt shows. It never reads or counts a text again.
package window

import (
	"fmt"

	"github.com/elenchus-go/debate/transcript"
)

// Default is the size in tokens that a model's window is taken to have where nothing says otherwise.
const Default = 32_000

// Reply is the room in tokens that is kept for a reply without a cap of its own.
const Reply = 4_096

// Cut is a choice: the history without its messages From up to but not including To.
type Cut struct {
	From, To int
	Limit    int // room for the history, in tokens
	Used     int // tokens of what is kept; more than Limit where the newest message alone is
	Kept     int // messages
}

// Report is the cut as it stands in a turn; nil where nothing was left out.
func (c Cut) Report() *transcript.Window {
	if c.To == c.From && c.Used <= c.Limit {
		return nil
	}
	return &transcript.Window{Limit: c.Limit, Used: c.Used, Kept: c.Kept, Cut: c.To - c.From}
}

// Sliding keeps the first message and the newest that fit. A first one that has no room beside the newest goes like the
// others.
//
// It cuts deep and seldom, so that the beginning of the prompt stays the same for many turns and providers can bill it
// at the price of a cached prefix: what is left out grows by half the limit at a time.
type Sliding struct{}

// Fit chooses from messages with the given token counts, oldest first, what a history of at most limit tokens shows.
// The newest message is always kept.
func (Sliding) Fit(tokens []int, limit int) Cut {
	limit = max(limit, 0)
	total := 0
	for _, n := range tokens {
		total += n
	}
	c := Cut{Limit: limit, Used: total, Kept: len(tokens)}
	if total <= limit || len(tokens) < 2 {
		return c
	}
	newest := len(tokens) - 1
	if tokens[0]+tokens[newest] <= limit { // else the first goes as well
		c.From, c.To = 1, 1
	}
	for goal := roundUp(total-limit, max(limit/2, 1)); goal > 0 && c.To < newest; c.To++ {
		goal -= tokens[c.To]
		c.Used -= tokens[c.To]
	}
	c.Kept -= c.To - c.From
	return c
}

func roundUp(n, step int) int { return (n + step - 1) / step * step }

// Clip cuts a text to about so many tokens, as [Estimate] counts them, and marks the place.
func Clip(text string, tokens int) string {
	sum := 0
	for i, r := range text {
		if sum += weight(r); sum > tokens*100 {
			return fmt.Sprintf("%s [... %d more bytes were cut to fit]", text[:i], len(text)-i)
		}
	}
	return text
}

// Estimate is about how many tokens a text has: weights for a letter, a digit, a sign and so on, without a vocabulary.
func Estimate(text string) int {
	sum := 0
	for i := range len(text) {
		sum += int(weights[text[i]])
	}
	return (sum + 99) / 100
}

// weights are the hundredths of a token of each byte of UTF-8. A multi-byte character weighs what its first byte does.
var weights = func() (w [256]uint8) {
	for b := range w {
		switch {
		case b >= 0xF0:
			w[b] = 150 // emoji and rare scripts
		case b >= 0xE0:
			w[b] = 85 // CJK and most other scripts of three bytes
		case b >= 0xC0:
			w[b] = 45 // Latin with accents, Greek, Cyrillic, Hebrew, Arabic
		case b >= 0x80: // the rest of a character
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

func weight(r rune) int {
	switch {
	case r < 0x80:
		return int(weights[r])
	case r < 0x800:
		return int(weights[0xC0])
	case r < 0x10000:
		return int(weights[0xE0])
	}
	return int(weights[0xF0])
}

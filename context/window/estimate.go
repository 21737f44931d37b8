package window

// TokenCounter counts the tokens of texts. It is safe for concurrent use, and the same text always has the same count.
// [Estimate] is in its place where a debate has none.
type TokenCounter interface {
	// Count is how many tokens a text has for a model. An unknown model is no error: it is counted as well as may be.
	Count(model, text string) int
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

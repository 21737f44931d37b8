package window

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

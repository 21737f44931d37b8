// Package outcome has what protocols share to say what a debate has found: wordings, the outcomes of verdicts and decisions, and which
// judges decide.
package outcome

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// KeyPoints is the title of a speaker's reasons.
const KeyPoints = "Key points"

// Number formats a number with at most two decimals. A huge one, which only a changed journal has, is short too, such as 1e+308.
func Number(f float64) string {
	if math.Abs(f) >= 1<<53 { // it has no decimals, and a hundred times the largest number is infinite
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64)
}

// Thousands returns a number with a comma between groups of three digits.
func Thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// All returns "the only", "both" or "all" with the number, and a word, which is given in the plural.
func All(n int, many string) string {
	switch n {
	case 1:
		return "the only " + strings.TrimSuffix(many, "s")
	case 2:
		return "both " + many
	}
	return fmt.Sprintf("all %d %s", n, many)
}

// Count returns a number with the singular or the plural of a word.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(n) + " " + many
}

// Short returns an answer in quotation marks if it is short enough for a sentence, or else "".
func Short(text string) string {
	const length = 120
	text = strings.TrimSpace(text)
	if text == "" || len([]rune(text)) > length || strings.Contains(text, "\n") {
		return ""
	}
	return "“" + text + "”"
}

// Shorten returns a text on one line, shortened to at most n characters, and to whole words unless they are long.
func Shorten(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	r := []rune(text)
	if len(r) <= n {
		return text
	}
	short := string(r[:n-1])
	at := strings.LastIndex(short, " ")
	if at > len(short)*2/3 {
		short = short[:at]
	}
	return strings.TrimSpace(short) + "…"
}

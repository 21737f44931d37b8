package judge

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// summary builds a text of labeled lines. Lines without content are omitted.
type summary struct{ strings.Builder }

func (s *summary) line(label string, parts ...string) {
	if len(parts) == 0 || parts[0] == "" {
		return
	}
	if s.Len() > 0 {
		s.WriteByte('\n')
	}
	s.WriteString(label + joinPoints(parts))
}

// joinPoints joins points that may be words, parts of sentences or sentences. A point that ends like a sentence is followed by
// a space, and any other one by a semicolon.
func joinPoints(points []string) string {
	var b strings.Builder
	for i, p := range points {
		p = strings.TrimSpace(p)
		switch {
		case i == 0:
		case endsSentence(points[i-1]):
			b.WriteByte(' ')
		default:
			b.WriteString("; ")
		}
		b.WriteString(p)
	}
	return b.String()
}

// endsSentence reports whether a text ends with punctuation, perhaps before closing quotes or brackets: a full stop, a question
// mark, a semicolon and the like, in any script. A text that ends with a bracket alone, as in "a (b)", does not.
func endsSentence(text string) bool {
	text = strings.TrimRightFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.Space, unicode.Pe, unicode.Pf, unicode.Pi, unicode.Cf) || strings.ContainsRune("\"'*_`", r)
	})
	last, _ := utf8.DecodeLastRuneInString(text)
	return unicode.In(last, unicode.Sentence_Terminal, unicode.Terminal_Punctuation) || last == '\u2026'
}

// formatNumber formats a number with at most one decimal.
func formatNumber(f float64) string { return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64) }

func roundToHundredths(f float64) float64 { return math.Round(100*f) / 100 }

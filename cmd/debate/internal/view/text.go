package view

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// maxMarks limits the number of consecutive characters without a width, such as accents.
const maxMarks = 16

// cleaner removes what could control a terminal from a text that arrives in pieces: control characters, characters that
// change the direction of text or have no form, and long sequences of accents.
type cleaner struct{ marks int }

func (c *cleaner) clean(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n', r == '\u2028', r == '\u2029':
			c.marks = 0
			b.WriteByte('\n')
			continue
		case r == '\t':
			c.marks = 0
			b.WriteString("    ")
			continue
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d':
			continue
		}
		if r < 0x300 || runeWidth(r) > 0 {
			c.marks = 0
		} else {
			c.marks++
		}
		if c.marks > maxMarks {
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// cleanText returns a text without what could control a terminal, and without white space at its ends.
func cleanText(text string) string {
	return strings.TrimSpace((&cleaner{}).clean(text))
}

// cleanLine returns a text on one line, without what could control a terminal.
func cleanLine(text string) string {
	return strings.Join(strings.Fields((&cleaner{}).clean(text)), " ")
}

// runeWidth returns the number of columns that a terminal uses for a rune if it does not combine runes.
func runeWidth(r rune) int {
	if r < 0x7f {
		return 1
	}
	return ansi.StringWidthWc(string(r))
}

// maxCluster limits the number of columns of runes that belong together, such as an emoji of several runes.
const maxCluster = 8

// nextCluster returns the first user-perceived character of a text, and its largest number of columns: some terminals
// combine its runes, others do not.
func nextCluster(text string) (cluster string, width int) {
	if len(text) == 1 || text[0] < utf8.RuneSelf && text[1] < utf8.RuneSelf {
		return text[:1], 1
	}
	cluster, width = ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
	sum := 0
	for _, r := range cluster {
		sum += runeWidth(r)
	}
	width = max(width, sum)
	if width <= maxCluster {
		return cluster, width
	}
	r, n := utf8.DecodeRuneInString(text)
	return text[:n], runeWidth(r)
}

// textWidth returns the largest number of columns of a clean text on one line.
func textWidth(text string) (columns int) {
	for len(text) > 0 {
		cluster, n := nextCluster(text)
		columns += n
		text = text[len(cluster):]
	}
	return columns
}

// truncate returns the beginning of a clean text on one line that fits into the given number of columns.
func truncate(text string, columns int) string {
	used, cut := 0, 0 // cut leaves room for an ellipsis
	for i := 0; i < len(text); {
		cluster, n := nextCluster(text[i:])
		used += n
		if used > columns {
			if columns < 1 {
				return ""
			}
			return text[:cut] + "…"
		}
		i += len(cluster)
		if used < columns {
			cut = i
		}
	}
	return text
}

// truncateLeft returns the end of a clean text on one line that fits into the given number of columns.
func truncateLeft(text string, columns int) string {
	total := textWidth(text)
	if total <= columns {
		return text
	}
	if columns < 1 {
		return ""
	}
	for total > columns-1 {
		cluster, n := nextCluster(text)
		text, total = text[len(cluster):], total-n
	}
	return "…" + text
}

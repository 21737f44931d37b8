// Package characters makes the texts of models and people valid, and reads them by character.
package characters

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Valid returns text with U+FFFD for each byte that is not UTF-8. JSON would replace these bytes in the journal.
func Valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

// Complete returns the index of an incomplete character at the end of text, or the length of the text.
func Complete(text string) int {
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax+1); i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRuneInString(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}

// First returns the first bytes of a text, most of them at most, in whole characters.
func First(text string, most int) string {
	if len(text) > most {
		text = text[:most]
		text = text[:Complete(text)]
	}
	return text
}

// Cut returns text, cut to at most that many bytes without breaking a character.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most -= len("…"); most > 0 && !utf8.RuneStart(text[most]); {
		most--
	}
	return text[:most] + "…"
}

// IsBlank reports whether nobody can see anything of a text: it has only spaces, controls and characters without a width.
func IsBlank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		const brailleBlank = '\u2800'
		return r != brailleBlank && !unicode.IsSpace(r) && !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	})
}

// IsPlain reports whether a text is UTF-8 without control characters.
func IsPlain(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// Width returns the number of columns that a line takes on a terminal. Terminals differ in how they draw emoji that consist of several
// characters; this is how most do.
func Width(line string) int {
	columns := 0
	joined := false // the last character joins the next one to what is before it
	flag := false   // the last character is the first half of a flag
	last := 0       // columns of the last character that takes any
	for _, r := range line {
		half := r >= '\U0001F1E6' && r <= '\U0001F1FF'
		n := widthOf(r)
		switch {
		case joined || half && flag:
			n = 0
		case r == emojiForm && last == 1:
			n = 1
		}
		columns += n
		if n > 0 {
			last = n
		}
		joined = r == joiner
		flag = half && !flag
	}
	return columns
}

const (
	joiner    = '\u200d' // between two emoji that are drawn as one
	emojiForm = '\ufe0f' // makes a wide emoji of the character before it
)

// widthOf returns the columns of a character alone.
func widthOf(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Cc):
		return 0 // it is drawn over the one before it, or not at all
	case r >= '\u1160' && r <= '\u11ff': // the later letters of a Korean syllable
		return 0
	case r >= '\U0001F3FB' && r <= '\U0001F3FF': // the tone of a skin
		return 0
	case r >= '\U0001F1E6' && r <= '\U0001F1FF': // halves of flags
		return 2
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

package speech

import (
	"strings"
	"unicode/utf8"
)

// firstRune returns the first character of a text.
func firstRune(text string) rune {
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// lastRune returns the last character of a text.
func lastRune(text string) rune {
	r, _ := utf8.DecodeLastRuneInString(text)
	return r
}

// firstCJK is where the scripts begin that have no space between words.
const firstCJK = 0x2E80

// isCJK reports whether a text has characters of such scripts, except Korean, which has spaces.
func isCJK(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return isIdeograph(r) })
}

func isIdeograph(r rune) bool { return r >= firstCJK && r < 0xAC00 && r != utf8.RuneError }

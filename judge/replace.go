package judge

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// replaceWords replaces words in a text. At each character whose first byte is set in first, it calls find with the
// rest of the text and the character before it, which is 0 at the beginning. find returns the replacement and the
// number of bytes that it replaces, or 0 to replace nothing. replaceWords adds a space where a replacement would
// merge with a neighboring word. The time is linear in the length of the text as long as find takes bounded time.
func replaceWords(text string, first *[256]bool, find func(rest string, before rune) (string, int)) string {
	var b strings.Builder
	copied := 0
	before := rune(0)
	last := rune(0) // last is the last character written
	for i := 0; i < len(text); {
		if b := text[i]; b < utf8.RuneSelf && !first[b] { // the common case
			for i++; i < len(text) && text[i] < utf8.RuneSelf && !first[text[i]]; i++ {
				b = text[i]
			}
			before, last = rune(b), rune(b)
			continue
		}
		to, n := "", 0
		if first[text[i]] {
			to, n = find(text[i:], before)
		}
		if n == 0 {
			r, size := utf8.DecodeRuneInString(text[i:])
			before = r
			last = r
			i += size
			continue
		}
		b.WriteString(text[copied:i])
		if sameWord(last, firstRune(to)) {
			b.WriteByte(' ')
		}
		b.WriteString(to)
		i += n
		copied = i
		before = lastRune(text[:i])
		last = lastRune(to)
		if sameWord(last, firstRune(text[i:])) {
			b.WriteByte(' ')
		}
	}
	if copied == 0 {
		return text
	}
	b.WriteString(text[copied:])
	return b.String()
}

// firstRune returns the first character of a text, or 0 if the text is empty.
func firstRune(text string) rune {
	if text == "" {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// lastRune returns the last character of a text, or 0 if the text is empty.
func lastRune(text string) rune {
	if text == "" {
		return 0
	}
	r, _ := utf8.DecodeLastRuneInString(text)
	return r
}

// A pseudonym is pseudonymPrefix followed by at most maxLetters letters.
const (
	pseudonymPrefix = "Debater"
	maxLetters      = 3
)

// readPseudonym reads a pseudonym at the beginning of a text. It returns its letters and its length in bytes, or ""
// and 0 if there is none.
func readPseudonym(text string, before rune) (who string, n int) {
	if sameWord(before, 'D') || len(text) < len(pseudonymPrefix) || !strings.EqualFold(text[:len(pseudonymPrefix)], pseudonymPrefix) {
		return "", 0
	}
	rest := strings.TrimLeft(text[len(pseudonymPrefix):], " \t\u00a0_-")
	at := len(text) - len(rest)
	for n < min(maxLetters, len(rest)) && rest[n]|0x20 >= 'a' && rest[n]|0x20 <= 'z' {
		n++
	}
	if at == len(pseudonymPrefix) || n == 0 || sameWord('A', firstRune(rest[n:])) {
		return "", 0
	}
	return strings.ToUpper(rest[:n]), at + n
}

// atBoundary reports whether a word with the character edge at its end stops there, next to the character beside.
func atBoundary(edge, beside rune) bool {
	return unicode.In(edge, unspacedScripts...) || !isWordRune(beside)
}

// sameWord reports whether two adjacent characters belong to the same word.
func sameWord(a, b rune) bool { return isWordRune(a) && isWordRune(b) }

// withinWord reports whether a text goes on with a word that has begun before it, so that no name and no pseudonym begins with it.
func withinWord(text string, before rune) bool { return text[0] < utf8.RuneSelf && isWordRune(before) }

// isWordRune reports whether a character is part of a word in a script that separates words.
func isWordRune(r rune) bool {
	if r < utf8.RuneSelf { // the common case
		return r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9' || r == '_'
	}
	return unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number) && !unicode.In(r, unspacedScripts...)
}

// unspacedScripts are the scripts that put no space between words, and Korean, which appends endings to names.
var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

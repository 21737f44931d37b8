package judge

import (
	"fmt"
	"regexp"
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
	copied, before, last := 0, rune(0), rune(0) // last is the last character written
	for i := 0; i < len(text); {
		if b := text[i]; b < utf8.RuneSelf && !first[b] { // the common case
			before, last, i = rune(b), rune(b), i+1
			continue
		}
		to, n := "", 0
		if first[text[i]] {
			to, n = find(text[i:], before)
		}
		if n == 0 {
			r, size := utf8.DecodeRuneInString(text[i:])
			before, last, i = r, r, i+size
			continue
		}
		b.WriteString(text[copied:i])
		if sameWord(last, firstRune(to)) {
			b.WriteByte(' ')
		}
		b.WriteString(to)
		i += n
		copied, before, last = i, lastRune(text[:i]), lastRune(to)
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

// isPlain reports whether a text consists of printable ASCII, tabs and line breaks without angle brackets. Such a
// text needs neither removeInvisible nor shortenBracketRuns.
func isPlain(text string) bool {
	for i := range len(text) {
		if !plain[text[i]] {
			return false
		}
	}
	return true
}

// plain has the bytes of plain text.
var plain = func() (set [256]bool) {
	for b := range set {
		set[b] = b >= ' ' && b <= '~' && b != '<' && b != '>' || b == '\n' || b == '\t'
	}
	return set
}()

// removeInvisible normalizes line breaks and removes control characters and invisible characters. It keeps the two
// joiners, which Persian, Indian scripts and emoji need.
func removeInvisible(text string) string {
	if isPlain(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= ' ' && r <= '~' || r == '\n' || r == '\t' || r == '\u200c' || r == '\u200d':
			return r
		case strings.ContainsRune("\r\v\f\u0085\u2028\u2029", r):
			return '\n'
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
			return -1
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}

// Characters that look like opening and closing angle brackets. The last character of each set looks like three
// brackets.
const (
	openingBrackets = "<\uff1c\u2039\u00ab\u3008\u300a\u27e8\u27ea\u2329\u276e\u2770\u226a\u02c2\u1438\ufe64\u2a9d\u22d8"
	closingBrackets = ">\uff1e\u203a\u00bb\u3009\u300b\u27e9\u27eb\u232a\u276f\u2771\u226b\u02c3\u1433\ufe65\u2a9e\u22d9"
)

// bracketRuns matches runs of angle brackets of one direction with nothing visible between them.
var bracketRuns = regexp.MustCompile(fmt.Sprintf("%s|%s|\u22d8|\u22d9", bracketRun(openingBrackets), bracketRun(closingBrackets)))

// bracketRun returns the expression for a run of two or more brackets of a set.
func bracketRun(set string) string {
	return fmt.Sprintf("[%s](?:[\u200c\u200d\ufe00-\ufe0f]*[%[1]s])+", set)
}

// shortenBracketRuns replaces each run of angle brackets that looks like a delimiter with one bracket. It keeps two
// plain brackets, which are common in code.
func shortenBracketRuns(text string) string {
	if isPlain(text) || !strings.ContainsAny(text, openingBrackets+closingBrackets) {
		return text
	}
	return bracketRuns.ReplaceAllStringFunc(text, func(s string) string {
		switch {
		case s == "<<" || s == ">>":
			return s
		case strings.ContainsRune(openingBrackets, firstRune(s)):
			return "<"
		}
		return ">"
	})
}

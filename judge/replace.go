package judge

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// replaceWords puts other words into a text. Where a byte that is among first begins a character, find is asked for what
// to put there and how many bytes that replaces, none for nothing; before is the character that stands before, 0 at
// the beginning. Where new words would grow together with others, a space keeps them apart. It is linear in the
// length of the text as long as find is bounded.
func replaceWords(text string, first *[256]bool, find func(rest string, before rune) (string, int)) string {
	var b strings.Builder
	copied, before, last := 0, rune(0), rune(0) // last is the character that was written last
	for i := 0; i < len(text); {
		if b := text[i]; b < utf8.RuneSelf && !first[b] { // most are
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

// firstRune is a text's first character, 0 where it is empty.
func firstRune(text string) rune {
	if text == "" {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// lastRune is a text's last character, 0 where it is empty.
func lastRune(text string) rune {
	if text == "" {
		return 0
	}
	r, _ := utf8.DecodeLastRuneInString(text)
	return r
}

// pseudonymPrefix is the word that all labels begin with, and maxLetters what follows at most.
const (
	pseudonymPrefix = "Debater"
	maxLetters      = 3
)

// readPseudonym reads a label at the beginning of a text: its letters, and its length; none where there is no label.
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

// atBoundary tells whether a word that has an edge ends there, beside another character.
func atBoundary(edge, beside rune) bool {
	return unicode.In(edge, unspacedScripts...) || !isWordRune(beside)
}

// sameWord tells whether two characters that stand side by side are of one word.
func sameWord(a, b rune) bool { return isWordRune(a) && isWordRune(b) }

// isWordRune tells whether a character is of a word in a script that puts something between words.
func isWordRune(r rune) bool {
	if r < utf8.RuneSelf { // most are
		return r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9' || r == '_'
	}
	return unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number) && !unicode.In(r, unspacedScripts...)
}

// unspacedScripts are scripts that put no space between words, and Korean, which joins endings to names.
var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// isPlain tells whether a text is of printable ASCII without angle brackets: then clean and blunt leave it as it is.
func isPlain(text string) bool {
	for i := range len(text) {
		if b := text[i]; (b < ' ' && b != '\n' && b != '\t') || b > '~' || b == '<' || b == '>' {
			return false
		}
	}
	return true
}

// removeInvisible is a text with one kind of line break, and without control characters and those that nobody sees. The two
// joiners stay, which Persian, Indian scripts and emoji need.
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

// angles are characters that look like angle brackets: those that open, and those that close. The last of each looks
// like three.
const (
	openingBrackets = "<\uff1c\u2039\u00ab\u3008\u300a\u27e8\u27ea\u2329\u276e\u2770\u226a\u02c2\u1438\ufe64\u2a9d\u22d8"
	closingBrackets = ">\uff1e\u203a\u00bb\u3009\u300b\u27e9\u27eb\u232a\u276f\u2771\u226b\u02c3\u1433\ufe65\u2a9e\u22d9"
)

// bracketRuns are angle brackets of one direction, with nothing between them that shows.
var bracketRuns = regexp.MustCompile(fmt.Sprintf("%s|%s|\u22d8|\u22d9", bracketRun(openingBrackets), bracketRun(closingBrackets)))

func bracketRun(set string) string {
	return fmt.Sprintf("[%s](?:[\u200c\u200d\ufe00-\ufe0f]*[%[1]s])+", set)
}

// shortenBracketRuns shortens runs of angle brackets that could pass for a mark's to one. Two plain ones stay, which code has.
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

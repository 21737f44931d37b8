// Package delimit encloses texts in prompts that are not the user's own: what models, people and documents say.
package delimit

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Enclose returns a text between two delimiters, each on a line of its own. The first one says what the text is.
//
//	<<<09214337650718826612 begin: Debater A, round 2>>>
//	What was said.
//	<<<09214337650718826612 end>>>
//
// The text cannot close the delimiters or open others: Enclose removes the nonce, control characters and invisible
// characters from it, and shortens runs of angle brackets that look like a delimiter.
func Enclose(nonce, what, text string) string {
	return "<<<" + nonce + " begin: " + what + ">>>\n" + Clean(nonce, text) + "\n<<<" + nonce + " end>>>"
}

// Mark returns a text for a person: each line begins with a mark, so that none of them can pass for what surrounds the text.
func Mark(text string) string {
	return "> " + strings.ReplaceAll(strings.TrimSpace(RemoveInvisible(text)), "\n", "\n> ")
}

// Line returns what a text is, on one line that cannot be read as a delimiter.
func Line(nonce, what string) string { return oneLine.Replace(Clean(nonce, what)) }

// oneLine replaces line breaks and tabs with spaces.
var oneLine = strings.NewReplacer("\n", " ", "\t", " ")

// Clean removes from a text everything that could be read as a delimiter.
func Clean(nonce, text string) string {
	if !IsPlain(text) {
		text = shortenBracketRuns(RemoveInvisible(text))
	}
	if nonce == "" {
		return text
	}
	return strings.ReplaceAll(text, nonce, "[removed]")
}

// IsPlain reports whether a text consists of printable ASCII, tabs and line breaks without angle brackets. Such a
// text needs neither RemoveInvisible nor shortenBracketRuns.
func IsPlain(text string) bool {
	const each = 0x0101010101010101 // a byte times each has this byte in all eight places
	for ; len(text) >= 8; text = text[8:] {
		x := uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
			uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
		angle := (x | 2*each) ^ '>'*each // 0 in the place of an angle bracket
		// The highest bit of a place is set if its byte is not ASCII, below a space, at least 0x7f, or an angle bracket.
		if (x|(x-' '*each)|(x+each)|(angle-each)&^angle)&(0x80*each) != 0 && !eachPlain(text[:8]) {
			return false
		}
	}
	return eachPlain(text)
}

// eachPlain reports whether each byte of a text is plain.
func eachPlain(text string) bool {
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

// RemoveInvisible normalizes line breaks and removes control characters and invisible characters. It keeps the two
// joiners, which Persian, Indian scripts and emoji need.
func RemoveInvisible(text string) string {
	if IsPlain(text) {
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
	if IsPlain(text) || !strings.ContainsAny(text, openingBrackets+closingBrackets) {
		return text
	}
	return bracketRuns.ReplaceAllStringFunc(text, func(s string) string {
		switch {
		case s == "<<" || s == ">>":
			return s
		case strings.ContainsRune(openingBrackets, []rune(s)[0]):
			return "<"
		}
		return ">"
	})
}

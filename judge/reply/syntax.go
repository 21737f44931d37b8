package reply

import (
	"fmt"
	"strings"
)

const whitespace = " \t\r\n"

// maxDepth is how deep objects and lists may be nested.
const maxDepth = 100

// isObject tells whether a text is one object and nothing else.
func isObject(text string) bool {
	if !strings.HasPrefix(text, "{") {
		return false
	}
	n, err := objectLength(text)
	return err == nil && n == len(text)
}

// objectLength is the length of the object that text begins with. Brackets inside its strings do not count.
func objectLength(text string) (int, error) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += stringLength(text[i:]) - 1
		case '{', '[':
			if depth++; depth > maxDepth {
				return 0, newInvalid(fmt.Sprintf("the JSON object is nested deeper than %d levels", maxDepth))
			}
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		}
	}
	return 0, newInvalid("the JSON object is not closed: close every text, list and object, and be brief")
}

// stringLength is the length of the string that text begins with, quotes included; all of text where no quote closes it.
func stringLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// startsQuotedKey tells whether the brace that text begins with opens an object with a first key. Braces in prose, in code and in
// formulas do not.
func startsQuotedKey(text string) bool {
	text = strings.TrimLeft(text[1:], whitespace)
	if !strings.HasPrefix(text, `"`) {
		return false
	}
	return strings.HasPrefix(strings.TrimLeft(text[stringLength(text):], whitespace), ":")
}

// startsAnyKey tells whether the brace that text begins with opens an object with a first key in any notation: in quotes of
// any kind, or in none.
func startsAnyKey(text string) bool {
	text = strings.TrimLeft(text[1:], whitespace)
	closing, rest := cutOpeningQuote(text)
	if closing == "" {
		n := identifierLength(text)
		return n > 0 && strings.HasPrefix(strings.TrimLeft(text[n:], whitespace), ":")
	}
	n := strings.Index(rest[:min(len(rest), maxKeyBytes)], closing)
	return n >= 0 && strings.HasPrefix(strings.TrimLeft(rest[n+len(closing):], whitespace), ":")
}

// cutOpeningQuote cuts the quote off that a text begins with, and names the one that closes it; empty: it begins with none.
func cutOpeningQuote(text string) (closing, rest string) {
	for _, q := range [][2]string{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"\u201c", "\u201d"}, {"\u2018", "\u2019"}} {
		if rest, ok := strings.CutPrefix(text, q[0]); ok {
			return q[1], rest
		}
	}
	return "", text
}

// identifierLength is the length of the identifier that text begins with.
func identifierLength(text string) int {
	n := 0
	for n < len(text) && (text[n] == '_' || text[n]|0x20 >= 'a' && text[n]|0x20 <= 'z' || text[n] >= '0' && text[n] <= '9') {
		n++
	}
	return n
}

// maxKeyBytes is the longest key that an object is known by which is not JSON, in bytes.
const maxKeyBytes = 100

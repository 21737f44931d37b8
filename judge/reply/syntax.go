package reply

import (
	"fmt"
	"strings"
)

const (
	whitespace = " \t\r\n"
	quotes     = "\"'`\u00b4\u2018\u2019\u201c\u201d"
)

// maxDepth is the maximum nesting of objects and lists.
const maxDepth = 100

// isObject reports whether a text is exactly one object.
func isObject(text string) bool {
	if !strings.HasPrefix(text, "{") {
		return false
	}
	n, err := objectLength(text)
	return err == nil && n == len(text)
}

// objectLength returns the length of the object at the beginning of text. It ignores brackets inside strings, in double
// or single quotes.
func objectLength(text string) (int, error) {
	depth := 0
	before := byte(0) // the last character that is not space
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
			continue
		case '"':
			i += stringLength(text[i:]) - 1
		case '{', '[':
			depth++
			if depth > maxDepth {
				return 0, newInvalid(fmt.Sprintf("the JSON object is nested deeper than %d levels", maxDepth))
			}
		case '}', ']':
			depth--
			if depth == 0 {
				return i + 1, nil
			}
		case '\'':
			if strings.IndexByte("{[,:", before) >= 0 { // elsewhere, it is an apostrophe
				i += stringLength(text[i:]) - 1
			}
		}
		before = text[min(i, len(text)-1)]
	}
	return 0, newInvalid("the JSON object is not closed: close every string, list and object, and be brief")
}

// stringLength returns the length of the string at the beginning of text, including its quotes, which are like its first
// character. It returns the length of text if the string is not closed.
func stringLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i + 1
		}
	}
	return len(text)
}

// startsQuotedKey reports whether the brace at the beginning of text opens an object with a quoted first key. Braces
// in prose, code and formulas do not.
func startsQuotedKey(text string) bool {
	text = strings.TrimLeft(text[1:], whitespace)
	if !strings.HasPrefix(text, `"`) {
		return false
	}
	return strings.HasPrefix(strings.TrimLeft(text[stringLength(text):], whitespace), ":")
}

// trimOpeningQuote removes the quote at the beginning of text, if there is one.
func trimOpeningQuote(text string) string {
	for _, quote := range []string{`"`, "'", "`", "\u201c", "\u2018"} {
		if rest, ok := strings.CutPrefix(text, quote); ok {
			return rest
		}
	}
	return text
}

// identifierLength returns the length of the identifier at the beginning of text.
func identifierLength(text string) int {
	n := 0
	for n < len(text) && inIdentifier(text[n]) {
		n++
	}
	return n
}

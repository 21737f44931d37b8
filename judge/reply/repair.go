package reply

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/kaptinlin/jsonrepair"
)

// Limits on what is repaired. The repair library reads the rest of an object again for each quote that it cannot place.
// Without a limit on such quotes, some texts of 8 KiB would take half a minute.
const (
	maxRepairBytes = 8 << 10
	maxStrayQuotes = 64 // quotes that neither open nor close a string
)

// repair corrects the syntax of an object with the repair library. It accepts the result only if that is valid JSON
// with the content of the original. The repair adds no content, so a truncated object is not completed, and it
// removes nothing but comments.
func repair(text string) (fixed string, ok bool) {
	if len(text) > maxRepairBytes || countStrayQuotes(text) > maxStrayQuotes {
		return "", false
	}
	if fixed, ok = repairWithLibrary(text); ok && faithful(text, fixed) {
		return fixed, true
	}
	quoted := quoteKey(text)
	if quoted == text {
		return "", false
	}
	fixed, ok = repairWithLibrary(quoted)
	return fixed, ok && faithful(text, fixed)
}

// repairWithLibrary returns the valid JSON that the repair library makes of a text.
func repairWithLibrary(text string) (fixed string, ok bool) {
	defer func() {
		if recover() != nil { // the library panics on some malformed texts
			fixed, ok = "", false
		}
	}()
	fixed, err := jsonrepair.Repair(text)
	return fixed, err == nil && json.Valid([]byte(fixed))
}

// Keys without a closing quote, and without an opening one.
var (
	openKey  = regexp.MustCompile(`[{,]\s*(["'])[^"'{}\[\],:]+?()\s*:`)
	closeKey = regexp.MustCompile(`[{,]\s*()[^\s"'{}\[\],:][^"'{}\[\],:]*(["'])\s*:`)
)

// quoteKey adds the missing quote to the first key that has one quote. The library does not add it behind a key, or where
// the quotes are single.
func quoteKey(text string) string {
	if m := openKey.FindStringSubmatchIndex(text); m != nil {
		return text[:m[4]] + text[m[2]:m[3]] + text[m[4]:]
	}
	if m := closeKey.FindStringSubmatchIndex(text); m != nil {
		return text[:m[2]] + text[m[4]:m[5]] + text[m[2]:]
	}
	return text
}

// countStrayQuotes counts the quotes of all kinds that neither follow a character after which a string may begin, nor
// precede a character that may follow a string. These are quotes inside strings, escaped or not.
func countStrayQuotes(text string) (n int) {
	last := rune(0) // the last character that is not space
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		text = strings.TrimLeft(text[size:], whitespace)
		if strings.ContainsRune(quotes, r) {
			opens := strings.ContainsRune("{[,:", last)
			closes := text == "" || strings.Contains("}],:", text[:1])
			if last == '\\' || !opens && !closes {
				n++
			}
		}
		last = r
	}
	return n
}

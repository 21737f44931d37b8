package reply

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/kaptinlin/jsonrepair"
)

// What is repaired at most. The library reads the rest of an object again for quotes that it cannot place: of some texts
// of 8 KiB it would make half a minute's work.
const (
	maxRepairBytes = 8 << 10 // bytes
	maxStrayQuotes = 64      // quotes that neither open nor close a text
)

// repair corrects the syntax of an object. It is the library's work, under conditions: what comes out is JSON, and says
// what stood there. Nothing is added to it, so that an object that was cut is not completed; nothing is left out of it
// but comments.
func repair(text string) (fixed string, ok bool) {
	if len(text) > maxRepairBytes || countStrayQuotes(text) > maxStrayQuotes {
		return "", false
	}
	defer func() {
		if recover() != nil { // a text that the library is not made for
			fixed, ok = "", false
		}
	}()
	fixed, err := jsonrepair.Repair(text)
	if err != nil || !json.Valid([]byte(fixed)) {
		return "", false
	}
	return fixed, faithful(text, fixed)
}

// countStrayQuotes counts the quotes of all kinds that stand neither after what a text may begin behind, nor before what may follow
// its end: those inside of texts, escaped or not.
func countStrayQuotes(text string) (n int) {
	last := rune(0) // that was no space
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		text = strings.TrimLeft(text[size:], whitespace)
		if strings.ContainsRune("\"'`\u00b4\u2018\u2019\u201c\u201d", r) {
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

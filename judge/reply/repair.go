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
	maxRepair = 8 << 10 // bytes
	maxStray  = 64      // quotes that neither open nor close a text
)

// maxKey is the longest key that an object is known by which is not JSON, in bytes.
const maxKey = 100

// repair corrects the syntax of an object. It is the library's work, under conditions: what comes out is JSON, and says
// what stood there. Nothing is added to it, so that an object that was cut is not completed; nothing is left out of it
// but comments.
func repair(text string) (fixed string, ok bool) {
	if len(text) > maxRepair || strays(text) > maxStray {
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

// strays counts the quotes of all kinds that stand neither after what a text may begin behind, nor before what may follow
// its end: those inside of texts, escaped or not.
func strays(text string) (n int) {
	last := rune(0) // that was no space
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		text = strings.TrimLeft(text[size:], space)
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

// likely tells whether the brace that text begins with opens an object with a first key in any notation: in quotes of
// any kind, or in none.
func likely(text string) bool {
	text = strings.TrimLeft(text[1:], space)
	closing, rest := unquote(text)
	if closing == "" {
		n := word(text)
		return n > 0 && strings.HasPrefix(strings.TrimLeft(text[n:], space), ":")
	}
	n := strings.Index(rest[:min(len(rest), maxKey)], closing)
	return n >= 0 && strings.HasPrefix(strings.TrimLeft(rest[n+len(closing):], space), ":")
}

// unquote cuts the quote off that a text begins with, and names the one that closes it; empty: it begins with none.
func unquote(text string) (closing, rest string) {
	for _, q := range [][2]string{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"\u201c", "\u201d"}, {"\u2018", "\u2019"}} {
		if rest, ok := strings.CutPrefix(text, q[0]); ok {
			return q[1], rest
		}
	}
	return "", text
}

// word is the length of the identifier that text begins with.
func word(text string) int {
	n := 0
	for n < len(text) && (text[n] == '_' || text[n]|0x20 >= 'a' && text[n]|0x20 <= 'z' || text[n] >= '0' && text[n] <= '9') {
		n++
	}
	return n
}

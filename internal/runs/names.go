package runs

import (
	"strings"
	"unicode"
)

// MaxName limits the bytes of names, which are labels of debates.
const MaxName = 128

// IsName reports whether a text can be a name: it is not blank, printable and at most [MaxName] bytes long.
func IsName(text string) bool {
	return strings.TrimSpace(text) != "" && len(text) <= MaxName && IsPrintable(text)
}

// IsPrintable reports whether a text has no control characters.
func IsPrintable(text string) bool { return !strings.ContainsFunc(text, unicode.IsControl) }

// Package actor names the actors of a debate and the fields of the configuration that hold them.
package actor

import (
	"fmt"
	"strings"
	"unicode"
)

// Human is the name of the provider that stands for people.
const Human = "human"

// MinReply limits, in tokens, how far the limit of a reply may be lowered to fit it into a window.
const MinReply = 256

// CheckName returns what is wrong with the name of a participant or a judge, or the empty string.
func CheckName(name string) string {
	switch {
	case strings.TrimSpace(name) != name || name == "":
		return fmt.Sprintf("%q is not valid, use a name without leading or trailing blanks", name)
	case len(name) > 64:
		return fmt.Sprintf("%d bytes is too long, use at most 64", len(name))
	case strings.ContainsFunc(name, func(r rune) bool { return r == '/' || r == ':' || !unicode.IsPrint(r) }):
		return fmt.Sprintf("%q is not valid, remove '/', ':' and control characters", name)
	}
	return ""
}

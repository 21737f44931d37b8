// Package settings has checks that the parameters of several protocols need. Each adds the problems that it finds to a list.
package settings

import (
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/protocol"
)

// NotBlank checks that a text is not blank. The advice says what to do then.
func NotBlank(l *protocol.Problems, field, text, advice string) {
	if strings.TrimSpace(text) == "" {
		l.Add(field, "it is blank, %s", advice)
	}
}

// OneOf checks that a word is known or empty, which stands for the default.
func OneOf[T ~string](l *protocol.Problems, field string, word T, known ...T) {
	if word != "" && !slices.Contains(known, word) {
		l.Add(field, "%q is unknown, use one of %q", word, known)
	}
}

// Share checks that a number is from 0 to 1, if it is set.
func Share(l *protocol.Problems, field string, number *float64) {
	if number != nil && !(*number >= 0 && *number <= 1) {
		l.Add(field, "%v, use 0 to 1", *number)
	}
}

// LeftOut checks that none of the parameters is set, by name. The reason says why they must be left out.
func LeftOut(l *protocol.Problems, reason string, set map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if set[name] {
			l.Add("protocol."+name, "%s; leave it out", reason)
		}
	}
}

package reply

import (
	"maps"
	"slices"
	"strings"
)

// keys are the known properties of a reply. They are found in texts that may not be JSON.
type keys struct {
	names   []string
	initial [256]bool // the first bytes of the names
}

func newKeys(known knownFields) *keys {
	k := &keys{names: slices.Sorted(maps.Keys(known))}
	for _, name := range k.names {
		k.initial[name[0]] = true
	}
	return k
}

// startsObject reports whether the brace at the beginning of text opens an object whose first key is known: in quotes of
// any kind or without, even if a quote or the colon is missing, or the text ends inside the key.
func (k *keys) startsObject(text string) bool {
	text = strings.TrimLeft(text[1:], whitespace)
	unquoted := trimOpeningQuote(text)
	if unquoted == "" {
		return true
	}
	if !k.initial[unquoted[0]] {
		return false
	}
	rest, quoted, ok := k.cut(text)
	if ok {
		return rest == "" || rest[0] == ':' || quoted && rest[0] != '}' && rest[0] != ','
	}
	return slices.ContainsFunc(k.names, func(name string) bool { return strings.HasPrefix(name, unquoted) })
}

// continuesObject reports whether a text begins with a known property, so that the object before it is not at its end.
func (k *keys) continuesObject(text string) bool {
	rest, quoted, ok := k.cut(strings.TrimLeft(text, whitespace+","))
	return ok && quoted && strings.HasPrefix(rest, ":")
}

// cut removes the known key at the beginning of text, with the space after it. It reports whether the key has a quote.
func (k *keys) cut(text string) (rest string, quoted, ok bool) {
	unquoted := trimOpeningQuote(text)
	for _, name := range k.names {
		after, found := strings.CutPrefix(unquoted, name)
		if !found || identifierLength(after) > 0 {
			continue
		}
		rest := strings.TrimLeft(after, quotes)
		quoted := len(unquoted) < len(text) || len(rest) < len(after)
		return strings.TrimLeft(rest, whitespace), quoted, true
	}
	return text, false, false
}

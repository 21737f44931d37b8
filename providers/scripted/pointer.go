package scripted

import (
	"maps"
	"slices"
	"strings"
)

// at names a path in an error.
func at(path string) string {
	if path == "" {
		return "the reply"
	}
	return path
}

// The characters that a JSON pointer escapes.
var escapes, unescapes = strings.NewReplacer("~", "~0", "/", "~1"), strings.NewReplacer("~1", "/", "~0", "~")

func unescape(segment string) string { return unescapes.Replace(segment) }

// join returns the path of a property or an item.
func join(path, name string) string { return path + "/" + escapes.Replace(name) }

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

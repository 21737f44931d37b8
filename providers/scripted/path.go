package scripted

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// choices are chosen values.
type choices struct {
	values map[string]any // by key, as encoding/json decodes them
	paths  []string       // the keys that are paths, sorted
}

// newChoices returns the choices of a map by key.
func newChoices(from map[string]any) (c choices, err error) {
	c.values = map[string]any{}
	for key, value := range from {
		data, err := json.Marshal(value)
		if err != nil {
			return c, fmt.Errorf("encode the value of %q: %w", key, err)
		}
		var plain any
		if err := json.Unmarshal(data, &plain); err != nil {
			return c, fmt.Errorf("encode the value of %q: %w", key, err)
		}
		c.values[key] = plain
		if strings.HasPrefix(key, "/") {
			c.paths = append(c.paths, key)
		}
	}
	slices.Sort(c.paths)
	return c, nil
}

// segment is a name in a path, with another spelling of it.
type segment struct{ name, label string }

// choice returns the key that chooses the value at a path: a path without wildcards, one with them, or a name.
func (c choices) choice(path []segment) (key string, ok bool) {
	wild := -1
	for _, p := range c.paths {
		n, match := matchPath(p, path)
		if match && len(path) == n.segments && (wild < 0 || n.wild < wild) {
			key = p
			ok = true
			wild = n.wild
		}
	}
	if ok || len(path) == 0 {
		return key, ok
	}
	for _, name := range []string{path[len(path)-1].name, path[len(path)-1].label} {
		if _, ok := c.values[name]; ok && name != "" {
			return name, true
		}
	}
	return "", false
}

// wants reports whether a path chooses something below this one.
func (c choices) wants(path []segment) bool {
	return slices.ContainsFunc(c.paths, func(p string) bool {
		n, match := matchPath(p, path)
		return match && n.segments > len(path)
	})
}

// items returns the number of items that chosen paths need in a list.
func (c choices) items(path []segment) (n int) {
	for _, p := range c.paths {
		if found, match := matchPath(p, path); match && found.segments > len(path) {
			next := strings.Split(p, "/")[len(path)+1]
			if i, err := strconv.Atoi(next); err == nil && i >= 0 && i < maxParts {
				n = max(n, i+1)
			} else if next == "*" {
				n = max(n, 1)
			}
		}
	}
	return n
}

// pathKey says how many segments a chosen path has, and how many of them are wildcards.
type pathKey struct{ segments, wild int }

// matchPath reports whether a chosen path is or begins with another path.
func matchPath(key string, path []segment) (n pathKey, match bool) {
	said := strings.Split(key, "/")[1:]
	n.segments = len(said)
	if len(said) < len(path) {
		return n, false
	}
	for i, s := range said {
		if s == "*" {
			n.wild++
		}
		if i < len(path) && s != "*" && !sameName(unescape(s), path[i].name) && unescape(s) != path[i].label {
			return n, false
		}
	}
	return n, true
}

// label returns the name that a property stands for if it has another spelling, from a description such as "for Debater A".
func label(s *schema) string {
	name, ok := strings.CutPrefix(s.Description, "for ")
	if !ok {
		return ""
	}
	return name
}

// sameName reports whether two names differ in nothing but spaces and punctuation, as a property differs from the name that it
// stands for.
func sameName(a, b string) bool {
	words := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	return a == b || len(words(a)) > 0 && slices.Equal(words(a), words(b))
}

func pointer(path []segment) (text string) {
	for _, s := range path {
		text = join(text, s.name)
	}
	return text
}

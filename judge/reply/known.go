package reply

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// knownFields holds each known property of an object, or of the objects in a list. It is nil if there are none.
type knownFields map[string]knownField

// knownField is a known property.
type knownField struct {
	normal string      // its name without case and word breaks
	inner  knownFields // the known properties of its value
}

// knownFieldsOf returns the known properties of a schema.
func knownFieldsOf(s *jsonschema.Schema) knownFields {
	for s.Items != nil {
		s = s.Items
	}
	if s.Properties == nil {
		return nil
	}
	known := knownFields{}
	for _, f := range fields(s) {
		known[f.name] = knownField{normal: normalizeName(f.name), inner: knownFieldsOf(f.schema)}
	}
	return known
}

// prune removes unknown properties from a value. Models sometimes add properties, and data that was not validated
// must not be decoded. In two cases prune returns a violation, because removing properties could lose what the model
// meant: a known name that is misspelled, and an object without any known property.
func (s knownFields) prune(value any, at string) (findings []string) {
	switch v := value.(type) {
	case []any:
		for i, item := range v {
			findings = append(findings, s.prune(item, at+"/"+strconv.Itoa(i))...)
		}
	case map[string]any:
		before := len(v)
		for name, x := range v {
			field, known := s[name]
			if !known {
				delete(v, name)
				findings = append(findings, s.misspelled(v, name, at)...)
			} else if field.inner != nil {
				findings = append(findings, field.inner.prune(x, at+"/"+name)...)
			}
		}
		if before > 0 && len(v) == 0 {
			findings = append(findings, location(at)+": the object has no known property")
		}
	}
	return findings
}

// hasUnknown reports whether a value has an unknown property.
func (s knownFields) hasUnknown(value any) bool {
	switch v := value.(type) {
	case []any:
		return slices.ContainsFunc(v, s.hasUnknown)
	case map[string]any:
		for name, x := range v {
			field, known := s[name]
			if !known || field.inner.hasUnknown(x) {
				return true
			}
		}
	}
	return false
}

// misspelled returns a violation for each known name that differs from an unknown name of an object only in case and
// word breaks, or that the object lacks and that differs in few letters.
func (s knownFields) misspelled(object map[string]any, name, at string) (findings []string) {
	spelt := normalizeName(name)
	for known, field := range s {
		_, present := object[known]
		if field.normal == spelt || !present && isTypo(spelt, field.normal) {
			findings = append(findings, fmt.Sprintf("%s: property %q must be spelled %q", location(at), name, known))
		}
	}
	return findings
}

var wordBreaks = strings.NewReplacer("_", "", "-", "", " ", "")

// normalizeName removes case and word breaks from a name.
func normalizeName(name string) string { return strings.ToLower(wordBreaks.Replace(name)) }

// isTypo reports whether a name becomes another by one change to a letter, or by two if it has eight letters or more. A
// change adds, removes or replaces a letter, or exchanges two neighbors.
func isTypo(name, of string) bool {
	a := []rune(name)
	b := []rune(of)
	most := 1
	if len(b) >= 8 {
		most = 2
	}
	if max(len(a)-len(b), len(b)-len(a)) > most {
		return false
	}
	var before, last, row []int // of the table of distances between the beginnings of a and b
	for i := range len(a) + 1 {
		before = last
		last = row
		row = make([]int, len(b)+1)
		for j := range row {
			switch {
			case i == 0 || j == 0:
				row[j] = i + j
				continue
			case a[i-1] == b[j-1]:
				row[j] = last[j-1]
			default:
				row[j] = 1 + min(last[j-1], last[j], row[j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)] <= most
}

// hasKnown reports whether an object has a known property, perhaps misspelled.
func (s knownFields) hasKnown(object map[string]any) bool {
	for name := range object {
		if _, known := s[name]; known {
			return true
		}
	}
	return s.hasMisspelled(object)
}

// hasMisspelled reports whether an object has a misspelled property.
func (s knownFields) hasMisspelled(object map[string]any) bool {
	for name := range object {
		if _, known := s[name]; !known && len(s.misspelled(object, name, "")) > 0 {
			return true
		}
	}
	return false
}

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

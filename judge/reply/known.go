package reply

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// knownFields maps each known property of an object, or of the objects in a list, to the known properties of its
// value. It is nil if there are none.
type knownFields map[string]knownFields

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
		known[f.name] = knownFieldsOf(f.schema)
	}
	return known
}

// prune removes unknown properties from a value. Models sometimes add properties, and data that was not validated
// must not be decoded. In two cases prune returns a violation, because removing properties could lose what the model
// meant: a known name in another spelling, and an object without any known property.
func (s knownFields) prune(value any, at string) (findings []string) {
	switch v := value.(type) {
	case []any:
		for i, item := range v {
			findings = append(findings, s.prune(item, at+"/"+strconv.Itoa(i))...)
		}
	case map[string]any:
		before := len(v)
		for name, x := range v {
			inner, known := s[name]
			if !known {
				delete(v, name)
				findings = append(findings, s.misspelled(name, at)...)
			} else if inner != nil {
				findings = append(findings, inner.prune(x, at+"/"+name)...)
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
			if inner, known := s[name]; !known || inner.hasUnknown(x) {
				return true
			}
		}
	}
	return false
}

// misspelled returns a violation for each known name that differs from an unknown name only in case and word breaks.
func (s knownFields) misspelled(name, at string) (findings []string) {
	spelt := normalizeName(name)
	for known := range s {
		if normalizeName(known) == spelt {
			findings = append(findings, fmt.Sprintf("%s: property %q must be spelled %q", location(at), name, known))
		}
	}
	return findings
}

var wordBreaks = strings.NewReplacer("_", "", "-", "", " ", "")

// normalizeName removes case and word breaks from a name.
func normalizeName(name string) string { return strings.ToLower(wordBreaks.Replace(name)) }

package reply

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// knownFields is the known properties of an object, or of the objects in a list, each with its own knownFields; nil where there are
// none.
type knownFields map[string]knownFields

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

// prune removes the properties of a value that its shape does not know: models add some now and then, and what was not
// validated must not be decoded. Two kinds are findings, since dropping them could lose what the model came to say: a
// known name in another spelling, and objects of which nothing is known.
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
			findings = append(findings, location(at)+": none of its properties is known")
		}
	}
	return findings
}

// hasUnknown tells whether a value has a property that its shape does not know.
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

// misspelled is the finding about an unknown name that is a known one but for case and word breaks.
func (s knownFields) misspelled(name, at string) (findings []string) {
	spelt := normalizeName(name)
	for known := range s {
		if normalizeName(known) == spelt {
			findings = append(findings, fmt.Sprintf("%s: property %q must be spelt %q", location(at), name, known))
		}
	}
	return findings
}

var wordBreaks = strings.NewReplacer("_", "", "-", "", " ", "")

func normalizeName(name string) string { return strings.ToLower(wordBreaks.Replace(name)) }

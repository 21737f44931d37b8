package reply

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// shape is the known properties of an object, or of the objects in a list, each with its own shape; nil where there are
// none.
type shape map[string]shape

func shapeOf(s *jsonschema.Schema) shape {
	for s.Items != nil {
		s = s.Items
	}
	if s.Properties == nil {
		return nil
	}
	known := shape{}
	for _, f := range fields(s) {
		known[f.name] = shapeOf(f.schema)
	}
	return known
}

// prune removes the properties of a value that its shape does not know: models add some now and then, and what was not
// validated must not be decoded. Two kinds are findings, since dropping them could lose what the model came to say: a
// known name in another spelling, and objects of which nothing is known.
func (s shape) prune(value any, at string) (findings []string) {
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
				findings = append(findings, s.misspelt(name, at)...)
			} else if inner != nil {
				findings = append(findings, inner.prune(x, at+"/"+name)...)
			}
		}
		if before > 0 && len(v) == 0 {
			findings = append(findings, place(at)+": none of its properties is known")
		}
	}
	return findings
}

// strange tells whether a value has a property that its shape does not know.
func (s shape) strange(value any) bool {
	switch v := value.(type) {
	case []any:
		return slices.ContainsFunc(v, s.strange)
	case map[string]any:
		for name, x := range v {
			if inner, known := s[name]; !known || inner.strange(x) {
				return true
			}
		}
	}
	return false
}

// misspelt is the finding about an unknown name that is a known one but for case and word breaks.
func (s shape) misspelt(name, at string) (findings []string) {
	spelt := bare(name)
	for known := range s {
		if bare(known) == spelt {
			findings = append(findings, fmt.Sprintf("%s: property %q must be spelt %q", place(at), name, known))
		}
	}
	return findings
}

var breaks = strings.NewReplacer("_", "", "-", "", " ", "")

func bare(name string) string { return strings.ToLower(breaks.Replace(name)) }

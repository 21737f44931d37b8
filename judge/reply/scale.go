package reply

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// scale says which parts of a value are numbers, and where their scales end. It is nil if no part is one.
type scale struct {
	number bool
	end    string            // the maximum of the number; empty if it has none
	items  *scale            // of a list
	fields map[string]*scale // of an object
}

// anyNumber is a number without a scale.
var anyNumber = &scale{number: true}

// scaleOf returns the scale of a schema. A place among names is a number without a scale.
func (n *named) scaleOf(s *jsonschema.Schema) *scale {
	switch {
	case n.fields[s] != "" && s.Type == "integer":
		return anyNumber
	case s.Type == "number" || s.Type == "integer":
		return &scale{number: true, end: s.Maximum.String()}
	case s.Items != nil:
		if items := n.scaleOf(s.Items); items != nil {
			return &scale{items: items}
		}
	case s.Properties != nil:
		all := map[string]*scale{}
		for _, f := range fields(s) {
			if inner := n.scaleOf(f.schema); inner != nil {
				all[f.name] = inner
			}
		}
		if len(all) > 0 {
			return &scale{fields: all}
		}
	}
	return nil
}

// readNumbers replaces the texts in an object that mean a number, and stand where the schema has one.
func (s *scale) readNumbers(object map[string]any) {
	if s == nil {
		return
	}
	for name, inner := range s.fields {
		if value, ok := object[name]; ok {
			object[name] = inner.read(value)
		}
	}
}

// read returns a value with numbers in place of texts that mean one. It changes lists and objects in place.
func (s *scale) read(value any) any {
	switch v := value.(type) {
	case string:
		if n, ok := s.numberIn(v); s.number && ok {
			return n
		}
	case []any:
		if s.items == nil {
			return value
		}
		for i := range v {
			v[i] = s.items.read(v[i])
		}
	case map[string]any:
		s.readNumbers(v)
	}
	return value
}

// numberText matches a text that is a number, such as "8.5", "8/10", "8 out of 10" or "80 %".
var numberText = regexp.MustCompile(`(?i)^([+-]?(?:\d+(?:\.\d+)?|\.\d+))(?:\s*points?)?` +
	`(?:\s*(?:/|\bof\b|\bout of\b)\s*(\d+(?:\.\d+)?)|\s*(%|percent))?(?:\s*points?)?$`)

// numberIn returns the number that a text means. Where a text names a scale, it must be that of the field: "8/10" means 8 if the
// maximum is 10, and nothing otherwise. Percentages are of 100.
func (s *scale) numberIn(text string) (n float64, ok bool) {
	found := numberText.FindStringSubmatch(strings.TrimSpace(text))
	if found == nil {
		return 0, false
	}
	named := found[2]
	if found[3] != "" {
		named = "100"
	}
	if named != "" && !sameNumber(named, s.end) {
		return 0, false
	}
	n, err := strconv.ParseFloat(found[1], 64)
	return n, err == nil
}

// sameNumber reports whether two texts are the same number.
func sameNumber(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	if err != nil {
		return false
	}
	y, err := strconv.ParseFloat(b, 64)
	return err == nil && x == y
}

package reply

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v5"
)

// schemas is everything that a contract derives from its type.
type schemas struct {
	strict    json.RawMessage
	template  string        // strict, with placeholders for names
	marks     []placeholder // the placeholders in template
	outline   string
	validator *validator.Schema
	known     knownFields
	keys      *keys
	decoder   *decoder // nil if encoding/json has to read the replies
}

// buildSchemas derives the schemas of a type. It panics if a tag makes an invalid schema, which is a programming
// error.
func buildSchemas(name string, t reflect.Type) schemas {
	r := jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, DoNotReference: true}
	s := r.ReflectFromType(t)
	named := kinds{map[*jsonschema.Schema]string{}, map[*jsonschema.Schema]string{}}
	complete(s, t, named)
	template, err := json.Marshal(named.strict(s, false, 0))
	if err != nil {
		panic(fmt.Sprintf("reply: contract %s: marshal schema: %v", name, err))
	}
	compiled, err := compileSchema(validationSchema(s))
	if err != nil {
		panic(fmt.Sprintf("reply: contract %s: compile schema: %v", name, err))
	}
	var b strings.Builder
	writeOutline(&b, s, "")
	known := knownFieldsOf(s)
	out := schemas{
		template: string(template), marks: placeholders(string(template)),
		outline: b.String(), validator: compiled, known: known, keys: newKeys(known), decoder: newDecoder(t),
	}
	out.strict = out.withNames(nil)
	return out
}

// compileSchema compiles a schema for validation.
func compileSchema(s *jsonschema.Schema) (*validator.Schema, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	c := validator.NewCompiler()
	c.AssertFormat = true
	if err := c.AddResource("reply:", bytes.NewReader(data)); err != nil {
		return nil, err
	}
	return c.Compile("reply:")
}

// placeholder is a part of a template that stands for names of a kind.
type placeholder struct {
	text, kind string
	list       bool   // the part stands for the bounds of a list, not for an enum
	without    string // what replaces it if the names are not known
}

// placeholderPattern matches an enum with a placeholder, or bounds with one.
var placeholderPattern = regexp.MustCompile(`,"enum":\["\\u0000([^"]*)"\]|,"\\u0000([^"]*)":\{([^}]*)\}`)

// placeholders returns the placeholders in a template, each once.
func placeholders(template string) (list []placeholder) {
	for _, m := range placeholderPattern.FindAllStringSubmatch(template, -1) {
		p := placeholder{text: m[0], kind: m[1]}
		if m[2] != "" {
			p.kind, p.list = m[2], true
		}
		if m[3] != "" {
			p.without = "," + m[3]
		}
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// has reports whether the schema refers to names of a kind.
func (s *schemas) has(kind string) bool {
	return slices.ContainsFunc(s.marks, func(p placeholder) bool { return p.kind == kind })
}

// withNames returns the strict schema with the given names, by kind. If a kind has no names, its fields have no enum, and
// its lists have the bounds of their tags.
func (s *schemas) withNames(names map[string][]string) json.RawMessage {
	text := s.template
	for _, p := range s.marks {
		list, with := names[p.kind], p.without
		switch {
		case len(list) == 0:
		case p.list:
			with = fmt.Sprintf(`,"minItems":%d,"maxItems":%[1]d`, len(list))
		default:
			data, _ := json.Marshal(list) // cannot fail: they are strings
			with = `,"enum":` + string(data)
		}
		text = strings.ReplaceAll(text, p.text, with)
	}
	return json.RawMessage(text)
}

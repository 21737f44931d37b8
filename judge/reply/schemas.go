package reply

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v5"
)

// schemas is everything that a contract derives from its type.
type schemas struct {
	strict    json.RawMessage
	template  string   // strict, with enums that hold placeholders for names
	kinds     []string // the kinds of names in template
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
	named := map[*jsonschema.Schema]string{}
	complete(s, t, named)
	template, err := json.Marshal(strictSchema(s, named))
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
		template: string(template), kinds: slices.Compact(slices.Sorted(maps.Values(named))),
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

// withNames returns the strict schema with the given names, by kind. A field without names has no enum.
func (s *schemas) withNames(names map[string][]string) json.RawMessage {
	text := s.template
	for _, kind := range s.kinds {
		enum := ""
		if list := names[kind]; len(list) > 0 {
			data, _ := json.Marshal(list) // cannot fail: they are strings
			enum = `,"enum":` + string(data)
		}
		mark, _ := json.Marshal(placeholderPrefix + kind)
		text = strings.ReplaceAll(text, `,"enum":[`+string(mark)+`]`, enum)
	}
	return json.RawMessage(text)
}

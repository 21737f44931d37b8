package reply

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
)

// maxSentMaxLength is the largest maxLength that is sent. llama.cpp, and therefore Ollama, rejects schemas with a
// larger one.
const maxSentMaxLength = 1999

// Bounds that are sent although the tags allow more. A local model fills every field of a schema, and may write in each
// until a bound stops it, so optional texts and lists of texts must not use up the token limit.
const (
	maxShortLength        = 600 // of an optional text, and of a text in a list or in its entries
	maxOptionalItems      = 4   // of an optional list
	maxOptionalItemLength = 200 // of a text in an optional list
)

// field is a property of an object. It may be omitted unless it is required, and null if it is nullable.
type field struct {
	name               string
	schema             *jsonschema.Schema
	required, nullable bool
}

// fields returns the properties of an object in the order of the struct's fields.
func fields(s *jsonschema.Schema) (list []field) {
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		f := field{name: p.Key, schema: p.Value, required: slices.Contains(s.Required, p.Key)}
		if len(f.schema.OneOf) == 2 && f.schema.OneOf[1].Type == "null" { // the tag "nullable"
			f.schema, f.nullable = f.schema.OneOf[0], true
		}
		f.nullable = f.nullable || !f.required
		list = append(list, f)
	}
	return list
}

// value returns a bound, or 0 if there is none.
func value(bound *uint64) uint64 {
	if bound == nil {
		return 0
	}
	return *bound
}

// validationSchema returns the schema against which replies are validated. It has all bounds. Optional properties may
// be null, because a model that follows the strict form cannot omit them. Unknown properties are allowed, because
// knownFields removes them.
func validationSchema(s *jsonschema.Schema) *jsonschema.Schema {
	out := *s
	if s.Items != nil {
		out.Items = validationSchema(s.Items)
	}
	if s.Properties == nil {
		return &out
	}
	out.AdditionalProperties, out.Properties = nil, jsonschema.NewProperties()
	for _, f := range fields(s) {
		p := validationSchema(f.schema)
		if f.nullable {
			p.Extras = map[string]any{"type": []string{p.Type, "null"}}
			p.Type = ""
			if p.Enum != nil {
				p.Enum = append(slices.Clip(p.Enum), nil)
			}
		}
		out.Properties.Set(f.name, p)
	}
	return &out
}

// named holds what the tags of a type say about names: the kind of names that a field holds, and that a list has one entry
// for each of.
type named struct{ fields, lists map[*jsonschema.Schema]string }

// has reports whether a schema refers to names of a kind.
func (n *named) has(kind string) bool {
	for _, refs := range []map[*jsonschema.Schema]string{n.fields, n.lists} {
		for _, k := range refs {
			if k == kind {
				return true
			}
		}
	}
	return false
}

// complete adds to a struct's schema what version 0.13 of package jsonschema omits and later versions add: a field
// with the option omitzero is not required, and a field with the option string is a string.
//
// It adds to n the kinds in the tags names and each.
func complete(s *jsonschema.Schema, t reflect.Type, n *named) {
	for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Array}, t.Kind()) {
		t = t.Elem()
	}
	for s.Items != nil {
		s = s.Items
	}
	if t.Kind() != reflect.Struct || s.Properties == nil {
		return
	}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		p, known := s.Properties.Get(name)
		if !known || f.Anonymous && name == f.Name {
			continue
		}
		if has(options, "omitzero") && !has(f.Tag.Get("jsonschema"), "required") {
			s.Required = slices.DeleteFunc(s.Required, func(required string) bool { return required == name })
		}
		if len(p.OneOf) == 2 { // the tag "nullable"
			p = p.OneOf[0]
		}
		if kind := f.Tag.Get("names"); kind != "" && (p.Type == "string" || p.Type == "integer") {
			n.fields[p] = kind
		}
		if kind := f.Tag.Get("each"); kind != "" && p.Type == "array" {
			n.lists[p] = kind
		}
		if number := p.Type == "integer" || p.Type == "number"; has(options, "string") && (number || p.Type == "boolean") {
			p.Type = "string"
			p.Minimum = ""
			p.Maximum = ""
			p.ExclusiveMinimum = ""
			p.ExclusiveMaximum = ""
			p.MultipleOf = ""
		}
		complete(p, f.Type, n)
	}
}

// has reports whether a comma-separated list contains an option.
func has(list, option string) bool { return slices.Contains(strings.Split(list, ","), option) }

// checkType returns an error if a type does not have a schema with fixed fields. path lists the types that contain
// it.
func checkType(t reflect.Type, path []reflect.Type) error {
	if slices.Contains(path, t) {
		return fmt.Errorf("use type %s: a reply type must not contain itself", t)
	}
	path = append(path, t)
	switch t.Kind() {
	case reflect.Struct:
		return checkFieldTypes(t, path)
	case reflect.Pointer:
		return checkType(t.Elem(), path)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() != reflect.Uint8 {
			return checkType(t.Elem(), path)
		}
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return nil
	}
	return fmt.Errorf("use type %s: a reply type has fixed fields of strings, numbers, booleans, structs and lists", t)
}

// checkFieldTypes applies checkType to the fields of a struct that are encoded.
func checkFieldTypes(t reflect.Type, path []reflect.Type) error {
	for f := range t.Fields() {
		if f.Tag.Get("json") == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		if err := checkType(f.Type, path); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	return nil
}

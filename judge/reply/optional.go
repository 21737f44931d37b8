package reply

import (
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
)

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

package reply

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/elenchus-go/debate/internal/naming"
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

// entries describes a list of objects that has one entry for each name of a kind. In a schema with these names, it is an
// object with one property for each: an object can neither lack a name nor have one twice.
type entries struct {
	kind string
	name string  // the field of an entry that holds its name
	rest []field // the other fields
	only *field  // the only other field, whose value stands for the entry; nil if there are several, or it is an object
	rank string  // the field that holds the place of an entry; empty if the order of the list means nothing
}

// entriesOf returns the entries of a list, or nil if it does not have one for each name.
func (n *named) entriesOf(s *jsonschema.Schema) *entries {
	kind := n.lists[s]
	if kind == "" || s.Items.Properties == nil {
		return nil
	}
	e := &entries{kind: kind}
	for _, f := range fields(s.Items) {
		switch refers := n.fields[f.schema]; {
		case refers != "" && f.schema.Type == "integer":
			e.rank = f.name
		case refers != "" && e.name == "":
			e.name = f.name
			continue
		}
		e.rest = append(e.rest, f)
	}
	if e.name == "" || len(e.rest) == 0 {
		return nil
	}
	if len(e.rest) == 1 && e.rest[0].schema.Type != "object" && !e.rest[0].nullable {
		e.only = &e.rest[0]
	}
	return e
}

// about describes a list that is written as an object, and the values of its properties if these are no objects.
func (e *entries) about(list *jsonschema.Schema) string {
	if e.only == nil || e.only.schema.Description == "" {
		return list.Description
	}
	return list.Description + ": " + e.only.schema.Description
}

// maxKeyLength limits the length of a property. Anthropic accepts 64 ASCII letters, digits and "_.-".
const maxKeyLength = 64

// keysOf returns a property for each name. It is the name with underscores in place of spaces and punctuation. A name in
// another script, a name that is too long and a name that is like an earlier one has a number instead.
func keysOf(names []string) []string {
	keys := make([]string, 0, len(names))
	for i, name := range names {
		key := keyOf(name)
		for n := i + 1; key == "" || slices.ContainsFunc(keys, func(k string) bool { return naming.Same(k, key) }); n++ {
			key = fmt.Sprint("entry_", n)
		}
		keys = append(keys, key)
	}
	return keys
}

// Named is a name with what it means, which may be empty.
type Named struct{ Name, About string }

// inOrder returns properties and their names in the order of a form, and what the names mean.
func inOrder(keys, names []string, form []Named) (ordered, named, about []string) {
	for _, n := range form {
		if at := slices.Index(names, n.Name); at >= 0 && !slices.Contains(named, n.Name) {
			ordered = append(ordered, keys[at])
			named = append(named, n.Name)
			about = append(about, n.About)
		}
	}
	return ordered, named, about
}

// keyOf returns the property for a name, or "" if the name does not make one.
func keyOf(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r == '-' || inIdentifier(r):
			b.WriteRune(r)
		case r >= 0x80:
			return ""
		case !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	if b.Len() > maxKeyLength {
		return ""
	}
	return strings.Trim(b.String(), "_")
}

// inIdentifier reports whether an identifier can have a character.
func inIdentifier(r rune) bool {
	return r == '_' || r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9'
}

// keyNote says whose property a key is, unless the key says so itself.
func keyNote(key, name string) string {
	if naming.Same(key, name) {
		return ""
	}
	return "for " + name
}

// layout says which parts of a value are lists that may be written as objects.
type layout struct {
	entries *entries          // of the list itself; nil if it is written as a list only
	fields  map[string]layout // of the object, or of the objects in the list
}

// layoutOf returns the layout of a value.
func (n *named) layoutOf(s *jsonschema.Schema) layout {
	if s.Items != nil {
		l := n.layoutOf(s.Items)
		l.entries = n.entriesOf(s)
		return l
	}
	l := layout{fields: map[string]layout{}}
	if s.Properties == nil {
		return l
	}
	for _, f := range fields(s) {
		if inner := n.layoutOf(f.schema); inner.entries != nil || len(inner.fields) > 0 {
			l.fields[f.name] = inner
		}
	}
	return l
}

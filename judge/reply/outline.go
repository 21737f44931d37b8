package reply

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/invopop/jsonschema"
)

// outliner writes the outline of a schema with names by kind.
type outliner struct {
	strings.Builder
	named *named
	names map[string][]string
	form  map[string][]Named // as in strictWriter
}

// outlineOf returns one line for each field of an object, with nested fields indented.
func outlineOf(s *jsonschema.Schema, n *named, names map[string][]string, form map[string][]Named) string {
	o := outliner{named: n, names: names, form: form}
	o.lines(fields(s), "")
	return o.String()
}

// lines writes a line for each field, and below it the lines of its own fields.
func (o *outliner) lines(list []field, indent string) {
	for _, f := range list {
		if e := o.named.entriesOf(f.schema); e != nil && len(o.names[e.kind]) > 0 {
			o.entries(f, e, indent)
			continue
		}
		o.line(f, describeType(f.schema), f.schema.Description, indent)
		inner := f.schema
		for inner.Items != nil {
			inner = inner.Items
		}
		if inner.Properties != nil {
			o.lines(fields(inner), indent+"  ")
		}
	}
}

// entries writes the line of a list that is written as an object, and the lines of an entry's fields.
func (o *outliner) entries(f field, e *entries, indent string) {
	value, rest := "object", e.rest
	if e.only != nil {
		value, rest = describeType(e.only.schema), nil
	}
	var properties []string
	names := o.names[e.kind]
	keys := keysOf(names)
	if form := o.form[e.kind]; form != nil {
		keys, names, _ = inOrder(keys, names, form)
	}
	for i, key := range keys {
		properties = append(properties, strings.TrimSpace(fmt.Sprintf("%q %s", key, keyNote(key, names[i]))))
	}
	o.line(f, "object with the properties "+strings.Join(properties, ", ")+", each "+value, e.about(f.schema), indent)
	o.lines(rest, indent+"  ")
}

// line writes the line of a field.
func (o *outliner) line(f field, kind, about, indent string) {
	fmt.Fprintf(o, "%s- %s (%s", indent, f.name, kind)
	switch {
	case !f.required:
		o.WriteString(", optional")
	case f.nullable:
		o.WriteString(", or null")
	}
	o.WriteString(")")
	if about != "" {
		o.WriteString(": " + about)
	}
	o.WriteString("\n")
}

// describeType describes a type with its bounds.
func describeType(s *jsonschema.Schema) string {
	switch {
	case len(s.Enum) > 0:
		return "one of " + enumValues(s.Enum)
	case s.Type == "array":
		return "list" + describeBounds(boundOf(s.MinItems), boundOf(s.MaxItems), " items") + ", each " + describeType(s.Items)
	case s.Type == "string":
		return "text" + describeBounds(boundOf(s.MinLength), boundOf(s.MaxLength), " characters")
	case s.Type == "integer":
		return "whole number" + describeBounds(s.Minimum, s.Maximum, "")
	case s.Type == "boolean":
		return "true or false"
	}
	return s.Type + describeBounds(s.Minimum, s.Maximum, "")
}

// describeBounds describes a lower and an upper bound. Either may be empty.
func describeBounds(low, high json.Number, unit string) string {
	switch {
	case low != "" && high != "":
		return fmt.Sprintf(" from %s to %s%s", low, high, unit)
	case low != "":
		return fmt.Sprintf(" of at least %s%s", low, unit)
	case high != "":
		return fmt.Sprintf(" of at most %s%s", high, unit)
	}
	return ""
}

// boundOf returns n as a number, or "" if n is nil.
func boundOf(n *uint64) json.Number {
	if n == nil {
		return ""
	}
	return json.Number(fmt.Sprint(*n))
}

// enumValues lists the allowed values of a field as JSON.
func enumValues(list []any) string {
	var out []string
	for _, v := range list {
		data, _ := json.Marshal(v) // cannot fail: the values are strings and numbers from tags
		out = append(out, string(data))
	}
	return strings.Join(out, ", ")
}

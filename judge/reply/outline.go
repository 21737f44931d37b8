package reply

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/invopop/jsonschema"
)

// writeOutline writes one line for each field of an object, with nested fields indented.
func writeOutline(b *strings.Builder, s *jsonschema.Schema, indent string) {
	for _, f := range fields(s) {
		fmt.Fprintf(b, "%s- %s (%s", indent, f.name, describeType(f.schema))
		switch {
		case !f.required:
			b.WriteString(", optional")
		case f.nullable:
			b.WriteString(", or null")
		}
		b.WriteString(")")
		if about := f.schema.Description; about != "" {
			b.WriteString(": " + about)
		}
		b.WriteString("\n")
		inner := f.schema
		for inner.Items != nil {
			inner = inner.Items
		}
		if inner.Properties != nil {
			writeOutline(b, inner, indent+"  ")
		}
	}
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

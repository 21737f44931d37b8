package reply

import (
	"slices"

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

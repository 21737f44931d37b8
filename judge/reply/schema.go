package reply

import (
	"slices"

	"github.com/invopop/jsonschema"
)

// maxSentMaxLength is the longest maxLength that is sent: llama.cpp, and so Ollama, refuses schemas with a longer one.
const maxSentMaxLength = 1999

// field is a property of an object, and whether it may be left out or be null.
type field struct {
	name               string
	schema             *jsonschema.Schema
	required, nullable bool
}

// fields are the properties of an object in the order of the struct's fields.
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

// strictSchema is a schema in the strict form. It names what it keeps, since servers refuse what they do not know.
func strictSchema(s *jsonschema.Schema) *jsonschema.Schema {
	out := &jsonschema.Schema{Type: s.Type, Description: s.Description, Enum: s.Enum, MaxItems: s.MaxItems}
	if s.MaxLength != nil && *s.MaxLength <= maxSentMaxLength {
		out.MaxLength = s.MaxLength
	}
	if s.Items != nil {
		out.Items = strictSchema(s.Items)
	}
	if s.Properties == nil {
		return out
	}
	out.AdditionalProperties, out.Properties = jsonschema.FalseSchema, jsonschema.NewProperties()
	for _, f := range fields(s) {
		p := strictSchema(f.schema)
		if f.nullable {
			about := p.Description
			p.Description = ""
			p = &jsonschema.Schema{Description: about, AnyOf: []*jsonschema.Schema{p, {Type: "null"}}}
		}
		out.Properties.Set(f.name, p)
		out.Required = append(out.Required, f.name)
	}
	return out
}

// validationSchema is the schema that replies are held against: all bounds; null allowed for what is optional, since a model that
// follows the strict form has no other way to leave it out; what is unknown allowed, since a shape deals with it.
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

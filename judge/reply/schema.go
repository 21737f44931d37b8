package reply

import (
	"slices"

	"github.com/invopop/jsonschema"
)

// maxSentMaxLength is the largest maxLength that is sent. llama.cpp, and therefore Ollama, rejects schemas with a
// larger one.
const maxSentMaxLength = 1999

// placeholderPrefix begins the only value of an enum that stands for names.
const placeholderPrefix = "\x00"

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

// strictSchema returns a schema in the strict form. It copies only keywords that servers are known to accept, because
// servers reject unknown keywords. A schema in named has an enum with a placeholder for its kind of names.
func strictSchema(s *jsonschema.Schema, named map[*jsonschema.Schema]string) *jsonschema.Schema {
	out := &jsonschema.Schema{Type: s.Type, Description: s.Description, Enum: s.Enum, MaxItems: s.MaxItems}
	if kind := named[s]; kind != "" {
		out.Enum = []any{placeholderPrefix + kind}
	}
	if s.MaxLength != nil && *s.MaxLength <= maxSentMaxLength {
		out.MaxLength = s.MaxLength
	}
	if s.Items != nil {
		out.Items = strictSchema(s.Items, named)
	}
	if s.Properties == nil {
		return out
	}
	out.AdditionalProperties, out.Properties = jsonschema.FalseSchema, jsonschema.NewProperties()
	for _, f := range fields(s) {
		p := strictSchema(f.schema, named)
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

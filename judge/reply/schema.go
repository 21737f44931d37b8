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

// placeholderPrefix begins what stands for names of a kind: the only value of an enum, and the keyword that holds the
// bounds of a list with one entry for each name.
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

// kinds holds the kinds of names that parts of a schema refer to: fields that hold a name, and lists with one entry for
// each name.
type kinds struct{ fields, lists map[*jsonschema.Schema]string }

// bounds are the bounds of a list.
type bounds struct {
	MinItems *uint64 `json:"minItems,omitempty"`
	MaxItems *uint64 `json:"maxItems,omitempty"`
}

// strict returns a schema in the strict form. It copies only keywords that servers are known to accept, because servers
// reject unknown keywords. It puts placeholders where names are inserted. optional reports whether the schema is a part of
// an optional field. limit is the largest maxLength of a text, or 0 if only maxSentMaxLength limits it.
func (n kinds) strict(s *jsonschema.Schema, optional bool, limit uint64) *jsonschema.Schema {
	out := &jsonschema.Schema{Type: s.Type, Description: s.Description, Enum: s.Enum, MinItems: s.MinItems, MaxItems: s.MaxItems}
	if kind := n.fields[s]; kind != "" {
		out.Enum = []any{placeholderPrefix + kind}
	}
	if s.MaxLength != nil && *s.MaxLength <= maxSentMaxLength {
		out.MaxLength = s.MaxLength
	}
	if limit > 0 && s.Type == "string" && s.Enum == nil && s.Format == "" {
		out.MaxLength = atMost(out.MaxLength, limit)
	}
	if s.Items != nil {
		limit = maxShortLength
		if optional {
			limit = maxOptionalItemLength
			out.MaxItems = atMost(out.MaxItems, max(maxOptionalItems, value(s.MinItems)))
		}
		out.Items = n.strict(s.Items, optional, limit)
	}
	if kind := n.lists[s]; kind != "" {
		out.Extras = map[string]any{placeholderPrefix + kind: bounds{out.MinItems, out.MaxItems}}
		out.MinItems, out.MaxItems = nil, nil
	}
	if s.Properties == nil {
		return out
	}
	out.AdditionalProperties, out.Properties = jsonschema.FalseSchema, jsonschema.NewProperties()
	for _, f := range fields(s) {
		limitOfField := uint64(0)
		if limit > 0 || f.nullable {
			limitOfField = maxShortLength
		}
		p := n.strict(f.schema, optional || f.nullable, limitOfField)
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

// atMost returns a bound that is at most n.
func atMost(bound *uint64, n uint64) *uint64 {
	if bound != nil && *bound <= n {
		return bound
	}
	return &n
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

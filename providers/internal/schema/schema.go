// Package schema brings the JSON Schema of a reply into the form that services accept.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// A node is a JSON value that keeps the order of its fields, because models write fields in the order of the schema.
type node struct {
	fields []field // the fields of an object; nil for other values
	items  []node  // the items of an array; nil for other values
	value  any     // any other value
}

// field is a name and its value.
type field struct {
	name string
	node node
}

// get returns the field with the given name.
func (n node) get(name string) (node, bool) {
	for _, f := range n.fields {
		if f.name == name {
			return f.node, true
		}
	}
	return node{}, false
}

// MarshalJSON writes the fields in their order.
func (n node) MarshalJSON() ([]byte, error) {
	switch {
	case n.fields != nil:
		var b bytes.Buffer
		b.WriteByte('{')
		for i, f := range n.fields {
			if i > 0 {
				b.WriteByte(',')
			}
			name, _ := json.Marshal(f.name) // a string always encodes
			value, err := json.Marshal(f.node)
			if err != nil {
				return nil, err
			}
			b.Write(append(append(name, ':'), value...))
		}
		b.WriteByte('}')
		return b.Bytes(), nil
	case n.items != nil:
		return json.Marshal(n.items)
	}
	return json.Marshal(n.value)
}

// maxDepth limits the nesting of a schema.
const maxDepth = 64

var errTooDeep = errors.New("nested deeper than 64 levels")

// parse reads JSON.
func parse(raw []byte) (node, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return parseNode(d, maxDepth)
}

func parseNode(d *json.Decoder, depth int) (node, error) {
	token, err := d.Token()
	switch {
	case err != nil:
		return node{}, err
	case depth == 0:
		return node{}, errTooDeep
	}
	n := node{value: token}
	switch token {
	case json.Delim('{'):
		n = node{fields: []field{}}
	case json.Delim('['):
		n = node{items: []node{}}
	default:
		return n, nil
	}
	for d.More() {
		var f field
		if n.fields != nil {
			name, err := d.Token()
			if err != nil {
				return node{}, err
			}
			f.name, _ = name.(string)
		}
		f.node, err = parseNode(d, depth-1)
		if err != nil {
			return node{}, err
		}
		if n.fields != nil {
			n.fields = append(n.fields, f)
		} else {
			n.items = append(n.items, f.node)
		}
	}
	_, err = d.Token() // the end
	return n, err
}

// Groups of keywords. Some services refuse removedKeywords, and none needs them. Services without support for bounds
// refuse boundKeywords.
var (
	removedKeywords = []string{"$schema", "$id", "$comment", "title", "default", "examples"}
	boundKeywords   = []string{
		"minLength", "maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
		"multipleOf", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
	}
	// strictKeywords are the keywords of the strict form.
	strictKeywords = []string{"type", "description", "enum", "const", "properties", "required", "additionalProperties", "items", "anyOf", "$ref", "$defs"}
	// namedKeywords are the keywords whose fields are names, not keywords.
	namedKeywords = []string{"properties", "$defs", "definitions", "patternProperties"}
)

// serviceSchema returns the schema in the form that is sent: without removedKeywords and, unless keep is set, without
// boundKeywords. It keeps the order of the fields.
func serviceSchema(schema node, keep bool) node {
	if schema.items != nil {
		out := node{items: make([]node, len(schema.items))}
		for i, item := range schema.items {
			out.items[i] = serviceSchema(item, keep)
		}
		return out
	}
	if schema.fields == nil {
		return schema
	}
	out := node{fields: []field{}}
	for _, f := range schema.fields {
		switch {
		case slices.Contains(removedKeywords, f.name), !keep && slices.Contains(boundKeywords, f.name):
			continue
		case f.name == "oneOf":
			f.name = "anyOf"
		}
		switch {
		case f.name == "enum", f.name == "const": // values, not schemas
		case slices.Contains(namedKeywords, f.name) && f.node.fields != nil:
			f.node = serviceSchemas(f.node, keep)
		default:
			f.node = serviceSchema(f.node, keep)
		}
		out.fields = append(out.fields, f)
	}
	return out
}

func serviceSchemas(schemas node, keep bool) node {
	out := node{fields: make([]field, len(schemas.fields))}
	for i, f := range schemas.fields {
		out.fields[i] = field{f.name, serviceSchema(f.node, keep)}
	}
	return out
}

// Schema is a JSON Schema in the form that is sent. It keeps the order of the fields, because models write the fields
// of a reply in the order of the schema.
type Schema struct{ root node }

// MarshalJSON returns the schema as JSON.
func (s *Schema) MarshalJSON() ([]byte, error) { return s.root.MarshalJSON() }

// Parse reads a schema, and removes what services refuse. Unless bounds is set, it removes bounds such as maxLength too.
func Parse(raw json.RawMessage, bounds bool) (*Schema, error) {
	root, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	return &Schema{serviceSchema(root, bounds)}, nil
}

// Strict reports whether a schema has the form that OpenAI calls strict: each object requires all its fields and allows
// no others. Bounds do not matter.
func (s *Schema) Strict() bool {
	typ, _ := s.root.get("type")
	return typ.value == "object" && strictPart(s.root)
}

func strictPart(schema node) bool {
	if properties, ok := schema.get("properties"); ok && !closedObject(schema, properties) {
		return false
	}
	for _, f := range schema.fields {
		var parts []node
		switch f.name {
		case "properties", "$defs":
			for _, p := range f.node.fields {
				parts = append(parts, p.node)
			}
		case "items":
			parts = []node{f.node}
		case "anyOf":
			parts = f.node.items
		default:
			if !slices.Contains(strictKeywords, f.name) && !slices.Contains(boundKeywords, f.name) {
				return false
			}
		}
		for _, p := range parts {
			if p.fields == nil || !strictPart(p) {
				return false
			}
		}
	}
	typ, _ := schema.get("type")
	_, shaped := schema.get("properties")
	return typ.value != "object" || shaped
}

// closedObject reports whether an object requires all its properties and allows no others.
func closedObject(schema, properties node) bool {
	others, _ := schema.get("additionalProperties")
	if others.value != false {
		return false
	}
	required, _ := schema.get("required")
	for _, p := range properties.fields {
		if !slices.ContainsFunc(required.items, func(n node) bool { return n.value == p.name }) {
			return false
		}
	}
	return true
}

package scripted

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// schema is the part of JSON Schema that [Values] can fill in: what Go structs reflect to, and what the schemas of tools
// commonly have.
type schema struct {
	boolean *bool // a schema that is true or false

	ref            string
	types          []string // empty for any
	enum           []any
	constant       *any
	anyOf, oneOf   []*schema
	properties     map[string]*schema
	required       []string
	closed         bool    // no other properties are allowed
	extra          *schema // what other properties must follow; nil for anything
	items          *schema
	minItems       int
	maxItems       *int
	uniqueItems    bool
	minLength      int
	maxLength      *int
	pattern        string
	format         string
	minimum        *float64
	maximum        *float64
	above, below   *float64 // exclusive bounds
	multipleOf     float64
	title, about   string
	defs, oldStyle map[string]*schema // $defs and definitions
}

// annotations are keywords that do not limit a value.
var annotations = []string{
	"$schema", "$id", "$comment", "default", "examples", "deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType", "nullable", "strict",
}

// UnmarshalJSON reads a schema. It returns an error for a keyword that it does not know, because a value could contradict it.
func (s *schema) UnmarshalJSON(data []byte) error {
	var all bool
	if json.Unmarshal(data, &all) == nil {
		s.boolean = &all
		return nil
	}
	var keywords map[string]json.RawMessage
	if err := json.Unmarshal(data, &keywords); err != nil || keywords == nil {
		return fmt.Errorf("a schema is an object, true or false, and not %s", shorten(data))
	}
	to := map[string]any{
		"$ref": &s.ref, "enum": &s.enum, "const": &s.constant, "anyOf": &s.anyOf, "oneOf": &s.oneOf, "properties": &s.properties, "required": &s.required,
		"items": &s.items, "minItems": &s.minItems, "maxItems": &s.maxItems, "uniqueItems": &s.uniqueItems, "minLength": &s.minLength, "maxLength": &s.maxLength,
		"pattern": &s.pattern, "format": &s.format, "minimum": &s.minimum, "maximum": &s.maximum, "exclusiveMinimum": &s.above, "exclusiveMaximum": &s.below,
		"multipleOf": &s.multipleOf, "title": &s.title, "description": &s.about, "$defs": &s.defs, "definitions": &s.oldStyle, "additionalProperties": &s.extra,
	}
	for name, raw := range keywords {
		var err error
		switch field, known := to[name]; {
		case name == "type":
			s.types, err = readTypes(raw)
		case name == "const" && string(raw) == "null":
			s.constant = new(any)
		case known:
			err = json.Unmarshal(raw, field)
		case !slices.Contains(annotations, name):
			return fmt.Errorf("the keyword %q is not supported", name)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, list := range [][]*schema{s.anyOf, s.oneOf, slices.Collect(maps.Values(s.properties)), slices.Collect(maps.Values(s.defs)), slices.Collect(maps.Values(s.oldStyle))} {
		if slices.Contains(list, nil) {
			return errors.New("a schema is an object, true or false, and not null")
		}
	}
	s.closed = s.extra != nil && s.extra.boolean != nil && !*s.extra.boolean
	return nil
}

// readTypes reads the keyword type, which is a name or a list of names.
func readTypes(raw json.RawMessage) (list []string, err error) {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		list = []string{one}
	} else if err = json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	for _, name := range list {
		if !slices.Contains([]string{"object", "array", "string", "number", "integer", "boolean", "null"}, name) {
			return nil, fmt.Errorf("%q is no type", name)
		}
	}
	return list, nil
}

// has reports whether a value may have a type.
func (s *schema) has(kind string) bool {
	return len(s.types) == 0 || slices.Contains(s.types, kind) || kind == "integer" && slices.Contains(s.types, "number")
}

// parseSchema reads a schema.
func parseSchema(data json.RawMessage) (*schema, error) {
	var s *schema
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	if s == nil {
		return nil, fmt.Errorf("read schema: it is %s", shorten(data))
	}
	return s, nil
}

// find returns the schema that a reference names, which is a definition of the root or the root itself.
func (s *schema) find(ref string) (*schema, error) {
	if ref == "#" {
		return s, nil
	}
	for prefix, defs := range map[string]map[string]*schema{"#/$defs/": s.defs, "#/definitions/": s.oldStyle} {
		name, ok := strings.CutPrefix(ref, prefix)
		if d := defs[unescape(name)]; ok && d != nil {
			return d, nil
		}
	}
	return nil, fmt.Errorf("$ref %q: there is no such definition", ref)
}

// The characters that a JSON pointer escapes.
var escapes, unescapes = strings.NewReplacer("~", "~0", "/", "~1"), strings.NewReplacer("~1", "/", "~0", "~")

func unescape(segment string) string { return unescapes.Replace(segment) }

// shorten returns the beginning of a JSON text for an error.
func shorten(data []byte) string {
	data = bytes.TrimSpace(data)
	if len(data) > 60 {
		return strings.ToValidUTF8(string(data[:60]), "") + "..."
	}
	return string(data)
}

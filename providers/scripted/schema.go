package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"sync"
	"unicode/utf8"
)

// schema is what [Values] can fill in of a JSON Schema.
type schema struct {
	Type                 types             `json:"type"` // empty for any
	Enum                 []any             `json:"enum"`
	AnyOf                []schema          `json:"anyOf"`
	Properties           map[string]schema `json:"properties"`
	Required             []string          `json:"required"`
	AdditionalProperties any               `json:"additionalProperties"`
	Items                *schema           `json:"items"`
	MinItems             int               `json:"minItems"`
	MaxItems             *int              `json:"maxItems"`
	MinLength            int               `json:"minLength"`
	MaxLength            *int              `json:"maxLength"`
	Minimum              *float64          `json:"minimum"`
	Maximum              *float64          `json:"maximum"`
	Description          string            `json:"description"`
	annotations
}

// annotations are keywords that limit no value. A keyword that neither type lists is an error, because a value could contradict
// it.
type annotations struct {
	Schema   any `json:"$schema"`
	ID       any `json:"$id"`
	Title    any `json:"title"`
	Default  any `json:"default"`
	Examples any `json:"examples"`
}

// types is the keyword type, which is a name or a list of names.
type types []string

// UnmarshalJSON reads the keyword.
func (t *types) UnmarshalJSON(data []byte) error {
	if !bytes.HasPrefix(data, []byte("[")) {
		data = slices.Concat([]byte("["), data, []byte("]"))
	}
	return json.Unmarshal(data, (*[]string)(t))
}

// keywords are those that a schema may have.
var keywords = sync.OnceValue(func() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[schema]()) {
		if !f.Anonymous {
			names = append(names, f.Tag.Get("json"))
		}
	}
	return names
})

// UnmarshalJSON reads a schema. Its keywords count as they are written: encoding/json alone would take "Items" for "items".
func (s *schema) UnmarshalJSON(data []byte) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(data, &values); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(keywords(), key) {
			return fmt.Errorf("unknown keyword %q", key)
		}
	}
	type plain schema
	return json.Unmarshal(data, (*plain)(s))
}

// parseSchema reads a schema.
func parseSchema(data json.RawMessage) (*schema, error) {
	s := &schema{}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	return s, nil
}

// maxParts limits the number of parts of a value.
const maxParts = 100_000

// has reports whether a value may have a type.
func (s *schema) has(kind string) bool { return len(s.Type) == 0 || slices.Contains(s.Type, kind) }

// check returns an error if a value of encoding/json does not follow a schema. It names the path of the value and the rule.
func (s *schema) check(v any, path string) error {
	wrong := func(rule string, args ...any) error {
		return fmt.Errorf("%s: %s %s", at(path), encode(v), fmt.Sprintf(rule, args...))
	}
	n, isNumber := v.(float64)
	switch {
	case !s.has(kindOf(v)) && !(isNumber && s.has("integer") && n == math.Trunc(n)):
		return wrong("is no %s", s.Type)
	case s.Enum != nil && !slices.ContainsFunc(s.Enum, func(x any) bool { return reflect.DeepEqual(x, v) }):
		return wrong("is not one of %s", encode(s.Enum))
	case s.AnyOf != nil && !slices.ContainsFunc(s.AnyOf, func(one schema) bool { return one.check(v, path) == nil }):
		return wrong("follows no schema of anyOf")
	case isNumber && (s.Minimum != nil && n < *s.Minimum || s.Maximum != nil && n > *s.Maximum):
		return wrong("is out of range")
	}
	switch v := v.(type) {
	case string:
		if size := utf8.RuneCountInString(v); size < s.MinLength || s.MaxLength != nil && size > *s.MaxLength {
			return wrong("has %d characters, which the schema does not allow", size)
		}
	case []any:
		if len(v) < s.MinItems || s.MaxItems != nil && len(v) > *s.MaxItems {
			return wrong("has %d items, which the schema does not allow", len(v))
		}
		for i, item := range v {
			if err := s.item().check(item, fmt.Sprint(path, "/", i)); err != nil {
				return err
			}
		}
	case map[string]any:
		return s.checkObject(v, path)
	}
	return nil
}

func (s *schema) checkObject(object map[string]any, path string) error {
	for _, name := range s.Required {
		if _, ok := object[name]; !ok {
			return fmt.Errorf("%s: %q is missing", at(path), name)
		}
	}
	for _, name := range sortedKeys(object) {
		p, known := s.Properties[name]
		if !known && s.AdditionalProperties == false {
			return fmt.Errorf("%s: there is no property %q", at(path), name)
		}
		if err := p.check(object[name], join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// item returns the schema of the items of a list.
func (s *schema) item() *schema {
	if s.Items == nil {
		return &schema{}
	}
	return s.Items
}

// kindOf returns the type of a value of encoding/json as schemas name it.
func kindOf(v any) string {
	switch v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		return "number"
	}
	return "null"
}

// encode returns the beginning of a value as JSON, for errors.
func encode(v any) string {
	data, _ := json.Marshal(v) // cannot fail: it was read from JSON
	if len(data) > 60 {
		return string(bytes.ToValidUTF8(data[:60], nil)) + "..."
	}
	return string(data)
}

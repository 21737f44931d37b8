package scripted

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// filler makes one value.
type filler struct {
	choices
	used  map[string]bool // the keys that have chosen a value
	words string          // the text that is not chosen
	parts int             // of the value
}

// whole returns a value for the whole schema. It returns an error if a path chooses nothing.
func (f *filler) whole(s *schema) (any, error) {
	v, err := f.fill(s, nil)
	if err != nil {
		return nil, err
	}
	for _, path := range f.paths {
		if !f.used[path] {
			return nil, fmt.Errorf("%s: the schema has no such property", path)
		}
	}
	return v.value, nil
}

// filled is a value, and whether it has a chosen part.
type filled struct {
	value  any
	chosen bool
}

// fill returns a value for a schema.
func (f *filler) fill(s *schema, path []segment) (v filled, err error) {
	f.parts++
	if f.parts > maxParts {
		return v, errors.New("the schema asks for too much")
	}
	if key, ok := f.choice(path); ok {
		f.used[key] = true
		return filled{f.values[key], true}, s.check(f.values[key], pointer(path))
	}
	switch {
	case s.AnyOf != nil:
		return f.alternative(s.AnyOf, path)
	case slices.Contains(s.Enum, nil):
		return v, nil
	case len(s.Enum) > 0:
		return filled{value: s.Enum[0]}, nil
	case len(s.Type) > 0 && s.has("null") && !f.wants(path):
		return v, nil
	}
	switch s.kind() {
	case "object":
		return f.object(s, path)
	case "array":
		return f.list(s, path)
	case "number", "integer":
		v.value = s.number()
	case "boolean":
		v.value = false
	case "string":
		v.value = s.text(f.words)
	}
	return v, s.check(v.value, pointer(path)) // bounds may contradict each other
}

// kind returns the type of the value to fill in.
func (s *schema) kind() string {
	for _, kind := range s.Type {
		if kind != "null" {
			return kind
		}
	}
	switch {
	case len(s.Type) > 0:
		return "null"
	case s.Properties != nil:
		return "object"
	case s.Items != nil:
		return "array"
	}
	return "string"
}

// alternative returns a value for one of several schemas: the first one with a chosen part, or else null, or else the first.
func (f *filler) alternative(list []schema, path []segment) (best filled, err error) {
	for i := range list {
		v, e := f.fill(&list[i], path)
		switch {
		case e != nil:
			err = errors.Join(err, e)
		case v.chosen:
			return v, nil
		case i == 0 || v.value == nil:
			best = v
		}
	}
	return best, err
}

// object fills in the properties that are required, and those with a chosen part.
func (f *filler) object(s *schema, path []segment) (v filled, err error) {
	object := map[string]any{}
	for _, name := range sortedKeys(s.Properties) {
		p := s.Properties[name]
		x, err := f.fill(&p, append(slices.Clip(path), segment{name, label(&p)}))
		if err != nil {
			return v, err
		}
		if x.chosen || slices.Contains(s.Required, name) {
			object[name] = x.value
		}
		v.chosen = v.chosen || x.chosen
	}
	v.value = object
	return v, s.checkObject(object, pointer(path))
}

// list fills in as many items as a schema requires, and those with a chosen part.
func (f *filler) list(s *schema, path []segment) (v filled, err error) {
	list := []any{}
	for i := range max(s.MinItems, f.items(path)) {
		x, err := f.fill(s.item(), append(slices.Clip(path), segment{name: strconv.Itoa(i)}))
		if err != nil {
			return v, err
		}
		list, v.chosen = append(list, x.value), v.chosen || x.chosen
	}
	v.value = list
	return v, s.check(list, pointer(path))
}

// text returns the words, repeated or cut to a length that the schema allows.
func (s *schema) text(words string) string {
	text := []rune(words)
	for len(text) < min(s.MinLength, maxParts) {
		text = append(text, []rune(" "+words)...)
	}
	if s.MaxLength != nil && len(text) > *s.MaxLength {
		text = text[:max(*s.MaxLength, 0)]
	}
	return string(text)
}

// number returns the middle of the range of a number, or 5 without one.
func (s *schema) number() float64 {
	x := 5.0
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		x = *s.Minimum + (*s.Maximum-*s.Minimum)/2
	case s.Minimum != nil:
		x = max(x, *s.Minimum)
	case s.Maximum != nil:
		x = min(x, *s.Maximum)
	}
	if !s.has("number") {
		x = math.Round(x)
	}
	return x
}

package scripted

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"
)

// check returns an error if a value of encoding/json does not follow a schema. It names the path of the value and the rule.
func (f *filler) check(s *schema, v any, path string) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%s: %s", at(path), fmt.Sprintf(format, args...))
	}
	switch f.steps++; {
	case f.steps > maxSteps:
		return errLarge
	case s.boolean != nil && !*s.boolean:
		return wrong("the schema allows no value")
	case s.boolean != nil:
		return nil
	case s.ref != "":
		if err := f.checkReferred(s, v, path); err != nil {
			return err
		}
	}
	if kind := kindOf(v); !s.has(kind) && !(kind == "number" && s.has("integer") && v == math.Trunc(v.(float64))) {
		return wrong("%s is no %s", encode(v), s.types)
	}
	switch {
	case s.constant != nil && !reflect.DeepEqual(*s.constant, v):
		return wrong("%s is not %s", encode(v), encode(*s.constant))
	case s.enum != nil && !slices.ContainsFunc(s.enum, func(x any) bool { return reflect.DeepEqual(x, v) }):
		return wrong("%s is not one of %s", encode(v), encode(s.enum))
	case s.anyOf != nil && f.matches(s.anyOf, v, path) == 0:
		return wrong("%s follows no schema of anyOf", encode(v))
	}
	if n := f.matches(s.oneOf, v, path); s.oneOf != nil && n != 1 {
		return wrong("%s follows %d schemas of oneOf, want 1", encode(v), n)
	}
	switch v := v.(type) {
	case map[string]any:
		return f.checkObject(s, v, path)
	case []any:
		return f.checkList(s, v, path)
	case string:
		return s.checkText(v, path)
	case float64:
		return s.checkNumber(v, path)
	}
	return nil
}

// checkReferred checks a value by the schema that a reference names.
func (f *filler) checkReferred(s *schema, v any, path string) error {
	to, err := f.root.find(s.ref)
	here := place{to, path}
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", at(path), err)
	case f.checking[here]:
		return fmt.Errorf("%s: %w", at(path), errEndless)
	}
	f.checking[here] = true
	defer delete(f.checking, here)
	return f.check(to, v, path)
}

// matches returns how many schemas a value follows.
func (f *filler) matches(list []*schema, v any, path string) (n int) {
	for _, s := range list {
		if f.check(s, v, path) == nil {
			n++
		}
	}
	return n
}

func (f *filler) checkObject(s *schema, object map[string]any, path string) error {
	for _, name := range s.required {
		if _, ok := object[name]; !ok {
			return fmt.Errorf("%s: %q is missing", at(path), name)
		}
	}
	for _, name := range sortedKeys(object) {
		p, known := s.properties[name]
		if !known {
			p = s.extra
		}
		if p == nil {
			continue
		}
		if !known && s.closed {
			return fmt.Errorf("%s: there is no property %q", at(path), name)
		}
		if err := f.check(p, object[name], join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

func (f *filler) checkList(s *schema, list []any, path string) error {
	switch n := len(list); {
	case n < s.minItems:
		return fmt.Errorf("%s: %d items, want at least %d", at(path), n, s.minItems)
	case s.maxItems != nil && n > *s.maxItems:
		return fmt.Errorf("%s: %d items, want at most %d", at(path), n, *s.maxItems)
	}
	for i, v := range list {
		if s.uniqueItems && slices.ContainsFunc(list[:i], func(x any) bool { return reflect.DeepEqual(x, v) }) {
			return fmt.Errorf("%s: %s is in the list twice", at(path), encode(v))
		}
		if s.items == nil {
			continue
		}
		if err := f.check(s.items, v, join(path, strconv.Itoa(i))); err != nil {
			return err
		}
	}
	return nil
}

func (s *schema) checkText(text, path string) error {
	n := utf8.RuneCountInString(text)
	switch {
	case n < s.minLength:
		return fmt.Errorf("%s: %d characters, want at least %d", at(path), n, s.minLength)
	case s.maxLength != nil && n > *s.maxLength:
		return fmt.Errorf("%s: %d characters, want at most %d", at(path), n, *s.maxLength)
	}
	if known, ok := formats[s.format]; ok && !known.pattern.MatchString(text) {
		return fmt.Errorf("%s: %s is no %s", at(path), encode(text), s.format)
	}
	if s.pattern == "" {
		return nil
	}
	pattern, err := regexp.Compile(s.pattern)
	switch {
	case err != nil:
		return fmt.Errorf("%s: pattern: %w", at(path), err)
	case !pattern.MatchString(text):
		return fmt.Errorf("%s: %s does not match the pattern %s", at(path), encode(text), s.pattern)
	}
	return nil
}

func (s *schema) checkNumber(x float64, path string) error {
	wrong := func(rule string, bound float64) error {
		return fmt.Errorf("%s: %v, want %s %v", at(path), x, rule, bound)
	}
	switch {
	case s.minimum != nil && x < *s.minimum:
		return wrong("at least", *s.minimum)
	case s.maximum != nil && x > *s.maximum:
		return wrong("at most", *s.maximum)
	case s.above != nil && x <= *s.above:
		return wrong("more than", *s.above)
	case s.below != nil && x >= *s.below:
		return wrong("less than", *s.below)
	case s.multipleOf > 0 && !new(big.Rat).Quo(decimal(x), decimal(s.multipleOf)).IsInt():
		return wrong("a multiple of", s.multipleOf)
	}
	return nil
}

// decimal returns a number as it is written in JSON.
func decimal(x float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	return r
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
	return shorten(data)
}

// at names a path in an error.
func at(path string) string {
	if path == "" {
		return "the reply"
	}
	return path
}

// join returns the path of a property or an item.
func join(path, name string) string { return path + "/" + escapes.Replace(name) }

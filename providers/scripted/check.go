package scripted

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"
)

// format is a form of texts: one such text, and a pattern that all of them match.
type format struct {
	sample  string
	pattern *regexp.Regexp
}

const (
	dayForm  = `\d{4}-\d\d-\d\d`
	timeForm = `\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)`
)

// formats has the formats that have a form of their own.
var formats = map[string]format{
	"date-time": {"2026-01-02T03:04:05Z", regexp.MustCompile("^" + dayForm + "[Tt]" + timeForm + "$")},
	"date":      {"2026-01-02", regexp.MustCompile("^" + dayForm + "$")},
	"time":      {"03:04:05Z", regexp.MustCompile("^" + timeForm + "$")},
	"duration":  {"P1D", regexp.MustCompile(`^P(\d+[YMWD])*(T(\d+[HMS])+)?$`)},
	"email":     {"ada@example.com", regexp.MustCompile(`^\S+@\S+$`)},
	"hostname":  {"example.com", regexp.MustCompile(`^[\w.-]+$`)},
	"ipv4":      {"192.0.2.1", regexp.MustCompile(`^(\d{1,3}\.){3}\d{1,3}$`)},
	"ipv6":      {"2001:db8::1", regexp.MustCompile(`^[\da-fA-F:.]+$`)},
	"uri":       {"https://example.com/", regexp.MustCompile(`^[A-Za-z][A-Za-z\d+.-]*:\S*$`)},
	"uuid":      {"01890a5d-ac96-774b-bcce-b302099a8057", regexp.MustCompile(`^[\da-fA-F]{8}(-[\da-fA-F]{4}){3}-[\da-fA-F]{12}$`)},
}

// checker checks values by a schema and its definitions.
type checker struct {
	root  *schema
	open  map[place]bool // what is being checked by references, so that a schema that contains itself ends
	steps int
}

// place is a value that is checked by a schema.
type place struct {
	schema *schema
	path   string
}

var (
	errEndless = errors.New("the schema contains itself without an end")
	errLarge   = errors.New("the schema is too large to fill in")
)

// check returns an error if a value of encoding/json does not follow a schema. It names the path of the value and the rule.
func (c *checker) check(s *schema, v any, path string) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%s: %s", at(path), fmt.Sprintf(format, args...))
	}
	switch c.steps++; {
	case c.steps > maxSteps:
		return errLarge
	case s.boolean != nil && !*s.boolean:
		return wrong("the schema allows no value")
	case s.boolean != nil:
		return nil
	case s.ref != "":
		if err := c.checkReferred(s, v, path); err != nil {
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
	case s.anyOf != nil && c.matches(s.anyOf, v, path) == 0:
		return wrong("%s follows no schema of anyOf", encode(v))
	}
	if n := c.matches(s.oneOf, v, path); s.oneOf != nil && n != 1 {
		return wrong("%s follows %d schemas of oneOf, want 1", encode(v), n)
	}
	switch v := v.(type) {
	case map[string]any:
		return c.checkObject(s, v, path)
	case []any:
		return c.checkList(s, v, path)
	case string:
		return s.checkText(v, path)
	case float64:
		return s.checkNumber(v, path)
	}
	return nil
}

// checkReferred checks a value by the schema that a reference names.
func (c *checker) checkReferred(s *schema, v any, path string) error {
	to, err := c.root.find(s.ref)
	here := place{to, path}
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", at(path), err)
	case c.open[here]:
		return fmt.Errorf("%s: %w", at(path), errEndless)
	}
	c.open[here] = true
	defer delete(c.open, here)
	return c.check(to, v, path)
}

// matches returns how many schemas a value follows.
func (c *checker) matches(list []*schema, v any, path string) (n int) {
	for _, s := range list {
		if c.check(s, v, path) == nil {
			n++
		}
	}
	return n
}

func (c *checker) checkObject(s *schema, object map[string]any, path string) error {
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
		if err := c.check(p, object[name], join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) checkList(s *schema, list []any, path string) error {
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
		if err := c.check(s.items, v, join(path, strconv.Itoa(i))); err != nil {
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

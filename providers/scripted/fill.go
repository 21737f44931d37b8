package scripted

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// filler makes one value.
type filler struct {
	checker
	choices
	used  map[string]bool // the keys that have chosen a value
	words string          // for texts that are not chosen
	open  map[*schema]int // definitions that are being filled in, so that a schema that contains itself ends
}

// maxDepth limits how often a definition contains itself.
const maxDepth = 100

// newFiller returns a filler with chosen values.
func newFiller(root *schema, chosen choices) *filler {
	f := &filler{checker: checker{root: root, open: map[place]bool{}}, choices: chosen, used: map[string]bool{}, open: map[*schema]int{root: 1}}
	f.words, _ = chosen.values[""].(string)
	return f
}

// whole returns a value for the whole schema. It returns an error if a path chooses nothing.
func (f *filler) whole() (any, error) {
	v, err := f.fill(f.root, nil)
	if err == nil {
		err = f.check(f.root, v.value, "")
	}
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
	if f.steps++; f.steps > maxSteps {
		return v, errLarge
	}
	if key, ok := f.choice(path); ok {
		f.used[key] = true
		v = filled{f.choices.values[key], true}
		return v, f.check(s, v.value, pointer(path))
	}
	switch {
	case s.boolean != nil && !*s.boolean:
		return v, fmt.Errorf("%s: the schema allows no value", at(pointer(path)))
	case s.ref != "":
		return f.follow(s, path)
	case s.constant != nil:
		return filled{value: *s.constant}, nil
	case len(s.enum) > 0:
		return f.first(s, s.enum, path)
	case s.anyOf != nil:
		return f.alternative(s, s.anyOf, path)
	case s.oneOf != nil:
		return f.alternative(s, s.oneOf, path)
	}
	switch s.kind(f.wants(path)) {
	case "object":
		return f.object(s, path)
	case "array":
		return f.list(s, path)
	case "string":
		v.value, err = s.text(f.words, pointer(path))
		return v, err
	case "number", "integer":
		v.value, err = s.number(pointer(path))
		return v, err
	case "boolean":
		v.value = false
	}
	return v, nil
}

// kind returns the type of the value to fill in. It is null if that is possible and nothing in it is chosen.
func (s *schema) kind(wanted bool) string {
	switch {
	case len(s.types) == 0 && (s.properties != nil || s.required != nil):
		return "object"
	case len(s.types) == 0 && (s.items != nil || s.minItems > 0):
		return "array"
	case len(s.types) == 0 && (s.minimum != nil || s.maximum != nil || s.above != nil || s.below != nil || s.multipleOf > 0):
		return "number"
	case len(s.types) == 0:
		return "string"
	case slices.Contains(s.types, "null") && !wanted:
		return "null"
	}
	for _, kind := range s.types {
		if kind != "null" && (!wanted || kind == "object" || kind == "array") {
			return kind
		}
	}
	return s.types[0]
}

// follow fills in the schema that a reference names. Inside itself, it does so only for what a path chooses.
func (f *filler) follow(s *schema, path []segment) (v filled, err error) {
	to, err := f.root.find(s.ref)
	switch {
	case err != nil:
		return v, fmt.Errorf("%s: %w", at(pointer(path)), err)
	case f.open[to] > 0 && !f.wants(path), f.open[to] > maxDepth:
		return v, fmt.Errorf("%s: %w", at(pointer(path)), errEndless)
	}
	f.open[to]++
	defer func() { f.open[to]-- }()
	return f.fill(to, path)
}

// first returns the first value that follows the schema. It prefers null, which says the least.
func (f *filler) first(s *schema, values []any, path []segment) (v filled, err error) {
	if slices.Contains(values, nil) && f.check(s, nil, pointer(path)) == nil {
		return v, nil
	}
	for _, x := range values {
		if e := f.check(s, x, pointer(path)); e == nil {
			return filled{value: x}, nil
		} else if err == nil {
			err = e
		}
	}
	return v, err
}

// alternative returns a value for one of several schemas: the first one with a chosen part, or else null, or else the first
// one that has a value.
func (f *filler) alternative(s *schema, list []*schema, path []segment) (best filled, err error) {
	found := !f.wants(path) && f.check(s, nil, pointer(path)) == nil // null
	for _, one := range list {
		v, e := f.fill(one, path)
		if e == nil {
			e = f.check(s, v.value, pointer(path))
		}
		switch {
		case e != nil && err == nil:
			err = e
		case e == nil && (v.chosen || !found):
			best, found = v, true
		}
		if best.chosen {
			break
		}
	}
	if found {
		return best, nil
	}
	if err == nil {
		err = fmt.Errorf("%s: there is no schema to choose from", at(pointer(path)))
	}
	return best, err
}

// object fills in the properties that are required, and those with a chosen part.
func (f *filler) object(s *schema, path []segment) (v filled, err error) {
	object := map[string]any{}
	for _, name := range sortedKeys(s.properties) {
		p := s.properties[name]
		in := append(slices.Clip(path), segment{name, label(p)})
		needed := slices.Contains(s.required, name)
		x, err := f.fill(p, in)
		switch {
		case err != nil && (needed || f.wants(in) || f.isChosen(in)):
			return v, err
		case err != nil:
			continue
		case needed || x.chosen:
			object[name], v.chosen = x.value, v.chosen || x.chosen
		}
	}
	for _, name := range s.required {
		if _, known := s.properties[name]; known {
			continue
		}
		p := s.extra
		if p == nil {
			p = &schema{}
		}
		x, err := f.fill(p, append(slices.Clip(path), segment{name: name}))
		if err != nil {
			return v, err
		}
		object[name], v.chosen = x.value, v.chosen || x.chosen
	}
	v.value = object
	return v, nil
}

// list fills in as many items as a schema requires, and those with a chosen part.
func (f *filler) list(s *schema, path []segment) (v filled, err error) {
	list, n := []any{}, max(s.minItems, f.items(path))
	if s.maxItems != nil {
		n = min(n, *s.maxItems)
	}
	if n > maxSteps {
		return v, fmt.Errorf("%s: a list of %d items is too long to make", at(pointer(path)), n)
	}
	item := s.items
	if item == nil {
		item = &schema{}
	}
	for i := range n {
		x, err := f.fill(item, append(slices.Clip(path), segment{name: strconv.Itoa(i)}))
		if err != nil {
			return v, err
		}
		if s.uniqueItems && !x.chosen {
			x.value = f.another(item, x.value, list, i)
		}
		list, v.chosen = append(list, x.value), v.chosen || x.chosen
	}
	v.value = list
	return v, nil
}

// another returns v, or a value like v that is not in a list, or v if there is no simple one.
func (f *filler) another(s *schema, v any, list []any, i int) any {
	candidates := append([]any{v}, s.enum...)
	switch x := v.(type) {
	case string:
		candidates = append(candidates, x+strconv.Itoa(i), strconv.Itoa(i))
	case float64:
		candidates = append(candidates, x+float64(i), x-float64(i), x+float64(i)*s.multipleOf)
	case bool:
		candidates = append(candidates, !x)
	}
	for _, c := range candidates {
		if f.check(s, c, "") == nil && f.checkList(&schema{uniqueItems: true}, append(slices.Clip(list), c), "") == nil {
			return c
		}
	}
	return v
}

// number returns the middle of the range of a number, or 5 without one.
func (s *schema) number(path string) (float64, error) {
	low, high := math.Inf(-1), math.Inf(1)
	for _, bound := range []*float64{s.minimum, s.above} {
		if bound != nil {
			low = max(low, *bound)
		}
	}
	for _, bound := range []*float64{s.maximum, s.below} {
		if bound != nil {
			high = min(high, *bound)
		}
	}
	x := min(max(5, low), high)
	if !math.IsInf(low, 0) && !math.IsInf(high, 0) {
		x = low + (high-low)/2
	}
	step := s.multipleOf
	if step <= 0 && !s.has("number") {
		step = 1
	}
	candidates := []float64{x, math.Floor(x) + 1, math.Ceil(x) - 1}
	if step > 0 {
		n := math.Round(x / step)
		candidates = nil
		for _, by := range []float64{0, 1, -1, 2, -2} {
			exact, _ := decimal(step).Float64()
			candidates = append(candidates, (n+by)*exact)
		}
	}
	if !s.has("number") { // a whole number may also have to be a multiple
		candidates = slices.DeleteFunc(candidates, func(x float64) bool { return x != math.Trunc(x) })
	}
	var err error
	for _, x := range append(candidates, 0) {
		e := s.checkNumber(x, path)
		if e == nil {
			return x, nil
		}
		if err == nil {
			err = e
		}
	}
	return 0, fmt.Errorf("no number was found, choose one: %w", err)
}

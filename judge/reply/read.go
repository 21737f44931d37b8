package reply

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/internal/naming"
)

// content is an object of a reply, with lists in place of the objects that are written for them.
type content struct {
	value map[string]any
	moved map[string]string // where the reply has what is at a location in value, by the beginning of the location
	wrong []string          // violations that only the reply shows
	outer string            // the location of value in the reply, as a JSON pointer; empty if value is the whole object
}

// read returns the content of an object of a reply, with numbers in place of texts that mean one.
func read(c *Contract, object map[string]any) content {
	r := reader{names: c.names, content: content{value: object}}
	r.object(c.reading().layout, object)
	c.reading().scales.readNumbers(object)
	return r.content
}

type reader struct {
	names map[string][]string
	content

	at, from path // where the reader is in the value, and where the reply has that
}

// path is a location in a reply.
type path []segment

// segment is a property, or a place in a list.
type segment struct {
	name  string
	place int // counted from 1; 0 for a property
}

// String returns the location as a JSON pointer.
func (p path) String() string {
	var b strings.Builder
	for _, s := range p {
		b.WriteByte('/')
		if s.place > 0 {
			b.WriteString(strconv.Itoa(s.place - 1))
		}
		b.WriteString(s.name)
	}
	return b.String()
}

// enter goes to a part of the value, which the reply has elsewhere.
func (r *reader) enter(at, from segment) { r.at, r.from = append(r.at, at), append(r.from, from) }

// leave goes back.
func (r *reader) leave() { r.at, r.from = r.at[:len(r.at)-1], r.from[:len(r.from)-1] }

// object replaces objects by lists within an object.
func (r *reader) object(l layout, object map[string]any) {
	for name, inner := range l.fields {
		if value, ok := object[name]; ok {
			r.enter(segment{name: name}, segment{name: name})
			object[name] = r.value(inner, value)
			r.leave()
		}
	}
}

// value returns a value with lists in place of objects.
func (r *reader) value(l layout, value any) any {
	switch v := value.(type) {
	case map[string]any:
		if l.entries != nil {
			return r.entries(l, v)
		}
		r.object(l, v)
	case []any:
		for i, item := range v {
			if entry, ok := item.(map[string]any); ok {
				r.enter(segment{place: i + 1}, segment{place: i + 1})
				r.object(l, entry)
				r.leave()
			}
		}
		if l.entries != nil {
			l.entries.rankInOrder(v)
		}
	}
	return value
}

// rankInOrder sets the places of the entries of a list if none has one, or all have 0: the order of a list says them.
func (e *entries) rankInOrder(list []any) {
	ranked := func(item any) bool {
		entry, ok := item.(map[string]any)
		if !ok {
			return true
		}
		place := anyNumber.read(entry[e.rank])
		return place != nil && place != 0.0
	}
	if e.rank == "" || slices.ContainsFunc(list, ranked) {
		return
	}
	for i, item := range list {
		item.(map[string]any)[e.rank] = float64(i + 1) //nolint:forcetypeassert // ranked has looked
	}
}

// entries returns the list of an object with a property for each entry, or the object if it is none.
func (r *reader) entries(l layout, object map[string]any) any {
	e, names := l.entries, r.names[l.entries.kind]
	byKey := map[string]string{}
	for i, key := range keysOf(names) {
		byKey[key] = names[i]
	}
	if !e.written(object, byKey, names) {
		return object
	}
	var keys []string
	for key := range object {
		keys = append(keys, key)
		if byKey[key] == "" {
			byKey[key] = key
		}
	}
	rank := func(key string) int {
		if i := slices.Index(names, byKey[key]); i >= 0 {
			return i
		}
		return len(names)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	list := []any{}
	for i, key := range keys {
		r.enter(segment{place: i + 1}, segment{name: key})
		list = append(list, r.entry(l, key, byKey[key], object[key]))
		r.leave()
	}
	return list
}

// entry returns the entry for a name, which the reply has in a property.
func (r *reader) entry(l layout, key, name string, value any) any {
	e, out := l.entries, r.from.String()
	r.move(out, "")
	r.move(out, e.name)
	entry := e.entry(value)
	if entry == nil {
		return value // of the wrong type
	}
	if e.only != nil {
		r.move(out, e.only.name)
	}
	if said, ok := entry[e.name].(string); ok && !naming.Same(said, name) && !naming.Same(said, key) {
		r.wrong = append(r.wrong, fmt.Sprintf("%s/%s: %q contradicts the name of the property", out, e.name, said))
	}
	entry[e.name] = name
	r.object(l, entry)
	return entry
}

// move records where the reply has the entry at which the reader is, or a field of it.
func (r *reader) move(out, field string) {
	if r.moved == nil {
		r.moved = map[string]string{}
	}
	in := r.at.String()
	if field != "" {
		in += "/" + field
	}
	r.moved[in] = out
}

// written reports whether an object is written for a list. An object with a field of an entry is an entry without its list.
func (e *entries) written(object map[string]any, byKey map[string]string, names []string) bool {
	for key := range object {
		isName := byKey[key] != "" || slices.ContainsFunc(names, func(name string) bool { return naming.Same(name, key) })
		isField := func(f field) bool { return normalizeName(f.name) == normalizeName(key) }
		if !isName && (normalizeName(key) == normalizeName(e.name) || slices.ContainsFunc(e.rest, isField)) {
			return false
		}
	}
	return true
}

// entry returns the entry of which a property has the value, without its name. It returns nil if the value has the wrong
// type.
func (e *entries) entry(value any) map[string]any {
	if entry, ok := value.(map[string]any); ok {
		return entry
	}
	if e.only != nil {
		return map[string]any{e.only.name: value}
	}
	return nil
}

// relocate returns violations with the locations that the reply has.
func (d *content) relocate(violations []string) []string {
	for i, v := range violations {
		at, text, _ := strings.Cut(v, ": ")
		for p := at; strings.HasPrefix(p, "/"); p = p[:strings.LastIndexByte(p, '/')] {
			if to, ok := d.moved[p]; ok {
				violations[i] = to + at[len(p):] + ": " + text
				break
			}
		}
	}
	return violations
}

// within returns violations with the locations of an object that is inside another one.
func (d *content) within(violations []string) []string {
	if d.outer == "" {
		return violations
	}
	for i, v := range violations {
		rest, whole := strings.CutPrefix(v, location("")+": ")
		switch {
		case whole:
			violations[i] = d.outer + ": " + rest
		case strings.HasPrefix(v, "/"):
			violations[i] = d.outer + v
		}
	}
	return violations
}

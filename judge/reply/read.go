package reply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/naming"
)

// content is an object of a reply, with lists in place of the objects that are written for them.
type content struct {
	value map[string]any
	moved map[string]string // where the reply has what is at a location in value, by the beginning of the location
	wrong []string          // violations that only the reply shows
}

// read returns the content of an object of a reply.
func read(c *Contract, object map[string]any) content {
	r := reader{names: c.names, content: content{value: object, moved: map[string]string{}}}
	r.object(c.schemas().layout, object, "", "")
	return r.content
}

type reader struct {
	names map[string][]string
	content
}

// object replaces objects by lists within an object.
func (r *reader) object(l layout, object map[string]any, at, from string) {
	for name, inner := range l.fields {
		if value, ok := object[name]; ok {
			object[name] = r.value(inner, value, at+"/"+name, from+"/"+name)
		}
	}
}

// value returns a value with lists in place of objects. It is at one location, and the reply has it at another.
func (r *reader) value(l layout, value any, at, from string) any {
	switch v := value.(type) {
	case map[string]any:
		if l.entries != nil {
			return r.entries(l, v, at, from)
		}
		r.object(l, v, at, from)
	case []any:
		for i, item := range v {
			if entry, ok := item.(map[string]any); ok {
				r.object(l, entry, fmt.Sprint(at, "/", i), fmt.Sprint(from, "/", i))
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
		return !ok || entry[e.rank] != nil && entry[e.rank] != 0.0
	}
	if e.rank == "" || slices.ContainsFunc(list, ranked) {
		return
	}
	for i, item := range list {
		item.(map[string]any)[e.rank] = float64(i + 1) //nolint:forcetypeassert // ranked has looked
	}
}

// entries returns the list of an object with a property for each entry, or the object if it is none.
func (r *reader) entries(l layout, object map[string]any, at, from string) any {
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
		in, out := fmt.Sprint(at, "/", i), from+"/"+key
		r.moved[in], r.moved[in+"/"+e.name] = out, out
		entry := e.entry(object[key])
		if entry == nil {
			list = append(list, object[key]) // of the wrong type
			continue
		}
		if e.only != nil {
			r.moved[in+"/"+e.only.name] = out
		}
		if said, ok := entry[e.name].(string); ok && !naming.Same(said, byKey[key]) && !naming.Same(said, key) {
			r.wrong = append(r.wrong, fmt.Sprintf("%s/%s: %q contradicts the name of the property", out, e.name, said))
		}
		entry[e.name] = byKey[key]
		r.object(l, entry, in, out)
		list = append(list, entry)
	}
	return list
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

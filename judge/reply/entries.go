package reply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/elenchus-go/debate/internal/naming"
)

// named holds what the tags of a type say about names: the kind of names that a field holds, and that a list has one entry
// for each of.
type named struct{ fields, lists map[*jsonschema.Schema]string }

// has reports whether a schema refers to names of a kind.
func (n *named) has(kind string) bool {
	for _, refs := range []map[*jsonschema.Schema]string{n.fields, n.lists} {
		for _, k := range refs {
			if k == kind {
				return true
			}
		}
	}
	return false
}

// entries describes a list of objects that has one entry for each name of a kind. In a schema with these names, it is an
// object with one property for each: an object can neither lack a name nor have one twice.
type entries struct {
	kind string
	name string  // the field of an entry that holds its name
	rest []field // the other fields
	only *field  // the only other field, whose value stands for the entry; nil if there are several, or it is an object
	rank string  // the field that holds the place of an entry; empty if the order of the list means nothing
}

// entriesOf returns the entries of a list, or nil if it does not have one for each name.
func (n *named) entriesOf(s *jsonschema.Schema) *entries {
	kind := n.lists[s]
	if kind == "" || s.Items.Properties == nil {
		return nil
	}
	e := &entries{kind: kind}
	for _, f := range fields(s.Items) {
		switch refers := n.fields[f.schema]; {
		case refers != "" && f.schema.Type == "integer":
			e.rank = f.name
		case refers != "" && e.name == "":
			e.name = f.name
			continue
		}
		e.rest = append(e.rest, f)
	}
	if e.name == "" || len(e.rest) == 0 {
		return nil
	}
	if len(e.rest) == 1 && e.rest[0].schema.Type != "object" && !e.rest[0].nullable {
		e.only = &e.rest[0]
	}
	return e
}

// about describes a list that is written as an object, and the values of its properties if these are no objects.
func (e *entries) about(list *jsonschema.Schema) string {
	if e.only == nil || e.only.schema.Description == "" {
		return list.Description
	}
	return list.Description + ": " + e.only.schema.Description
}

// maxKeyLength is the largest length of a property that Anthropic accepts. It accepts ASCII letters, digits and "_.-".
const maxKeyLength = 64

// keysOf returns a property for each name. It is the name with underscores in place of spaces and punctuation. A name in
// another script, a name that is too long and a name that is like an earlier one has a number instead.
func keysOf(names []string) []string {
	keys := make([]string, 0, len(names))
	for i, name := range names {
		key := keyOf(name)
		for n := i + 1; key == "" || slices.ContainsFunc(keys, func(k string) bool { return naming.Same(k, key) }); n++ {
			key = fmt.Sprint("entry_", n)
		}
		keys = append(keys, key)
	}
	return keys
}

// keyOf returns the property for a name, or "" if the name does not make one.
func keyOf(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r < 0x80 && (r == '-' || identifierLength(string(r)) > 0):
			b.WriteRune(r)
		case r >= 0x80:
			return ""
		case !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	if b.Len() > maxKeyLength {
		return ""
	}
	return strings.Trim(b.String(), "_")
}

// keyNote says whose property a key is, unless the key says so itself.
func keyNote(key, name string) string {
	if naming.Same(key, name) {
		return ""
	}
	return "for " + name
}

// layout says which parts of a value are lists that may be written as objects.
type layout struct {
	entries *entries          // of the list itself; nil if it is written as a list only
	fields  map[string]layout // of the object, or of the objects in the list
}

// layoutOf returns the layout of a value.
func (n *named) layoutOf(s *jsonschema.Schema) layout {
	if s.Items != nil {
		l := n.layoutOf(s.Items)
		l.entries = n.entriesOf(s)
		return l
	}
	l := layout{fields: map[string]layout{}}
	if s.Properties == nil {
		return l
	}
	for _, f := range fields(s) {
		if inner := n.layoutOf(f.schema); inner.entries != nil || len(inner.fields) > 0 {
			l.fields[f.name] = inner
		}
	}
	return l
}

// content is an object of a reply, with lists in place of the objects that are written for them.
type content struct {
	value map[string]any
	moved map[string]string // where the reply has what is at a location in value, by the beginning of the location
	wrong []string          // violations that only the reply shows
}

// read returns the content of an object of a reply.
func (c *Contract) read(object map[string]any) content {
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

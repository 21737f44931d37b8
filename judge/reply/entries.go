package reply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/elenchus-go/debate/internal/naming"
)

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

// Named is a name with what it means, which may be empty.
type Named struct{ Name, About string }

// inOrder returns properties and their names in the order of a form, and what the names mean.
func inOrder(keys, names []string, form []Named) (ordered, named, about []string) {
	for _, n := range form {
		if at := slices.Index(names, n.Name); at >= 0 && !slices.Contains(named, n.Name) {
			ordered = append(ordered, keys[at])
			named = append(named, n.Name)
			about = append(about, n.About)
		}
	}
	return ordered, named, about
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

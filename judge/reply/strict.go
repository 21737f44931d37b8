package reply

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/invopop/jsonschema"
)

// strictWriter writes schemas in the strict form. It writes only keywords that servers are known to accept, because servers
// reject unknown keywords.
type strictWriter struct {
	bytes.Buffer
	named *named
	names map[string][]string // by kind
	form  map[string][]Named  // by kind, in the order of a form for people; nil if models read the schema
}

// strictPart says where in a reply a part of the schema is.
type strictPart struct {
	description string
	optional    bool   // in an optional field
	limit       uint64 // the largest maxLength of a text, or 0 if only maxSentMaxLength limits it
	entry       bool   // in an entry of a list that is written as an object
}

// strictSchema returns the strict form of a schema with names by kind. If a kind has no names, its fields have no enum, and
// its lists have the bounds of their tags.
func strictSchema(s *jsonschema.Schema, n *named, names map[string][]string, form map[string][]Named) json.RawMessage {
	w := strictWriter{named: n, names: names, form: form}
	w.schema(s, strictPart{})
	return w.Bytes()
}

// keyword writes a keyword, with a comma before all but the first of an object.
func (w *strictWriter) keyword(name string) {
	if b := w.Bytes(); b[len(b)-1] != '{' {
		w.WriteByte(',')
	}
	w.text(name)
	w.WriteByte(':')
}

// text writes a string. Most strings need no escapes.
func (w *strictWriter) text(s string) {
	for i := range len(s) {
		if mayNeedEscape[s[i]] {
			w.value(s)
			return
		}
	}
	w.WriteByte('"')
	w.WriteString(s)
	w.WriteByte('"')
}

// mayNeedEscape has the bytes that a string may have to escape.
var mayNeedEscape = func() (set [256]bool) {
	for b := range set {
		set[b] = b < ' ' || b >= utf8.RuneSelf || strings.IndexByte(`"\<>&`, byte(b)) >= 0
	}
	return set
}()

// value writes a JSON value.
func (w *strictWriter) value(v any) {
	data, _ := json.Marshal(v) // cannot fail: it is a string, a list of strings, or what a tag says
	w.Write(data)
}

// bound writes a bound that is at most a limit, or nothing if there is neither.
func (w *strictWriter) bound(name string, bound *uint64, limit uint64) {
	if bound != nil && (limit == 0 || *bound < limit) {
		limit = *bound
	}
	if bound != nil || limit > 0 {
		w.keyword(name)
		w.WriteString(strconv.FormatUint(limit, 10))
	}
}

// schema writes a schema.
func (w *strictWriter) schema(s *jsonschema.Schema, at strictPart) {
	w.WriteByte('{')
	list := w.names[w.named.lists[s]]
	e := w.named.entriesOf(s)
	switch {
	case e != nil && len(list) > 0:
		if at.description != "" {
			at.description = e.about(s)
		}
		w.entries(e, list, at)
	case s.Items != nil:
		w.list(s, list, at)
	case s.Properties != nil:
		w.object(fields(s), at)
	default:
		w.scalar(s, at)
	}
	if at.description != "" {
		w.keyword("description")
		w.text(at.description)
	}
	w.WriteByte('}')
}

// scalar writes the schema of a text, a number or a boolean.
func (w *strictWriter) scalar(s *jsonschema.Schema, at strictPart) {
	w.keyword("type")
	w.text(s.Type)
	enum := s.Enum
	switch list := w.names[w.named.fields[s]]; {
	case s.Type == "integer":
		for i := range list {
			enum = append(enum, i+1)
		}
	case list != nil:
		enum = anyOf(list)
	}
	if len(enum) > 0 {
		w.keyword("enum")
		w.value(enum)
	}
	if s.Type != "string" {
		return
	}
	sent := s.MaxLength
	if sent != nil && *sent > maxSentMaxLength {
		sent = nil
	}
	if s.Enum != nil || s.Format != "" {
		at.limit = 0
	}
	w.bound("maxLength", sent, at.limit)
}

// list writes the schema of a list. If there are names, it has one entry for each of them.
func (w *strictWriter) list(s *jsonschema.Schema, names []string, at strictPart) {
	w.keyword("items")
	limit, most := uint64(maxShortLength), uint64(0)
	if at.optional {
		limit, most = maxOptionalItemLength, max(maxOptionalItems, value(s.MinItems))
	}
	w.schema(s.Items, strictPart{optional: at.optional, limit: limit, entry: at.entry, description: s.Items.Description})
	w.keyword("type")
	w.text("array")
	low, high := s.MinItems, s.MaxItems
	if n := uint64(len(names)); n > 0 {
		low = &n
		high = &n
		most = 0
	}
	w.bound("maxItems", high, most)
	w.bound("minItems", low, 0)
}

// object writes the schema of an object with these fields.
func (w *strictWriter) object(list []field, at strictPart) {
	w.keyword("properties")
	w.WriteByte('{')
	for _, f := range list {
		w.keyword(f.name)
		w.property(f, at)
	}
	w.WriteByte('}')
	var names []string
	for _, f := range list {
		names = append(names, f.name)
	}
	w.closed(names)
}

// closed writes that an object has these properties and no others.
func (w *strictWriter) closed(required []string) {
	w.keyword("additionalProperties")
	w.WriteString("false")
	w.keyword("type")
	w.text("object")
	if len(required) == 0 {
		return
	}
	w.keyword("required")
	w.WriteByte('[')
	for i, name := range required {
		if i > 0 {
			w.WriteByte(',')
		}
		w.text(name)
	}
	w.WriteByte(']')
}

// property writes the schema of a field of an object.
func (w *strictWriter) property(f field, at strictPart) {
	in := strictPart{description: f.schema.Description, optional: at.optional || f.nullable, entry: at.entry}
	if at.limit > 0 || f.nullable {
		in.limit = maxShortLength
	}
	if at.entry && w.form == nil {
		in.description = ""
	}
	if !f.nullable || at.entry && f.schema.Type == "array" && value(f.schema.MinItems) == 0 { // an empty list says the same as null
		w.schema(f.schema, in)
		return
	}
	about := in.description
	if e := w.named.entriesOf(f.schema); e != nil && about != "" && len(w.names[e.kind]) > 0 {
		about = e.about(f.schema)
	}
	in.description = ""
	w.WriteString(`{"anyOf":[`)
	w.schema(f.schema, in)
	w.WriteString(`,{"type":"null"}]`)
	if about != "" {
		w.keyword("description")
		w.text(about)
	}
	w.WriteByte('}')
}

// entries writes the schema of an object that has a property for each name, in place of a list with an entry for each.
// Models read what an entry has once, in the outline. People read it at each entry.
func (w *strictWriter) entries(e *entries, names []string, at strictPart) {
	keys, about := keysOf(names), []string(nil)
	if form := w.form[e.kind]; form != nil {
		keys, names, about = inOrder(keys, names, form)
	}
	w.keyword("properties")
	w.WriteByte('{')
	for i, key := range keys {
		in := strictPart{optional: at.optional, limit: maxShortLength, entry: true, description: keyNote(key, names[i])}
		if about != nil && about[i] != "" {
			in.description = strings.TrimPrefix(in.description+": "+about[i], ": ")
		}
		w.keyword(key)
		if e.only != nil {
			w.schema(e.only.schema, in)
			continue
		}
		w.WriteByte('{')
		w.object(e.rest, in)
		if in.description != "" {
			w.keyword("description")
			w.text(in.description)
		}
		w.WriteByte('}')
	}
	w.WriteByte('}')
	w.closed(keys)
}

func anyOf(list []string) []any {
	values := make([]any, len(list))
	for i, v := range list {
		values[i] = v
	}
	return values
}

package debatehttp

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/tool"
)

// schema is a JSON Schema.
type schema = map[string]any

// schemaBook holds the schemas of the OpenAPI document, which it makes from Go types and their comments.
type schemaBook struct {
	t         *testing.T
	schemas   schema
	responses schema                  // of failures, by name
	types     map[string]reflect.Type // by name of the schema
	comments  map[string]string       // by import path, type and field
	parsed    map[string]bool         // import paths whose comments were read
}

func newSchemaBook(t *testing.T) *schemaBook {
	return &schemaBook{t: t, schemas: schema{}, responses: schema{}, types: map[string]reflect.Type{}, comments: map[string]string{}, parsed: map[string]bool{}}
}

// of returns the schema of a type.
func (b *schemaBook) of(typ reflect.Type) schema {
	switch typ {
	case reflect.TypeFor[time.Time]():
		return schema{"type": "string", "format": "date-time"}
	case reflect.TypeFor[json.RawMessage]():
		return schema{}
	case reflect.TypeFor[[]byte]():
		return schema{"type": "string", "contentEncoding": "base64"}
	case reflect.TypeFor[debate.Config]():
		return ref("Configuration")
	case reflect.TypeFor[chatContent]():
		part := schema{"type": "object", "required": []string{"type", "text"}, "properties": schema{"type": schema{"const": "text"}, "text": schema{"type": "string"}}}
		return schema{"oneOf": []schema{{"type": "string"}, {"type": "array", "items": part}}}
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return b.of(typ.Elem())
	case reflect.Struct:
		return ref(b.define(typ))
	case reflect.Slice, reflect.Array:
		return schema{"type": "array", "items": b.of(typ.Elem())}
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": b.of(typ.Elem())}
	case reflect.String:
		return schema{"type": "string"}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Float64:
		return schema{"type": "number"}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return schema{"type": "integer"}
	}
	require.Fail(b.t, "no schema", "%v", typ)
	return nil
}

func ref(name string) schema { return schema{"$ref": "#/components/schemas/" + name} }

// define adds the schema of a struct and returns its name.
func (b *schemaBook) define(typ reflect.Type) string {
	name := strings.ToUpper(typ.Name()[:1]) + typ.Name()[1:]
	switch typ {
	case reflect.TypeFor[protocol.Problem]():
		name = "FieldProblem"
	case reflect.TypeFor[protocol.Reason]():
		name = "OutcomeReason"
	case reflect.TypeFor[providers.Reasoning]():
		name = "ReasoningPart"
	case reflect.TypeFor[tool.Source]():
		name = "ToolSource"
	}
	if known := b.types[name]; known != nil {
		require.Equal(b.t, known, typ, "two types have the name %s", name)
		return name
	}
	b.types[name] = typ
	s := schema{"type": "object", "properties": schema{}}
	b.schemas[name] = s
	describe(s, b.comment(typ, ""))
	required := b.addFields(s["properties"].(schema), typ)
	if len(required) > 0 {
		slices.Sort(required)
		s["required"] = required
	}
	return name
}

// neverNull lists the properties, of any schema, whose lists, maps and pointers are never nil.
var neverNull = []string{"turns", "participants", "rounds", "sides", "items", "data", "choices", "messages", "result"}

// addFields adds the properties of a struct and returns those that are always there.
func (b *schemaBook) addFields(properties schema, typ reflect.Type) (required []string) {
	for f := range typ.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			embedded := f.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			required = append(required, b.addFields(properties, embedded)...)
			continue
		case !f.IsExported() || name == "-":
			continue
		}
		require.NotEmpty(b.t, name, "%v.%s has no name in JSON", typ, f.Name)
		s := b.of(f.Type)
		if options == "" {
			required = append(required, name)
			if kind, ok := s["type"]; ok && !slices.Contains(neverNull, name) && (f.Type.Kind() == reflect.Slice || f.Type.Kind() == reflect.Map) {
				s["type"] = []any{kind, "null"}
			} else if f.Type.Kind() == reflect.Pointer && !slices.Contains(neverNull, name) {
				s = schema{"oneOf": []schema{s, {"type": "null"}}}
			}
		}
		describe(s, b.comment(typ, f.Name))
		properties[name] = s
	}
	return required
}

func describe(s schema, text string) {
	if text != "" {
		s["description"] = text
	}
}

// comment returns the comment of a type or of its field as one paragraph.
func (b *schemaBook) comment(typ reflect.Type, field string) string {
	path := typ.PkgPath()
	if rest, ours := strings.CutPrefix(path, "github.com/elenchus-go/debate"); ours && !b.parsed[path] {
		b.parsed[path] = true
		b.readComments(path, filepath.Join("..", "..", filepath.FromSlash(rest)))
	}
	return b.comments[path+"."+typ.Name()+"."+field]
}

func (b *schemaBook) readComments(path, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(b.t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		require.NoError(b.t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			if d, ok := n.(*ast.GenDecl); ok {
				b.readTypes(path, d)
			}
			return true
		})
	}
}

func (b *schemaBook) readTypes(path string, d *ast.GenDecl) {
	for _, s := range d.Specs {
		typ, ok := s.(*ast.TypeSpec)
		if !ok {
			continue
		}
		name := path + "." + typ.Name.Name + "."
		b.comments[name] = paragraph(typ.Doc)
		if b.comments[name] == "" && len(d.Specs) == 1 {
			b.comments[name] = paragraph(d.Doc)
		}
		fields, ok := typ.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, f := range fields.Fields.List {
			for _, id := range f.Names {
				b.comments[name+id.Name] = paragraph(f.Doc, f.Comment)
			}
		}
	}
}

var docLink = regexp.MustCompile(`\[([A-Za-z][\w.]*)\]`)

// paragraph returns the first comment that is there.
func paragraph(list ...*ast.CommentGroup) string {
	for _, c := range list {
		if c != nil {
			return docLink.ReplaceAllString(strings.Join(strings.Fields(c.Text()), " "), "$1")
		}
	}
	return ""
}

// eventTypes holds an event of each type, by the property type.
var eventTypes = map[string]debate.Event{
	"config": debate.ConfigChanged{}, "state": debate.StateChanged{}, "phase": debate.PhaseStarted{}, "turn": debate.TurnDone{},
	"dropped": debate.Dropped{}, "decided": debate.Decided{}, "asked": debate.Asked{}, "tools": debate.ToolsCalled{}, "annotated": debate.Annotated{},
	"turn_started": debate.TurnStarted{}, "chunk": debate.Chunk{}, "turn_failed": debate.TurnFailed{}, "warning": debate.Warning{}, "ended": debate.Ended{},
}

// addEvents adds the schema of events.
func (b *schemaBook) addEvents() {
	var list []schema
	mapping := schema{}
	for kind, ev := range eventTypes {
		name := b.define(reflect.TypeOf(ev))
		b.schemas[name].(schema)["properties"].(schema)["type"] = schema{"const": kind}
		list = append(list, ref(name))
		mapping[kind] = ref(name)["$ref"]
	}
	slices.SortFunc(list, func(a, b schema) int { return strings.Compare(a["$ref"].(string), b["$ref"].(string)) })
	b.schemas["Event"] = schema{
		"description": "An event of a debate. The property type tells which.", "oneOf": list,
		"discriminator": schema{"propertyName": "type", "mapping": mapping},
	}
}

// addConfiguration adds the schema of a configuration, which is in docs.
func (b *schemaBook) addConfiguration() {
	text, err := os.ReadFile("../../docs/reference/configuration.schema.json")
	require.NoError(b.t, err)
	text = []byte(strings.ReplaceAll(string(text), `"#/$defs/`, `"#/components/schemas/configuration.`))
	var s schema
	require.NoError(b.t, json.Unmarshal(text, &s))
	for name, def := range s["$defs"].(schema) {
		b.schemas["configuration."+name] = withoutDefaults(def)
	}
	delete(s, "$defs")
	delete(s, "$schema")
	b.schemas["Configuration"] = withoutDefaults(s).(schema)
}

// withoutDefaults removes the keyword default, because generators of clients take a property with a default as required. The
// descriptions have the defaults.
func withoutDefaults(v any) any {
	switch v := v.(type) {
	case schema:
		if _, value := v["default"].(schema); !value { // or a property with that name
			delete(v, "default")
		}
		for _, child := range v {
			withoutDefaults(child)
		}
	case []any:
		for _, child := range v {
			withoutDefaults(child)
		}
	}
	return v
}

// strict returns a copy of a schema that refuses unknown properties everywhere.
func strict(v any) any {
	switch v := v.(type) {
	case schema:
		v = maps.Clone(v)
		for name, value := range v {
			v[name] = strict(value)
		}
		if _, object := v["properties"].(schema); object && v["additionalProperties"] == nil {
			v["additionalProperties"] = false
		}
		return v
	case []any:
		v = slices.Clone(v)
		for i, value := range v {
			v[i] = strict(value)
		}
		return v
	}
	return v
}

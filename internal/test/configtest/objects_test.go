package configtest

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/protocol/pairwise"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/review"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers/price"
)

// An object is a struct of a configuration: a definition of the schema and a section of the page.
type object struct {
	typ   reflect.Type
	name  string       // of the definition
	title string       // of the section
	all   reflect.Type // the named list or map of such objects; nil if there is none
	path  string       // what stands before a field's JSON name where Go says "Limits.MaxRounds"

	protocol protocol.Protocol // nil if the object is not the parameters of one
	fields   []*field
}

// A field is a field of an object.
type field struct {
	reflect.StructField
	name     string // in JSON
	comment  fieldComment
	values   []constant // that the field takes; nil if it takes any of its type
	required bool
}

// newObjects returns all objects, in the order of the page.
func newObjects() []*object {
	return []*object{
		{typ: reflect.TypeFor[debate.Config](), name: "configuration", title: "The configuration"},
		{typ: reflect.TypeFor[debate.Participant](), name: "participant", title: "Participants and judges"},
		{typ: reflect.TypeFor[debate.Limits](), name: "limits", title: "Limits", path: "limits."},
		{typ: reflect.TypeFor[judge.Criterion](), all: reflect.TypeFor[judge.Rubric](), name: "criterion", title: "Rubric"},
		{typ: reflect.TypeFor[window.Policy](), name: "history", title: "History", path: "history."},
		{typ: reflect.TypeFor[detect.Rule](), name: "rule", title: "Detection rules"},
		{typ: reflect.TypeFor[price.Price](), all: reflect.TypeFor[price.Prices](), name: "price", title: "Prices"},
		newProtocol(panel.Protocol{}),
		{typ: reflect.TypeFor[judge.Jury](), name: "jury", title: "Jury"},
		{typ: reflect.TypeFor[decision.Task](), name: "decision", title: "Decisions"},
		newProtocol(skeptic.Protocol{}),
		newProtocol(refine.Protocol{}),
		{typ: reflect.TypeFor[refine.RolePrompt](), name: "role", title: "Role prompts"},
		{typ: reflect.TypeFor[refine.SummaryPolicy](), name: "summary_policy", title: "Summary policies"},
		newProtocol(arbitration.Protocol{}),
		{typ: reflect.TypeFor[arbitration.Topic](), name: "topic", title: "Topics"},
		newProtocol(procon.Protocol{}),
		newProtocol(vote.Protocol{}),
		newProtocol(council.Protocol{}),
		newProtocol(mad.Protocol{}),
		newProtocol(review.Protocol{}),
		newProtocol(pairwise.Protocol{}),
		newProtocol(oversight.Protocol{}),
		{typ: reflect.TypeFor[agreement.Selection](), name: "selection", title: "Selections"},
		{typ: reflect.TypeFor[agreement.Calibration](), name: "calibration", title: "Calibrations"},
	}
}

func newProtocol(p protocol.Protocol) *object {
	name, _, _ := strings.Cut(p.Name(), "/")
	return &object{typ: reflect.TypeOf(p), name: name, title: p.Name(), protocol: p}
}

// untypedValues are the constants for fields of type string.
var untypedValues = map[string][]string{
	"rule.method":      {"byWords", "byVectors", "byScores", "byAnswers"},
	"rule.effect":      {"Report", "Advise", "Stop"},
	"jury.aggregation": {"Mean", "Median"},
}

// optional fields have no omitempty, because zero means something, and yet may be left out.
var optional = []string{"criterion.weight", "price.input", "price.output"}

// A book is what the page and the schema are made of.
type book struct {
	library
	objects []*object
	filled  map[string]any // the smallest configuration, as the library completes it
	schema  *jsonschema.Schema
}

var made *book // by the first test

func newBook(t *testing.T) *book {
	t.Helper()
	if made != nil {
		return made
	}
	b := &book{library: library{}, objects: newObjects()}
	for _, o := range b.objects {
		for _, f := range reflect.VisibleFields(o.typ) {
			if f.IsExported() && f.Tag.Get("json") != "-" {
				o.fields = append(o.fields, b.newField(t, o, f))
			}
		}
	}
	b.filled = complete(t, read(t, "testdata/smallest.json"))
	b.schema = b.newSchema(t)
	made = b
	return b
}

func (b *book) newField(t *testing.T, o *object, f reflect.StructField) *field {
	t.Helper()
	tag, options, tagged := strings.Cut(f.Tag.Get("json"), ",")
	if tag == "" {
		tag = snake(f.Name)
	}
	x := &field{StructField: f, name: tag, comment: b.of(t, o.typ.PkgPath()).comment(o.typ.Name(), f.Name)}
	x.required = tag == f.Tag.Get("json") && !tagged && options == "" && !slices.Contains(optional, o.name+"."+tag)
	if x.comment.json != "" {
		require.Equal(t, x.name, x.comment.json, "%s.%s: the comment states another JSON name", o.name, f.Name)
	}
	typ := f.Type
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ.Kind() == reflect.Map {
		typ = typ.Key()
	}
	untyped := untypedValues[o.name+"."+tag]
	path := typ.PkgPath()
	if len(untyped) > 0 {
		path = o.typ.PkgPath()
	}
	if typ.Kind() != reflect.String || !strings.HasPrefix(path, module) {
		return x
	}
	for _, c := range b.of(t, path).constants {
		if c.typ == typ.Name() && len(untyped) == 0 || slices.Contains(untyped, c.name) {
			x.values = append(x.values, c)
		}
	}
	require.NotEmpty(t, x.values, "%s.%s: no constants of type %s", o.name, x.name, typ)
	if typ == reflect.TypeFor[debate.FailurePolicy]() {
		x.values = slices.DeleteFunc(x.values, func(c constant) bool { return refused(t, x.name, c.value) })
		require.NotEmpty(t, x.values, "%s takes no value", x.name)
	}
	return x
}

// object returns the object that a type is, or that it is a list or a map of; nil if it is neither.
func (b *book) object(typ reflect.Type) *object {
	for _, o := range b.objects {
		if o.typ == typ || o.all != nil && o.all == typ {
			return o
		}
	}
	if k := typ.Kind(); k == reflect.Slice || k == reflect.Map || k == reflect.Pointer {
		return b.object(typ.Elem())
	}
	return nil
}

// text returns what renders the comments of an object's package, for a field or, without one, for the object itself.
func (b *book) text(t *testing.T, o *object, f *field, plain bool) text {
	t.Helper()
	src := b.of(t, o.typ.PkgPath())
	x := text{src: src, plain: plain, names: map[string]string{}, links: map[string]string{}, own: []string{o.typ.Name()}}
	if o.all != nil {
		x.own = append(x.own, o.all.Name())
	}
	for _, f := range b.objects[1].fields { // of participants, whom all packages speak of
		x.names[f.StructField.Name] = f.name
	}
	for _, other := range b.objects {
		b.addNames(t, x.names, other, src)
		for _, typ := range []reflect.Type{other.typ, other.all} {
			if typ != nil && other.protocol == nil && !plain {
				x.links[typ.String()] = "[" + other.title + "](" + other.anchor() + ")"
			}
		}
	}
	scope := []*object{o}
	if f != nil {
		x.own = f.comment.shared
		if inner := b.object(f.Type); inner != nil {
			scope = append(scope, inner)
		}
	}
	for _, s := range slices.Backward(scope) { // the object's own fields come last, and win
		for _, f := range s.fields {
			x.names[f.StructField.Name] = f.name
		}
	}
	if f == nil {
		delete(x.names, o.typ.Name()) // a field may have the name of its type
	}
	return x
}

// addNames adds the names of another object's fields and values, as comments of a package write them.
func (b *book) addNames(t *testing.T, names map[string]string, o *object, src *source) {
	t.Helper()
	own := b.of(t, o.typ.PkgPath())
	if o.typ == reflect.TypeFor[debate.Config]() {
		names["Config.Protocol"] = "protocol"
		if own == src {
			names["Protocol"] = "protocol"
		}
	}
	if o.protocol != nil {
		names[own.pkg.Name+".Protocol"] = o.protocol.Name()
		names[own.pkg.Name+".Protocol{}"] = `{"name": "` + o.protocol.Name() + `"}`
	}
	for _, f := range o.fields {
		if o.protocol == nil || own == src {
			names[o.typ.Name()+"."+f.StructField.Name] = o.path + f.name
		}
		if own == src && camelCase.MatchString(f.StructField.Name) {
			names[f.StructField.Name] = o.path + f.name
		}
		for _, c := range f.values {
			names[own.pkg.Name+"."+c.name] = c.value
			if own == src {
				names[c.name] = c.value
			}
		}
	}
}

// valueText returns what renders the comments of a field's values.
func (b *book) valueText(t *testing.T, o *object, f *field, c constant, plain bool) text {
	t.Helper()
	x := b.text(t, o, f, plain)
	x.own = []string{c.name, f.typeName()}
	if path := f.valueType().PkgPath(); path != "" {
		x.src = b.of(t, path)
	}
	if f.name != "" && f.Type.Kind() == reflect.String {
		x.names[f.typeName()] = f.name
	}
	for _, c := range f.values {
		x.names[c.name] = c.value
	}
	return x
}

// valueType returns the type of the field's values or, if it is a map, of its keys.
func (f *field) valueType() reflect.Type {
	typ := f.Type
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ.Kind() == reflect.Map {
		return typ.Key()
	}
	return typ
}

func (f *field) typeName() string { return f.valueType().Name() }

// duration reports whether the field is a duration, which is a string in JSON.
func (f *field) duration() bool { return f.Type == reflect.TypeFor[time.Duration]() }

// snake returns a Go name as the library writes it in JSON. It leaves JSON names as they are.
func snake(name string) string {
	return strings.ReplaceAll(jsonschema.ToSnakeCase(name), "-", "_")
}

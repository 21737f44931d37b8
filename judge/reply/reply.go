// Package reply defines contracts for structured replies: it makes a JSON Schema from a Go struct and parses replies
// that follow it.
//
//	type Critique struct {
//		Flaws []string `json:"flaws" jsonschema:"maxItems=5,maxLength=200" jsonschema_description:"what is wrong"`
//		Score float64  `json:"score" jsonschema:"minimum=0,maximum=10"`
//	}
//
//	contract := reply.New[Critique]("critique/1")
//	request := contract.Schema() // send it to the model
//	r, err := contract.Parse(text, nil)
//	fmt.Println(string(r.Data), err)
//
// A [Contract] is made once from a Go struct. The struct is the single source of three things: the JSON Schema that
// is sent to the model, the outline that describes the fields in a prompt, and the full schema against which replies
// are validated. [Contract.Parse] returns only data that was validated. In detail:
//
//   - The struct is decoded from the validated value, never from the text a second time. Unknown properties are
//     removed first.
//   - Text that a model writes while it reasons is not a reply. An object that is not closed is not a reply either.
//   - A reply may be inside other objects, lists or texts, such as the arguments of a call. An object below a key such as
//     "example" or "format" is none. A number may be a text: "8/10" is 8 if the maximum is 10.
//   - A text that may mean two replies is an error, for example if a counter-example follows the reply, or if an object
//     has a property twice with different values.
//   - Python's notation and commas before a closing bracket are repaired. A reply with another syntax error is invalid, and
//     a truncated reply is never completed.
//   - The error for an invalid reply is an *[Invalid]. Its violations tell a model what to correct. They are the same
//     for the same text, so prompts that contain them can be replayed.
//   - Size and nesting are limited, and parsing takes time linear in the length of the text, for any text.
package reply

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/elenchus-go/debate/internal/contract"
)

// Contract defines one kind of structured reply. It is safe for concurrent use.
type Contract struct {
	name       string
	newValue   func() any // returns a new *T
	schemas    func() schemas
	extraCheck func(v any) []string // the checks added by WithCheck; nil if there are none
	names      map[string][]string  // the names added by WithNames, by tag
	form       map[string][]Named   // the names added by ForPerson, in order, by tag; nil if models read the schema
}

// Reply is a validated reply.
type Reply struct {
	Data json.RawMessage // the reply as JSON in canonical form
	Text string          // a readable summary

	// Repaired reports that the syntax was corrected: a superfluous comma, or Python's notation.
	Repaired bool
}

// Checker is implemented by reply types that check more than their schema does. Check returns one violation for each
// fault, such as `/winner: "Zoe" is not a participant`. It may correct the spelling of names. names are the names of
// the participants.
type Checker interface {
	Check(names []string) []string
}

// SpeakerChecker is implemented by reply types that name who said something, such as the reasons of a decision. It checks these
// names, as Check checks all others, and runs before it. names are those of Check and of the participants who have spoken and
// then left: they can have given a reason, but not win or be scored.
type SpeakerChecker interface {
	CheckSpeakers(names []string) []string
}

// TextRenderer is implemented by reply types that can summarize themselves as plain text. Without it the summary is
// the JSON.
type TextRenderer interface {
	Text() string
}

// Defaulter is implemented by reply types that have a default. Default fills the zero value with values that are safe
// to act on when there is no valid reply.
type Defaulter interface {
	Default(names []string)
}

// New returns the contract of replies that are decoded into a T. The name includes a version, such as "assessment/1".
// transcript.Decode then refuses to decode a turn with another contract into a T.
//
// T is a struct of strings, numbers, booleans, structs, and lists of these. Its json tags name the fields. A field with
// omitempty or omitzero is optional. The jsonschema_description tag describes a field, and the jsonschema tag bounds
// it, as in package invopop/jsonschema. The tag names:"kind" marks a text that holds a name, or a whole number that holds a
// place among the names, and the tag each:"kind" a list with one entry for each name; see [Contract.WithNames]. A *T may
// implement [Checker], [TextRenderer] and [Defaulter].
//
// New panics if T has another shape, for example if it contains maps, bytes or itself, because that is a programming
// error. The schemas are made on first use, so a contract can be a package variable at no cost. That first use panics
// if a tag does not make a valid schema.
func New[T any](name string) *Contract {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("reply: contract %s: use type %s: a reply type must be a struct", name, t))
	}
	if err := checkType(t, nil); err != nil {
		panic(fmt.Sprintf("reply: contract %s: %v", name, err))
	}
	contract.Register(name, t)
	return &Contract{
		name:     name,
		newValue: func() any { return new(T) },
		schemas:  sync.OnceValue(func() schemas { return buildSchemas(name, t) }),
	}
}

// WithCheck returns a copy of the contract with an additional check, which runs after the type's own [Checker] and
// after checks that were added before. The check receives the *T. It returns violations as a Checker does, may
// correct spelling, and may fill in computed fields. It also receives a default before that is validated, so it can
// complete what the type alone does not know. Name, schema and outline stay the same.
func (c *Contract) WithCheck(check func(v any) []string) *Contract {
	before, stricter := c.extraCheck, *c
	stricter.extraCheck = func(v any) (findings []string) {
		if before != nil {
			findings = before(v)
		}
		return append(findings, check(v)...)
	}
	return &stricter
}

// WithNames returns a copy of the contract whose schema lists the names that a field may hold, sorted. The fields are those
// with the tag names:"kind", of type string. A whole number with that tag is at most the number of names.
//
// A list with the tag each:"kind", whose entries hold such a name, is an object in the schema, with a required property for
// each name. The property is the name with underscores in place of spaces and punctuation, or entry_1 and so on if the name
// has other letters than ASCII. Its value is the entry without its name, or the only other field of the entry. A list has no
// such schema that a model can only fill in one way: it may have a name twice. Parse reads both forms, in any contract, and
// what it returns has the list. If the entries have a place, the order of a list without places says them.
//
// Parse does not compare replies with the names: that is left to a [Checker], which may accept another spelling.
//
// The engine of package debate sets the kinds "participants" (all participants, as the reader sees them), "active" (those who
// have not dropped out) and "criteria".
func (c *Contract) WithNames(kind string, names []string) *Contract {
	if !c.schemas().named.has(kind) {
		return c
	}
	listing := *c
	listing.names = maps.Clone(c.names)
	if listing.names == nil {
		listing.names = map[string][]string{}
	}
	listing.names[kind] = slices.Compact(slices.Sorted(slices.Values(names)))
	return &listing
}

// ForPerson returns a copy of the contract as WithNames does, whose schema suits a form that a person fills in. The
// properties for the names are in the order of the names, and have what these mean as descriptions. All fields of an entry
// have their descriptions too. A reply to either schema is a reply to the other.
func (c *Contract) ForPerson(kind string, list []Named) *Contract {
	var names []string
	for _, n := range list {
		names = append(names, n.Name)
	}
	form := *c.WithNames(kind, names)
	form.form = maps.Clone(c.form)
	if form.form == nil {
		form.form = map[string][]Named{}
	}
	form.form[kind] = list
	return &form
}

// reading returns what reading a reply needs.
func (c *Contract) reading() reading { return c.schemas().reading() }

// Name returns the name of the contract, including its version.
func (c *Contract) Name() string { return c.name }

// Schema returns the JSON Schema to send to a provider, in the strict form that most providers accept. Every field is
// required, optional fields are nullable, unknown fields are forbidden, and there are no references. The only bounds
// are minItems, maxItems and, below 2000, maxLength, and the names of WithNames.
//
// Local models fill every field, and may write in each until a bound stops them. So an optional text, and a text in a list
// or in one of its entries, is sent with a maxLength of at most 600. An optional list has at most 4 entries, and its texts
// have at most 200 characters. Parse accepts what the tags allow.
//
// An adapter for a server that rejects minItems, maxItems, maxLength or enum can remove them and need not change anything
// else, because Parse validates all bounds and checks the names. The returned bytes must not be changed.
func (c *Contract) Schema() json.RawMessage {
	s := c.schemas()
	if len(c.names) == 0 {
		return s.strict
	}
	return strictSchema(s.root, s.named, c.names, c.form)
}

// Outline describes the fields for a prompt, one field per line, with nested fields indented. It has the names of WithNames.
func (c *Contract) Outline() string {
	s := c.schemas()
	if len(c.names) == 0 {
		return s.outline
	}
	return outlineOf(s.root, s.named, c.names, c.form)
}

// schemas holds the schemas of a reply's type, with and without what only validation needs.
type schemas struct {
	root      *jsonschema.Schema // as reflected
	named     *named
	strict    json.RawMessage // without names
	outline   string          // without names
	validator *validator.Schema
	reading   func() reading
}

// reading holds what reading a reply needs. It is made when the first reply is read.
type reading struct {
	known   knownFields
	keys    *keys
	layout  layout
	scales  *scale
	decoder *decoder // nil if encoding/json has to read the replies
}

// buildSchemas derives the schemas of a type. It panics if a tag makes an invalid schema, which is a programming
// error.
func buildSchemas(name string, t reflect.Type) schemas {
	r := jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, DoNotReference: true}
	s := r.ReflectFromType(t)
	n := &named{map[*jsonschema.Schema]string{}, map[*jsonschema.Schema]string{}}
	complete(s, t, n)
	compiled, err := compileSchema(validationSchema(s))
	if err != nil {
		panic(fmt.Sprintf("reply: contract %s: compile schema: %v", name, err))
	}
	return schemas{
		root:      s,
		named:     n,
		strict:    strictSchema(s, n, nil, nil),
		outline:   outlineOf(s, n, nil, nil),
		validator: compiled,
		reading:   sync.OnceValue(func() reading { return readingOf(t, s, n) }),
	}
}

// readingOf returns what reading replies of a type needs.
func readingOf(t reflect.Type, s *jsonschema.Schema, n *named) reading {
	known := knownFieldsOf(s)
	return reading{
		known:   known,
		keys:    newKeys(known),
		layout:  n.layoutOf(s),
		scales:  n.scaleOf(s),
		decoder: newDecoder(t),
	}
}

// compileSchema compiles a schema for validation.
func compileSchema(s *jsonschema.Schema) (*validator.Schema, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	c := validator.NewCompiler()
	c.AssertFormat = true
	if err := c.AddResource("reply:", bytes.NewReader(data)); err != nil {
		return nil, err
	}
	return c.Compile("reply:")
}

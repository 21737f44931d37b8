// Package reply holds the contracts of structured replies: what a model is asked to answer, and how its answer is read.
//
// A [Contract] is made once from a Go struct, which is the single source of three things: the JSON Schema that is sent
// to the model, the outline that describes it in a prompt, and the full schema that a reply is held against. The law of
// the package: what [Contract.Parse] returns has been validated, and nothing else is ever returned. In detail:
//
//   - The struct is filled from the very value that was validated, never from the text a second time. What the schema
//     does not know is dropped before.
//   - What a model says while it reasons is no reply, and neither is an object that was not closed.
//   - Faulty syntax is repaired only where that adds nothing and drops nothing: a reply that was cut is never completed.
//   - A reply that does not hold is an *[Invalid] with findings that a model can act on. They are the same for the
//     same text, so that prompts made of them can be replayed.
//   - Size and nesting are capped, and reading is linear in the length of the text, whatever the text is.
package reply

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
)

// Contract is one kind of structured reply. It is safe for concurrent use.
type Contract struct {
	name       string
	newValue   func() any // a new *T
	schemas    func() schemas
	extraCheck func(v any) []string // what With adds; nil where nothing
}

// Reply is a reply that was validated.
type Reply struct {
	Data json.RawMessage // the reply as JSON in its canonical form
	Text string          // a readable summary

	// Repaired says that the syntax had to be corrected, such as a comma too many or a quote that was not escaped.
	Repaired bool
}

// Checker is an optional power of a reply's type: to say what is wrong with a reply that follows its schema. Check
// returns a finding for each fault, such as `/winner: "Zoe" is not a participant`, and may correct the spelling of
// names. The names are those of the participants.
type Checker interface {
	Check(names []string) []string
}

// TextRenderer is an optional power of a reply's type: to sum itself up as plain text. Without it the summary is the JSON.
type TextRenderer interface {
	Text() string
}

// Defaulter is an optional power of a reply's type: to fill its zero value with what is safe to act on where no valid
// reply came.
type Defaulter interface {
	Default(names []string)
}

// New is the contract of replies that are read into a T. The name bears a version, such as "assessment/1".
//
// T is a struct of texts, numbers, booleans, structs and lists of these. Its json tags give the names, a field with
// omitempty or omitzero is optional, jsonschema_description describes it, and jsonschema tags bound it, as in
// package invopop/jsonschema. A *T may be a [Checker], a [Texter] and a [Fallbacker].
//
// New panics when T is of another shape, such as one with maps, bytes or itself inside: that is an error of the program.
// The schemas are made when they are first needed, so that a contract may be a package's variable at no cost; a tag that
// gives no valid schema panics then.
func New[T any](name string) *Contract {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("reply: contract %s: use type %s: a reply is a struct", name, t))
	}
	if err := checkType(t, nil); err != nil {
		panic(fmt.Sprintf("reply: contract %s: %v", name, err))
	}
	return &Contract{
		name:     name,
		newValue: func() any { return new(T) },
		schemas:  sync.OnceValue(func() schemas { return buildSchemas(name, t) }),
	}
}

// WithCheck is the contract with one more check, which is asked after the type's own [Checker] and after earlier ones. The
// check gets the *T. It returns findings as a Checker does, and may correct spelling and fill in what is computed. A
// fallback is shown to it before that is validated, so that it may complete what the type alone cannot know. Name,
// schema and outline stay the same.
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

// Name is the contract's name with its version.
func (c *Contract) Name() string { return c.name }

// Schema is the JSON Schema to send to a provider, in the strict form that most accept: every field required, optional
// ones nullable, no unknown fields, no references, and of all bounds only maxItems and, below 2000, maxLength. Those two
// keep local models from rambling on. An adapter of a server that refuses them removes the two keywords and need change
// nothing else; replies are held against all bounds when they are parsed. The bytes are shared, and not to be changed.
func (c *Contract) Schema() json.RawMessage { return c.schemas().strict }

// Outline describes the fields in plain words for a prompt, one to a line, nested ones indented.
func (c *Contract) Outline() string { return c.schemas().outline }

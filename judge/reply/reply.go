// Package reply holds the contracts of structured replies: what a model is asked to answer, and how its answer is read.
//
// A [Contract] is made once from a Go struct, which is the single source of three things: the JSON Schema that is sent
// to the model, the outline that describes it in a prompt, and the full schema that a reply is held against. The law of
// the package: what [Contract.Parse] returns has been validated, and nothing else is ever returned. In detail:
//
//   - The struct is filled from the very value that was validated, never from the text a second time. What the schema
//     does not know is dropped before.
//   - What a model says while it reasons is no reply, and neither is an object that was not closed.
//   - A reply that does not hold is an *[Invalid] with findings that a model can act on. They are the same for the
//     same text, so that prompts made of them can be replayed.
//   - Size and nesting are capped, and reading is linear in the length of the text, whatever the text is.
package reply

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"
)

// Contract is one kind of structured reply. It is safe for concurrent use.
type Contract struct {
	name  string
	fresh func() any // a new *T
	forms func() forms
}

// Reply is a reply that was validated.
type Reply struct {
	Data json.RawMessage // the reply as JSON in its canonical form
	Text string          // a readable summary
}

// Checker is an optional power of a reply's type: to say what is wrong with a reply that follows its schema. Check
// returns a finding for each fault, such as `/winner: "Zoe" is not a participant`, and may correct the spelling of
// names. The names are those of the participants.
type Checker interface {
	Check(names []string) []string
}

// Texter is an optional power of a reply's type: to sum itself up as plain text. Without it the summary is the JSON.
type Texter interface {
	Text() string
}

// Fallbacker is an optional power of a reply's type: to fill its zero value with what is safe to act on where no valid
// reply came.
type Fallbacker interface {
	Fallback(names []string)
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
	if err := usable(t, nil); err != nil {
		panic(fmt.Sprintf("reply: contract %s: %v", name, err))
	}
	return &Contract{
		name:  name,
		fresh: func() any { return new(T) },
		forms: sync.OnceValue(func() forms { return build(name, t) }),
	}
}

// Name is the contract's name with its version.
func (c *Contract) Name() string { return c.name }

// Schema is the JSON Schema to send to a provider, in the strict form that most accept: every field required, optional
// ones nullable, no unknown fields, no references, and of all bounds only maxItems and, below 2000, maxLength. Those two
// keep local models from rambling on. An adapter of a server that refuses them removes the two keywords and need change
// nothing else; replies are held against all bounds when they are parsed. The bytes are shared, and not to be changed.
func (c *Contract) Schema() json.RawMessage { return c.forms().wire }

// Outline describes the fields in plain words for a prompt, one to a line, nested ones indented.
func (c *Contract) Outline() string { return c.forms().outline }

// Parse reads a model's reply. The names are those of the participants that it may speak of. An error is an *[Invalid].
//
// The reply is the whole text, or else, with reasoning and all that surrounds it left aside, the last JSON object in it
// that follows the schema.
func (c *Contract) Parse(text string, names []string) (Reply, error) {
	objects, err := extract(text)
	if err != nil {
		return Reply{}, err
	}
	value, err := c.choose(objects)
	if err != nil {
		return Reply{}, err
	}
	return c.decode(value, names)
}

// Fallback is the reply to act on where no valid one came. It is validated as any other, and false says that the
// contract has none that holds for these names.
func (c *Contract) Fallback(names []string) (Reply, bool) {
	v, ok := c.fresh().(Fallbacker)
	if !ok {
		return Reply{}, false
	}
	v.Fallback(names)
	data, err := json.Marshal(v)
	if err != nil {
		return Reply{}, false
	}
	r, err := c.Parse(string(data), names)
	return r, err == nil
}

// choose returns the value of the last object that follows the schema; if none does, what is wrong with the last.
func (c *Contract) choose(objects []string) (any, error) {
	var first error
	for _, text := range slices.Backward(objects) {
		value, err := c.validate(text)
		if err == nil {
			return value, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// validate parses one object, holds it against the full schema, and keeps of it what the schema knows.
func (c *Contract) validate(text string) (value any, err error) {
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, invalid(unreadable(text, err)) // a repair of the text would have its try here
	}
	if err := c.forms().full.Validate(value); err != nil {
		return nil, invalid(violations(err)...)
	}
	if findings := c.forms().shape.prune(value, ""); len(findings) > 0 {
		return nil, invalid(findings...)
	}
	return value, nil
}

// decode makes a reply of a validated value. It goes by way of that value's own JSON: in the original text a field may
// stand twice, and encoding/json would merge what the schema has never seen.
func (c *Contract) decode(value any, names []string) (Reply, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return Reply{}, invalid(err.Error())
	}
	v := c.fresh()
	if err := json.Unmarshal(data, v); err != nil {
		return Reply{}, invalid(unreadable("", err))
	}
	if checker, ok := v.(Checker); ok {
		if findings := checker.Check(names); len(findings) > 0 {
			return Reply{}, invalid(findings...)
		}
	}
	return summed(v)
}

// summed is the reply that v holds.
func summed(v any) (Reply, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return Reply{}, invalid(err.Error())
	}
	if t, ok := v.(Texter); ok {
		return Reply{Data: data, Text: t.Text()}, nil
	}
	return Reply{Data: data, Text: string(data)}, nil
}

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
	"slices"
	"sync"
)

// Contract is one kind of structured reply. It is safe for concurrent use.
type Contract struct {
	name  string
	fresh func() any // a new *T
	forms func() forms
	more  func(v any) []string // what With adds; nil where nothing
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
// that follows the schema. Where the last object is not JSON, it is repaired or there is no reply: what stands before it
// is not the model's last word.
//
// Parse cannot see that a model was cut at its token cap after an object that was meant as a draft: ask again with more
// room where a provider reports it, instead of parsing.
func (c *Contract) Parse(text string, names []string) (Reply, error) {
	text, err := body(text)
	if err != nil {
		return Reply{}, err
	}
	value, repaired, err := c.find(text)
	if err != nil {
		return Reply{}, err
	}
	r, err := c.decode(value, names)
	r.Repaired = repaired && err == nil
	return r, err
}

// Fallback is the reply to act on where no valid one came. It is validated as any other, and false says that the
// contract has none that holds for these names.
func (c *Contract) Fallback(names []string) (Reply, bool) {
	v, ok := c.fresh().(Fallbacker)
	if !ok {
		return Reply{}, false
	}
	v.Fallback(names)
	if c.more != nil {
		c.more(v) // what it finds, it finds again
	}
	data, err := json.Marshal(v)
	if err != nil {
		return Reply{}, false
	}
	r, err := c.Parse(string(data), names)
	return r, err == nil
}

// find returns the value of the last object that follows the schema; if none does, what is wrong with the last.
func (c *Contract) find(text string) (value any, repaired bool, err error) {
	objects := []string{text}
	if !whole(text) {
		if objects, err = scan(text, keyed); err != nil {
			return nil, false, err
		}
	}
	var first error = invalid("the reply holds no JSON object: answer with one JSON object and nothing else")
	for i, object := range slices.Backward(objects) {
		value, err := parse(object)
		if err != nil {
			return c.mend(object, err)
		}
		if err = c.validate(value); err == nil {
			return value, false, nil
		}
		if i == len(objects)-1 {
			first = err
		}
	}
	if objects, err = scan(text, likely); err != nil || len(objects) == 0 {
		return nil, false, first
	}
	return c.mend(objects[len(objects)-1], first)
}

// mend returns the value of an object that needs repair, or the error where that does not help. What the schema does
// not know may be a piece of a text that was torn apart, so none of it is allowed.
func (c *Contract) mend(object string, unrepaired error) (any, bool, error) {
	fixed, ok := repair(object)
	if !ok {
		return nil, false, unrepaired
	}
	value, err := parse(fixed)
	if err != nil || c.forms().shape.strange(value) || c.validate(value) != nil {
		return nil, false, unrepaired
	}
	return value, true, nil
}

// parse reads JSON.
func parse(text string) (value any, err error) {
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, invalid(unreadable(text, err))
	}
	return value, nil
}

// validate holds a value against the full schema, and keeps of it what the schema knows.
func (c *Contract) validate(value any) error {
	if err := c.forms().full.Validate(value); err != nil {
		return invalid(violations(err)...)
	}
	if findings := c.forms().shape.prune(value, ""); len(findings) > 0 {
		return invalid(findings...)
	}
	return nil
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
	if findings := c.check(v, names); len(findings) > 0 {
		return Reply{}, invalid(findings...)
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

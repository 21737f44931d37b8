package reply

import (
	"encoding/json"
	"reflect"
	"slices"
)

// Parse reads a model's reply. The names are those of the participants that it may speak of. An error is an *[Invalid].
//
// The reply is the whole text, or else, with reasoning and all that surrounds it left aside, the last JSON object in it
// that follows the schema. Where the last object is not JSON, it is repaired or there is no reply: what stands before it
// is not the model's last word.
//
// Parse cannot see that a model was cut at its token cap after an object that was meant as a draft: ask again with more
// room where a provider reports it, instead of parsing.
func (c *Contract) Parse(text string, names []string) (Reply, error) {
	text, err := unwrapReply(text)
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

// Default is the reply to act on where no valid one came. It is validated as any other, and false says that the
// contract has none that holds for these names.
func (c *Contract) Default(names []string) (Reply, bool) {
	v, ok := c.newValue().(Defaulter)
	if !ok {
		return Reply{}, false
	}
	v.Default(names)
	if c.extraCheck != nil {
		c.extraCheck(v) // what it finds, it finds again
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
	if !isObject(text) {
		if objects, err = findObjects(text, startsQuotedKey); err != nil {
			return nil, false, err
		}
	}
	if len(objects) == 0 {
		err = newInvalid("the reply holds no JSON object: answer with one JSON object and nothing else")
	}
	first := err
	for i, object := range slices.Backward(objects) {
		value, err := parseJSON(object)
		if err != nil {
			return c.repairObject(object, err)
		}
		if err = c.validate(value); err == nil {
			return value, false, nil
		}
		if i == len(objects)-1 {
			first = err
		}
	}
	if objects, err = findObjects(text, startsAnyKey); err != nil || len(objects) == 0 {
		return nil, false, first
	}
	return c.repairObject(objects[len(objects)-1], first)
}

// repairObject returns the value of an object that needs repair, or the error where that does not help. What the schema does
// not know may be a piece of a text that was torn apart, so none of it is allowed.
func (c *Contract) repairObject(object string, unrepaired error) (any, bool, error) {
	fixed, ok := repair(object)
	if !ok {
		return nil, false, unrepaired
	}
	value, err := parseJSON(fixed)
	if err != nil || c.schemas().known.hasUnknown(value) || c.validate(value) != nil {
		return nil, false, unrepaired
	}
	return value, true, nil
}

// parseJSON reads JSON.
func parseJSON(text string) (value any, err error) {
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, newInvalid(describeJSONError(text, err))
	}
	return value, nil
}

// validate holds a value against the full schema, and keeps of it what the schema knows.
func (c *Contract) validate(value any) error {
	if err := c.schemas().validator.Validate(value); err != nil {
		return newInvalid(schemaViolations(err)...)
	}
	if findings := c.schemas().known.prune(value, ""); len(findings) > 0 {
		return newInvalid(findings...)
	}
	return nil
}

// decode makes a reply of a validated value.
func (c *Contract) decode(value any, names []string) (Reply, error) {
	v, err := c.fill(value)
	if err != nil {
		return Reply{}, err
	}
	if findings := c.check(v, names); len(findings) > 0 {
		return Reply{}, newInvalid(findings...)
	}
	return newReply(v)
}

// fill returns a new *T with a validated value. It reads the value and not the original text, in which a field may stand
// twice: encoding/json would merge what the schema has never seen.
func (c *Contract) fill(value any) (any, error) {
	v := c.newValue()
	if d := c.schemas().decoder; d != nil && d.set(reflect.ValueOf(v).Elem(), value) {
		return v, nil
	}
	data, err := json.Marshal(value)
	if err != nil {
		return nil, newInvalid(err.Error())
	}
	v = c.newValue()
	if err := json.Unmarshal(data, v); err != nil {
		return nil, newInvalid(describeJSONError("", err))
	}
	return v, nil
}

// check is all that is wrong with a reply that follows its schema.
func (c *Contract) check(v any, names []string) (findings []string) {
	if checker, ok := v.(Checker); ok {
		findings = checker.Check(names)
	}
	if c.extraCheck != nil {
		findings = append(findings, c.extraCheck(v)...)
	}
	return findings
}

// newReply is the reply that v holds.
func newReply(v any) (Reply, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return Reply{}, newInvalid(err.Error())
	}
	if t, ok := v.(TextRenderer); ok {
		return Reply{Data: data, Text: t.Text()}, nil
	}
	return Reply{Data: data, Text: string(data)}, nil
}

package reply

import (
	"encoding/json"
	"reflect"
	"slices"
)

// Parse reads a model's reply. names are the participants that the reply may name. The error is an *[Invalid].
//
// The reply is the whole text if that is one JSON object. Otherwise Parse skips reasoning and surrounding text and
// uses the last JSON object that follows the schema. If the last object has a syntax error, Parse repairs that object
// or fails: an earlier object is not the model's final answer.
//
// Parse does not notice if a model reached its token limit after an object that was only a draft. If a provider
// reports that, do not parse the reply: ask again with a higher limit.
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

// Default returns the reply to act on when there is no valid reply. It is validated like any other reply. Default
// returns false if the contract has no default that is valid for these names.
func (c *Contract) Default(names []string) (Reply, bool) {
	v, ok := c.newValue().(Defaulter)
	if !ok {
		return Reply{}, false
	}
	v.Default(names)
	if c.extraCheck != nil {
		c.extraCheck(v) // Parse reports its violations
	}
	data, err := json.Marshal(v)
	if err != nil {
		return Reply{}, false
	}
	r, err := c.Parse(string(data), names)
	return r, err == nil
}

// find returns the value of the last object that follows the schema. If there is none, it returns the violations of
// the last object.
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

// repairObject returns the value of an object after repair, or the error unrepaired if repair does not help. The
// repaired object must not have unknown properties, because such a property may be part of a string that was split.
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

// parseJSON decodes JSON.
func parseJSON(text string) (value any, err error) {
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, newInvalid(describeJSONError(text, err))
	}
	return value, nil
}

// validate validates a value against the full schema and removes unknown properties.
func (c *Contract) validate(value any) error {
	if err := c.schemas().validator.Validate(value); err != nil {
		findings := c.schemas().known.prune(value, "") // a missing property may be misspelled
		return newInvalid(append(schemaViolations(err), findings...)...)
	}
	if findings := c.schemas().known.prune(value, ""); len(findings) > 0 {
		return newInvalid(findings...)
	}
	return nil
}

// decode makes a reply from a validated value.
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

// fill returns a new *T that holds a validated value. It reads the value, not the original text: the text could have the
// same field twice, and encoding/json would merge data that was never validated.
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

// check returns all violations of a reply that follows its schema.
func (c *Contract) check(v any, names []string) (findings []string) {
	if checker, ok := v.(Checker); ok {
		findings = checker.Check(names)
	}
	if c.extraCheck != nil {
		findings = append(findings, c.extraCheck(v)...)
	}
	return findings
}

// newReply returns the reply with the data of v.
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

package reply

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
)

// Parse reads a model's reply. names are the participants that the reply may name. The error is an *[Invalid].
//
// The reply is the whole text if that is one JSON object. Otherwise Parse skips reasoning and surrounding text and reads
// the JSON object that follows the schema. If the only object is in Python's notation or has superfluous commas, Parse repairs
// it. Parse fails
// if the text may mean two replies: if an object in it contradicts the reply, or if a property has two different values.
//
// Parse does not notice if a model reached its token limit after an object that was only a draft. If a provider
// reports that, do not parse the reply: ask again with a higher limit.
func (c *Contract) Parse(text string, names []string) (Reply, error) {
	r, err := c.parse(text, names)
	return r, c.withRules(err, text)
}

func (c *Contract) parse(text string, names []string) (Reply, error) {
	text, err := unwrapReply(text)
	if err != nil {
		return Reply{}, err
	}
	said, repaired, err := c.find(text)
	if err != nil {
		return Reply{}, err
	}
	r, err := c.decode(said, names)
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

// find returns the content of the reply in a text.
func (c *Contract) find(text string) (said content, repaired bool, err error) {
	if isObject(text) {
		if object, err := parseObject(text); err == nil {
			said = read(c, object)
			return said, false, c.validate(&said)
		}
	}
	objects, err := findObjects(text, c.schemas().keys)
	switch {
	case err != nil:
		return said, false, err
	case len(objects) == 0:
		return said, false, newInvalid("the reply holds no JSON object: answer with one JSON object and nothing else")
	case slices.ContainsFunc(objects, func(o object) bool { return o.err != nil }):
		said, err = c.repairOnly(text, objects)
		return said, err == nil, err
	}
	said, err = c.choose(objects)
	return said, false, err
}

// choose returns the last object that follows the schema. If there is none, it returns the violations of the last
// object. It returns an error if another object contradicts the chosen one, because either could be the model's answer.
func (c *Contract) choose(objects []object) (chosen content, err error) {
	replies := slices.DeleteFunc(slices.Clone(objects), c.isOther)
	if len(replies) == 0 {
		replies = objects
	}
	for i := range replies {
		o := &replies[i]
		o.misspelled = c.schemas().known.hasMisspelled(o.value)
		o.content = read(c, o.value)
		if o.err = c.validate(&o.content); o.err == nil {
			chosen = o.content
		}
	}
	if chosen.value == nil {
		return chosen, replies[len(replies)-1].err
	}
	for _, o := range replies {
		if c.contradicts(o, chosen.value) {
			return chosen, newInvalid("the reply holds JSON objects that contradict each other: answer with one JSON object and nothing else")
		}
	}
	return chosen, nil
}

// isOther reports whether an object cannot be a reply, because it has no known property in any spelling.
func (c *Contract) isOther(o object) bool {
	return o.err == nil && !c.schemas().known.hasKnown(o.value)
}

// contradicts reports whether an object may mean another reply than the chosen one. Both are validated, so they have only
// known properties. An object that has every required property but does not follow the schema always may. An object that
// lacks one may have values that the schema does not allow: it is an example of the format, such as {"winner": "PRO|CON"}.
func (c *Contract) contradicts(o object, chosen map[string]any) bool {
	if o.err == nil {
		return differ(o.value, chosen) || differ(chosen, o.value)
	}
	schema := c.schemas().validator
	incomplete := slices.ContainsFunc(schema.Required, func(name string) bool { _, ok := o.value[name]; return !ok })
	if o.misspelled || !incomplete {
		return true
	}
	for name, value := range o.value {
		if !reflect.DeepEqual(value, chosen[name]) && schema.Properties[name].Validate(value) == nil {
			return true
		}
	}
	return false
}

// differ reports whether a has a property that b does not have with the same value. A property that is null is the same as
// none.
func differ(a, b map[string]any) bool {
	for name, value := range a {
		if !reflect.DeepEqual(value, b[name]) {
			return true
		}
	}
	return false
}

// repairOnly returns the content of the only object in a text that can be a reply, after repair.
func (c *Contract) repairOnly(text string, objects []object) (content, error) {
	objects = slices.DeleteFunc(objects, c.isOther)
	var err error
	for _, o := range objects {
		err = cmp.Or(o.err, err)
	}
	if only := objects[0]; len(objects) == 1 && only.end > 0 {
		if said, ok := c.repairObject(text[only.start:only.end]); ok {
			return said, nil
		}
	}
	return content{}, err
}

// repairObject returns the content of an object after repair. The repaired object must not have unknown properties,
// because such a property may be part of a string with an apostrophe.
func (c *Contract) repairObject(object string) (said content, ok bool) {
	fixed, ok := repair(object)
	if !ok {
		return said, false
	}
	value, err := parseObject(fixed)
	if err != nil {
		return said, false
	}
	said = read(c, value)
	return said, !c.schemas().known.hasUnknown(said.value) && c.validate(&said) == nil
}

// validate validates a reply against the full schema and removes unknown properties.
func (c *Contract) validate(said *content) error {
	var findings []string
	if err := c.schemas().validator.Validate(said.value); err != nil {
		findings = schemaViolations(err)
	}
	findings = append(findings, c.schemas().known.prune(said.value, "")...) // a missing property may be misspelled
	if findings = append(said.relocate(findings), said.wrong...); len(findings) > 0 {
		return newInvalid(findings...)
	}
	return nil
}

// decode makes a reply from validated content.
func (c *Contract) decode(said content, names []string) (Reply, error) {
	v, err := c.fill(said.value)
	if err != nil {
		return Reply{}, err
	}
	if findings := c.check(v, names); len(findings) > 0 {
		return Reply{}, newInvalid(said.relocate(findings)...)
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

package reply

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
)

// Parse reads a model's reply. names are the participants that the reply may name. left are the participants who have spoken and
// left: the reply may name them only as speakers; see [SpeakerChecker]. The error is an *[Invalid].
//
// The reply is the whole text if that is one JSON object. Otherwise Parse skips reasoning and surrounding text and reads
// the JSON object that follows the schema. If that is inside other objects, lists or texts, such as the arguments of a call,
// Parse reads it where it is. A number may be a text, with the scale of its field: "8/10" where the maximum is 10. If the only
// object is in Python's notation or has superfluous commas, Parse repairs it.
//
// Parse fails if the text may mean two replies: if an object in it contradicts the reply, or if a property has two different
// values.
//
// Parse does not notice if a model reached its token limit after an object that was only a draft. If a provider
// reports that, do not parse the reply: ask again with a higher limit.
func (c *Contract) Parse(text string, names []string, left ...string) (Reply, error) {
	r, err := c.parse(text, names, left)
	return r, c.withRules(err, text)
}

func (c *Contract) parse(text string, names, left []string) (Reply, error) {
	text, err := unwrapReply(text, c.reading().known)
	if err != nil {
		return Reply{}, err
	}
	said, repaired, err := c.find(text)
	if err != nil {
		return Reply{}, err
	}
	r, err := c.decode(said, names, left)
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
		if value, err := parseObject(text); err == nil {
			said, err = c.choose([]object{{text: text, value: value}})
			return said, false, err
		}
	}
	objects, err := findObjects(text, c.reading().keys)
	switch {
	case err != nil:
		return said, false, err
	case len(objects) == 0:
		return said, false, newInvalid("the reply holds no JSON object: answer with one JSON object and nothing else")
	case slices.ContainsFunc(objects, func(o object) bool { return o.err != nil }):
		said, err = c.repairOnly(objects)
		return said, err == nil, err
	}
	said, err = c.choose(objects)
	return said, false, err
}

// choose returns the last object that follows the schema. If there is none, it returns the violations of the last
// object. It returns an error if another object contradicts the chosen one, because either could be the model's answer.
func (c *Contract) choose(objects []object) (chosen content, err error) {
	replies, err := c.open(objects)
	if err != nil {
		return chosen, err
	}
	for i := range replies {
		if replies[i].err == nil {
			chosen = replies[i].content
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

// open returns the objects that may be the reply, and examines them. Models put a reply into further objects, or call a tool with
// it, so an object without a known property stands for those inside it. An object with a known property stands for itself. If it
// does not follow the schema, those inside it count too, and those inside others do, if they follow the schema.
func (c *Contract) open(objects []object) (replies []object, err error) {
	var inside []object
	for _, o := range objects {
		known := c.reading().known.hasKnown(o.value)
		if known {
			c.examine(&o)
			replies = append(replies, o)
		}
		switch {
		case !known:
			inside = append(inside, c.inside(o.value)...)
		case o.err != nil:
			value, _ := parseObject(o.text) // as before, without an error; examine has changed that value
			inside = append(inside, c.inside(value)...)
			maps.DeleteFunc(o.value, c.isFurther)
		}
	}
	if len(replies)+len(inside) > maxObjects {
		return nil, tooManyObjects()
	}
	direct := len(replies) > 0
	for _, o := range inside {
		c.examine(&o)
		if o.err == nil || !direct {
			replies = append(replies, o)
		}
	}
	if len(replies) > 0 {
		return replies, nil
	}
	for i := range objects {
		c.examine(&objects[i])
	}
	return objects, nil
}

// examine validates an object, and sets its content and what is wrong with it. An object that cannot be decoded stays as it is.
func (c *Contract) examine(o *object) {
	if o.err != nil {
		return
	}
	o.misspelled = c.misspells(o.value)
	o.content = read(c, o.value)
	o.content.outer = o.outer
	o.err = c.validate(&o.content)
}

// isOther reports whether an object cannot be a reply, because it has no known property in any spelling.
func (c *Contract) isOther(o object) bool {
	return o.err == nil && !c.reading().known.hasKnown(o.value)
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

// repairOnly returns the content of the only object that can be a reply, after repair.
func (c *Contract) repairOnly(objects []object) (content, error) {
	objects = slices.DeleteFunc(objects, c.isOther)
	var err error
	for _, o := range objects {
		err = cmp.Or(o.err, err)
	}
	if only := objects[0]; len(objects) == 1 && only.text != "" {
		return c.repairObject(only.text, err)
	}
	return content{}, err
}

// repairObject returns the content of an object after repair. broken is the error of the object as it is, which says where
// its syntax is wrong. It is returned for an object that cannot be repaired. For an object that can, the error says what is
// wrong with its values.
//
// The repaired object must not have unknown properties, because such a property may be part of a string with an apostrophe.
// Its error then says both.
func (c *Contract) repairObject(text string, broken error) (said content, err error) {
	fixed, ok := repair(text)
	if !ok {
		return said, broken
	}
	value, err := parseObject(fixed)
	if err != nil {
		return said, err
	}
	value, outer := c.unwrapRepaired(value)
	said = read(c, value)
	said.outer = outer
	unknown := c.reading().known.hasUnknown(said.value)
	err = c.validate(&said)
	if unknown {
		return said, bothInvalid(broken, err)
	}
	return said, err
}

// validate validates a reply against the full schema and removes unknown properties.
func (c *Contract) validate(said *content) error {
	var findings []string
	if err := c.schemas().validator.Validate(said.value); err != nil {
		findings = schemaViolations(err)
	}
	findings = append(findings, c.reading().known.prune(said.value, "")...) // a missing property may be misspelled
	findings = append(said.relocate(findings), said.wrong...)
	if len(findings) > 0 {
		return newInvalid(said.within(findings)...)
	}
	return nil
}

// decode makes a reply from validated content.
func (c *Contract) decode(said content, names, left []string) (Reply, error) {
	v, err := c.fill(said.value)
	if err != nil {
		return Reply{}, err
	}
	if findings := c.check(v, names, left); len(findings) > 0 {
		return Reply{}, newInvalid(said.within(said.relocate(findings))...)
	}
	return newReply(v)
}

// fill returns a new *T that holds a validated value. It reads the value, not the original text: the text could have the
// same field twice, and encoding/json would merge data that was never validated.
func (c *Contract) fill(value any) (any, error) {
	v := c.newValue()
	if d := c.reading().decoder; d != nil && d.set(reflect.ValueOf(v).Elem(), value) {
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
func (c *Contract) check(v any, names, left []string) (findings []string) {
	if checker, ok := v.(SpeakerChecker); ok {
		findings = checker.CheckSpeakers(slices.Concat(names, left))
	}
	if checker, ok := v.(Checker); ok {
		findings = append(findings, checker.Check(names)...)
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

package inspector

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate"
)

// An ask is a step for which the debate asks the visitor. A structured reply has a field for each property of its schema.
type ask struct {
	debate.Asked
	Inputs []input // empty for free text
}

// An input is a part of a reply in a form.
type input struct {
	Name     string // how the form sends it: the type and the place in the reply, such as "number:scores/#0/score"
	Label    string
	Help     string
	Type     string // "text", "number", "integer", "boolean", "choice", "lines" for a list of texts, "fixed", "group", or "json" for anything else
	Value    string // of an input that is fixed
	Choices  []string
	Required bool
	Parts    []input // of a group
}

// askOf returns the form of what is asked.
func askOf(a debate.Asked) ask {
	var s schema
	if a.Contract == "" || json.Unmarshal(a.Schema, &s) != nil {
		return ask{Asked: a}
	}
	inputs := s.inputs(s.resolve(s), "")
	if len(inputs) == 0 {
		inputs = []input{{Name: "reply", Label: "Reply in JSON", Type: "json", Required: true}}
	}
	return ask{a, inputs}
}

// inputs returns an input for each property of an object at a place in the reply.
func (s schema) inputs(object schema, at string) (list []input) {
	for _, name := range object.Properties.names {
		p := object.Properties.byName[name]
		in := s.input(p.resolve(s), at+name, name, slices.Contains(object.Required, name) && !p.isOptional())
		in.Help = cmp.Or(in.Help, p.Description) // an optional value has it beside its type
		list = append(list, in)
	}
	return list
}

// input returns the input for a value.
func (s schema) input(p schema, at, name string, required bool) input {
	in := input{Label: strings.ReplaceAll(name, "_", " "), Help: p.Description, Required: required, Type: "json"}
	kind := p.kind()
	if strings.Count(at, "/") > maxDepth {
		kind = ""
	}
	switch kind {
	case "string":
		in.Type = "text"
		in.Choices = p.choices()
		if len(in.Choices) > 0 {
			in.Type = "choice"
		}
	case "number", "integer", "boolean":
		in.Type = kind
	case "object":
		in.Type, in.Parts = "group", s.inputs(p, at+"/")
	case "array":
		if p.Items == nil {
			break
		}
		items := p.Items.resolve(s)
		in.Parts = s.each(items, at)
		if len(in.Parts) > 0 {
			in.Type = "group"
		} else if items.kind() == "string" {
			in.Type = "lines"
		}
	}
	in.Name = in.Type + ":" + at
	return in
}

const (
	maxEach  = 20 // objects of a list that a form has inputs for
	maxDepth = 8  // objects within one another
	maxPlace = 16 // slashes in the place of a value, which are more than those of any input
)

// each returns a group of inputs for each object of a list, if a property tells which objects there are, such as the name of
// a participant. Otherwise it returns none.
func (s schema) each(items schema, at string) (list []input) {
	for _, name := range items.Properties.names {
		choices := items.Properties.byName[name].resolve(s).choices()
		if len(choices) == 0 || len(choices) > maxEach {
			continue
		}
		for i, choice := range choices {
			place, label := at+"/#"+strconv.Itoa(i)+"/", strings.ReplaceAll(choice, "_", " ")
			parts := slices.DeleteFunc(s.inputs(items, place), func(in input) bool { return in.Name == "choice:"+place+name })
			list = append(list, input{Name: "fixed:" + place + name, Type: "fixed", Value: choice})
			if len(parts) == 1 { // it needs no group of its own
				parts[0].Label = label
				list = append(list, parts...)
			} else {
				list = append(list, input{Label: label, Type: "group", Parts: parts})
			}
		}
		return list
	}
	return nil
}

// A schema is the part of a JSON Schema that forms use.
type schema struct {
	Ref         string            `json:"$ref"`
	Defs        map[string]schema `json:"$defs"`
	Type        any               `json:"type"` // a name or a list of names
	Description string            `json:"description"`
	Enum        []any             `json:"enum"`
	Properties  properties        `json:"properties"`
	Required    []string          `json:"required"`
	Items       *schema           `json:"items"`
	AnyOf       []schema          `json:"anyOf"`
}

// properties keeps the order of a schema.
type properties struct {
	names  []string
	byName map[string]schema
}

// UnmarshalJSON decodes an object and keeps its order.
func (p *properties) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, &p.byName); err != nil {
		return err
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	if _, err := d.Token(); err != nil { // {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		p.names = append(p.names, name.(string)) //nolint:forcetypeassert // the names of an object are strings
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
	}
	return nil
}

// resolve returns what a schema refers to within the whole schema. Of the choices of an optional value, it returns the one
// that is not null.
func (s schema) resolve(whole schema) schema {
	for range maxDepth {
		if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
			s = whole.Defs[name]
			continue
		}
		at := slices.IndexFunc(s.AnyOf, func(one schema) bool { return one.Type != "null" })
		if at < 0 {
			return s
		}
		s = s.AnyOf[at]
	}
	return schema{}
}

// isOptional reports whether the value may be null.
func (s schema) isOptional() bool {
	types, _ := s.Type.([]any)
	return slices.Contains(types, any("null")) || slices.ContainsFunc(s.AnyOf, func(one schema) bool { return one.Type == "null" })
}

// kind returns the type of the value, apart from null.
func (s schema) kind() string {
	switch t := s.Type.(type) {
	case string:
		return t
	case []any:
		for _, one := range t {
			if name, ok := one.(string); ok && name != "null" {
				return name
			}
		}
	}
	return ""
}

// choices returns the texts that the value may be.
func (s schema) choices() (list []string) {
	for _, one := range s.Enum {
		if text, ok := one.(string); ok {
			list = append(list, text)
		}
	}
	return list
}

// replyOf returns the reply in a form: the text of its field "reply", or a JSON object of the other fields. The library
// checks the reply, so this only finds what is no value of its type.
func replyOf(f map[string][]string) (string, error) {
	if text, ok := f["reply"]; ok {
		return text[0], nil
	}
	object := map[string]any{}
	for name, values := range f {
		kind, at, ok := strings.Cut(name, ":")
		if !ok {
			continue
		}
		if strings.Count(at, "/") > maxPlace {
			return "", invalid("reply", "a field is more than %d levels deep", maxPlace)
		}
		value, err := valueOf(kind, at, strings.TrimSpace(values[len(values)-1]))
		if err != nil {
			return "", err
		}
		if value != nil {
			put(object, strings.Split(at, "/"), value)
		}
	}
	b, err := json.Marshal(listsOf(object))
	return string(b), err
}

// put puts a value at a place within an object.
func put(object map[string]any, at []string, value any) {
	for ; len(at) > 1; at = at[1:] {
		inner, ok := object[at[0]].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[at[0]] = inner
		}
		object = inner
	}
	object[at[0]] = value
}

// listsOf returns a value in which the objects whose properties are "#0", "#1" and so on are lists.
func listsOf(value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	var places []int
	for name, inner := range object {
		object[name] = listsOf(inner)
		if n, err := strconv.Atoi(strings.TrimPrefix(name, "#")); err == nil && strings.HasPrefix(name, "#") {
			places = append(places, n)
		}
	}
	if len(places) == 0 || len(places) < len(object) {
		return object
	}
	slices.Sort(places)
	list := make([]any, len(places))
	for i, n := range places {
		list[i] = object["#"+strconv.Itoa(n)]
	}
	return list
}

// valueOf returns the value of an input, or nil if it is left empty.
func valueOf(kind, property, text string) (any, error) {
	switch {
	case kind == "boolean" && text != "":
		return text == "true", nil
	case kind == "lines":
		list := []string{}
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if line != "" {
				list = append(list, line)
			}
		}
		return list, nil
	case text == "":
		return nil, nil //nolint:nilnil // no value and no error
	case kind == "number" || kind == "integer":
		if _, err := strconv.ParseFloat(text, 64); err != nil || !json.Valid([]byte(text)) {
			return nil, invalid(property, "%q is not a number", text)
		}
		return json.Number(text), nil
	case kind == "json":
		if !json.Valid([]byte(text)) {
			return nil, invalid(property, "it is not JSON")
		}
		return json.RawMessage(text), nil
	}
	return text, nil
}

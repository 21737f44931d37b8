package inspector

import (
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
	Name     string // how the form sends it: the type and the property, such as "number:score"
	Label    string
	Help     string
	Type     string // "text", "number", "integer", "boolean", "choice", "lines" for a list of texts, or "json" for anything else
	Choices  []string
	Required bool
}

// askOf returns the form of what is asked.
func askOf(a debate.Asked) ask {
	var s schema
	if a.Contract == "" || json.Unmarshal(a.Schema, &s) != nil {
		return ask{Asked: a}
	}
	root := s.resolve(s)
	list := ask{Asked: a}
	for _, name := range root.Properties.names {
		p := root.Properties.byName[name].resolve(s)
		in := input{Label: name, Help: p.Description, Type: p.input(s), Choices: p.choices(), Required: slices.Contains(root.Required, name)}
		in.Name = in.Type + ":" + name
		list.Inputs = append(list.Inputs, in)
	}
	if len(list.Inputs) == 0 {
		list.Inputs = []input{{Name: "reply", Label: "Reply in JSON", Type: "json", Required: true}}
	}
	return list
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

// resolve returns what a schema refers to within the whole schema.
func (s schema) resolve(whole schema) schema {
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		return whole.Defs[name]
	}
	for _, one := range s.AnyOf { // an optional value is null or something else
		if one.Type != "null" {
			return one.resolve(whole)
		}
	}
	return s
}

// input returns the type of the input for a value.
func (s schema) input(whole schema) string {
	if len(s.choices()) > 0 {
		return "choice"
	}
	switch s.kind() {
	case "string":
		return "text"
	case "number", "integer", "boolean":
		return s.kind()
	case "array":
		if s.Items != nil && s.Items.resolve(whole).kind() == "string" {
			return "lines"
		}
	}
	return "json"
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
		kind, property, ok := strings.Cut(name, ":")
		if !ok {
			continue
		}
		value, err := valueOf(kind, property, strings.TrimSpace(values[len(values)-1]))
		if err != nil {
			return "", err
		}
		if value != nil {
			object[property] = value
		}
	}
	b, err := json.Marshal(object)
	return string(b), err
}

// valueOf returns the value of an input, or nil if it is left empty.
func valueOf(kind, property, text string) (any, error) {
	switch {
	case kind == "boolean":
		return text == "true", nil
	case kind == "lines":
		list := []string{}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
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

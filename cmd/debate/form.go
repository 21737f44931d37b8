package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/cmd/debate/internal/view"
)

// form asks a person for the fields of a reply, one after another.
type form struct {
	*program
	before map[string]string // what the person has entered by field; the form offers it when it asks again
}

// field describes a field of a form. It is a JSON Schema, of which it has what the library's contracts use.
type field struct {
	Type        string     `json:"type"`
	Description string     `json:"description"`
	Enum        choices    `json:"enum"`
	AnyOf       []field    `json:"anyOf"` // for an optional field: the field, and null
	Properties  properties `json:"properties"`
	Items       *field     `json:"items"`
	MinItems    int        `json:"minItems"`
	MaxItems    int        `json:"maxItems"`
}

// choices holds the texts that a field may have. It is nil if the field may have numbers, which the library checks.
type choices []string

// UnmarshalJSON leaves out numbers.
func (l *choices) UnmarshalJSON(b []byte) error {
	var list []any
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	for _, v := range list {
		if text, ok := v.(string); ok {
			*l = append(*l, text)
		}
	}
	return nil
}

// properties holds the fields of an object, in order.
type properties []property

type property struct {
	name string
	field
}

// UnmarshalJSON keeps the order of the properties.
func (l *properties) UnmarshalJSON(b []byte) error {
	in := json.NewDecoder(bytes.NewReader(b))
	if _, err := in.Token(); err != nil {
		return err
	}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return err
		}
		p := property{name: fmt.Sprint(name)}
		if err := in.Decode(&p.field); err != nil {
			return err
		}
		*l = append(*l, p)
	}
	return nil
}

// read asks for a reply, as a text or field by field.
func (f form) read(a debate.Asked) (string, error) {
	if len(a.Schema) == 0 {
		text, err := f.readText(fmt.Sprintf("your reply, at most %d tokens; an empty line ends it", a.Tokens), f.before[""])
		f.before[""] = text
		return text, err
	}
	var schema field
	if err := json.Unmarshal(a.Schema, &schema); err != nil {
		return "", fmt.Errorf("read the form of %s: %w", a.Contract, err)
	}
	value, err := f.ask("", schema, false)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(value)
	return string(b), err
}

// ask asks for the value of a field. path names the field.
func (f form) ask(path string, s field, optional bool) (any, error) {
	switch {
	case len(s.AnyOf) > 0:
		inner := s.AnyOf[0]
		inner.Description = s.Description
		return f.ask(path, inner, true)
	case s.Type == "object":
		return f.askObject(path, s)
	case s.Type == "array" && s.Items == nil:
		return nil, fmt.Errorf("read the form: the list %q has no items", path)
	case s.Type == "array" && s.Items.Type == "object":
		return f.askEntries(path, s)
	case s.Type == "array":
		return f.askList(path, s, optional)
	}
	return f.askValue(path, s, optional)
}

// askObject asks for the fields of an object.
func (f form) askObject(path string, s field) (any, error) {
	object := map[string]any{}
	if path != "" && s.Description != "" { // the fields may have no description of their own
		fmt.Fprintln(f.stderr, view.Wrap(f.terminal, path+": "+s.Description))
	}
	for _, p := range s.Properties {
		at := strings.ReplaceAll(p.name, "_", " ")
		if path != "" {
			at = path + ", " + at
		}
		v, err := f.ask(at, p.field, false)
		if err != nil {
			return nil, err
		}
		object[p.name] = v
	}
	return object, nil
}

// askEntries asks for a list of objects.
func (f form) askEntries(path string, s field) (any, error) {
	list := []any{}
	for i := 1; s.MaxItems == 0 || i <= s.MaxItems; i++ {
		at := fmt.Sprintf("%s %d", path, i)
		if i > s.MinItems {
			more, err := f.askValue(at+": is there one?", field{Type: "boolean", Description: s.Description}, false)
			if err != nil || more == false {
				return list, err
			}
		}
		v, err := f.askObject(at, *s.Items)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// askList asks for a list of texts, one on each line.
func (f form) askList(path string, s field, optional bool) (any, error) {
	var list []any
	for i := 1; s.MaxItems == 0 || i <= s.MaxItems; i++ {
		item := *s.Items
		item.Description = s.Description
		v, err := f.askValue(fmt.Sprintf("%s %d", path, i), item, i > s.MinItems || optional)
		if err != nil {
			return nil, err
		}
		if v == nil {
			break
		}
		list = append(list, v)
	}
	if list == nil && !optional {
		list = []any{}
	}
	return list, nil
}

// askValue asks for a text, a number, a boolean or one of several names until the line is one. An empty line keeps what was
// entered before, or leaves out an optional field, as a hyphen does.
func (f form) askValue(path string, s field, optional bool) (any, error) {
	for {
		line, err := f.readCommand(f.label(path, s, optional))
		if err != nil {
			return nil, err
		}
		if line == "/edit" && s.hint() == "" {
			line, err = f.edit(f.before[path])
			if err != nil {
				f.warnf("%v", err)
				continue
			}
		}
		if line == "" {
			line = f.before[path]
		}
		if optional && (line == "" || line == "-") {
			delete(f.before, path)
			return nil, nil //nolint:nilnil // it is null
		}
		v, problem := s.parse(line)
		if problem == "" {
			f.before[path] = line
			return v, nil
		}
		fmt.Fprintf(f.stderr, "not valid: %s\n", problem)
	}
}

// label returns the question for a field.
func (f form) label(path string, s field, optional bool) string {
	text := path
	if s.Description != "" {
		text += ": " + s.Description
	}
	hints := []string{s.hint()}
	if optional {
		hints = append(hints, "optional")
	}
	if was := f.before[path]; was != "" {
		hints = append(hints, "Enter keeps "+printableLine(was))
		if optional {
			hints = append(hints, "- leaves it out")
		}
	}
	if hint := strings.Join(slices.DeleteFunc(hints, func(h string) bool { return h == "" }), ", "); hint != "" {
		text += " (" + hint + ")"
	}
	return view.Wrap(f.terminal, text) + "\n> "
}

// hint describes what to enter, or is empty for a text.
func (s field) hint() string {
	switch {
	case len(s.Enum) > 0:
		var list []string
		for i, name := range s.Enum {
			list = append(list, fmt.Sprintf("%d %s", i+1, name))
		}
		return strings.Join(list, ", ")
	case s.Type == "boolean":
		return "y or n"
	case s.Type == "number" || s.Type == "integer":
		return "a number"
	}
	return ""
}

// parse returns the value of a line, or what is wrong with it.
func (s field) parse(line string) (v any, problem string) {
	switch {
	case len(s.Enum) > 0:
		if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(s.Enum) && !slices.Contains(s.Enum, line) {
			return s.Enum[n-1], ""
		}
		if slices.Contains(s.Enum, line) {
			return line, ""
		}
		return nil, fmt.Sprintf("%q is none of %s", line, s.hint())
	case s.Type == "boolean":
		switch strings.ToLower(line) {
		case "y", "yes":
			return true, ""
		case "n", "no":
			return false, ""
		}
		return nil, fmt.Sprintf("%q is not y or n", line)
	case s.Type == "integer":
		if n, err := strconv.Atoi(line); err == nil {
			return n, ""
		}
		return nil, fmt.Sprintf("%q is not a whole number", line)
	case s.Type == "number":
		if json.Valid([]byte(line)) {
			if n, err := strconv.ParseFloat(line, 64); err == nil {
				return n, ""
			}
		}
		return nil, fmt.Sprintf("%q is not a number", line)
	}
	return line, ""
}

package eval

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/runs"
)

// Format says how tasks are written in a file. The zero Format is JSON Lines with the names of the fields of [Task].
// "question" is another name of the topic. Other fields are ignored.
type Format struct {
	// Name is "jsonl" (the default), or the name of a data set whose files are read as its authors publish them: "gsm8k" (JSON
	// Lines, gold after ####), "mmlu" and "truthfulqa" (CSV), "quality" (JSON Lines of articles with questions), or "llmbar"
	// (a JSON array of pairs of answers, of which the better one is to be chosen).
	Name string
	// Fields maps names of fields of Task, such as "topic" and "gold", to those in the file. It is for JSON Lines only.
	Fields map[string]string
}

// taskFields lists the fields of a task in JSON Lines.
var taskFields = []string{"id", "topic", "gold", "choices", "distractors", "background", "documents", "group"}

// Read reads all tasks. If a part of the file cannot be used, the error has a line for each such part, with its number,
// and there are no tasks.
func (f Format) Read(r io.Reader) ([]Task, error) {
	parse := formats[f.Name]
	switch {
	case f.Name == "", f.Name == "jsonl":
		parse = f.readLines
	case parse == nil:
		names := append(slices.Collect(maps.Keys(formats)), "jsonl")
		slices.Sort(names)
		return nil, fmt.Errorf("read tasks: format %q is unknown, use one of %s", f.Name, strings.Join(names, ", "))
	}
	for name, theirs := range f.Fields {
		switch {
		case !slices.Contains(taskFields, name):
			return nil, fmt.Errorf("read tasks: map field %q: a task has no such field, use one of %s", name, strings.Join(taskFields, ", "))
		case theirs == "":
			return nil, fmt.Errorf("read tasks: map field %q: the name in the file is empty", name)
		case f.Name != "" && f.Name != "jsonl":
			return nil, fmt.Errorf("read tasks: map field %q: format %s has fixed fields", name, f.Name)
		}
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read tasks: %w", err)
	}
	l := &taskList{}
	parse(l, bytes.TrimPrefix(text, []byte("\ufeff")))
	return l.Read("tasks")
}

// readLines reads JSON Lines.
func (f Format) readLines(l *taskList, text []byte) {
	runs.EachLine(text, func(line int, text []byte) {
		t, err := f.parse(text)
		if err != nil {
			l.Refuse(line, err)
			return
		}
		l.add(line, t)
	})
}

// parse returns the task of one line of JSON Lines.
func (f Format) parse(line []byte) (t Task, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return t, decodeError(err)
	}
	if fields == nil {
		return t, errors.New("decode JSON: it is null, want an object")
	}
	get := func(name string) json.RawMessage { return fields[cmp.Or(f.Fields[name], name)] }
	topic := get("topic")
	if topic == nil && f.Fields["topic"] == "" {
		topic = fields["question"]
	}
	if raw := get("documents"); raw != nil {
		t.Documents, err = documentList(raw)
		if err != nil {
			return t, fmt.Errorf("documents: %w", err)
		}
	}
	for _, x := range []struct {
		name string
		raw  json.RawMessage
		to   *string
	}{{"id", get("id"), &t.ID}, {"topic", topic, &t.Topic}, {"background", get("background"), &t.Background}, {"group", get("group"), &t.Group}} {
		*x.to, err = word(x.raw)
		if err != nil {
			return t, fmt.Errorf("%s: %w", x.name, err)
		}
	}
	t.Gold, err = wordList(get("gold"))
	if err != nil {
		return t, fmt.Errorf("gold: %w", err)
	}
	t.Choices, err = wordList(get("choices"))
	if err != nil {
		return t, fmt.Errorf("choices: %w", err)
	}
	t.Distractors, err = wordList(get("distractors"))
	if err != nil {
		return t, fmt.Errorf("distractors: %w", err)
	}
	return t, nil
}

// documentList returns the documents in a list of objects with a name and a text.
func documentList(raw json.RawMessage) (list []evidence.Document, err error) {
	var all []struct{ Name, Text string }
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("want a list of objects with a name and a text: %w", err)
	}
	for _, x := range all {
		list = append(list, evidence.Shared(x.Name, x.Text))
	}
	return list, nil
}

// word returns the text of a string, a number or a boolean. It returns "" for null.
func word(raw json.RawMessage) (text string, err error) {
	switch raw := strings.TrimSpace(string(raw)); {
	case raw == "", raw == "null":
		return "", nil
	case raw[0] == '"':
		err = json.Unmarshal([]byte(raw), &text)
		return text, err
	case raw[0] == '{', raw[0] == '[':
		return "", fmt.Errorf("%.40s is no text", raw)
	default:
		return raw, nil
	}
}

// wordList returns the texts of a list, or of one value.
func wordList(raw json.RawMessage) (texts []string, err error) {
	var list []json.RawMessage
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	for _, one := range list {
		text, err := word(one)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

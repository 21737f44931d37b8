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
	"strconv"
	"strings"
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

// formats maps the names of formats to their parsers, which add the tasks of a file.
var formats = map[string]func(*taskList, Format, []byte){
	"": readLines, "jsonl": readLines, "gsm8k": readGSM8K, "mmlu": readMMLU, "truthfulqa": readTruthfulQA, "quality": readQuality, "llmbar": readLLMBar,
}

// taskFields lists the fields of a task in JSON Lines.
var taskFields = []string{"id", "topic", "gold", "choices", "background", "group"}

// Read reads all tasks. If a part of the file cannot be used, the error has a line for each such part, with its number,
// and there are no tasks.
func (f Format) Read(r io.Reader) ([]Task, error) {
	parse := formats[f.Name]
	if parse == nil {
		return nil, fmt.Errorf("read tasks: format %q is unknown, use one of %s", f.Name, strings.Join(slices.Sorted(maps.Keys(formats))[1:], ", "))
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
	l := &taskList{lines: map[string]int{}}
	parse(l, f, bytes.TrimPrefix(text, []byte("\ufeff")))
	if len(l.tasks) == 0 && len(l.wrong) == 0 {
		return nil, errors.New("read tasks: the file has none")
	}
	if len(l.wrong) > 0 {
		return nil, fmt.Errorf("read tasks: %w", errors.Join(l.wrong...))
	}
	return l.tasks, nil
}

// taskList collects tasks, and what cannot be used.
type taskList struct {
	tasks []Task
	lines map[string]int // where each id was first
	wrong []error
}

func (l *taskList) refuse(line int, err error) {
	l.wrong = append(l.wrong, fmt.Errorf("line %d: %w", line, err))
}

// add adds the task of a line. Its id defaults to the number of the line.
func (l *taskList) add(line int, t Task) {
	t.ID = cmp.Or(t.ID, strconv.Itoa(line))
	if err := t.check(); err != nil {
		l.refuse(line, err)
		return
	}
	if before, again := l.lines[t.ID]; again {
		l.refuse(line, fmt.Errorf("id: %q is the id of line %d too", t.ID, before))
		return
	}
	l.lines[t.ID] = line
	l.tasks = append(l.tasks, t)
}

// eachLine calls use with each line that is not blank, and with its number.
func eachLine(text []byte, use func(line int, text []byte)) {
	line := 0
	for one := range bytes.Lines(text) {
		if line++; len(bytes.TrimSpace(one)) > 0 {
			use(line, one)
		}
	}
}

func readLines(l *taskList, f Format, text []byte) {
	eachLine(text, func(line int, text []byte) {
		t, err := f.parse(text)
		if err != nil {
			l.refuse(line, err)
			return
		}
		l.add(line, t)
	})
}

// parse returns the task of one line of JSON Lines.
func (f Format) parse(line []byte) (t Task, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return t, fmt.Errorf("decode JSON: %w", err)
	}
	if fields == nil {
		return t, errors.New("decode JSON: it is null, want an object")
	}
	get := func(name string) json.RawMessage { return fields[cmp.Or(f.Fields[name], name)] }
	topic := get("topic")
	if topic == nil && f.Fields["topic"] == "" {
		topic = fields["question"]
	}
	if isNull := len(fields["documents"]) == 0 || string(fields["documents"]) == "null"; !isNull {
		return t, errors.New("documents: they cannot be used yet, put their text into background")
	}
	for _, x := range []struct {
		name string
		raw  json.RawMessage
		to   *string
	}{{"id", get("id"), &t.ID}, {"topic", topic, &t.Topic}, {"background", get("background"), &t.Background}, {"group", get("group"), &t.Group}} {
		if *x.to, err = word(x.raw); err != nil {
			return t, fmt.Errorf("%s: %w", x.name, err)
		}
	}
	if t.Gold, err = wordList(get("gold")); err != nil {
		return t, fmt.Errorf("gold: %w", err)
	}
	if t.Choices, err = wordList(get("choices")); err != nil {
		return t, fmt.Errorf("choices: %w", err)
	}
	return t, nil
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

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// refuse runs the command and checks that it says what is wrong with what the user gave, before it calls a model.
func refuse(t *testing.T, says string, args ...string) {
	t.Helper()
	code, _, stderr := start(t, environment(), args...)
	assert.Equal(t, exitInput, code, "debate %q: %s", args, stderr)
	assert.Contains(t, stderr, says, "debate %q", args)
	assert.NotContains(t, stderr, "round 1", "debate %q calls a model", args)
}

// A wrong seat has one exit code: for each kind of seat, and whether a flag or a file names it.
func TestWrongSeats(t *testing.T) {
	seats := map[string]string{
		"participants": `{"participants": [{"name": "A"}, {"name": "B"}, %s], "judges": [{"name": "J"}]}`,
		"judges":       `{"participants": [{"name": "A"}, {"name": "B"}], "judges": [{"name": "J"}, %s]}`,
		"substitutes":  `{"participants": [{"name": "A"}, {"name": "B"}], "judges": [{"name": "J"}], "substitutes": [{"name": "S"}, %s]}`,
	}
	for field, config := range seats {
		mistakes := map[string]string{
			`{"name": "C", "provider": "nobody"}`: field + "[",
			`{"name": "C", "temperature": -1}`:    "].temperature: ",
			`{"name": "C", "max_tokens": -1}`:     "].max_tokens: ",
			`{"name": 3}`:                         "].name: ",
			`{"nickname": "C"}`:                   "].nickname: ",
			`3`:                                   field + "[",
		}
		if field != "substitutes" { // they speak under the names of judges
			mistakes[`{"name": "A"}`] = `].name: "A" is taken`
			mistakes[`{"name": "J"}`] = `].name: "J" is taken`
			mistakes[`{"name": " "}`] = "].name: "
		}
		for wrong, says := range mistakes {
			folder(t, "c.json", fmt.Sprintf(config, wrong))
			refuse(t, says, "--config", "c.json", topic)
		}
	}
	for _, args := range [][]string{
		{"--agents", "Ann,Ann"},
		{"--agents", "Ann,Judge"},
		{"--agents", "Ann"},
		{"--model", "nobody/x"},
		{"--model", "Zoe=offline"},
		{"--judge-model", "nobody/x"},
		{"--me", "Zoe"},
	} {
		folder(t)
		refuse(t, "", append(args, topic)...)
	}
}

// usual are values of fields that others need beside them.
var usual = map[string]any{
	"name": "A", "kind": "offline", "provider": "offline", "participants": []any{map[string]any{"name": "A"}, map[string]any{"name": "B"}},
	"scores": map[string]any{"problem": 5, "solution": 5, "market": 5}, "file": "papers", "readers": []any{"*"},
}

// besides lists fields that an object needs to have an effect, by the field that has the object.
var besides = map[string][]string{"embedder": {"provider"}}

// mistaken has values that a schema refuses. A value of the wrong type comes first.
type mistaken struct {
	field string
	value any
}

// mistakesIn returns the values that a schema refuses for a field.
func mistakesIn(field string, s map[string]any) (list []mistaken) {
	add := func(v any) { list = append(list, mistaken{field, v}) }
	switch s["type"] {
	case "string":
		add(true)
	case "integer", "number":
		add("many")
	case "boolean", "array", "object":
		add("perhaps")
	}
	if _, listed := s["enum"]; listed || s["oneOf"] != nil {
		add("nonsense")
	}
	if least, ok := s["minimum"].(float64); ok {
		add(least - 1)
	}
	if most, ok := s["maximum"].(float64); ok {
		add(most + 1)
	}
	if s["pattern"] != nil {
		add("!")
	}
	return list
}

// schemaWalk goes through a schema, and calls use for each wrong value of each field, with the configuration that has it.
type schemaWalk struct {
	defs map[string]any
	use  func(field string, config any)
}

// walk visits a part of the schema. place returns the configuration that has a value there.
func (w schemaWalk) walk(field string, part map[string]any, depth int, place func(any) any) {
	if ref, ok := part["$ref"].(string); ok {
		w.walk(field, w.defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any), depth, place)
		return
	}
	for _, m := range mistakesIn(field, part) {
		w.use(m.field, place(m.value))
	}
	if depth > 6 {
		return
	}
	if items, ok := part["items"].(map[string]any); ok {
		w.walk(field, items, depth+1, func(v any) any { return place([]any{v}) })
	}
	fields, _ := part["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		w.walk(name, fields[name].(map[string]any), depth+1, func(v any) any {
			object := map[string]any{}
			for _, needed := range append(asStrings(part["required"]), besides[field]...) {
				object[needed] = w.valid(needed, fields[needed].(map[string]any))
			}
			object[name] = v
			return place(object)
		})
	}
	if each, ok := part["additionalProperties"].(map[string]any); ok {
		w.walk(field, each, depth+1, func(v any) any { return place(map[string]any{"x": v}) })
	}
	for _, kind := range []string{"anyOf", "oneOf"} {
		options, _ := part[kind].([]any)
		for _, o := range options {
			if _, isObject := o.(map[string]any)["$ref"]; isObject {
				w.walk(field, o.(map[string]any), depth+1, place)
			}
		}
	}
}

// valid returns a value of a field that others need beside them.
func (w schemaWalk) valid(field string, s map[string]any) any {
	if list, ok := s["enum"].([]any); ok {
		return list[0]
	}
	if v, ok := usual[field]; ok {
		return v
	}
	if ref, ok := s["$ref"].(string); ok {
		return w.valid(field, w.defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any))
	}
	if options, ok := s["oneOf"].([]any); ok {
		return options[0].(map[string]any)["const"]
	}
	switch s["type"] {
	case "integer", "number":
		return 1
	case "array":
		return []any{}
	case "object":
		return map[string]any{}
	}
	return "text"
}

func asStrings(list any) (texts []string) {
	items, _ := list.([]any)
	for _, x := range items {
		texts = append(texts, x.(string))
	}
	return texts
}

// Each value that the schema of the configuration refuses has the same exit code, in whichever field it is.
func TestWrongFieldsOfAConfiguration(t *testing.T) {
	var schema map[string]any
	require.NoError(t, json.Unmarshal(configSchema, &schema))
	tried := map[string]int{}
	delete(schema["properties"].(map[string]any), "$schema") // for editors; the command does not read it
	schemaWalk{schema["$defs"].(map[string]any), func(field string, config any) {
		tried[field]++
		text, err := json.Marshal(config)
		require.NoError(t, err)
		folder(t, "c.json", string(text), "papers/a.md", "Cars are private.")
		code, _, stderr := start(t, environment(), "--config", "c.json", topic)
		assert.Equal(t, exitInput, code, "%s: %s", text, stderr)
		named := strings.Contains(stderr, field)
		for group := range strings.FieldsFuncSeq(string(text), func(r rune) bool { return r == '{' || r == '"' }) {
			named = named || strings.Contains(stderr, group+": ") // the object that has the field
			break
		}
		assert.True(t, named, "%s: %s", text, stderr)
	}}.walk("configuration", schema, 0, func(v any) any { return v })
	for field := range schema["properties"].(map[string]any) {
		assert.Positive(t, tried[field], "%s has no wrong value", field)
	}
}

// wrongValues has a value that a flag refuses, by its name.
var wrongValues = map[string]string{
	"agents": "Ann,Ann", "arm": "nothing", "at": "first", "background": "none.md", "base-url": "nobody=http://127.0.0.1", "baseline": "nothing",
	"before": "yesterday", "budget": "dollars", "concurrency": "0", "config": "none.json", "confirm-above": "dollars",
	"dir": "none", "docs": "none", "failure": "sadness", "field": "topic",
	"file": "none.md", "for": "fun", "format": "xml", "http": "127.0.0.1:99999", "items": "999", "judge": "nobody", "judge-model": "nobody/x",
	"judge-temperature": "-1", "key": "none.key", "label": "eval", "largest": "0", "limit": "0", "max-cost": "0", "max-tokens": "0", "me": "Zoe",
	"model": "nobody/x", "omit": "999", "option": "one", "origin": "app.example.com", "outcome": "joy", "output": ".", "plant": "roses",
	"port": "99999", "preset": "x", "prices": "none.json", "prompts": "none", "protocol": "duel", "record": ".", "records": ".", "redact": "x",
	"repeats": "0", "report": "report.pdf", "require": "vote is better", "rounds": "0", "samples": "0", "scores": "problem=high", "silent": "999",
	"min-confidence": "0.8", "pass": " ", "sarif": ".", "since": "yesterday", "size": "0", "state": "asleep", "store": ".", "target": "2",
	"updated-before": "yesterday", "updated-since": "yesterday",
	// These take any text that is not blank.
	"by": " ", "decline": " ",
	"family": " ", "name": " ", "parent": " ", "person": " ", "reply": " ", "seed": " ", "topic": " ", "waiting": " ",
}

// arguments has what commands need beside a flag that is tried. ID stands for a debate that has ended, and FORK for one that is paused, and WAITING for
// one that waits for Ada.
var arguments = map[string][]string{
	"debate": {topic, "--store", "memory"}, "debate answer": {"WAITING"}, "debate audit judge": {"pairs.jsonl", "--judge", "offline", "--store", "memory"},
	"debate cancel": {"FORK"}, "debate eval": {"tasks.jsonl", "--arm", "single", "--store", "memory"}, "debate export": {"ID", "--record", "d.record"},
	"debate fork": {"ID"}, "debate import": {"d.json"}, "debate influence": {"ID"}, "debate inspect": {"--no-open"},
	"debate keys":  {"example.org/debates"},
	"debate label": {"pairs.jsonl"}, "debate pause": {"FORK"}, "debate rejudge": {"ID"}, "debate resume": {"FORK"}, "debate retry": {"FORK"},
	"debate serve": {"--insecure"}, "debate show": {"ID"}, "debate tournament": {"tournament.json", "--store", "memory"}, "debate verify": {"d.record"},
}

// The wrong value of a flag has the same exit code, of whichever flag of whichever command.
func TestWrongValuesOfFlags(t *testing.T) {
	folder(t,
		"pairs.jsonl", `{"question": "Is it?", "a": "Yes.", "b": "No.", "gold": "a"}`, "tasks.jsonl", `{"topic": "Is it?", "gold": "yes"}`,
		"tournament.json", `{"players": [{"name": "A"}, {"name": "B"}], "judges": [{"name": "J"}], "motions": ["Is it?"]}`,
	)
	_, _, said := start(t, environment(), topic, "--rounds", "1", "--store", "d.db")
	id := saved(t, said)
	_, stdout, said := start(t, environment(), "fork", id, "--at", "4", "--paused", "--store", "d.db")
	require.Contains(t, stdout, "paused", said)
	_, _, said = start(t, environment(), topic, "--me", "Ada", "--store", "d.db")
	names := strings.NewReplacer("WAITING", saved(t, said), "FORK", strings.Fields(stdout)[0], "ID", id)
	p := &program{}
	var each func(c *cobra.Command)
	each = func(c *cobra.Command) {
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() == "bool" {
				return
			}
			wrong, known := wrongValues[f.Name]
			require.True(t, known, "give a wrong value of --%s", f.Name)
			args := strings.Fields(c.CommandPath())[1:]
			for _, text := range append(arguments[c.CommandPath()], "--"+f.Name, wrong) {
				args = append(args, names.Replace(text))
			}
			if c.Flags().Lookup("store") != nil && !slices.Contains(args, "--store") {
				args = append(args, "--store", "d.db")
			}
			refuse(t, "", args...)
		})
		for _, sub := range c.Commands() {
			each(sub)
		}
	}
	each(p.rootCommand())
}

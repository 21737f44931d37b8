package scripted_test

import (
	"encoding/json"
	"strings"
	"testing"

	validator "github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elenchus-go/debate/internal/calltest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// compile returns the schema as an independent validator reads it.
func compile(text string) (*validator.Schema, error) {
	c := validator.NewCompiler()
	c.AssertFormat = true
	if err := c.AddResource("schema:", strings.NewReader(text)); err != nil {
		return nil, err
	}
	return c.Compile("schema:")
}

func validate(t require.TestingT, schema string, data json.RawMessage) {
	s, err := compile(schema)
	require.NoError(t, err, schema)
	var v any
	require.NoError(t, json.Unmarshal(data, &v), string(data))
	require.NoError(t, s.Validate(v), "%s\n%s", schema, data)
}

const tree = `{"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "required": ["name"], "properties": {
	"name": {"type": "string", "minLength": 2}, "left": {"$ref": "#/$defs/node"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}}}`

func TestFill(t *testing.T) {
	for _, test := range []struct {
		schema string
		chosen scripted.Values
		want   string
	}{
		{
			`{"type": "object", "required": ["b", "s", "n", "i", "l", "o"], "properties": {"b": {"type": "boolean"}, "s": {"type": "string"}, "n": {"type": "number"},
			"i": {"type": "integer", "minimum": 3, "maximum": 4}, "l": {"type": "array", "items": {"type": "string"}}, "o": {"type": "object"}, "x": {"type": "string"}}}`,
			nil, `{"b": false, "s": "Text.", "n": 5, "i": 4, "l": [], "o": {}}`,
		},
		{
			`{"type": "object", "properties": {"x": {"type": "string"}, "deep": {"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "string"}}}}}`,
			scripted.Values{"x": "all", "/deep/x": "this"},
			`{"x": "all", "deep": {"x": "this"}}`,
		},
		{`{"anyOf": [{"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}, {"type": "null"}]}`, nil, `null`},
		{`{"anyOf": [{"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}, {"type": "null"}]}`, scripted.Values{"a": "x"}, `{"a": "x"}`},
		{
			`{"type": "array", "items": {"type": "object", "required": ["n", "m"], "properties": {"n": {"type": "integer"}, "m": {"enum": ["u", "v"]}}}}`,
			scripted.Values{"/1/n": 7, "/*/m": "v", "/0/m": "u"},
			`[{"n": 5, "m": "u"}, {"n": 7, "m": "v"}]`,
		},
		{
			`{"type": "object", "required": ["Debater_A", "entry_2"], "properties": {"Debater_A": {"type": "number"}, "entry_2": {"type": "number", "description": "for Zoë"}}}`,
			scripted.Values{"/Debater A": 1, "/Zoë": 2},
			`{"Debater_A": 1, "entry_2": 2}`,
		},
		{`{"type": ["object", "null"], "properties": {"a/b": {"type": "string"}}}`, scripted.Values{"/a~1b": "x"}, `{"a/b": "x"}`},
		{`{"oneOf": [{"type": "number", "multipleOf": 5}, {"type": "number", "multipleOf": 3}]}`, nil, `5`},
		{`{"const": {"a": [1, null]}}`, nil, `{"a": [1, null]}`},
		{`{"const": null}`, nil, `null`},
		{`{"enum": ["a", "b", null]}`, nil, `null`},
		{`{"type": "string", "minLength": 12, "maxLength": 14}`, scripted.Values{"": "Words."}, `"Words. Words."`},
		{`{"type": "string", "maxLength": 2}`, nil, `"Te"`},
		{`{"type": "string", "pattern": "^[A-Z]{2}-\\d+(x|y)$", "minLength": 9}`, nil, `"AA-00000x"`},
		{`{"type": "string", "format": "date"}`, nil, `"2026-01-02"`},
		{`{"type": "array", "minItems": 3, "uniqueItems": true, "items": {"enum": ["a", "b", "c"]}}`, nil, `["a", "b", "c"]`},
		{`{"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 3}`, nil, `2`},
		{`{"type": "number", "minimum": 0, "maximum": 1, "multipleOf": 0.1}`, nil, `0.5`},
		{`{"type": "integer", "minimum": 20}`, nil, `20`},
		{tree, nil, `{"name": "Text."}`},
		{tree, scripted.Values{"/left/left/name": "deep", "name": "up"}, `{"name": "up", "left": {"name": "up", "left": {"name": "deep"}}}`},
		{`true`, nil, `"Text."`},
		{`{"type": "object", "required": ["free"]}`, scripted.Values{"/free": []int{1}}, `{"free": [1]}`},
	} {
		got, err := test.chosen.Fill(json.RawMessage(test.schema))
		require.NoError(t, err, test.schema)
		require.JSONEq(t, test.want, string(got), test.schema)
		validate(t, test.schema, got)
		again, err := test.chosen.Fill(json.RawMessage(test.schema))
		require.NoError(t, err)
		require.Equal(t, got, again)
	}
}

func TestFillRefuses(t *testing.T) {
	const one = `{"type": "object", "required": ["winner"], "properties": {"winner": {"enum": ["A", "B"]}, "score": {"type": "number", "maximum": 10}}}`
	for _, test := range []struct {
		schema string
		chosen scripted.Values
		says   string
	}{
		{one, scripted.Values{"winner": "Ada"}, `/winner: "Ada" is not one of ["A","B"]`},
		{one, scripted.Values{"/winer": "A"}, `/winer: the schema has no such property`},
		{one, scripted.Values{"score": 11}, `/score: 11, want at most 10`},
		{one, scripted.Values{"score": "7"}, `/score: "7" is no [number]`},
		{one, scripted.Values{"score": func() {}}, `encode the value of "score"`},
		{`{"not": {"type": "string"}}`, nil, `the keyword "not" is not supported`},
		{`{"type": "object", "required": ["a"], "properties": {"a": {"type": "array", "minContains": 2}}}`, nil, `"minContains" is not supported`},
		{`{"$ref": "#/$defs/x"}`, nil, `$ref "#/$defs/x": there is no such definition`},
		{`{"$ref": "#/$defs/x", "$defs": {"x": {"type": "object", "required": ["x"], "properties": {"x": {"$ref": "#/$defs/x"}}}}}`, nil, `/x: the schema contains itself without an end`},
		{`{"type": "string", "minLength": 5, "maxLength": 2}`, nil, `5`},
		{`{"type": "string", "pattern": "["}`, nil, `pattern`},
		{`{"type": "string", "pattern": "^a$", "minLength": 3}`, nil, `no text was found for the pattern ^a$, choose one`},
		{`{"type": "number", "minimum": 5, "maximum": 2}`, nil, `choose one`},
		{`{"type": "string", "format": "date"}`, scripted.Values{"/": 1}, `the schema has no such property`},
		{`{"type": "object", "properties": {"on": {"type": "string", "format": "date"}}}`, scripted.Values{"on": "today"}, `/on: "today" is no date`},
		{`{"type": "array", "minItems": 3, "uniqueItems": true, "items": {"type": "null"}}`, nil, `null is in the list twice`},
		{`{"type": "text"}`, nil, `"text" is no type`},
		{`false`, nil, `allows no value`},
		{`7`, nil, `not 7`},
		{`null`, nil, `read schema`},
		{`{"oneOf": [{"type": "number"}, {"type": "integer"}]}`, nil, `follows 2 schemas of oneOf`},
	} {
		_, err := test.chosen.Fill(json.RawMessage(test.schema))
		require.ErrorContains(t, err, test.says, test.schema)
	}
}

func TestReplyFollowsTheRequest(t *testing.T) {
	script := scripted.Values{"": "I say so.", "winner": "B"}
	reply := script.Reply(providers.Request{})
	require.Equal(t, "I say so.", reply.Text)
	require.Equal(t, "Text.", scripted.Values(nil).Reply(providers.Request{}).Text)
	request := providers.Request{SchemaName: "verdict/1", Schema: json.RawMessage(`{"type": "object", "required": ["why", "winner"], "properties": {"why": {"type": "string"}, "winner": {"type": "string"}}}`)}
	require.JSONEq(t, `{"why": "I say so.", "winner": "B"}`, script.Reply(request).Text)

	_, err := (&scripted.Provider{Func: scripted.Values{"winner": 1}.Reply}).Generate(t.Context(), request)
	require.Equal(t, providers.InvalidRequest, providers.AsError(err).Kind)
	require.ErrorContains(t, err, `reply verdict/1: fill in the schema: /winner: 1 is no [string]`)
}

func TestStatements(t *testing.T) {
	var got []string
	for name, text := range scripted.Statements(providers.Request{Messages: []providers.Message{
		{Role: providers.System, Text: "<<<7 begin: x, round 1>>>\nno\n<<<7 end>>>"},
		{Role: providers.User, Text: "<<<7 begin: Debater A, round 1>>>\nTwo\nlines.\n<<<7 end>>>"},
		{Role: providers.Assistant, Text: "Mine."},
		{Role: providers.User, Text: "<<<7 begin: Bo on Ada, round 2>>>\nYes.\n<<<7 end>>>"},
		{Role: providers.User, Text: "The task."},
	}}) {
		got = append(got, name+": "+text)
	}
	require.Equal(t, []string{"Debater A: Two\nlines.", "Bo: Yes."}, got)
	for _, text := range scripted.Statements(providers.Request{Messages: []providers.Message{{
		Role: providers.User, Text: "<<<7 begin: A, round 1>>>\nSo it is [1].\n<<<7 end>>>\n<<<7 checked: quote 1 of [1] verified>>>",
	}}}) {
		require.Equal(t, "So it is [1].", text, "what the check of quotes has found is no part of it")
	}
	for range scripted.Statements(providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "<<<7 begin: A>>>\nx\n<<<7 end>>>"}}}) {
		break
	}
}

// anySchema returns a random schema of the supported keywords. Few of them contradict themselves.
func anySchema(depth int) *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		s := map[string]any{}
		kinds := []string{"string", "number", "integer", "boolean", "null", "enum", "const", "pattern", "format", "ref"}
		if depth > 0 {
			kinds = append(kinds, "object", "object", "array", "array", "anyOf", "oneOf", "several")
		}
		low := rapid.IntRange(-20, 20).Draw(t, "low")
		bounds := func(from, to string, low int) {
			if rapid.Bool().Draw(t, from) {
				s[from] = low
			}
			if rapid.Bool().Draw(t, to) {
				s[to] = low + rapid.IntRange(0, 12).Draw(t, "range")
			}
		}
		inner := func(label string) any { return anySchema(depth-1).Draw(t, label) }
		switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
		case "string":
			s["type"] = kind
			bounds("minLength", "maxLength", max(low, 0))
		case "number", "integer":
			s["type"] = kind
			bounds(rapid.SampledFrom([]string{"minimum", "exclusiveMinimum"}).Draw(t, "from"), rapid.SampledFrom([]string{"maximum", "exclusiveMaximum"}).Draw(t, "to"), low)
			if rapid.Bool().Draw(t, "step") {
				s["multipleOf"] = rapid.SampledFrom([]float64{0.1, 0.25, 1, 2, 3}).Draw(t, "multipleOf")
			}
		case "enum":
			s["enum"] = rapid.SliceOfN(rapid.SampledFrom([]any{"a", "b", 1, 2.5, true, nil}), 1, 3).Draw(t, "enum")
		case "const":
			s["const"] = rapid.SampledFrom([]any{"a", 1, false, nil, []any{1}, map[string]any{"x": 1}}).Draw(t, "const")
		case "pattern":
			s["type"], s["pattern"] = "string", rapid.SampledFrom([]string{"^[a-z]+$", `^\d{3,5}$`, "x|yy", "^(ab)*$", ".", `\bword\b`, `^[^a]$`, `^\s?A`}).Draw(t, "pattern")
			bounds("minLength", "maxLength", rapid.IntRange(0, 4).Draw(t, "least"))
		case "format":
			s["type"], s["format"] = "string", rapid.SampledFrom([]string{"date", "date-time", "time", "email", "uuid", "uri", "ipv4", "ipv6", "hostname", "duration", "other"}).Draw(t, "format")
		case "ref":
			s["$ref"] = "#/$defs/" + rapid.SampledFrom([]string{"leaf", "node"}).Draw(t, "ref")
		case "object":
			properties := map[string]any{}
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c d", "e/f"}), 0, 3, rapid.ID[string]).Draw(t, "names") {
				properties[name] = inner(name)
			}
			s["type"], s["properties"] = kind, properties
			if rapid.Bool().Draw(t, "closed") {
				s["additionalProperties"] = false
			}
			for name := range properties {
				if rapid.Bool().Draw(t, "required") {
					required, _ := s["required"].([]string)
					s["required"] = append(required, name)
				}
			}
		case "array":
			s["type"], s["items"] = kind, inner("items")
			bounds("minItems", "maxItems", rapid.IntRange(0, 3).Draw(t, "few"))
			if rapid.Bool().Draw(t, "unique") {
				s["uniqueItems"] = true
			}
		case "anyOf", "oneOf":
			s[kind] = []any{inner("one"), inner("other")}
		case "several":
			s["type"] = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"string", "null", "number", "object", "array", "boolean"}), 1, 3, rapid.ID[string]).Draw(t, "types")
		default:
			s["type"] = kind
		}
		return s
	})
}

// What is filled in follows the schema as another library reads it. A schema without a value is an error, never a panic.
func TestWhatIsFilledInIsValid(t *testing.T) {
	done := 0
	rapid.Check(t, func(t *rapid.T) {
		s := anySchema(3).Draw(t, "schema")
		s["$defs"] = map[string]any{"leaf": map[string]any{"type": "string", "minLength": 1}, "node": map[string]any{
			"type": "object", "required": []string{"leaf"}, "properties": map[string]any{"leaf": map[string]any{"$ref": "#/$defs/leaf"}, "node": map[string]any{"$ref": "#/$defs/node"}},
		}}
		data, err := json.Marshal(s)
		require.NoError(t, err)
		chosen := scripted.Values{}
		if rapid.Bool().Draw(t, "choose") {
			chosen[rapid.SampledFrom([]string{"a", "leaf", "/*", "/a", "/0/a", "/*/node/leaf"}).Draw(t, "key")] = rapid.SampledFrom([]any{"text", 1, true, nil}).Draw(t, "value")
		}
		filled, err := chosen.Fill(data)
		if err == nil {
			done++
			validate(t, string(data), filled)
		}
	})
	require.Greater(t, done, 50, "most schemas have a value")
}

// No schema makes Fill panic, and what it fills in follows the schema.
func FuzzFill(f *testing.F) {
	for _, schema := range []string{
		tree, `true`, `{"enum": [1]}`, `{"type": ["array", "null"], "minItems": 2, "items": {"pattern": "^a*b?$"}}`, `{"anyOf": [{"$ref": "#"}, {"type": "null"}]}`,
		`{"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}]}, "b": {"type": "number", "multipleOf": 0.3, "minimum": 1}}}`,
	} {
		f.Add(schema, "/a", "x")
	}
	f.Fuzz(func(t *testing.T, schema, key, value string) {
		filled, err := scripted.Values{key: value}.Fill(json.RawMessage(schema))
		if err != nil || len(schema) > 4000 {
			return
		}
		if _, err := compile(schema); err == nil { // the other library refuses more, such as two equal values of an enum
			validate(t, schema, filled)
		}
	})
}

func TestToolCalls(t *testing.T) {
	search := providers.Tool{Name: "search", Schema: json.RawMessage(`{"type": "object", "required": ["query", "limit"], "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "minimum": 1, "maximum": 9}}}`)}
	arguments, err := scripted.Values{"query": "trams"}.Fill(search.Schema)
	require.NoError(t, err)
	call := providers.ToolCall{ID: "1", Name: search.Name, Arguments: arguments}
	model := &scripted.Provider{Replies: []scripted.Reply{
		{Reasoning: []providers.Reasoning{{Text: "Hm."}}, Text: "I look it up.", ToolCalls: []providers.ToolCall{call}},
		{ToolCalls: []providers.ToolCall{call}, FinishReason: providers.Length},
	}}
	res := calltest.Generate(t, model, providers.Request{Tools: []providers.Tool{search}})
	require.Equal(t, providers.ToolCalls, res.FinishReason)
	require.Equal(t, "I look it up.", res.Text)
	require.Equal(t, []providers.Part{{Reasoning: &providers.Reasoning{Text: "Hm."}}, {Text: "I look it up."}, {ToolCall: &call}}, res.Parts)
	require.JSONEq(t, `{"query": "trams", "limit": 5}`, string(res.Parts[2].ToolCall.Arguments))
	require.Equal(t, (len(res.Text)+len("search")+len(arguments)+3)/4, res.Usage.Output)

	res = calltest.Generate(t, model, providers.Request{})
	require.Equal(t, providers.Length, res.FinishReason)
	require.Equal(t, []providers.Part{{ToolCall: &call}}, res.Parts)
}

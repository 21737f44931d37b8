package scripted_test

import (
	"encoding/json"
	"strings"
	"testing"

	validator "github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elenchus-go/debate/internal/test/calltest"
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
		{`{"enum": ["a", "b", null]}`, nil, `null`},
		{`{"type": "string", "maxLength": 2}`, nil, `"Te"`},
		{`{"type": "string", "minLength": 12, "maxLength": 14}`, scripted.Values{"": "Words."}, `"Words. Words."`},
		{`{"type": "array", "minItems": 2, "items": {"enum": ["a", "b"]}}`, nil, `["a", "a"]`},
		{`{"type": "array", "minItems": 1}`, nil, `["Text."]`},
		{`{"type": ["string", "null"]}`, nil, `null`},
		{`{"type": ["object", "null"], "properties": {"x": {"type": "integer"}}}`, scripted.Values{"/x": 1}, `{"x": 1}`},
		{`{"anyOf": [{"type": "string"}, {"type": "number"}]}`, nil, `"Text."`},
		{`{"properties": {"x": {}}, "required": ["x"]}`, nil, `{"x": "Text."}`},
		{`{"items": {"type": "null"}, "minItems": 1}`, nil, `[null]`},
		{`{"type": "number", "minimum": 0, "maximum": 1}`, nil, `0.5`},
		{`{"type": "integer", "maximum": 1}`, nil, `1`},
		{`{"type": "integer", "minimum": 20}`, nil, `20`},
		{`{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "t", "description": "d", "default": 1, "examples": [1], "type": "string"}`, nil, `"Text."`},
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
		{one, scripted.Values{"score": 11}, `/score: 11 is out of range`},
		{one, scripted.Values{"score": "7"}, `/score: "7" is no [number]`},
		{one, scripted.Values{"score": func() {}}, `encode the value of "score"`},
		{one, scripted.Values{"/winner": nil}, `/winner: null is not one of ["A","B"]`},
		{`{"type": "object", "properties": {"x": {"anyOf": [{"type": "number"}, {"type": "null"}]}}}`, scripted.Values{"x": "1"}, `/x: "1" follows no schema of anyOf`},
		{`{"anyOf": [{"properties": {"x": {"type": "number"}}}, {"type": "null"}]}`, scripted.Values{"x": "1"}, `/x: "1" is no [number]`},
		{`{"type": "object", "properties": {"on": {"maxLength": 2}}}`, scripted.Values{"on": "today"}, `/on: "today" has 5 characters`},
		{`{"type": "object", "properties": {"l": {"maxItems": 1, "items": {"type": "string"}}}}`, scripted.Values{"l": []int{1, 2}}, `/l: [1,2] has 2 items`},
		{`{"type": "object", "properties": {"l": {"items": {"type": "string"}}}}`, scripted.Values{"l": []int{1}}, `/l/0: 1 is no [string]`},
		{`{"type": "object", "properties": {"o": {"properties": {}, "additionalProperties": false}}}`, scripted.Values{"o": map[string]int{"x": 1}}, `/o: there is no property "x"`},
		{`{"type": "object", "properties": {"o": {"required": ["x"]}}}`, scripted.Values{"o": map[string]int{}}, `/o: "x" is missing`},
		{`{"type": "object", "required": ["free"]}`, nil, `the reply: "free" is missing`},
		{`{"not": {"type": "string"}}`, nil, `unknown keyword "not"`},
		{`{"type": "string", "pattern": "^a$"}`, nil, `unknown keyword "pattern"`},
		{`{"$ref": "#/$defs/x"}`, nil, `unknown keyword "$ref"`},
		{`{"type": "string", "minLength": 5, "maxLength": 2}`, nil, `"Te" has 2 characters`},
		{`{"type": "string", "minLength": 1000000000}`, nil, `characters, which the schema does not allow`},
		{`{"type": "string", "maxLength": -1}`, nil, `"" has 0 characters`},
		{`{"type": "number", "minimum": 5, "maximum": 2}`, nil, `3.5 is out of range`},
		{`{"type": "array", "minItems": 2, "maxItems": 1}`, nil, `has 2 items`},
		{`{"type": "array", "minItems": 1e9}`, nil, `read schema`},
		{`{"type": "array", "minItems": 1000000000}`, nil, `asks for too much`},
		{`{"type": "array", "minItems": 1000, "items": {"minItems": 1000, "items": {}}}`, nil, `asks for too much`},
		{`{"type": "text"}`, nil, `null is no [text]`},
		{`{"type": 7}`, nil, `read schema`},
		{`false`, nil, `read schema`},
		{`7`, nil, `read schema`},
		{``, nil, `read schema`},
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

// anySchema returns a random schema of the supported keywords.
func anySchema(depth int) *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		s := map[string]any{}
		kinds := []string{"string", "number", "integer", "boolean", "null", "enum"}
		if depth > 0 {
			kinds = append(kinds, "object", "object", "array", "array", "anyOf", "several")
		}
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
			bounds("minLength", "maxLength", rapid.IntRange(0, 20).Draw(t, "low"))
		case "number", "integer":
			s["type"] = kind
			bounds("minimum", "maximum", rapid.IntRange(-20, 20).Draw(t, "low"))
		case "enum":
			s["enum"] = rapid.SliceOfN(rapid.SampledFrom([]any{"a", "b", 1, 2.5, true, nil}), 1, 3).Draw(t, "enum")
		case "object":
			properties, required := map[string]any{}, []string{}
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c d", "e/f"}), 0, 3, rapid.ID[string]).Draw(t, "names") {
				properties[name] = inner(name)
				if rapid.Bool().Draw(t, "required") {
					required = append(required, name)
				}
			}
			s["type"] = kind
			s["properties"] = properties
			s["required"] = required
			if rapid.Bool().Draw(t, "closed") {
				s["additionalProperties"] = false
			}
		case "array":
			s["type"], s["items"] = kind, inner("items")
			bounds("minItems", "maxItems", rapid.IntRange(0, 3).Draw(t, "few"))
		case "anyOf":
			s[kind] = []any{inner("one"), inner("other")}
		case "several":
			names := rapid.SampledFrom([]string{"string", "null", "number", "object", "array", "boolean"})
			s["type"] = rapid.SliceOfNDistinct(names, 1, 3, rapid.ID[string]).Draw(t, "types")
		default:
			s["type"] = kind
		}
		return s
	})
}

// What is filled in follows the schema as another library reads it.
func TestWhatIsFilledInIsValid(t *testing.T) {
	done := 0
	rapid.Check(t, func(t *rapid.T) {
		data, err := json.Marshal(anySchema(3).Draw(t, "schema"))
		require.NoError(t, err)
		chosen := scripted.Values{}
		if rapid.Bool().Draw(t, "choose") {
			key := rapid.SampledFrom([]string{"a", "/*", "/a", "/0/a", "/*/a/b"}).Draw(t, "key")
			chosen[key] = rapid.SampledFrom([]any{"text", 1, true, nil, []any{1}, map[string]any{"a": 1}}).Draw(t, "value")
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
		`{"enum": [1]}`, `{"type": ["array", "null"], "minItems": 2, "items": {"maxLength": 3}}`, `{"anyOf": [{"properties": {"a": {}}}, {"type": "null"}]}`,
		`{"type": "object", "properties": {"a": null}, "required": ["a"], "additionalProperties": false}`,
		`{"type": "object", "propErties": {"a": null}, "required": ["a"], "additionalProperties": false}`,
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

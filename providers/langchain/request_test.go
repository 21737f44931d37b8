package langchain_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	"github.com/elenchus-go/debate/internal/fakellm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/langchain"
)

const (
	strictSchema = `{"$schema": "x", "type": "object", "properties": {
		"why": {"type": "string", "maxLength": 40, "description": "first"},
		"format": {"anyOf": [{"type": "number", "minimum": 0}, {"type": "null"}]},
		"list": {"type": "array", "maxItems": 3, "items": {"type": "string", "enum": ["b", "a"]}}},
		"required": ["why", "format", "list"], "additionalProperties": false}`
	boundedSchema   = `{"type":"object","properties":{"why":{"type":"string","maxLength":40,"description":"first"},"format":{"anyOf":[{"type":"number","minimum":0},{"type":"null"}]},"list":{"type":"array","maxItems":3,"items":{"type":"string","enum":["b","a"]}}},"required":["why","format","list"],"additionalProperties":false}`
	unboundedSchema = `{"type":"object","properties":{"why":{"type":"string","description":"first"},"format":{"anyOf":[{"type":"number"},{"type":"null"}]},"list":{"type":"array","items":{"type":"string","enum":["b","a"]}}},"required":["why","format","list"],"additionalProperties":false}`
)

// sent makes one call through the transport and returns the body that the service received.
func sent(t *testing.T, transport *langchain.Transport, p fakellm.Protocol, r providers.Request, options ...llms.CallOption) map[string]any {
	t.Helper()
	s := fakellm.Start(t, p, fakellm.Reply{Chunks: []string{"So."}})
	_, err := wired(t, transport, s, p, options...).Generate(t.Context(), r)
	require.NoError(t, err)
	body := s.Requests()[0].Body
	delete(body, "messages")
	delete(body, "system")
	return body
}

func TestWhatIsNotSetIsNotSent(t *testing.T) {
	for p, want := range map[fakellm.Protocol]string{
		fakellm.OpenAI:    `{"model": "m"}`,
		fakellm.Anthropic: `{"model": "m", "max_tokens": 2048}`,
		fakellm.Ollama:    `{"model": "m", "format": "", "stream": false, "options": {}}`,
	} {
		got, err := json.Marshal(sent(t, &langchain.Transport{}, p, ask()))
		require.NoError(t, err)
		require.JSONEq(t, want, string(got))
	}
}

func TestWhatIsSetIsSent(t *testing.T) {
	cold := 0.0
	r := ask()
	r.Temperature, r.MaxTokens, r.Model = &cold, 600, "n"
	options := []llms.CallOption{
		llms.WithTemperature(1), llms.WithTopP(0.5), llms.WithTopK(7), llms.WithSeed(0), llms.WithStopWords([]string{"END"}),
	}
	for p, want := range map[fakellm.Protocol]string{
		fakellm.OpenAI:    `{"model": "n", "temperature": 0, "max_completion_tokens": 600, "top_p": 0.5, "seed": 0, "stop": ["END"]}`,
		fakellm.Anthropic: `{"model": "n", "temperature": 0, "max_tokens": 600, "top_p": 0.5, "top_k": 7, "stop_sequences": ["END"]}`,
		fakellm.Ollama: `{"model": "n", "format": "", "stream": false, "options": {
			"temperature": 0, "num_predict": 600, "top_p": 0.5, "top_k": 7, "seed": 0, "stop": ["END"]}}`,
	} {
		got, err := json.Marshal(sent(t, &langchain.Transport{}, p, r, options...))
		require.NoError(t, err)
		require.JSONEq(t, want, string(got))
	}
}

func TestASchemaIsSentInTheFormOfTheService(t *testing.T) {
	r := ask()
	r.SchemaName, r.Schema = "assessment/1", json.RawMessage(strictSchema)
	for name, test := range map[string]struct {
		transport *langchain.Transport
		protocol  fakellm.Protocol
		field     string
		want      string // in the order in which the model writes the fields
	}{
		"OpenAI":               {&langchain.Transport{NoSchemaBounds: true}, fakellm.OpenAI, "response_format", `{"type": "json_schema", "json_schema": {"name": "assessment_1", "strict": true, "schema": ` + unboundedSchema + `}}`},
		"compatible":           {&langchain.Transport{}, fakellm.OpenAI, "response_format", `{"type": "json_schema", "json_schema": {"name": "assessment_1", "strict": true, "schema": ` + boundedSchema + `}}`},
		"Anthropic":            {&langchain.Transport{NoSchemaBounds: true}, fakellm.Anthropic, "output_config", `{"format": {"type": "json_schema", "schema": ` + unboundedSchema + `}}`},
		"Ollama":               {&langchain.Transport{}, fakellm.Ollama, "format", boundedSchema},
		"Ollama, switched off": {&langchain.Transport{NoSchema: true}, fakellm.Ollama, "format", `""`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(sent(t, test.transport, test.protocol, r)[test.field])
			require.NoError(t, err)
			require.JSONEq(t, test.want, string(got))
		})
	}
}

// keeper is a transport that records the body of a request.
type keeper struct{ body string }

func (k *keeper) RoundTrip(r *http.Request) (*http.Response, error) {
	var b strings.Builder
	_ = r.Write(&b)
	k.body = b.String()
	return nil, errBored
}

func TestASchemaKeepsTheOrderOfItsFields(t *testing.T) {
	for _, p := range protocols {
		var k keeper
		model, err := services[string(p)].model((&langchain.Transport{Base: &k}).Client(nil))
		require.NoError(t, err)
		r := ask()
		r.Schema = json.RawMessage(strictSchema)
		_, err = langchain.New(model).Generate(t.Context(), r)
		require.ErrorIs(t, err, errBored)
		require.Contains(t, k.body, boundedSchema)
	}
}

func TestASchemaIsStrictWhereItsFormIs(t *testing.T) {
	for schema, want := range map[string]bool{
		boundedSchema: true,
		`{"type": "object", "properties": {}, "required": [], "additionalProperties": false}`:                                                                                   true,
		`{"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}`:                                                                            false,
		`{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}`:                                                                                        false,
		`{"type": "object", "additionalProperties": {"type": "number"}}`:                                                                                                        false,
		`{"type": "array", "items": {"type": "string"}}`:                                                                                                                        false,
		`{"type": "object", "properties": {"a": {"type": "object"}}, "required": ["a"], "additionalProperties": false}`:                                                         false,
		`{"type": "object", "properties": {"a": true}, "required": ["a"], "additionalProperties": false}`:                                                                       false,
		`{"type": "object", "properties": {"a": {"allOf": []}}, "required": ["a"], "additionalProperties": false}`:                                                              false,
		`{"type": "object", "properties": {"a": {"oneOf": [{"type": "null"}]}}, "required": ["a"], "additionalProperties": false}`:                                              true,
		`{"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}, "required": ["a"], "additionalProperties": false, "$defs": {"b": {"type": "object"}}}`:                  false,
		`{"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}, "required": ["a"], "additionalProperties": false, "title": "x", "default": 1}`: true,
	} {
		r := ask()
		r.Schema = json.RawMessage(schema)
		format := sent(t, &langchain.Transport{}, fakellm.OpenAI, r)["response_format"].(map[string]any)["json_schema"].(map[string]any)
		require.Equal(t, want, format["strict"], schema)
		require.Equal(t, "reply", format["name"])
	}
}

func TestASchemaThatIsNoneIsAnError(t *testing.T) {
	s := fakellm.Start(t, fakellm.OpenAI, fakellm.Reply{Chunks: []string{"So."}})
	for _, schema := range []string{`{`, strings.Repeat("[", 100) + strings.Repeat("]", 100)} {
		r := ask()
		r.Schema = json.RawMessage(schema)
		_, err := wired(t, &langchain.Transport{}, s, fakellm.OpenAI).Generate(t.Context(), r)
		require.Error(t, err)
		require.Contains(t, err.Error(), "read schema")
	}
	require.Empty(t, s.Requests())
}

func TestATransportAddsRenamesAndRemoves(t *testing.T) {
	s := fakellm.Start(t, fakellm.OpenAI, fakellm.Reply{Chunks: []string{"So."}})
	transport := &langchain.Transport{
		Header: func(h http.Header, _ string) {
			h.Del("Authorization")
			h.Set("X-Title", "debate")
		},
		Rename: map[string]string{"max_completion_tokens": "max_tokens", "seed": "random_seed"},
		Extra:  map[string]any{"reasoning_effort": "low"},
	}
	r := ask()
	r.MaxTokens = 600
	_, err := wired(t, transport, s, fakellm.OpenAI, llms.WithSeed(7)).Generate(t.Context(), r)
	require.NoError(t, err)
	got := s.Requests()[0]
	require.Empty(t, got.Header.Get("Authorization"))
	require.Equal(t, "debate", got.Header.Get("X-Title"))
	delete(got.Body, "messages")
	require.Equal(t, map[string]any{"model": "m", "max_tokens": 600.0, "random_seed": 7.0, "reasoning_effort": "low"}, got.Body)
}

func TestARefusedSettingIsLeftOutFromThenOn(t *testing.T) {
	refusal := func(status int, message string) fakellm.Reply {
		return fakellm.Reply{Status: status, Body: `{"error": {"message": "` + message + `"}}`}
	}
	warm := 0.5
	full := ask()
	full.Temperature, full.MaxTokens, full.Schema = &warm, 600, json.RawMessage(strictSchema)
	for name, test := range map[string]struct {
		protocol fakellm.Protocol
		refusals []fakellm.Reply
		gone     []string // the fields that are no longer sent
		there    []string
	}{
		"a temperature": {fakellm.OpenAI, []fakellm.Reply{
			refusal(400, "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported."),
		}, []string{"temperature"}, []string{"response_format", "top_p"}},
		"a deprecated temperature": {fakellm.Anthropic, []fakellm.Reply{
			refusal(400, "`temperature` is deprecated for this model."),
		}, []string{"temperature"}, []string{"output_config"}},
		"two at a time": {fakellm.Anthropic, []fakellm.Reply{
			refusal(400, "`temperature` and `top_p` cannot both be specified for this model. Please use only one."),
		}, []string{"temperature"}, []string{"top_p"}},
		"the name of the cap": {fakellm.OpenAI, []fakellm.Reply{
			refusal(400, "Unsupported parameter: 'max_completion_tokens' is not supported with this model."),
		}, []string{"max_completion_tokens"}, []string{"max_tokens"}},
		"bounds, then the schema": {fakellm.OpenAI, []fakellm.Reply{
			refusal(400, "Invalid schema for response_format: 'maxLength' is not permitted"),
			refusal(400, "This response_format type is unavailable now"),
		}, []string{"response_format"}, []string{"temperature"}},
		"an output_config": {fakellm.Anthropic, []fakellm.Reply{
			refusal(400, "output_config.format: Extra inputs are not permitted"), refusal(400, "output_config.format: Extra inputs are not permitted"),
		}, []string{"output_config"}, []string{"temperature"}},
		"a grammar": {fakellm.Ollama, []fakellm.Reply{
			refusal(500, "failed to parse grammar"), refusal(500, "failed to parse grammar"),
		}, nil, []string{"format"}},
		"all, one by one": {fakellm.OpenAI, []fakellm.Reply{
			refusal(422, "extra_forbidden: seed"), refusal(400, "unknown parameter top_p"), refusal(400, "stop is not supported"),
			refusal(400, "json_schema: not supported"), refusal(400, "json_schema: not supported"), refusal(400, "'temperature' unsupported"),
		}, []string{"temperature", "top_p", "seed", "stop", "response_format"}, []string{"max_completion_tokens"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := fakellm.Start(t, test.protocol, append(test.refusals, fakellm.Reply{Chunks: []string{"So."}})...)
				p := wired(t, &langchain.Transport{}, s, test.protocol, llms.WithTopP(0.5), llms.WithSeed(7), llms.WithStopWords([]string{"END"}))
				for range 2 {
					res, err := p.Generate(t.Context(), full)
					require.NoError(t, err)
					require.Equal(t, "So.", res.Text)
				}
				requests := s.Requests()
				require.Len(t, requests, len(test.refusals)+2, "the second call knows")
				for _, r := range requests[len(test.refusals):] {
					for _, field := range test.gone {
						require.NotContains(t, r.Body, field)
					}
					for _, field := range test.there {
						require.Contains(t, r.Body, field)
					}
				}
			})
		})
	}
}

func TestAnotherModelIsAskedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakellm.Start(t, fakellm.OpenAI, fakellm.Reply{Status: 400, Body: "temperature unsupported"}, fakellm.Reply{Chunks: []string{"So."}})
		p := wired(t, &langchain.Transport{}, s, fakellm.OpenAI)
		warm := 0.5
		for _, model := range []string{"one", "other"} {
			r := ask()
			r.Model, r.Temperature = model, &warm
			_, err := p.Generate(t.Context(), r)
			require.NoError(t, err)
		}
		require.Contains(t, s.Requests()[2].Body, "temperature")
	})
}

func TestARefusalThatNothingHelpsIsGivenAsItWasFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := fakellm.Reply{Status: 400, Body: `{"error": {"message": "temperature is not supported"}}`}
		for _, then := range []fakellm.Reply{{Status: 400, Body: "the messages are bad"}, first} {
			s := fakellm.Start(t, fakellm.OpenAI, first, then)
			p := wired(t, &langchain.Transport{}, s, fakellm.OpenAI)
			warm := 0.5
			r := ask()
			r.Temperature = &warm
			_, err := p.Generate(t.Context(), r)
			require.EqualError(t, requireKind(t, providers.InvalidRequest, err), "invalid_request: call model: status 400: temperature is not supported")
			require.Len(t, s.Requests(), 2)
			require.Contains(t, s.Requests()[0].Body, "temperature")
			_, err = p.Generate(t.Context(), r)
			require.Error(t, err)
			require.Contains(t, s.Requests()[2].Body, "temperature", "what did not help is not remembered")
		}
	})
}

func TestAValueOutOfBoundsIsTheCallersToMend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, message := range []string{
			"temperature: Input should be less than or equal to 1", "max_completion_tokens: 900000 > 8192, the maximum allowed", "messages: bad",
		} {
			s := fakellm.Start(t, fakellm.OpenAI, fakellm.Reply{Status: 400, Body: message})
			hot := 2.0
			r := ask()
			r.Temperature, r.MaxTokens = &hot, 900_000
			_, err := wired(t, &langchain.Transport{}, s, fakellm.OpenAI).Generate(t.Context(), r)
			require.ErrorContains(t, requireKind(t, providers.InvalidRequest, err), message)
			require.Len(t, s.Requests(), 1)
		}
	})
}

func TestAskClassifiesWhatItIsTold(t *testing.T) {
	s := fakellm.Start(t, fakellm.OpenAI)
	s.Routes["/good"] = fakellm.Reply{Body: "yes"}
	s.Routes["/bad"] = fakellm.Reply{Status: 401, Body: "not with " + key}
	transport := &langchain.Transport{Base: s.Client(t).Transport, Header: func(h http.Header, _ string) { h.Set("X-Api-Key", key) }}
	raw, err := transport.Query(t.Context(), "look", http.MethodGet, s.URL+"/good", nil)
	require.NoError(t, err)
	require.Equal(t, "yes", string(raw))
	_, err = transport.Query(t.Context(), "look", http.MethodGet, s.URL+"/bad", nil)
	require.EqualError(t, err, "authentication: look: call model: status 401: not with [key]")
	_, err = transport.Query(t.Context(), "look", "bad method", s.URL, nil)
	_ = requireKind(t, providers.InvalidRequest, err)
	_, err = (&langchain.Transport{Base: &keeper{}}).Query(t.Context(), "look", http.MethodPost, s.URL, []byte(`{}`))
	_ = requireKind(t, providers.Network, err)
	require.ErrorIs(t, err, errBored)
}

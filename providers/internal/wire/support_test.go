package wire_test

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
)

const strictSchema = `{"$schema": "x", "type": "object", "properties": {
	"why": {"type": "string", "maxLength": 40, "description": "first"},
	"list": {"type": "array", "minItems": 3, "maxItems": 3, "items": {"type": "string", "enum": ["b", "a"]}}},
	"required": ["why", "list"], "additionalProperties": false}`

func TestRefusedFieldsAreOmitted(t *testing.T) {
	refusal := func(status int, message string) fakellm.Reply {
		return fakellm.Reply{Status: status, Body: `{"error": {"message": "` + message + `"}}`}
	}
	warm := 0.5
	full := calltest.Ask()
	full.Temperature = &warm
	full.MaxTokens = 600
	full.Schema = json.RawMessage(strictSchema)
	for name, test := range map[string]struct {
		protocol fakellm.Protocol
		refusals []fakellm.Reply
		gone     []string // the fields that are no longer sent
		there    []string
	}{
		"a temperature": {fakellm.OpenAI, []fakellm.Reply{
			refusal(400, "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported."),
		}, []string{"temperature"}, []string{"response_format", "stream_options"}},
		"a deprecated temperature": {fakellm.Anthropic, []fakellm.Reply{
			refusal(400, "`temperature` is deprecated for this model."),
		}, []string{"temperature"}, []string{"output_config"}},
		"two at a time": {fakellm.Anthropic, []fakellm.Reply{
			refusal(400, "`temperature` and `top_p` cannot both be specified for this model. Please use only one."),
		}, []string{"temperature"}, []string{"output_config"}},
		"the name of the cap": {fakellm.OpenAI, []fakellm.Reply{
			refusal(400, "Unsupported parameter: 'max_completion_tokens' is not supported with this model."),
		}, []string{"max_completion_tokens"}, []string{"max_tokens"}},
		"bounds, then the schema": {fakellm.OpenAI, []fakellm.Reply{
			refusal(400, "Invalid schema for response_format: 'maxLength' is not permitted"),
			refusal(400, "This response_format type is unavailable now"),
		}, []string{"response_format"}, []string{"temperature"}},
		"exact numbers of entries, then the schema": {fakellm.OpenAI, []fakellm.Reply{
			refusal(400, "Invalid schema for response_format: For 'array' type, property 'minItems' is not supported"),
			refusal(400, "This response_format type is unavailable now"),
		}, []string{"response_format"}, []string{"temperature"}},
		"bounds, then the schema of a response": {fakellm.Responses, []fakellm.Reply{
			refusal(400, "Invalid schema for response_format 'assessment_1': In context=('properties', 'why'), 'maxLength' is not permitted."),
			refusal(400, "Invalid parameter: 'text.format' of type 'json_schema' is not supported with this model."),
		}, []string{"text"}, []string{"temperature", "max_output_tokens", "store"}},
		"a temperature of a response": {fakellm.Responses, []fakellm.Reply{
			refusal(400, "Unsupported parameter: 'temperature' is not supported with this model."),
		}, []string{"temperature"}, []string{"text", "max_output_tokens", "store"}},
		"an output_config": {fakellm.Anthropic, []fakellm.Reply{
			refusal(400, "output_config.format: Extra inputs are not permitted"),
		}, []string{"output_config"}, []string{"temperature"}},
		"a grammar": {fakellm.Ollama, []fakellm.Reply{
			refusal(500, "failed to parse grammar"), refusal(500, "failed to parse grammar"),
		}, []string{"format"}, []string{"options"}},
		"all, one by one": {fakellm.OpenAI, []fakellm.Reply{
			refusal(422, "extra_forbidden: stream_options"), refusal(400, "Your organization must be verified to stream this model: stream"),
			refusal(400, "json_schema: not supported"), refusal(400, "json_schema: not supported"), refusal(400, "'temperature' unsupported"),
		}, []string{"temperature", "stream", "stream_options", "response_format"}, []string{"max_completion_tokens"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := fakellm.Start(t, test.protocol, append(test.refusals, fakellm.Reply{Chunks: []string{"So."}})...)
				p := service(t, test.protocol, s.Client(t), nil)
				for range 2 {
					res := calltest.Generate(t, p, full)
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

func TestRefusalsAreRememberedByModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakellm.Start(t, fakellm.OpenAI, fakellm.Reply{Status: 400, Body: "temperature unsupported"}, fakellm.Reply{Chunks: []string{"So."}})
		p := service(t, fakellm.OpenAI, s.Client(t), nil)
		warm := 0.5
		for _, model := range []string{"one", "other"} {
			r := calltest.Ask()
			r.Model, r.Temperature = model, &warm
			calltest.Generate(t, p, r)
		}
		require.Contains(t, s.Requests()[2].Body, "temperature")
	})
}

func TestTheFirstRefusalIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := fakellm.Reply{Status: 400, Body: `{"error": {"message": "temperature is not supported"}}`}
		for _, then := range []fakellm.Reply{{Status: 400, Body: "the messages are bad"}, first} {
			s := fakellm.Start(t, fakellm.OpenAI, first, then)
			p := service(t, fakellm.OpenAI, s.Client(t), nil)
			warm := 0.5
			r := calltest.Ask()
			r.Temperature = &warm
			_, err := p.Generate(t.Context(), r)
			require.EqualError(t, calltest.RequireKind(t, providers.InvalidRequest, err), "invalid_request: call model: status 400: temperature is not supported")
			require.Len(t, s.Requests(), 2)
			require.Contains(t, s.Requests()[0].Body, "temperature")
			_, err = p.Generate(t.Context(), r)
			require.Error(t, err)
			require.Contains(t, s.Requests()[2].Body, "temperature", "what did not help is not remembered")
		}
	})
}

func TestTheWarningSaysHowMuchOfSchemasIsOmitted(t *testing.T) {
	refusal := fakellm.Reply{Status: 400, Body: `{"error": {"message": "response_format: 'maxLength' is not supported"}}`}
	for n, want := range []string{"bounds in schemas", "schemas"} {
		synctest.Test(t, func(t *testing.T) {
			s := fakellm.Start(t, fakellm.OpenAI, append(slices.Repeat([]fakellm.Reply{refusal}, n+1), fakellm.Reply{Chunks: []string{"So."}})...)
			r := calltest.Ask()
			r.Schema = json.RawMessage(strictSchema)
			res := calltest.Generate(t, service(t, fakellm.OpenAI, s.Client(t), nil), r)
			require.Equal(t, []string{"model m does not support: " + want + ": requests omit what it refuses for the next 1h0m0s"}, res.Warnings)
		})
	}
}

// If both APIs of OpenAI refuse a field, the error is that of the API that was used last.
func TestARefusalByTheNewerAPIIsNotReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refuse := func(field string) fakellm.Reply {
			return fakellm.Reply{Status: 400, Body: `{"error": {"message": "` + field + ` is not supported"}}`}
		}
		s := fakellm.Start(t, fakellm.Responses, refuse("top_p"), fakellm.Reply{Status: 404, Body: "404 page not found"}, refuse("temperature"), refuse("all"))
		warm := 0.5
		r := calltest.Ask()
		r.Temperature, r.TopP = &warm, 0.5
		_, err := service(t, fakellm.Responses, s.Client(t), nil).Generate(t.Context(), r)
		require.EqualError(t, calltest.RequireKind(t, providers.InvalidRequest, err), "invalid_request: call model: status 400: temperature is not supported")
		require.Len(t, s.Requests(), 4)
	})
}

// Ollama's error has another word than its field.
func TestAModelWithoutThinking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakellm.Start(t, fakellm.Ollama, fakellm.Reply{Status: 400, Body: `{"error": "\"m\" does not support thinking"}`}, fakellm.Reply{Chunks: []string{"So."}})
		r := calltest.Ask()
		r.Reasoning = "low"
		res := calltest.Generate(t, service(t, fakellm.Ollama, s.Client(t), nil), r)
		require.Len(t, res.Warnings, 1)
		require.Contains(t, s.Requests()[0].Body, "think")
		require.NotContains(t, s.Requests()[1].Body, "think")
	})
}

func TestValuesOutOfRangeAreErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, message := range []string{
			"temperature: Input should be less than or equal to 1", "max_completion_tokens: 900000 > 8192, the maximum allowed", "messages: bad",
		} {
			s := fakellm.Start(t, fakellm.OpenAI, fakellm.Reply{Status: 400, Body: message})
			hot := 2.0
			r := calltest.Ask()
			r.Temperature, r.MaxTokens = &hot, 900_000
			_, err := service(t, fakellm.OpenAI, s.Client(t), nil).Generate(t.Context(), r)
			require.ErrorContains(t, calltest.RequireKind(t, providers.InvalidRequest, err), message)
			require.Len(t, s.Requests(), 1)
		}
	})
}

package openai_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/openai"
)

// responder returns a provider of a fake service with the Responses API.
func responder(t *testing.T, c openai.Config, replies ...fakellm.Reply) (*openai.Provider, *fakellm.Server) {
	t.Helper()
	s := fakellm.Start(t, fakellm.Responses, replies...)
	c.HTTPClient = s.Client(t)
	c.BaseURL = "http://service/v1"
	c.API = "responses"
	if c.Model == "" {
		c.Model = "m"
	}
	p, err := openai.New(c)
	require.NoError(t, err)
	return p, s
}

func TestTheDefaultAPI(t *testing.T) {
	for name, test := range map[string]struct {
		config   openai.Config
		protocol fakellm.Protocol
		want     string
	}{
		"OpenAI":                         {openai.Config{Key: key}, fakellm.Responses, "/v1/responses"},
		"OpenAI by its address":          {openai.Config{Key: key, BaseURL: "http://api.openai.com/v1/"}, fakellm.Responses, "/v1/responses"},
		"OpenAI, chat completions":       {openai.Config{Key: key, BaseURL: "http://api.openai.com/v1", API: "chat"}, fakellm.OpenAI, "/v1/chat/completions"},
		"another server":                 {openai.Config{BaseURL: "http://service/v1"}, fakellm.OpenAI, "/v1/chat/completions"},
		"a name like OpenAI's":           {openai.Config{BaseURL: "http://api.openai.com.example/v1"}, fakellm.OpenAI, "/v1/chat/completions"},
		"another server, by its setting": {openai.Config{BaseURL: "http://service/v1", API: "responses"}, fakellm.Responses, "/v1/responses"},
	} {
		t.Run(name, func(t *testing.T) {
			s := fakellm.Start(t, test.protocol, fakellm.Reply{Chunks: []string{"So."}})
			client := s.Client(t)
			inner := client.Transport
			client.Transport = calltest.RoundTrip(func(r *http.Request) (*http.Response, error) {
				r.URL.Scheme = "http"
				return inner.RoundTrip(r)
			})
			test.config.HTTPClient, test.config.Model = client, "m"
			p, err := openai.New(test.config)
			require.NoError(t, err)
			res := calltest.Generate(t, p, ask)
			require.Equal(t, "So.", res.Text)
			require.Empty(t, res.Warnings)
			require.Equal(t, test.want, s.Requests()[0].Path)
		})
	}
}

func TestTheRequestOfTheResponsesAPI(t *testing.T) {
	p, s := responder(t, openai.Config{Extra: map[string]any{"reasoning": map[string]any{"summary": "auto"}}}, fakellm.Reply{Chunks: []string{`{"why": "so"}`}})
	warm := 0.5
	calltest.Generate(t, p, providers.Request{
		Messages: []providers.Message{
			{Role: providers.System, Text: "Argue."},
			{Role: providers.User, Text: "Why?"},
			{Role: providers.User, Text: "Really?"},
			{Role: providers.Assistant, Text: "So."},
			{Role: providers.User, Text: "Why so?"},
		},
		Temperature: &warm, MaxTokens: 600, SchemaName: "assessment/1",
		Schema: json.RawMessage(`{"type": "object", "properties": {"why": {"type": "string"}}, "required": ["why"], "additionalProperties": false}`),
	})
	require.Equal(t, map[string]any{
		"model": "m", "stream": true, "store": false, "include": []any{"reasoning.encrypted_content"},
		"temperature": 0.5, "max_output_tokens": 600.0, "reasoning": map[string]any{"summary": "auto"},
		"instructions": "Argue.",
		"input": []any{
			map[string]any{"role": "user", "content": "Why?\n\nReally?"}, map[string]any{"role": "assistant", "content": "So."}, map[string]any{"role": "user", "content": "Why so?"},
		},
		"text": map[string]any{"format": map[string]any{
			"type": "json_schema", "name": "assessment_1", "strict": true, "schema": map[string]any{
				"type": "object", "properties": map[string]any{"why": map[string]any{"type": "string"}}, "required": []any{"why"}, "additionalProperties": false,
			},
		}},
	}, s.Requests()[0].Body)
}

func TestTheLowestTokenLimitOfTheResponsesAPI(t *testing.T) {
	p, s := responder(t, openai.Config{}, fakellm.Reply{Chunks: []string{"So."}})
	for _, limit := range []int{0, 1, 16, 17} {
		r := ask
		r.MaxTokens = limit
		calltest.Generate(t, p, r)
	}
	var sent []any
	for _, r := range s.Requests() {
		sent = append(sent, r.Body["max_output_tokens"])
	}
	require.Equal(t, []any{nil, 16.0, 16.0, 17.0}, sent)
}

const (
	noModel  = `{"error": {"message": "The requested model 'm' is not supported with the Responses API.", "type": "invalid_request_error", "param": "model", "code": "model_not_found"}}`
	noServer = `{"error": {"message": "Invalid URL (POST /v1/responses)", "type": "invalid_request_error", "param": null, "code": null}}`
)

// The replies come from https://github.com/Laisky/one-api/issues/88 and
// https://github.com/vybestack/llxprt-code/issues/775. The others are what web servers send.
func TestChatCompletionsReplaceTheResponsesAPI(t *testing.T) {
	for name, test := range map[string]struct {
		status  int
		body    string
		warning string // empty if the error is not about the API
		other   string // the path of a later request with another model
	}{
		"a model that lacks it":  {400, noModel, "model m does not support the Responses API: requests use chat completions for the next 1h0m0s", "/v1/responses"},
		"an unknown address":     {404, noServer, "the server does not support the Responses API: requests use chat completions for the next 1h0m0s", "/v1/chat/completions"},
		"no such page":           {404, "404 page not found", "the server does not support the Responses API: requests use chat completions for the next 1h0m0s", "/v1/chat/completions"},
		"details":                {404, `{"detail":"Not Found"}`, "the server does not support the Responses API: requests use chat completions for the next 1h0m0s", "/v1/chat/completions"},
		"a method not allowed":   {405, `{"detail":"Method Not Allowed"}`, "the server does not support the Responses API: requests use chat completions for the next 1h0m0s", "/v1/chat/completions"},
		"an unknown model":       {404, `{"error": {"message": "The model 'm' does not exist or you do not have access to it.", "code": "model_not_found"}}`, "", ""},
		"a refused key":          {401, `{"error": {"message": "Incorrect API key provided for /v1/responses"}}`, "", ""},
		"a parameter that moved": {400, `{"error": {"message": "Unsupported parameter: 'x'. In the Responses API, this parameter has moved to 'y'."}}`, "", ""},
		"a failing service":      {500, `{"error": {"message": "the Responses API failed"}}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				older := fakellm.Start(t, fakellm.OpenAI, fakellm.Reply{Chunks: []string{"So."}})
				newer := fakellm.Start(t, fakellm.Responses, fakellm.Reply{Status: test.status, Body: test.body}, fakellm.Reply{Chunks: []string{"So."}})
				var paths []string
				p := withBothAPIs(t, newer, older, &paths)
				call := func(model string) (providers.Response, error) {
					paths = nil
					r := ask
					r.Model = model
					return p.Generate(calltest.Forever(t), r)
				}
				res, err := call("")
				if test.warning == "" {
					require.Error(t, err)
					require.Equal(t, []string{"/v1/responses"}, paths)
					return
				}
				require.NoError(t, err)
				require.Equal(t, "So.", res.Text)
				require.Equal(t, []string{test.warning}, res.Warnings)
				require.Equal(t, []string{"/v1/responses", "/v1/chat/completions"}, paths)
				require.Equal(t, 600.0, older.Requests()[0].Body["max_completion_tokens"])

				time.Sleep(59 * time.Minute)
				res, err = call("")
				require.NoError(t, err)
				require.Empty(t, res.Warnings, "the warning comes once")
				require.Equal(t, []string{"/v1/chat/completions"}, paths)

				_, err = call("other")
				require.NoError(t, err)
				require.Equal(t, []string{test.other}, paths)

				time.Sleep(2 * time.Minute)
				_, err = call("")
				require.NoError(t, err)
				require.Equal(t, []string{"/v1/responses"}, paths, "it is tried again after an hour")
			})
		})
	}
}

// withBothAPIs returns a provider of a service with both APIs, each played by its own server. It records the paths of the
// requests.
func withBothAPIs(t *testing.T, newer, older *fakellm.Server, paths *[]string) *openai.Provider {
	t.Helper()
	client := &http.Client{Transport: calltest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		*paths = append(*paths, r.URL.Path)
		to := newer
		if r.URL.Path == "/v1/chat/completions" {
			to = older
		}
		return to.Client(t).Transport.RoundTrip(r)
	})}
	p, err := openai.New(openai.Config{Key: key, Model: "m", BaseURL: "http://api.openai.com/v1", HTTPClient: client})
	require.NoError(t, err)
	return p
}

// What the provider learns about other models does not put off the next try.
func TestTheFallbackEndsAfterAnHourWithManyModels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said, refused := fakellm.Reply{Chunks: []string{"So."}}, fakellm.Reply{Status: 400, Body: `{"error": {"message": "Unsupported parameter: 'top_p'"}}`}
		older := fakellm.Start(t, fakellm.OpenAI, said, refused, said, refused, said)
		newer := fakellm.Start(t, fakellm.Responses, fakellm.Reply{Status: 404, Body: noServer}, said)
		var paths []string
		p := withBothAPIs(t, newer, older, &paths)
		const responses, chat = "/v1/responses", "/v1/chat/completions"
		began := time.Now()
		for _, step := range []struct {
			after time.Duration
			model string
			want  []string
		}{
			{0, "m1", []string{responses, chat}},
			{20 * time.Minute, "m2", []string{chat, chat}},
			{59 * time.Minute, "m3", []string{chat, chat}},
			{59*time.Minute + 59*time.Second, "m1", []string{chat}},
			{time.Hour, "m1", []string{responses}},
			{time.Hour, "m2", []string{responses}},
		} {
			time.Sleep(step.after - time.Since(began))
			paths = nil
			r := ask
			r.Model, r.TopP = step.model, 0.5
			_, err := p.Generate(calltest.Forever(t), r)
			require.NoError(t, err)
			require.Equal(t, step.want, paths, "%s after %v", step.model, step.after)
		}
	})
}

// A failure of chat completions is the caller's error, and not that the Responses API is missing.
func TestTheErrorOfChatCompletionsIsReported(t *testing.T) {
	p, s := responder(t, openai.Config{}, fakellm.Reply{Status: 404, Body: noServer},
		fakellm.Reply{Status: 400, Body: `{"error": {"message": "This model's maximum context length is 8192 tokens.", "code": "context_length_exceeded"}}`})
	_, err := p.Generate(t.Context(), ask)
	_ = calltest.RequireKind(t, providers.ContextOverflow, err)
	require.Len(t, s.Requests(), 2)
	_, err = p.Generate(t.Context(), ask)
	require.Error(t, err)
	require.Equal(t, "/v1/responses", s.Requests()[2].Path, "a fallback that did not help is not remembered")
}

// The body comes from https://github.com/pydantic/pydantic-ai/issues/2865.
func TestModelsThatDoNotReason(t *testing.T) {
	p, s := responder(t, openai.Config{Model: "gpt-4.1-mini"}, fakellm.Reply{Chunks: []string{"So."}})
	res := calltest.Generate(t, p, ask)
	require.Empty(t, res.Warnings)
	require.NotContains(t, s.Requests()[0].Body, "include")

	p, s = responder(t, openai.Config{},
		fakellm.Reply{Status: 400, Body: `{"error": {"message": "Encrypted content is not supported with this model.", "type": "invalid_request_error", "param": "include", "code": null}}`},
		fakellm.Reply{Chunks: []string{"So."}})
	res = calltest.Generate(t, p, ask)
	require.Equal(t, []string{"model m does not support: include: requests omit what it refuses for the next 1h0m0s"}, res.Warnings)
	require.Contains(t, s.Requests()[0].Body, "include")
	require.NotContains(t, s.Requests()[1].Body, "include")
	require.Equal(t, false, s.Requests()[1].Body["store"])
}

// The body comes from https://github.com/BoundaryML/baml/pull/2708.
func TestARefusedEffortIsOmitted(t *testing.T) {
	p, s := responder(t, openai.Config{},
		fakellm.Reply{Status: 400, Body: `{"error": {"message": "Unsupported parameter: 'reasoning.effort' is not supported with this model.", "type": "invalid_request_error", "param": "reasoning.effort", "code": "unsupported_parameter"}}`},
		fakellm.Reply{Chunks: []string{"So."}})
	r := ask
	r.Reasoning = "low"
	res := calltest.Generate(t, p, r)
	require.Equal(t, []string{"model m does not support: reasoning: requests omit what it refuses for the next 1h0m0s"}, res.Warnings)
	require.Equal(t, map[string]any{"effort": "low"}, s.Requests()[0].Body["reasoning"])
	require.NotContains(t, s.Requests()[1].Body, "reasoning")
	require.Contains(t, s.Requests()[1].Body, "include")
}

// ownTurn returns a request with an earlier reply of the assistant.
func ownTurn(res providers.Response) providers.Request {
	return providers.Request{Messages: []providers.Message{
		{Role: providers.User, Text: "Why?"}, {Role: providers.Assistant, Parts: res.Parts}, {Role: providers.User, Text: "Really?"},
	}}
}

func TestReasoningGoesBackToTheService(t *testing.T) {
	p, s := responder(t, openai.Config{}, fakellm.Reply{Reasoning: "Hm.", Chunks: []string{"So", "."}}, fakellm.Reply{Reasoning: "Hm.", Chunks: []string{"So", "."}, Whole: true})
	for range 2 {
		res := calltest.Generate(t, p, ask)
		require.Equal(t, "So.", res.Text)
		require.Len(t, res.Parts, 3)
		require.Equal(t, &providers.Reasoning{Text: "Hm."}, res.Parts[0].Reasoning)
		require.Equal(t, "service", res.Parts[1].Reasoning.Service)
		item := map[string]any{
			"type": "reasoning", "id": "rs_1", "encrypted_content": "b3BhcXVl", "summary": []any{map[string]any{"type": "summary_text", "text": "Hm."}},
		}
		var kept map[string]any
		require.NoError(t, json.Unmarshal(res.Parts[1].Reasoning.Data, &kept))
		require.Equal(t, item, kept)
		require.Equal(t, "So.", res.Parts[2].Text)

		calltest.Generate(t, p, ownTurn(res))
		requests := s.Requests()
		require.Equal(t, []any{
			map[string]any{"role": "user", "content": "Why?"}, item, map[string]any{"role": "assistant", "content": "So."}, map[string]any{"role": "user", "content": "Really?"},
		}, requests[len(requests)-1].Body["input"])
	}
}

// The body comes from https://github.com/openai/codex/issues/8145. It happens when the key or the model has changed.
func TestReasoningThatTheServiceCannotReadIsOmitted(t *testing.T) {
	p, s := responder(t, openai.Config{},
		fakellm.Reply{Status: 400, Body: `{"error": {"message": "The encrypted content gAAA...DQ== could not be verified.", "type": "invalid_request_error", "param": null, "code": "invalid_encrypted_content"}}`},
		fakellm.Reply{Chunks: []string{"So."}})
	r := ownTurn(providers.Response{Parts: []providers.Part{
		{Reasoning: &providers.Reasoning{Service: "service", Data: json.RawMessage(`{"type": "reasoning", "summary": [], "encrypted_content": "gAAADQ=="}`)}},
		{Text: "So."},
	}})
	for i, want := range [][]string{{"model m does not support: the reasoning of earlier replies: requests omit what it refuses for the next 1h0m0s"}, nil} {
		res := calltest.Generate(t, p, r)
		require.Equal(t, want, res.Warnings)
		require.Len(t, s.Requests(), i+2)
		require.Len(t, s.Requests()[i+1].Body["input"], 3)
		require.Contains(t, s.Requests()[i+1].Body, "include")
	}
}

func TestSettingsThatTheResponsesAPILacks(t *testing.T) {
	seed := int64(7)
	r := providers.Request{Model: "gpt-5.1", Reasoning: "low", TopP: 0.5, Seed: &seed, Stop: []string{"END"}}
	const instead = "the Responses API has none, remove it or set Config.API to chat"
	for _, c := range []openai.Config{{}, {BaseURL: "http://service/v1", API: "responses"}} {
		c.Key, c.Model = key, "m"
		p, err := openai.New(c)
		require.NoError(t, err)
		require.Equal(t, map[string]string{"seed": instead, "stop": instead}, p.Unsupported(r))
	}
	p, err := openai.New(openai.Config{Key: key, Model: "m"})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"reasoning": "model gpt-4.1 does not reason, remove it or use none"}, p.Unsupported(providers.Request{Model: "gpt-4.1", Reasoning: "high"}))
}

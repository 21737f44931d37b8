package openai_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/openai"
)

func TestWhatIsMissingOrWrongIsNamed(t *testing.T) {
	for want, c := range map[string]openai.Config{
		"create openai provider: Config.Key is empty: set the API key, or Config.KeyFunc":                                           {Model: "m"},
		"create openai provider: Config.Model is empty: name a model, such as gpt-4.1-mini":                                         {Key: key},
		`create openai provider: Config.BaseURL is "http://x/v1/chat/completions", want it without /chat/completions or /responses`: {Model: "m", BaseURL: "http://x/v1/chat/completions"},
		`create openai provider: Config.BaseURL is "http://x/v1/responses", want it without /chat/completions or /responses`:        {Model: "m", BaseURL: "http://x/v1/responses"},
		`create openai provider: Config.API is "assistants", want responses or chat`:                                                {Model: "m", Key: key, API: "assistants"},
		`create openai provider: Config.MaxTokensField is "max", want max_completion_tokens or max_tokens`:                          {Model: "m", Key: key, MaxTokensField: "max"},
	} {
		_, err := openai.New(c)
		require.EqualError(t, err, want)
	}
	for _, address := range []string{"localhost:8000", "http://a b:x", "ftp://u:secret@x", "x"} {
		_, err := openai.New(openai.Config{Key: key, Model: "m", BaseURL: address})
		require.EqualError(t, err, "create openai provider: Config.BaseURL is not a valid http or https URL, want one such as https://api.openai.com/v1")
	}
}

func TestStringHasNoUser(t *testing.T) {
	require.Equal(t, `openai.Config{Model: "m", BaseURL: "http://x/v1"}`, openai.Config{Model: "m", BaseURL: "http://u:" + key + "@x/v1"}.String())
}

// provider returns a provider of a fake service that sends the replies.
func provider(t *testing.T, c openai.Config, replies ...fakellm.Reply) (*openai.Provider, *fakellm.Server) {
	t.Helper()
	s := fakellm.Start(t, fakellm.OpenAI, replies...)
	if c.HTTPClient == nil {
		c.HTTPClient = s.Client(t)
	}
	if c.Model == "" {
		c.Model = "m"
	}
	p, err := openai.New(c)
	require.NoError(t, err)
	return p, s
}

var ask = providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "Why?"}}, MaxTokens: 600}

func TestNothingIsReadFromTheEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "another-key")
	t.Setenv("OPENAI_BASE_URL", "http://elsewhere/v1")
	t.Setenv("OPENAI_API_BASE", "http://elsewhere/v1")
	t.Setenv("OPENAI_MODEL", "another")
	t.Setenv("OPENAI_ORGANIZATION", "another")
	_, err := openai.New(openai.Config{Model: "m"})
	require.Error(t, err)
	var hosts []string
	s := fakellm.Start(t, fakellm.Responses, fakellm.Reply{Chunks: []string{"So."}})
	client := s.Client(t)
	inner := client.Transport
	client.Transport = calltest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		hosts = append(hosts, r.URL.String())
		r.URL.Scheme = "http"
		return inner.RoundTrip(r)
	})
	p, err := openai.New(openai.Config{Key: key, Model: "m", HTTPClient: client})
	require.NoError(t, err)
	calltest.Generate(t, p, ask)
	require.Equal(t, []string{"https://api.openai.com/v1/responses"}, hosts)
	got := s.Requests()[0]
	require.Equal(t, "Bearer "+key, got.Header.Get("Authorization"))
	require.Empty(t, got.Header.Get("OpenAI-Organization"))
	require.Equal(t, "m", got.Body["model"])
	require.Equal(t, 600.0, got.Body["max_output_tokens"])
	require.Equal(t, false, got.Body["store"])
}

func TestWhatIsConfiguredIsSent(t *testing.T) {
	so := fakellm.Reply{Chunks: []string{"So."}}
	p, s := provider(t, openai.Config{
		BaseURL: "http://service/v1/", Extra: map[string]any{"reasoning_effort": "low", "stream_options": map[string]any{"x": true}},
	}, so)
	calltest.Generate(t, p, ask)
	got := s.Requests()[0]
	require.Equal(t, "/v1/chat/completions", got.Path)
	require.Empty(t, got.Header.Get("Authorization"), "no key, no header")
	delete(got.Body, "messages")
	require.Equal(t, map[string]any{
		"model": "m", "max_tokens": 600.0, "reasoning_effort": "low",
		"stream": true, "stream_options": map[string]any{"include_usage": true, "x": true},
	}, got.Body)

	p, s = provider(t, openai.Config{BaseURL: "http://service/v1", MaxTokensField: "max_completion_tokens"}, so)
	calltest.Generate(t, p, ask)
	require.Equal(t, 600.0, s.Requests()[0].Body["max_completion_tokens"])
}

func TestCheck(t *testing.T) {
	list := func(names ...string) fakellm.Reply {
		var data []map[string]string
		for _, name := range names {
			data = append(data, map[string]string{"id": name})
		}
		raw, _ := json.Marshal(map[string]any{"data": data})
		return fakellm.Reply{Body: string(raw)}
	}
	for name, test := range map[string]struct {
		answer fakellm.Reply
		model  string
		want   string // empty if the check succeeds
	}{
		"known model":                      {list("m", "n"), "n", ""},
		"default model":                    {list("m", "n"), "", ""},
		"known model with an owner":        {list("models/x", "n"), "x", ""},
		"known model with a tag":           {list("x:latest", "n"), "x", ""},
		"variant of a known model":         {list("a/x", "n"), "a/x:free", ""},
		"unknown model, similar one known": {list("gpt-4.1", "n"), "gpt-9", `invalid_request: check model "gpt-9": it is not among the 2 models of http://service/v1; similar models are gpt-4.1`},
		"unknown model, none similar":      {list("m", "n"), "x", `invalid_request: check model "x": it is not among the 2 models of http://service/v1`},
		"server with one model":            {list("m"), "x", ""},
		"list of patterns":                 {list("m", "openai/*"), "x", ""},
		"incomplete list":                  {fakellm.Reply{Body: `{"data": [{"id": "a"}, {"id": "b"}], "has_more": true}`}, "x", ""},
		"no list":                          {fakellm.Reply{Status: 404}, "x", ""},
		"list in another form":             {fakellm.Reply{Body: `[{"id": "a"}]`}, "x", ""},
		"refused key":                      {fakellm.Reply{Status: 401, Body: `{"error": {"message": "Incorrect API key provided: ` + key + `"}}`}, "m", "authentication: check key: call model: status 401: Incorrect API key provided: [key]"},
		"key that may not list models":     {fakellm.Reply{Status: 403, Body: "insufficient permissions: missing scopes: api.model.read"}, "m", ""},
		"failing service":                  {fakellm.Reply{Status: 503, Body: "no"}, "m", "server_error: check key: call model: status 503: no"},
	} {
		t.Run(name, func(t *testing.T) {
			p, s := provider(t, openai.Config{Key: key, BaseURL: "http://service/v1"})
			s.Routes["/v1/models"] = test.answer
			err := p.Check(t.Context(), test.model)
			if test.want == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, test.want)
			}
			require.Equal(t, "Bearer "+key, s.Requests()[0].Header.Get("Authorization"))
		})
	}
}

func TestCheckOfAServerThatIsNotThere(t *testing.T) {
	client := &http.Client{Transport: calltest.RoundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") })}
	p, err := openai.New(openai.Config{Key: key, Model: "m", HTTPClient: client})
	require.NoError(t, err)
	require.Equal(t, providers.Network, providers.AsError(p.Check(t.Context(), "m")).Kind)
}

func TestAClosedPortIsANetworkFailure(t *testing.T) {
	p, err := openai.New(openai.Config{Key: key, Model: "m", BaseURL: "http://127.0.0.1:1/v1"})
	require.NoError(t, err)
	_, err = p.Generate(t.Context(), ask)
	require.Equal(t, providers.Network, providers.AsError(err).Kind)
	require.ErrorContains(t, err, "connection refused")
	require.NotContains(t, err.Error(), key)
}

func TestUnsupportedSettings(t *testing.T) {
	p, err := openai.New(openai.Config{Key: key, Model: "gpt-4.1", API: "chat"})
	require.NoError(t, err)
	five := []string{"a", "b", "c", "d", "e"}
	for _, test := range []struct {
		request providers.Request
		want    map[string]string
	}{
		{providers.Request{Model: "gpt-5.1", Reasoning: "none", Stop: five[:4], TopP: 0.5}, nil},
		{providers.Request{Model: "gpt-5-mini", Reasoning: "low"}, nil},
		{providers.Request{Reasoning: "none"}, nil},
		{providers.Request{Reasoning: "low"}, map[string]string{"reasoning": "model gpt-4.1 does not reason, remove it or use none"}},
		{providers.Request{Model: "gpt-5-mini", Reasoning: "none"}, map[string]string{"reasoning": "model gpt-5-mini always reasons, use low"}},
		{providers.Request{Model: "o3", Reasoning: "none", Stop: five[:1]}, map[string]string{
			"reasoning": "model o3 always reasons, use low", "stop": "model o3 supports no stop texts, remove them",
		}},
		{providers.Request{Model: "gpt-5-pro", Reasoning: "none"}, map[string]string{"reasoning": "model gpt-5-pro has only high"}},
		{providers.Request{Model: "gpt-5-pro", Reasoning: "high"}, nil},
		{providers.Request{Model: "gpt-5-pro", Reasoning: "low"}, map[string]string{"reasoning": "model gpt-5-pro has only high"}},
		{providers.Request{Model: "gpt-5", Reasoning: "2048", Stop: five}, map[string]string{
			"reasoning": "2048 tokens: the API has no budgets for reasoning, use low, medium or high", "stop": "5 texts are too many, use at most 4",
		}},
	} {
		got := p.Unsupported(test.request)
		if test.want == nil {
			require.Empty(t, got)
		} else {
			require.Equal(t, test.want, got)
		}
	}
}

package ollama_test

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/ollama"
)

func TestWhatIsMissingOrWrongIsNamed(t *testing.T) {
	for want, c := range map[string]ollama.Config{
		"Config.Model is empty: name a model, such as llama3.2":                                    {},
		"Config.NumCtx is -1, want 0 or a positive number of tokens":                               {Model: "m", NumCtx: -1},
		"Config.BaseURL is not a valid http or https URL, want one such as http://127.0.0.1:11434": {Model: "m", BaseURL: "localhost:11434"},
		"Config.BaseURL ends with /v1: remove it, or use providers/openai for /v1":                 {Model: "m", BaseURL: "http://localhost:11434/v1/"},
	} {
		_, err := ollama.New(c)
		require.EqualError(t, err, "create ollama provider: "+want)
	}
}

// provider returns a provider of a fake service that sends the replies.
func provider(t *testing.T, c ollama.Config, replies ...fakellm.Reply) (*ollama.Provider, *fakellm.Server) {
	t.Helper()
	s := fakellm.Start(t, fakellm.Ollama, replies...)
	c.Key = key
	c.Model = "m"
	c.BaseURL = s.URL
	c.HTTPClient = s.Client(t)
	p, err := ollama.New(c)
	require.NoError(t, err)
	return p, s
}

var ask = providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "Why?"}}, MaxTokens: 600}

func TestNothingIsReadFromTheEnvironment(t *testing.T) {
	t.Setenv("OLLAMA_HOST", "http://elsewhere")
	refused := errors.New("connection refused")
	address := ""
	p, err := ollama.New(ollama.Config{Model: "m", HTTPClient: &http.Client{Transport: calltest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		address = r.URL.String()
		return nil, refused
	})}})
	require.NoError(t, err)
	_, err = p.Generate(t.Context(), ask)
	require.ErrorIs(t, err, refused)
	require.Equal(t, "http://127.0.0.1:11434/api/chat", address)
}

func TestWhatIsConfiguredIsSent(t *testing.T) {
	p, s := provider(t, ollama.Config{NumCtx: 16384, Extra: map[string]any{"think": false, "shift": true, "options": map[string]any{"seed": 7}}}, fakellm.Reply{Chunks: []string{"So."}})
	r := ask
	r.Schema = json.RawMessage(`{"type": "object"}`)
	calltest.Generate(t, p, r)
	got := s.Requests()[0]
	require.Equal(t, "Bearer "+key, got.Header.Get("Authorization"))
	delete(got.Body, "messages")
	require.Equal(t, map[string]any{
		"model": "m", "stream": true, "truncate": false, "shift": true, "think": false, "format": map[string]any{"type": "object"},
		"options": map[string]any{"num_ctx": 16384.0, "num_predict": 600.0, "seed": 7.0},
	}, got.Body)
}

func TestAPromptThatDoesNotFitIsAnError(t *testing.T) {
	p, _ := provider(t, ollama.Config{}, fakellm.Reply{Status: 400, Body: `{"error": "the input length exceeds the context length"}`})
	_, err := p.Generate(t.Context(), ask)
	require.Equal(t, providers.ContextOverflow, providers.AsError(err).Kind)
}

func TestCheckLearnsWhetherAModelReasons(t *testing.T) {
	for description, want := range map[string]string{
		`{"capabilities": ["completion", "tools"]}`:    "model m does not reason, remove it or use none",
		`{"capabilities": ["completion", "thinking"]}`: "",
		`{"details": {}}`: "",
		`[]`:              "",
	} {
		p, s := provider(t, ollama.Config{})
		require.Empty(t, p.Unsupported(providers.Request{Reasoning: "low"}))
		s.Routes["/api/show"] = fakellm.Reply{Body: description}
		require.NoError(t, p.Check(t.Context(), ""))
		require.Equal(t, want, p.Unsupported(providers.Request{Reasoning: "low"})["reasoning"])
		require.Empty(t, p.Unsupported(providers.Request{Reasoning: "none"}))
	}
}

// An error of a missing model names those that the server has, also if the model was removed after the check.
func TestAMissingModelIsExplained(t *testing.T) {
	for name, test := range map[string]struct {
		tags fakellm.Reply
		want string
	}{
		"some":    {fakellm.Reply{Body: `{"models": [{"name": "qwen3:8b"}, {"name": "gemma3:4b"}, {}]}`}, ", or use one that it has: gemma3:4b, qwen3:8b"},
		"none":    {fakellm.Reply{Body: `{"models": null}`}, ", which has no model yet"},
		"no list": {fakellm.Reply{Status: 500}, ""},
		"no JSON": {fakellm.Reply{Body: "<html>"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			missing := fakellm.Reply{Status: 404, Body: `{"error": "model 'tiny' not found"}`}
			p, s := provider(t, ollama.Config{}, missing)
			s.Routes["/api/show"], s.Routes["/api/tags"] = missing, test.tags
			want := "call model: status 404: model 'tiny' not found: run `ollama pull tiny` on the server at http://service" + test.want
			require.EqualError(t, p.Check(t.Context(), "tiny"), `invalid_request: check model "tiny": `+want)
			r := ask
			r.Model = "tiny"
			_, err := p.Generate(t.Context(), r)
			require.EqualError(t, err, "invalid_request: "+want)
		})
	}
	p, _ := provider(t, ollama.Config{}, fakellm.Reply{Status: 404, Body: "page not found"})
	_, err := p.Generate(t.Context(), ask)
	require.EqualError(t, err, "invalid_request: call model: status 404: page not found", "no model is missing")
}

// Where no server listens, the error says how to start one.
func TestAServerThatDoesNotRunIsExplained(t *testing.T) {
	var c net.ListenConfig
	l, err := c.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	p, err := ollama.New(ollama.Config{Model: "m", BaseURL: "http://" + l.Addr().String()})
	require.NoError(t, err)
	_, err = p.Generate(t.Context(), ask)
	for _, err := range []error{err, p.Check(t.Context(), "")} {
		require.Equal(t, providers.Network, providers.AsError(err).Kind)
		require.ErrorContains(t, err, ": start the server with `ollama serve`, or correct its address, http://"+l.Addr().String())
		require.ErrorAs(t, err, new(*net.OpError))
	}
}

func TestWindow(t *testing.T) {
	for name, test := range map[string]struct {
		numCtx         int
		description    string
		before, window int
	}{
		"NumCtx":                          {16_384, `{}`, 16_384, 16_384},
		"the model's own maximum":         {131_072, `{"model_info": {"general.architecture": "llama", "llama.context_length": 32768, "llama.rope.dimension_count": 64}}`, 131_072, 32_768},
		"more than NumCtx":                {8_192, `{"model_info": {"qwen3.context_length": 40960}}`, 8_192, 8_192},
		"a Modelfile":                     {0, `{"parameters": "stop \"<|eot_id|>\"\nnum_ctx                        8192\ntemperature 0.6"}`, 0, 8_192},
		"a Modelfile asks for too much":   {0, `{"parameters": "num_ctx 131072", "model_info": {"llama.context_length": 2048}}`, 0, 2_048},
		"NumCtx before a Modelfile":       {4_096, `{"parameters": "num_ctx 8192"}`, 4_096, 4_096},
		"the server decides":              {0, `{"model_info": {"llama.context_length": 131072}}`, 0, 0},
		"an older server says nothing":    {0, `{"details": {}}`, 0, 0},
		"values that make no sense":       {4_096, `{"parameters": "num_ctx -1\nnum_ctx x", "model_info": {"llama.context_length": -5}}`, 4_096, 4_096},
		"a description that is no object": {4_096, `[]`, 4_096, 4_096},
	} {
		t.Run(name, func(t *testing.T) {
			p, s := provider(t, ollama.Config{NumCtx: test.numCtx})
			require.Equal(t, test.before, p.Window(""))
			s.Routes["/api/show"] = fakellm.Reply{Body: test.description}
			require.NoError(t, p.Check(t.Context(), ""))
			require.Equal(t, test.window, p.Window(""))
			require.Equal(t, test.window, p.Window("m"))
			require.Equal(t, test.numCtx, p.Window("another"), "it was not checked")
		})
	}
}

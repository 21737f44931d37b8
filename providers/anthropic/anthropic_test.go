package anthropic_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/anthropic"
)

func TestWhatIsMissingOrWrongIsNamed(t *testing.T) {
	for want, c := range map[string]anthropic.Config{
		"Config.Key is empty: set the API key, or Config.KeyFunc":                                        {Model: "m"},
		"Config.Model is empty: name a model, such as claude-sonnet-4-5":                                 {Key: key},
		"Config.BaseURL is not a valid http or https URL, want one such as https://api.anthropic.com/v1": {Key: key, Model: "m", BaseURL: "x"},
	} {
		_, err := anthropic.New(c)
		require.EqualError(t, err, "create anthropic provider: "+want)
	}
}

// provider returns a provider of a fake service that sends the replies.
func provider(t *testing.T, c anthropic.Config, replies ...fakellm.Reply) (*anthropic.Provider, *fakellm.Server) {
	t.Helper()
	s := fakellm.Start(t, fakellm.Anthropic, replies...)
	c.Key = key
	c.Model = "m"
	c.BaseURL = s.URL
	c.HTTPClient = s.Client(t)
	p, err := anthropic.New(c)
	require.NoError(t, err)
	return p, s
}

var ask = providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "Why?"}}, MaxTokens: 600}

func TestNothingIsReadFromTheEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "another-key")
	_, err := anthropic.New(anthropic.Config{Model: "m"})
	require.Error(t, err)
}

func TestWhatIsConfiguredIsSent(t *testing.T) {
	p, s := provider(t, anthropic.Config{Extra: map[string]any{"service_tier": "auto", "output_config": map[string]any{"effort": "low"}}}, fakellm.Reply{Chunks: []string{"So."}})
	r := ask
	r.Schema = json.RawMessage(`{"type": "object", "properties": {"a": {"type": "string", "maxLength": 9}}}`)
	_, err := p.Generate(t.Context(), r)
	require.NoError(t, err)
	got := s.Requests()[0]
	require.Equal(t, key, got.Header.Get("X-Api-Key"))
	require.NotEmpty(t, got.Header.Get("Anthropic-Version"))
	delete(got.Body, "messages")
	schema := map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string"}}}
	require.Equal(t, map[string]any{
		"model": "m", "max_tokens": 600.0, "stream": true, "service_tier": "auto",
		"output_config": map[string]any{"effort": "low", "format": map[string]any{"type": "json_schema", "schema": schema}},
	}, got.Body)
}

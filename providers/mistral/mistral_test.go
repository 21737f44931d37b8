package mistral_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/internal/test/secrettest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/mistral"
	"github.com/elenchus-go/debate/providers/providertest"
)

const key = "a-key-that-nobody-sees"

func TestContract(t *testing.T) {
	providertest.Run(t, fakellm.ProviderFunc(fakellm.Mistral, func(t *testing.T, url string, client *http.Client) providers.Provider {
		p, err := mistral.New(mistral.Config{Key: key, Model: "m", BaseURL: url + "/v1", HTTPClient: client})
		require.NoError(t, err)
		return p
	}))
}

func TestSecrets(t *testing.T) {
	secrettest.Run(t, fakellm.Mistral, func(s secrettest.Settings) (providers.Provider, any, error) {
		c := mistral.Config{Key: s.Key, KeyFunc: s.KeyFunc, Model: "m", BaseURL: s.BaseURL, Header: s.Header, HTTPClient: s.HTTPClient}
		p, err := mistral.New(c)
		return p, c, err
	})
}

func TestWhatIsMissingOrWrongIsNamed(t *testing.T) {
	for want, c := range map[string]mistral.Config{
		"create mistral provider: Config.Key is empty: set the API key, or Config.KeyFunc":                                                             {Model: "m"},
		"create mistral provider: Config.Model is empty: name a model, such as mistral-small-latest":                                                   {Key: key},
		"create mistral provider: create openai provider: Config.BaseURL is not a valid http or https URL, want one such as https://api.openai.com/v1": {Key: key, Model: "m", BaseURL: "x"},
	} {
		_, err := mistral.New(c)
		require.EqualError(t, err, want)
	}
}

func TestRequestsHaveMistralsForm(t *testing.T) {
	s := fakellm.Start(t, fakellm.Mistral, fakellm.Reply{Chunks: []string{"So."}})
	inner := s.Client(t).Transport
	address := ""
	client := &http.Client{Transport: calltest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		address, r.URL.Scheme = r.URL.String(), "http"
		return inner.RoundTrip(r)
	})}
	p, err := mistral.New(mistral.Config{Key: key, Model: "m", HTTPClient: client, Extra: map[string]any{"stop": []string{"END"}}})
	require.NoError(t, err)
	calltest.Generate(t, p, providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "Why?"}}, MaxTokens: 600, Seed: new(int64(7))})
	require.Equal(t, "https://api.mistral.ai/v1/chat/completions", address)
	got := s.Requests()[0].Body
	delete(got, "messages")
	require.Equal(t, map[string]any{"model": "m", "max_tokens": 600.0, "stream": true, "random_seed": 7.0, "stop": []any{"END"}}, got)
}

func TestUnsupportedSettings(t *testing.T) {
	p, err := mistral.New(mistral.Config{Key: key, Model: "m"})
	require.NoError(t, err)
	seed, negative := int64(7), int64(-7)
	for _, level := range []string{"", "none", "high"} {
		require.Empty(t, p.Unsupported(providers.Request{Reasoning: level, Seed: &seed, TopP: 0.5, Stop: []string{"END"}}))
	}
	require.Equal(t, map[string]string{"reasoning": `"2048": the service has only none and high`, "seed": "-7 is negative, use 0 or more"},
		p.Unsupported(providers.Request{Reasoning: "2048", Seed: &negative}))
}

func TestDocumentsHaveMistralsForm(t *testing.T) {
	s := fakellm.Start(t, fakellm.Mistral, fakellm.Reply{Chunks: []string{"So."}})
	p, err := mistral.New(mistral.Config{Key: key, Model: "m", BaseURL: s.URL + "/v1", HTTPClient: s.Client(t)})
	require.NoError(t, err)
	paper := &providers.Attachment{Name: "b.pdf", MediaType: "application/pdf", Data: []byte("456")}
	calltest.Generate(t, p, providers.Request{Messages: []providers.Message{{Role: providers.User, Parts: []providers.Part{{Attachment: paper}}}}})
	require.Equal(t, []any{map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "document_url", "document_url": "data:application/pdf;base64,NDU2"},
	}}}, s.Requests()[0].Body["messages"])
}

package openai_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers/openai"
)

func TestAddressesOfAzure(t *testing.T) {
	const host = "https://debates.openai.azure.com"
	for address, want := range map[string]string{
		host + "/openai/v1/":                                                host + "/openai/v1/chat/completions",
		host + "/openai/v1?api-version=preview":                             host + "/openai/v1/chat/completions?api-version=preview",
		host + "/openai/deployments/my-gpt?api-version=2024-10-21":          host + "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21",
		host + "/openai/deployments/my-gpt/?api-version=2025-04-01-preview": host + "/openai/deployments/my-gpt/chat/completions?api-version=2025-04-01-preview",
	} {
		s := fakellm.Start(t, fakellm.OpenAI, fakellm.Reply{Chunks: []string{"So."}})
		inner, got := s.Client(t).Transport, ""
		p, err := openai.New(openai.Config{Model: "my-gpt", BaseURL: address, Header: http.Header{"Api-Key": {key}}, HTTPClient: &http.Client{Transport: calltest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			got = r.URL.String()
			r = r.Clone(r.Context())
			r.URL.Scheme = "http"
			r.URL.Host = "service"
			r.URL.Path = "/v1/chat/completions"
			return inner.RoundTrip(r)
		})}})
		require.NoError(t, err)
		calltest.Generate(t, p, calltest.Ask())
		require.Equal(t, want, got)
		require.Equal(t, key, s.Requests()[0].Header.Get("Api-Key"))
		require.Empty(t, s.Requests()[0].Header.Get("Authorization"))
	}
	for _, query := range []string{"?api-version=" + key, "?api-version=2024-10-21&key=" + key, "?api-version=", "?key=2024-10-21"} {
		_, err := openai.New(openai.Config{Model: "m", BaseURL: host + "/openai/v1" + query})
		require.ErrorContains(t, err, "Config.BaseURL has a user, query or fragment")
		require.NotContains(t, err.Error(), key)
	}
}

// Azure lists models, but calls name deployments.
func TestCheckOfAzure(t *testing.T) {
	s := fakellm.Start(t, fakellm.OpenAI)
	list := fakellm.Reply{Body: `{"data": [{"id": "gpt-4.1"}, {"id": "gpt-4.1-mini"}]}`}
	s.Routes = map[string]fakellm.Reply{"/openai/v1/models": list, "/models": list}
	p, err := openai.New(openai.Config{Model: "my-gpt", BaseURL: "http://debates.openai.azure.com/openai/v1", HTTPClient: s.Client(t)})
	require.NoError(t, err)
	require.NoError(t, p.Check(t.Context(), ""))
	require.Len(t, s.Requests(), 1)
}

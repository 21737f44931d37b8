package ollama_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/internal/test/secrettest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/ollama"
	"github.com/elenchus-go/debate/providers/providertest"
)

const key = "a-key-that-nobody-sees"

var (
	_ providers.Provider = (*ollama.Provider)(nil)
	_ providers.Checker  = (*ollama.Provider)(nil)
	_ providers.Windowed = (*ollama.Provider)(nil)
)

func TestContract(t *testing.T) {
	providertest.Run(t, fakellm.ProviderFunc(fakellm.Ollama, func(t *testing.T, url string, client *http.Client) providers.Provider {
		p, err := ollama.New(ollama.Config{Key: key, Model: "m", BaseURL: url, HTTPClient: client})
		require.NoError(t, err)
		return p
	}))
}

func TestSecrets(t *testing.T) {
	secrettest.Run(t, fakellm.Ollama, func(s secrettest.Settings) (providers.Provider, any, error) {
		c := ollama.Config{Key: s.Key, KeyFunc: s.KeyFunc, Model: "m", BaseURL: s.BaseURL, Header: s.Header, HTTPClient: s.HTTPClient}
		p, err := ollama.New(c)
		return p, c, err
	})
}

package ollama_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/fakellm"
	"github.com/elenchus-go/debate/internal/secrettest"
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

func TestKeyFunc(t *testing.T) {
	secrettest.RunKeyFunc(t, fakellm.Ollama, func(url string, client *http.Client, key string, keyFunc func(context.Context) (string, error)) (providers.Provider, error) {
		return ollama.New(ollama.Config{Key: key, KeyFunc: keyFunc, Model: "m", BaseURL: url, HTTPClient: client})
	})
}

func TestHeader(t *testing.T) {
	secrettest.RunHeader(t, fakellm.Ollama, func(url string, client *http.Client, header http.Header) (providers.Provider, any, error) {
		c := ollama.Config{Key: key, Model: "m", BaseURL: url, HTTPClient: client, Header: header}
		p, err := ollama.New(c)
		return p, c, err
	})
}

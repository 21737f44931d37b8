package anthropic_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/fakellm"
	"github.com/elenchus-go/debate/internal/secrettest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/anthropic"
	"github.com/elenchus-go/debate/providers/providertest"
)

const key = "a-key-that-nobody-sees"

var (
	_ providers.Provider = (*anthropic.Provider)(nil)
	_ providers.Checker  = (*anthropic.Provider)(nil)
)

func TestContract(t *testing.T) {
	for _, model := range []string{"m", "claude-sonnet-4-5", "claude-opus-4-8"} { // the last one has no budgets
		t.Run(model, func(t *testing.T) {
			providertest.Run(t, fakellm.ProviderFunc(fakellm.Anthropic, func(t *testing.T, url string, client *http.Client) providers.Provider {
				p, err := anthropic.New(anthropic.Config{Key: key, Model: model, BaseURL: url + "/v1", HTTPClient: client})
				require.NoError(t, err)
				return p
			}))
		})
	}
}

func TestKeyFunc(t *testing.T) {
	secrettest.RunKeyFunc(t, fakellm.Anthropic, func(url string, client *http.Client, key string, keyFunc func(context.Context) (string, error)) (providers.Provider, error) {
		return anthropic.New(anthropic.Config{Key: key, KeyFunc: keyFunc, Model: "m", BaseURL: url + "/v1", HTTPClient: client})
	})
}

func TestHeader(t *testing.T) {
	secrettest.RunHeader(t, fakellm.Anthropic, func(url string, client *http.Client, header http.Header) (providers.Provider, any, error) {
		c := anthropic.Config{Key: key, Model: "m", BaseURL: url + "/v1", HTTPClient: client, Header: header}
		p, err := anthropic.New(c)
		return p, c, err
	})
}

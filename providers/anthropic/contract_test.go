package anthropic_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/internal/test/secrettest"
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

func TestSecrets(t *testing.T) {
	secrettest.Run(t, fakellm.Anthropic, func(s secrettest.Settings) (providers.Provider, any, error) {
		c := anthropic.Config{Key: s.Key, KeyFunc: s.KeyFunc, Model: "m", BaseURL: s.BaseURL, Header: s.Header, HTTPClient: s.HTTPClient}
		p, err := anthropic.New(c)
		return p, c, err
	})
}

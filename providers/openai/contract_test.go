package openai_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/internal/test/secrettest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/openai"
	"github.com/elenchus-go/debate/providers/providertest"
)

const key = "a-key-that-nobody-sees"

var (
	_ providers.Provider = (*openai.Provider)(nil)
	_ providers.Checker  = (*openai.Provider)(nil)
)

func TestContract(t *testing.T) {
	for _, protocol := range []fakellm.Protocol{fakellm.OpenAI, fakellm.DeepSeek, fakellm.Responses} {
		t.Run(string(protocol), func(t *testing.T) {
			api := "chat"
			if protocol == fakellm.Responses {
				api = "responses"
			}
			providertest.Run(t, fakellm.ProviderFunc(protocol, func(t *testing.T, url string, client *http.Client) providers.Provider {
				p, err := openai.New(openai.Config{Key: key, Model: "m", BaseURL: url + "/v1", HTTPClient: client, API: api})
				require.NoError(t, err)
				return p
			}))
		})
	}
}

// protocols maps the values of Config.API to the protocols of the services.
var protocols = map[string]fakellm.Protocol{"chat": fakellm.OpenAI, "responses": fakellm.Responses}

func TestSecrets(t *testing.T) {
	for api, protocol := range protocols {
		t.Run(api, func(t *testing.T) {
			secrettest.Run(t, protocol, func(s secrettest.Settings) (providers.Provider, any, error) {
				c := openai.Config{Key: s.Key, KeyFunc: s.KeyFunc, Model: "m", BaseURL: s.BaseURL, Header: s.Header, HTTPClient: s.HTTPClient, API: api}
				p, err := openai.New(c)
				return p, c, err
			})
		})
	}
}

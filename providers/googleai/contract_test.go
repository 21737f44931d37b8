package googleai_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/internal/test/secrettest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/googleai"
	"github.com/elenchus-go/debate/providers/providertest"
)

const key = "a-key-that-nobody-sees"

var (
	_ providers.Provider = (*googleai.Provider)(nil)
	_ providers.Checker  = (*googleai.Provider)(nil)
)

// line sends requests to the service of the running test.
type line struct{ http.RoundTripper }

// TestContract uses one provider, because langchaingo's client holds a connection that cannot be closed.
func TestContract(t *testing.T) {
	for _, model := range []string{"m", "gemini-2.5-flash", "gemini-3-flash"} {
		t.Run(model, func(t *testing.T) {
			var to line
			p, err := googleai.New(googleai.Config{Key: key, Model: model, BaseURL: "http://service", HTTPClient: &http.Client{Transport: &to}})
			require.NoError(t, err)
			providertest.Run(t, fakellm.ProviderFunc(fakellm.Google, func(_ *testing.T, _ string, client *http.Client) providers.Provider {
				to.RoundTripper = client.Transport
				return p
			}))
		})
	}
}

func TestSecrets(t *testing.T) {
	secrettest.Run(t, fakellm.Google, func(s secrettest.Settings) (providers.Provider, any, error) {
		c := googleai.Config{Key: s.Key, KeyFunc: s.KeyFunc, Model: "m", BaseURL: s.BaseURL, Header: s.Header, HTTPClient: s.HTTPClient}
		p, err := googleai.New(c)
		return p, c, err
	})
}

package googleai_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/fakellm"
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
	var to line
	p, err := googleai.New(googleai.Config{Key: key, Model: "m", BaseURL: "http://service", HTTPClient: &http.Client{Transport: &to}})
	require.NoError(t, err)
	providertest.Run(t, fakellm.ProviderFunc(fakellm.Google, func(_ *testing.T, _ string, client *http.Client) providers.Provider {
		to.RoundTripper = client.Transport
		return p
	}))
}

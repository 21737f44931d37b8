// Package secrettest tests that secrets are not printed, encoded or quoted in errors.
package secrettest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
)

const firstKey, secondKey = "the-first-key-of-two", "the-second-key-of-two"

// Settings holds fields of a provider's Config.
type Settings struct {
	Key        string
	KeyFunc    func(context.Context) (string, error)
	BaseURL    string
	Header     http.Header
	HTTPClient *http.Client
}

// A CreateFunc creates a provider with the settings, and returns its configuration too.
type CreateFunc func(s Settings) (p providers.Provider, config any, err error)

// NotPrinted requires that formatting the values with any verb does not show the key. It also requires that the JSON of
// the first value does not contain it.
func NotPrinted(t *testing.T, key string, values ...any) {
	t.Helper()
	raw, err := json.Marshal(values[0])
	require.NoError(t, err)
	require.NotContains(t, string(raw), key)
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
			require.NotContains(t, fmt.Sprintf(verb, v), key)
		}
	}
}

// Package secrettest tests that secrets are not printed, encoded or quoted in errors.
package secrettest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// secret is the secret in the addresses.
const secret = "hunter2-not-to-be-seen"

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

// NotInAddress calls refused with addresses that contain a secret. refused creates a provider with the address as
// Config.BaseURL, and returns the configurations and the error. NotInAddress requires an error about Config.BaseURL, and
// requires that neither the error nor the printed configurations show the secret.
func NotInAddress(t *testing.T, refused func(address string) (configs []any, err error)) {
	t.Helper()
	for _, address := range []string{
		"http://user:" + secret + "@service/v1", "https://" + secret + "@service", "https://" + secret + ":@service",
		"http://service/v1?key=" + secret, "http://service?api-version=1&api-key=" + secret, "http://service/v1#" + secret,
		"ftp://user:" + secret + "@service", "http://user:" + secret + "@ a",
	} {
		configs, err := refused(address)
		require.ErrorContains(t, err, "Config.BaseURL")
		require.NotContains(t, err.Error(), secret, address)
		for _, c := range configs {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
				require.NotContains(t, fmt.Sprintf(verb, c), secret, address)
			}
		}
	}
}

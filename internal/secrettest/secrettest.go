// Package secrettest finds secrets where they must not be.
package secrettest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// secret is what addresses hold.
const secret = "hunter2-not-to-be-seen"

// NotPrinted prints each value in all ways, and finds the key in none. The first is encoded as JSON as well.
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

// NotInAddress has a provider made with addresses that hold a secret. Each is refused as Config.BaseURL, and neither the
// error nor the configurations, as they are printed, show the secret.
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

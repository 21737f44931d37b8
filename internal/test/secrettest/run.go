package secrettest

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/fakellm"
)

// Run tests that a provider uses the key, the function for keys and the headers of its Config, and that nothing shows their
// secrets or one in an address.
func Run(t *testing.T, p fakellm.Protocol, create CreateFunc) {
	t.Run("Print", func(t *testing.T) {
		model, config, err := create(Settings{Key: firstKey})
		require.NoError(t, err)
		NotPrinted(t, firstKey, append(forms(config), model, reflect.ValueOf(model).Elem().Interface())...)
	})
	t.Run("Address", func(t *testing.T) { testAddress(t, create) })
	t.Run("KeyFunc", func(t *testing.T) { testKeyFunc(t, p, create) })
	t.Run("Header", func(t *testing.T) { RunHeader(t, p, create) })
}

// secret stands in the addresses of testAddress, and must not be printed.
const secret = "hunter2-not-to-be-seen"

// testAddress tests that addresses with a secret are refused, because messages quote addresses. Neither the error nor the
// printed configuration show the secret.
func testAddress(t *testing.T, create CreateFunc) {
	for _, address := range []string{
		"http://user:" + secret + "@service/v1", "https://" + secret + "@service", "https://" + secret + ":@service",
		"http://service/v1?key=" + secret, "http://service?api-version=1&api-key=" + secret, "http://service/v1#" + secret,
		"ftp://user:" + secret + "@service", "ftp://" + secret + "@service", "http://user:" + secret + "@ a",
	} {
		_, config, err := create(Settings{Key: firstKey, BaseURL: address})
		require.ErrorContains(t, err, "Config.BaseURL")
		require.NotContains(t, err.Error(), secret, address)
		for _, form := range forms(config) {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
				require.NotContains(t, fmt.Sprintf(verb, form), secret, address)
			}
		}
	}
}

// forms returns a configuration in each form in which a program may print it.
func forms(config any) []any {
	pointer := reflect.New(reflect.TypeOf(config))
	pointer.Elem().Set(reflect.ValueOf(config))
	return []any{config, pointer.Interface(), []any{config}, struct{ C any }{config}}
}

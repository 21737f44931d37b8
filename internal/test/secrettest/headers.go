package secrettest

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
)

// RunHeader tests that a provider sends the headers of its Config.Header with each request, and that neither errors nor
// the printed configuration show the keys among them.
func RunHeader(t *testing.T, p fakellm.Protocol, create CreateFunc) {
	const site = "https://debates.example"
	t.Run("Requests", func(t *testing.T) {
		for _, quoted := range []fakellm.Reply{
			{Status: http.StatusUnauthorized, Body: `{"error": {"message": "Api-Key ` + firstKey + ` of ` + site + ` is unknown"}}`},
			{Status: http.StatusUnauthorized, Body: `Bearer ` + secondKey + ` of ` + site + ` is unknown`},
		} {
			s := fakellm.Start(t, p, quoted)
			s.Routes = map[string]fakellm.Reply{"/": quoted}
			header := http.Header{"api-key": {firstKey}, "X-Gateway-Authorization": {"Bearer " + secondKey}, "HTTP-Referer": {site}, "User-Agent": {"a-program/1"}}
			model, config, err := create(Settings{Key: firstKey, BaseURL: s.URL, Header: header, HTTPClient: s.Client(t)})
			require.NoError(t, err)
			header.Set("Api-Key", "changed after New")
			for name, call := range calls(t.Context(), model) {
				err := call()
				require.ErrorContains(t, err, "[key] of "+site, name)
				require.Equal(t, providers.Authentication, providers.AsError(err).Kind, name)
				NotPrinted(t, firstKey, err)
				NotPrinted(t, secondKey, err)
			}
			for _, r := range s.Requests() {
				require.Equal(t, []string{firstKey}, r.Header.Values("Api-Key"))
				require.Equal(t, []string{"Bearer " + secondKey}, r.Header.Values("X-Gateway-Authorization"))
				require.Equal(t, []string{site}, r.Header.Values("Http-Referer"))
				require.Equal(t, []string{"a-program/1"}, r.Header.Values("User-Agent"))
			}
			NotPrinted(t, firstKey, config)
			NotPrinted(t, secondKey, config, model)
		}
	})
	t.Run("Configuration", func(t *testing.T) {
		for want, header := range map[string]http.Header{
			`Config.Header has the name "Api Key", want letters, digits and hyphens`:                   {"Api Key": {firstKey}},
			`Config.Header has the name "", want letters, digits and hyphens`:                          {"": {firstKey}},
			`Config.Header has Host, which the HTTP client sets itself: remove it`:                     {"host": {firstKey}},
			`Config.Header has a line break or a control character in the value of Api-Key: remove it`: {"Api-Key": {firstKey + "\n"}},
		} {
			_, _, err := create(Settings{Key: firstKey, Header: header})
			require.ErrorContains(t, err, want)
			require.NotContains(t, err.Error(), firstKey)
		}
	})
}

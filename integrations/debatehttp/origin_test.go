package debatehttp

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/store"
)

// Pages of trusted origins send requests and read the answers, and those of other sites do not.
func TestTrustedOrigins(t *testing.T) {
	o := allowing()
	o.TrustedOrigins = []string{"https://app.example.com"}
	o.Principal = func(r *http.Request) (string, error) {
		if r.Header.Get("Authorization") == "" {
			return "", problem("unauthenticated", "send a token")
		}
		return "ann", nil
	}
	s := open(t, store.Memory(), o)
	preflight := func(origin string) (int, http.Header) {
		code, h, _ := s.do(http.MethodOptions, "/debates", "", "Origin", origin, "Sec-Fetch-Site", "cross-site",
			"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,x-stainless-os")
		return code, h
	}
	const ours, other = "https://app.example.com", "https://evil.example.com"
	code, h := preflight(ours)
	require.Equal(t, http.StatusNoContent, code, "a preflight has no token")
	require.Equal(t, ours, h.Get("Access-Control-Allow-Origin"))
	require.Equal(t, "authorization,x-stainless-os", h.Get("Access-Control-Allow-Headers"))
	require.Contains(t, h.Get("Access-Control-Allow-Methods"), "DELETE")
	require.Equal(t, "Origin", h.Get("Vary"))
	code, h = preflight(other)
	require.Equal(t, http.StatusMethodNotAllowed, code)
	require.Empty(t, h.Get("Access-Control-Allow-Origin"))

	from := func(origin string) []string {
		return []string{"Authorization", "Bearer x", "Origin", origin, "Sec-Fetch-Site", "cross-site"}
	}
	code, h, _ = s.do(http.MethodPost, "/debates", posted, from(ours)...)
	require.Equal(t, http.StatusCreated, code)
	require.Equal(t, ours, h.Get("Access-Control-Allow-Origin"))
	require.Contains(t, h.Get("Access-Control-Expose-Headers"), "Location")
	s.refuses("cross-origin", http.MethodPost, "/debates", posted, from(other)...)
	code, h, _ = s.do(http.MethodGet, "/debates/cars", "", from(other)...)
	require.Equal(t, http.StatusOK, code, "the browser keeps the answer from the page")
	require.Empty(t, h.Get("Access-Control-Allow-Origin"))
	code, h, _ = s.do(http.MethodGet, "/debates/cars", "", "Origin", ours)
	require.Equal(t, http.StatusUnauthorized, code)
	require.Equal(t, ours, h.Get("Access-Control-Allow-Origin"), "the page can read why")

	e, err := debate.NewEngine(debate.Options{})
	require.NoError(t, err)
	_, err = New(e, Options{Authorize: AllowEveryone, TrustedOrigins: []string{"https://app.example.com/"}})
	require.ErrorContains(t, err, "make handler: ")
}

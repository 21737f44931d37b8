package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/integrations/debatehttp"
)

// get sends a request to a guard and returns the answer.
func get(t *testing.T, g http.Handler, host, path string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	r.Host = host
	r = r.WithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	return w.Result()
}

var page = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "page "+r.URL.String()) })

func TestABrowserSignsInWithTheTokenOfTheAddress(t *testing.T) {
	g := newBrowserGuard(page, "8080")
	answer := get(t, g, "127.0.0.1:8080", "/debates/x?at=3&token="+g.token)
	require.Equal(t, http.StatusSeeOther, answer.StatusCode)
	require.Equal(t, "/debates/x?at=3", answer.Header.Get("Location"))
	require.Equal(t, "no-store", answer.Header.Get("Cache-Control"))
	require.Len(t, answer.Cookies(), 1)
	cookie := answer.Cookies()[0]
	require.True(t, cookie.HttpOnly)
	require.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
	require.Equal(t, "debate-8080", cookie.Name)
	require.Equal(t, "/", cookie.Path)

	other := get(t, g, "127.0.0.1:8080", "//evil.example/?token="+g.token)
	require.Equal(t, "/evil.example/", other.Header.Get("Location"), "the address of another site")

	answer = get(t, g, "127.0.0.1:8080", "/debates/x?at=3", "Cookie", cookie.Name+"="+cookie.Value)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, "page /debates/x?at=3", string(body))
}

func TestAGuardRefuses(t *testing.T) {
	g := newBrowserGuard(page, "8080")
	client := requireBearer(page, "secret")
	open := debatehttp.CheckHost(page)
	browser := debatehttp.CheckHost(g)
	for _, tt := range []struct {
		name   string
		g      http.Handler
		host   string
		path   string
		header []string
		want   int
	}{
		{"no cookie", browser, "127.0.0.1:8080", "/", nil, 401},
		{"a wrong cookie", browser, "127.0.0.1:8080", "/", []string{"Cookie", "debate-8080=x"}, 403},
		{"the cookie of another port", browser, "127.0.0.1:8080", "/", []string{"Cookie", "debate-8081=" + g.token}, 401},
		{"a wrong token in the address", browser, "127.0.0.1:8080", "/?token=x", nil, 403},
		{"an empty token in the address", browser, "127.0.0.1:8080", "/?token=", nil, 403},
		{"another site's name for this machine", browser, "evil.example:8080", "/?token=" + g.token, nil, 403},
		{"another site's name with the cookie", browser, "evil.example", "/", []string{"Cookie", "debate-8080=" + g.token}, 403},
		{"a number as a name", browser, "127.0.0.1.evil.example", "/", []string{"Cookie", "debate-8080=" + g.token}, 403},
		{"localhost", browser, "localhost:8080", "/", []string{"Cookie", "debate-8080=" + g.token}, 200},
		{"IPv6", browser, "[::1]:8080", "/", []string{"Cookie", "debate-8080=" + g.token}, 200},
		{"a bearer token", browser, "127.0.0.1:8080", "/", []string{"Authorization", "Bearer " + g.token}, 200},
		{"a client without a token", client, "debates.example", "/", nil, 401},
		{"a client with a wrong token", client, "debates.example", "/", []string{"Authorization", "Bearer secre"}, 401},
		{"a client with the token as a password", client, "debates.example", "/", []string{"Authorization", "secret"}, 401},
		{"a client with the token in the address", client, "debates.example", "/?token=secret", nil, 401},
		{"a client with the token as a cookie", client, "debates.example", "/", []string{"Cookie", "=secret"}, 401},
		{"a client with the token", client, "debates.example", "/", []string{"Authorization", "Bearer secret"}, 200},
		{"a client with the scheme in small letters", client, "debates.example", "/", []string{"Authorization", "bearer secret"}, 200},
		{"a client with another scheme", client, "debates.example", "/", []string{"Authorization", "Basic secret"}, 401},
		{"everyone on this machine", open, "127.0.0.1:8080", "/", nil, 200},
		{"another site's name where everyone may", open, "evil.example", "/", nil, 403},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answer := get(t, tt.g, tt.host, tt.path, tt.header...)
			require.Equal(t, tt.want, answer.StatusCode)
			if tt.want != http.StatusOK {
				require.Empty(t, answer.Cookies())
				body, err := io.ReadAll(answer.Body)
				require.NoError(t, err)
				require.NotContains(t, string(body), "page")
				require.NotContains(t, string(body), g.token)
				require.NotContains(t, string(body), "secret")
			}
		})
	}
}

// Other users of the machine can see the address that the browser is started with, so it works once.
func TestATicketWorksOnce(t *testing.T) {
	g := newBrowserGuard(page, "8080")
	require.NotEqual(t, g.token, g.ticket)
	path := "/?" + url.Values{"token": {g.ticket}}.Encode()
	answer := get(t, g, "127.0.0.1", path)
	require.Equal(t, http.StatusSeeOther, answer.StatusCode)
	require.Equal(t, g.token, answer.Cookies()[0].Value)
	require.Equal(t, http.StatusForbidden, get(t, g, "127.0.0.1", path).StatusCode)
	require.Equal(t, http.StatusSeeOther, get(t, g, "127.0.0.1", "/?token="+g.token).StatusCode, "the printed address works again")
	require.Equal(t, http.StatusForbidden, get(t, g, "127.0.0.1", "/", "Cookie", g.cookie+"="+g.ticket).StatusCode)
}

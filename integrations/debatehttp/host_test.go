package debatehttp

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/store"
)

// A site that lets its name point at this machine is refused: the Host and the Origin of its requests agree, so a check of
// the origin does not help.
func TestOtherSitesNamesForThisMachine(t *testing.T) {
	s := open(t, store.Memory(), Options{Authorize: AllowEveryone, Presets: map[string]debate.Config{"pair": preset}})
	s.letAllSpeak()
	own := httptest.NewServer(CheckHost(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "secret") })))
	defer own.Close()
	port := s.Listener.Addr().(*net.TCPAddr).Port
	require.NotZero(t, port)
	for _, tt := range []struct {
		server       *httptest.Server
		method, path string
		body         string
	}{
		{s.Server, http.MethodPost, "/debates", posted},
		{s.Server, http.MethodGet, "/debates", ""},
		{s.Server, http.MethodGet, "/inbox?seat=Ada", ""},
		{s.Server, http.MethodGet, "/v1/models", ""},
		{s.Server, http.MethodPost, "/v1/chat/completions", asked + "}"},
		{own, http.MethodGet, "/", ""},
	} {
		for host, local := range map[string]bool{
			"evil.example:8080": false, "evil.example": false, "127.0.0.1.evil.example": false, "localhost.evil.example:80": false, "192.0.2.1": false,
			"[2001:db8::1]:80": false, "127.0.0.1:99": true, "127.8.8.8": true, "localhost:8080": true, "LOCALHOST": true, "[::1]:8080": true,
		} {
			if local && tt.method == http.MethodPost {
				continue // the other tests do that
			}
			req, err := http.NewRequestWithContext(t.Context(), tt.method, tt.server.URL+tt.path, strings.NewReader(tt.body))
			require.NoError(t, err)
			req.Host = host
			req.Header.Set("Origin", "http://"+host)
			req.Header.Set("Sec-Fetch-Site", "same-origin")
			res, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			body, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			if local {
				require.Equal(t, http.StatusOK, res.StatusCode, "%s %s", host, tt.path)
				continue
			}
			require.Equal(t, http.StatusForbidden, res.StatusCode, "%s %s", host, tt.path)
			require.Contains(t, string(body), "this server answers only requests for 127.0.0.1 and localhost")
			require.NotContains(t, string(body), "secret")
		}
	}
	for _, status := range debatetest.List(t, s.engine, store.Query{}) {
		t.Errorf("%s was launched", status.ID)
	}
}

// At other addresses, only you know by which names clients reach the server.
func TestTheHostIsCheckedOnlyOnLoopback(t *testing.T) {
	for at, want := range map[string]bool{"127.0.0.1:80": true, "[::1]:80": true, "192.0.2.1:80": false, "[2001:db8::1]:80": false} {
		addr, err := net.ResolveTCPAddr("tcp", at)
		require.NoError(t, err)
		ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(addr))
		require.Equal(t, want, isForeign(ctx, "debates.example"), at)
		require.Equal(t, want, AllowEveryone(ctx, &Access{Host: "debates.example"}) != nil, at)
		require.False(t, isForeign(ctx, ""), "only programs send no host")
	}
	require.False(t, isForeign(context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(&net.UnixAddr{Name: "/run/debates"})), "debates.example"))
	require.False(t, isForeign(t.Context(), "debates.example"), "the address is unknown")
}

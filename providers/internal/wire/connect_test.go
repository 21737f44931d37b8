package wire

import (
	"context"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
)

// silentHost is a network in which nothing answers.
func silentHost() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		select { // the transport dials on after the call has ended
		case <-ctx.Done():
		case <-time.After(time.Minute):
		}
		return nil, context.DeadlineExceeded
	}}}
}

// A service that does not answer is one that cannot be reached, and this is known soon. A client of the user's has its own limit.
func TestConnectingIsLimited(t *testing.T) {
	for name, test := range map[string]struct {
		own  bool
		kind providers.ErrorKind
		took time.Duration
		text string
	}{
		"own client":    {true, providers.Network, connectLimit, "call model: dial tcp: host.test does not answer within 10s"},
		"user's client": {false, providers.Timeout, queryTimeout, "the service sent nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, err := New(Config{HTTP: silentHost(), SetHeader: func(http.Header, string) {}})
				require.NoError(t, err)
				c.ownClient = test.own
				began := time.Now()
				_, err = c.Query(t.Context(), "list models", "http://host.test/v1/models", nil)
				require.Equal(t, test.took, time.Since(began))
				require.Equal(t, test.kind, providers.AsError(err).Kind)
				require.ErrorContains(t, err, test.text)
				time.Sleep(time.Minute)
			})
		})
	}
	c, err := New(Config{SetHeader: func(http.Header, string) {}})
	require.NoError(t, err)
	require.True(t, c.ownClient)
}

// The limit ends with the connection: a service that has accepted the call may take its time.
func TestASlowServiceIsNoSilentHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		go func() {
			_, _ = server.Read(make([]byte, 4096))
			time.Sleep(connectLimit + 5*time.Second)
			_, _ = server.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"))
			_ = server.Close()
		}()
		h := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return client, nil }}}
		c, err := New(Config{HTTP: h, SetHeader: func(http.Header, string) {}})
		require.NoError(t, err)
		c.ownClient = true
		raw, err := c.Query(t.Context(), "list models", "http://host.test/v1/models", nil)
		require.NoError(t, err)
		require.Equal(t, "{}", string(raw))
	})
}

package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// The user's rules decide the kind of an error that came from no service too: the connection is refused, or breaks off. They are
// asked once, and not about a call that its caller canceled.
func TestTheUsersRulesForConnections(t *testing.T) {
	refused := errors.New("connect: connection refused")
	for name, dial := range map[string]func() (net.Conn, error){
		"refused": func() (net.Conn, error) { return nil, &net.OpError{Op: "dial", Net: "tcp", Err: refused} },
		"broken": func() (net.Conn, error) {
			client, server := net.Pipe()
			go func() {
				_, _ = server.Read(make([]byte, 4096))
				_, _ = server.Write([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 99\r\n\r\ndata: {}\n\n"))
				_ = server.Close()
			}()
			return client, nil
		},
	} {
		for _, own := range []providers.ErrorKind{providers.InvalidRequest, ""} {
			t.Run(fmt.Sprint(name, own), func(t *testing.T) {
				var asked []string
				transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return dial() }}
				c, err := New(Config{
					HTTP: &http.Client{Transport: transport}, SetHeader: func(http.Header, string) {},
					ErrorKind: func(status int, body []byte) providers.ErrorKind {
						require.Zero(t, status)
						asked = append(asked, string(body))
						return own
					},
				})
				require.NoError(t, err)
				call := Call{
					Model: "m", URL: "http://host.test/v1", Body: func(Support) (Object, error) { return Object{}, nil },
					Event: func([]byte, *Reply) error { return nil },
				}
				_, err = c.Generate(t.Context(), providers.Request{}, call)
				failed := providers.AsError(err)
				require.Equal(t, cmp.Or(own, providers.Network), failed.Kind)
				require.Equal(t, []string{failed.Err.Error()}, asked)

				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				_, err = c.Generate(ctx, providers.Request{}, call)
				require.ErrorIs(t, err, context.Canceled)
				require.Len(t, asked, 1)
			})
		}
	}
}

package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/crashtest"
)

// breaker breaks each nth commit: connections are lost before the server has read the commit, or after it has, before it
// has answered.
type breaker struct {
	nth     int64
	after   bool
	commits atomic.Int64
	broken  atomic.Int64
}

type breakingConn struct {
	net.Conn
	b    *breaker
	deaf atomic.Bool // the answer is lost
}

func (c *breakingConn) Write(p []byte) (int, error) {
	if !bytes.Contains(p, []byte("1/")) || c.b.commits.Add(1)%c.b.nth != 0 { // no key of a turn
		return c.Conn.Write(p)
	}
	c.b.broken.Add(1)
	if !c.b.after {
		_ = c.Close()
		return 0, errors.New("connection lost")
	}
	c.deaf.Store(true)
	return c.Conn.Write(p)
}

func (c *breakingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.deaf.Load() {
		_ = c.Close()
		return 0, errors.New("connection lost")
	}
	return n, err
}

// A debate whose connection is lost in the middle of a commit continues, whether the commit took effect or not.
func TestADebateContinuesAfterALostConnection(t *testing.T) {
	for _, after := range []bool{false, true} {
		for kind := range 8 { // half of them with people
			t.Run(fmt.Sprintf("kind %d, after %v", kind, after), func(t *testing.T) {
				b := empty(t)
				b.open(t)
				breaks := &breaker{nth: 3, after: after}
				s := b.openOn(t, pool(t, func(c *pgxpool.Config) {
					dial := c.ConnConfig.DialFunc
					c.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
						conn, err := dial(ctx, network, addr)
						if err != nil {
							return nil, err
						}
						return &breakingConn{Conn: conn, b: breaks}, nil
					}
				}))
				crashtest.RunThroughFailures(t, s, fmt.Sprintf("%d-80000000000000%c8", kind, "0c"[kind%2]), func(error) {})
				require.Greater(t, breaks.broken.Load(), int64(1))
			})
		}
	}
}

package debatehttp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
)

// serveInMemory serves a handler until the test ends.
func serveInMemory(t *testing.T, e *debate.Engine, h http.Handler) *pipes {
	l := &pipes{conns: make(chan net.Conn, 1000), closed: make(chan struct{}), onClose: func() {}}
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, e, h, time.Minute) }()
	t.Cleanup(func() {
		interrupt()
		require.NoError(t, <-ended)
	})
	return l
}

func newEngine(t *testing.T) *debate.Engine {
	return debatetest.Engine(t, debate.Options{})
}

// What a client sends slowly is cut, whatever the handler does with it.
func TestSlowRequestsAreCut(t *testing.T) {
	handlers := map[string]http.HandlerFunc{
		"reads": func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(r.Body); err != nil {
				w.WriteHeader(http.StatusBadRequest)
			}
		},
		"refuses":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
		"explains": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("no ", 10_000)) },
		"changes":  func(http.ResponseWriter, *http.Request) {},
	}
	for _, tt := range []struct {
		name, handler, sends string
		more                 string // sent every 8 seconds
		takes                time.Duration
		status               int // 0 if there is no answer
	}{
		{"headers", "reads", "GET / HTTP/1.1\r\nHost: x\r\n", "X: y\r\n", 10 * time.Second, 0},
		{"nothing", "reads", "", "", 10 * time.Second, 0},
		{"a body", "reads", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx", "x", bodyTime + unreadTime, 400},
		{"a body in chunks", "reads", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n", "1\r\nx\r\n", bodyTime + unreadTime, 400},
		{"a body that is refused", "refuses", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx", "x", unreadTime, 401},
		{"a body that is refused at length", "explains", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx", "", unreadTime, 200},
		{"a body that nobody wants", "changes", "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", "", unreadTime, 200},
		{"a body after a first request", "reads", "GET / HTTP/1.1\r\nHost: x\r\n\r\nPOST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx", "x", bodyTime + unreadTime, 400},
		{"no further request", "reads", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "", time.Minute, 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn := serveInMemory(t, newEngine(t), handlers[tt.handler]).dial()
				began := time.Now()
				var sender sync.WaitGroup
				sender.Go(func() {
					_, err := io.WriteString(conn, tt.sends)
					for err == nil && tt.more != "" {
						time.Sleep(8 * time.Second)
						_, err = io.WriteString(conn, tt.more)
					}
				})
				read, status := bufio.NewReader(conn), 0
				for {
					res, err := http.ReadResponse(read, nil)
					if err != nil {
						break
					}
					status = res.StatusCode
					_, err = io.Copy(io.Discard, res.Body)
					require.NoError(t, err)
				}
				require.Equal(t, tt.status, status)
				require.InDelta(t, tt.takes, time.Since(began), float64(time.Second))
				sender.Wait()
			})
		})
	}
}

// A client that does not read its answers is cut. One that reads slowly gets all of them.
func TestAnswersThatNobodyReads(t *testing.T) {
	const size = 10 * pieceSize
	long := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stream" { // which takes longer than any limit
			for range size / pieceSize {
				_, _ = io.WriteString(w, strings.Repeat("x", pieceSize))
				_ = http.NewResponseController(w).Flush()
				select {
				case <-time.After(time.Hour):
				case <-r.Context().Done():
					return
				}
			}
			return
		}
		_, _ = io.WriteString(w, strings.Repeat("x", size))
	})
	for _, tt := range []struct {
		path  string
		pause time.Duration // of the client before it reads a quarter of a piece
		whole bool
	}{
		{"/", 5 * time.Second, true},
		{"/", 9 * time.Second, false},
		{"/", 24 * time.Hour, false},
		{"/stream", 5 * time.Second, true},
		{"/stream", 24 * time.Hour, false},
	} {
		t.Run(fmt.Sprint(tt.path, " ", tt.pause), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn := serveInMemory(t, newEngine(t), long).dial()
				_, err := io.WriteString(conn, "GET "+tt.path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
				require.NoError(t, err)
				got := 0
				for err == nil {
					time.Sleep(tt.pause)
					var n int
					n, err = io.ReadFull(conn, make([]byte, pieceSize/4))
					got += n
				}
				require.Equal(t, tt.whole, got > size, "%d bytes: %v", got, err)
			})
		})
	}
}

// A handler may set the deadline of what it writes itself, as the streams of viewers do.
func TestAHandlerSetsItsOwnDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, took := time.Now(), make(chan time.Duration, 1)
		conn := serveInMemory(t, newEngine(t), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			require.NoError(t, http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Second)))
			_, err := io.WriteString(w, strings.Repeat("x", pieceSize))
			require.Error(t, err)
			took <- time.Since(began)
		})).dial()
		_, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, err)
		require.Equal(t, time.Second, <-took)
	})
}

// A server that has all the connections it may have closes one that waits for a request, so that new clients are served.
// Connections with a request are not closed: then new clients wait.
func TestConnectionsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		web := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/slow" {
				<-release
			}
		})}
		limitConnections(web, 3)
		l := &pipes{conns: make(chan net.Conn, 10), closed: make(chan struct{}), onClose: func() {}}
		ended := make(chan error, 1)
		go func() { ended <- web.Serve(l) }()
		ask := func(path string) <-chan error {
			conn, answered := l.dial(), make(chan error, 1)
			go func() {
				_, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n")
				if err == nil {
					_, err = http.ReadResponse(bufio.NewReader(conn), nil) //nolint:bodyclose // the connection stays open
				}
				answered <- err
			}()
			return answered
		}
		for range 20 { // each keeps its connection
			require.NoError(t, <-ask("/"))
			l.dial() // and another one sends nothing
			synctest.Wait()
		}
		var slow []<-chan error
		for range 3 {
			slow = append(slow, ask("/slow"))
			synctest.Wait()
		}
		late := ask("/")
		time.Sleep(time.Hour)
		require.Empty(t, late, "all connections have requests")
		close(release)
		require.NoError(t, <-late)
		for _, s := range slow {
			require.NoError(t, <-s)
		}
		require.NoError(t, web.Close())
		require.ErrorIs(t, <-ended, http.ErrServerClosed)
	})
}

// A deadline for a body does not end the stream that follows on the same connection, or a long answer.
func TestDeadlinesEndWithTheBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // time passes only while the stream is quiet
		g := newGate()
		e := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"model": g}})
		o := allowing()
		o.Heartbeat = 2 * bodyTime // so the stream is quiet for longer than a deadline
		h, err := New(e, o)
		require.NoError(t, err)
		l := &pipes{conns: make(chan net.Conn, 1), closed: make(chan struct{}), onClose: func() {}}
		conn := l.dial()
		ctx, interrupt := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- Serve(ctx, l, e, h, time.Minute) }()
		read := bufio.NewReader(conn)
		ask := func(request string) *http.Response {
			_, err := io.WriteString(conn, request)
			require.NoError(t, err)
			res, err := http.ReadResponse(read, nil)
			require.NoError(t, err)
			return res
		}
		res := ask(fmt.Sprintf("POST /debates HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(posted), posted))
		require.Equal(t, http.StatusCreated, res.StatusCode)
		_, err = io.Copy(io.Discard, res.Body)
		require.NoError(t, err)
		v := viewerOf(t, ask("GET /debates/cars/events HTTP/1.1\r\nHost: x\r\n\r\n").Body)
		v.until("turn_started")
		for v.scanner.Scan() && v.scanner.Text() != ": keep-alive" { //nolint:revive // until the first comment
		}
		close(g.tokens)
		v.until("ended")
		require.NoError(t, conn.Close())
		interrupt()
		require.NoError(t, <-ended)
	})
}

package debatehttp

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// When the service stops, the call in flight is committed, the streams end, and no new debate starts.
func TestTheServiceEndsGracefully(t *testing.T) {
	kept, g := store.Memory(), newGate()
	engine := debatetest.Engine(t, debate.Options{Store: kept, Providers: map[string]providers.Provider{"model": g}})
	h, err := New(engine, allowing())
	require.NoError(t, err)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, engine, h, time.Minute) }()

	s := &site{t: t, Server: &httptest.Server{URL: "http://" + l.Addr().String()}, engine: engine, gate: g}
	s.begin()
	v := s.watch("")
	v.until("turn_started")
	<-g.called
	interrupt()
	d := debatetest.Open(t, engine, "cars")
	for err == nil { // it is no error to start what runs, until the engine closes
		err = d.Start(t.Context())
	}
	require.ErrorIs(t, err, debate.ErrClosed)
	s.refuses("closed", http.MethodPost, "/debates", strings.Replace(posted, `"cars"`, `"bikes"`, 1))
	g.tokens <- struct{}{}
	v.until("turn")
	for _, more := v.next(); more; _, more = v.next() { //nolint:revive // the rest of the stream, which ends
	}
	require.NoError(t, <-ended)

	head, _, err := kept.Load(t.Context(), "cars", 0)
	require.NoError(t, err)
	require.True(t, head.State.Active(), "the debate waits for the next service")
}

// pipes is a listener in memory. It accepts all connections that were dialed, also after Close.
type pipes struct {
	conns   chan net.Conn
	closed  chan struct{}
	once    sync.Once
	onClose func()
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		time.Sleep(time.Millisecond) // until the server has closed its other connections
	}
	select {
	case c := <-p.conns:
		return c, nil
	default:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() {
		close(p.closed)
		p.onClose()
	})
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

// dial connects to the listener.
func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}

// Connections that send no request do not delay the end, and requests that do not end are cut. Neither is an error.
func TestTheServiceEndsWhateverClientsDo(t *testing.T) {
	for _, tt := range []struct {
		name, sends string
		late        bool // whether the client connects while the service ends
		takes       time.Duration
	}{
		{"a connection without a request", "", false, 0},
		{"a connection that comes late", "", true, 0},
		{"a request that does not end", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", false, answerTime},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, err := debate.NewEngine(debate.Options{})
				require.NoError(t, err)
				var client net.Conn
				l := &pipes{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
				connect := func() { client = l.dial() }
				l.onClose = func() {}
				if tt.late {
					l.onClose = connect
				} else {
					connect()
				}
				ctx, interrupt := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				forever := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
				go func() { ended <- Serve(ctx, l, e, http.HandlerFunc(forever), time.Minute) }()
				if tt.sends != "" {
					_, err = client.Write([]byte(tt.sends))
					require.NoError(t, err)
				}
				synctest.Wait()
				began := time.Now()
				interrupt()
				require.NoError(t, <-ended)
				_, err = client.Read(make([]byte, 1))
				require.ErrorIs(t, err, io.EOF)
				require.InDelta(t, tt.takes, time.Since(began), float64(time.Second))
			})
		})
	}
}

func TestAListenerThatIsClosed(t *testing.T) {
	e := debatetest.Engine(t, debate.Options{})
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.ErrorIs(t, Serve(t.Context(), l, e, http.NotFoundHandler(), 0), net.ErrClosed)
	cfg := preset
	cfg.Topic = "Ban cars?"
	_, err = e.Create(t.Context(), cfg)
	require.ErrorIs(t, err, debate.ErrClosed)
}

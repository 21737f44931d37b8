package debatehttp

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// When the service stops, the call in flight is committed, the streams end, and no new debate starts.
func TestTheServiceEndsGracefully(t *testing.T) {
	kept, g := store.Memory(), newGate()
	engine, err := debate.NewEngine(debate.Options{Store: kept, Providers: map[string]providers.Provider{"model": g}})
	require.NoError(t, err)
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
	d, err := engine.Open(t.Context(), "cars")
	require.NoError(t, err)
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

func TestAListenerThatIsClosed(t *testing.T) {
	e, err := debate.NewEngine(debate.Options{})
	require.NoError(t, err)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.ErrorIs(t, Serve(t.Context(), l, e, http.NotFoundHandler(), 0), net.ErrClosed)
	cfg := preset
	cfg.Topic = "Ban cars?"
	_, err = e.Create(t.Context(), cfg)
	require.ErrorIs(t, err, debate.ErrClosed)
}

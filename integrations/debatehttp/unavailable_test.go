package debatehttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/store"
)

// broken is a store that cannot be reached while err is set, or that has no connection left until full is closed.
type broken struct {
	store.Store
	mu   sync.Mutex
	err  error
	full chan struct{} // nil, or closed as soon as there is a connection
}

func (b *broken) is(err error, full chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err, b.full = err, full
}

func (b *broken) wait(ctx context.Context) error {
	b.mu.Lock()
	err, full := b.err, b.full
	b.mu.Unlock()
	if full != nil {
		select {
		case <-full:
		case <-ctx.Done():
			return fmt.Errorf("acquire connection: %w", ctx.Err())
		}
	}
	return err
}

func (b *broken) Commit(ctx context.Context, c store.Change) error {
	if err := b.wait(ctx); err != nil {
		return err
	}
	return b.Store.Commit(ctx, c)
}

func (b *broken) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	if err := b.wait(ctx); err != nil {
		return store.Status{}, nil, err
	}
	return b.Store.Load(ctx, id, after)
}

func (b *broken) List(ctx context.Context, q store.Query) iter.Seq2[store.Status, error] {
	if err := b.wait(ctx); err != nil {
		return func(yield func(store.Status, error) bool) { yield(store.Status{}, err) }
	}
	return b.Store.List(ctx, q)
}

// While the store is not available, clients are asked to come back, and the operator reads why.
func TestAStoreThatIsNotAvailable(t *testing.T) {
	var log bytes.Buffer
	b := &broken{Store: store.Memory()}
	o := allowing()
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	o.Presets = map[string]debate.Config{"pair": preset}
	s := open(t, b, o)
	s.begin()
	d := debatetest.Open(t, s.engine, "cars")
	require.NoError(t, d.Pause(t.Context()))
	s.letAllSpeak()
	s.posts(http.StatusNoContent, "/debates/cars/cancel", "")
	b.is(fmt.Errorf("load: %w: dial 10.1.2.3: connection refused", store.ErrUnavailable), nil)
	for _, r := range []struct{ method, path, body string }{
		{http.MethodPost, "/debates", `{"topic": "Ban bikes?", "participants": [{"name": "Ada"}, {"name": "Bo"}], "judges": [{"name": "Jo"}]}`},
		{http.MethodGet, "/debates", ""},
		{http.MethodGet, "/debates/cars", ""},
		{http.MethodGet, "/debates/cars/result", ""},
		{http.MethodGet, "/debates/cars/events", ""},
		{http.MethodPost, "/debates/cars/pause", ""},
		{http.MethodDelete, "/debates/cars", ""},
		{http.MethodGet, "/inbox?seat=Ada", ""},
		{http.MethodPost, "/v1/chat/completions", asked + "}"},
	} {
		log.Reset()
		code, header, text := s.do(r.method, r.path, r.body)
		require.Equal(t, http.StatusServiceUnavailable, code, "%s %s: %s", r.method, r.path, text)
		require.Equal(t, retryAfter, header.Get("Retry-After"))
		require.NotContains(t, text, "10.1.2.3")
		require.Contains(t, log.String(), "10.1.2.3", "%s %s", r.method, r.path)
	}
	require.ErrorIs(t, func() error { _, err := (&Client{URL: s.URL}).Status(t.Context(), "cars"); return err }(), store.ErrUnavailable)
	b.is(errors.New("the schema is damaged"), nil)
	log.Reset()
	s.refuses("internal", http.MethodGet, "/debates/cars", "")
	require.Contains(t, log.String(), "the schema is damaged")
	b.is(nil, nil)
	s.wants(http.StatusOK, http.MethodGet, "/debates/cars", "")
}

// A request does not wait for a connection of an exhausted pool longer than storeTime. A stream is not limited.
func TestAStoreWithoutConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broken{Store: store.Memory()}
		e := debatetest.Engine(t, debate.Options{Store: b})
		cfg := preset
		cfg.ID, cfg.Topic = "cars", "Ban cars?"
		d := debatetest.Create(t, e, cfg)
		h, err := New(e, allowing())
		require.NoError(t, err)
		watching := make(chan *httptest.ResponseRecorder, 1)
		go func() {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/debates/cars/events", http.NoBody))
			watching <- w
		}()
		time.Sleep(2 * storeTime)
		require.Empty(t, watching)
		full := make(chan struct{})
		b.is(nil, full)
		for _, r := range []struct{ method, path string }{{http.MethodGet, "/debates"}, {http.MethodGet, "/debates/cars"}, {http.MethodPost, "/debates/cars/cancel"}} {
			w, began := httptest.NewRecorder(), time.Now()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), r.method, r.path, http.NoBody))
			require.Equal(t, http.StatusServiceUnavailable, w.Code, r.path)
			require.Equal(t, storeTime, time.Since(began), r.path)
		}
		b.is(nil, nil)
		close(full)
		require.NoError(t, d.Cancel(t.Context()))
		require.Contains(t, (<-watching).Body.String(), "event: ended")
		require.NoError(t, e.Close(t.Context()))
	})
}

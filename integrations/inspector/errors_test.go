package inspector

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/store"
)

// broken is a store that fails if fail is set.
type broken struct {
	store.Store
	fail    error
	damaged string // debate whose status cannot be read
}

func (b *broken) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	if b.fail != nil {
		return store.Status{}, nil, b.fail
	}
	return b.Store.Load(ctx, id, after)
}

func (b *broken) List(ctx context.Context, q store.Query) iter.Seq2[store.Status, error] {
	return func(yield func(store.Status, error) bool) {
		if b.fail != nil {
			yield(store.Status{}, b.fail)
			return
		}
		for s, err := range b.Store.List(ctx, q) {
			if s.ID == b.damaged {
				s, err = store.Status{ID: s.ID}, errors.New("damaged")
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// A visitor reads nothing of an error that is not the visitor's concern. The log has it.
func TestErrorsOfTheStoreAreLogged(t *testing.T) {
	kept := &broken{Store: store.Memory()}
	e := debatetest.Engine(t, debate.Options{Store: kept})
	var log bytes.Buffer
	w := serve(t, e, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	w.create(pair("cars"))
	w.create(pair("planes"))
	kept.damaged = "planes"
	require.Equal(t, []string{"cars"}, ids(w.get(http.StatusOK, "/")), "a damaged debate hides no other")
	require.Contains(t, log.String(), "planes")
	kept.fail = errors.New("the secret disk is full")
	for _, path := range []string{"/", "/inbox", "/debates/cars", "/debates/cars?seat=Bo"} {
		log.Reset()
		page := w.get(http.StatusInternalServerError, path)
		require.Contains(t, page, "The server failed", path)
		require.NotContains(t, page, "secret", path)
		require.Contains(t, log.String(), "the secret disk is full", path)
	}
}

func TestProblemsOfErrors(t *testing.T) {
	told := &debatehttp.Problem{Title: "Pay first", Status: http.StatusPaymentRequired}
	for name, tt := range map[string]struct {
		err    error
		status int
		title  string
	}{
		"told":        {fmt.Errorf("x: %w", told), http.StatusPaymentRequired, "Pay first"},
		"fields":      {&debate.Problems{List: []protocol.Problem{{Field: "seat", Reason: "no"}}}, http.StatusBadRequest, "The request is invalid"},
		"gone":        {store.ErrNotFound, http.StatusNotFound, "There is no such debate"},
		"unsupported": {debate.ErrUnsupported, http.StatusNotImplemented, "This server lacks something that the debate needs"},
		"closed":      {debate.ErrClosed, http.StatusServiceUnavailable, "The server is stopping"},
		"other":       {errors.New("x"), http.StatusInternalServerError, "The server failed"},
	} {
		p := problemOf(tt.err)
		require.Equal(t, tt.status, p.Status, name)
		require.Equal(t, tt.title, p.Title, name)
	}
	w := open(t, Options{Principal: func(*http.Request) (string, error) { return "", told }})
	require.Contains(t, w.get(http.StatusPaymentRequired, "/"), "Pay first")
}

// own is a protocol that only one engine knows.
type own struct{ panel.Protocol }

func (own) Name() string { return "own/1" }

// A debate that this engine cannot drive can be seen.
func TestADebateOfAnotherEngineIsShown(t *testing.T) {
	kept := store.Memory()
	theirs := debatetest.Engine(t, debate.Options{Store: kept, Protocols: []protocol.Protocol{own{}}})
	cfg := pair("cars")
	cfg.Protocol = own{}
	debatetest.Create(t, theirs, cfg)
	ours := debatetest.Engine(t, debate.Options{Store: kept})
	w := serve(t, ours, Options{Controls: true})
	page := w.get(http.StatusOK, "/debates/cars")
	require.Contains(t, page, "own/1")
	require.Contains(t, page, `data-state="configuring"`)
	require.Contains(t, w.get(http.StatusNotImplemented, "/debates/cars?seat=Bo"), "lacks something")
	require.Contains(t, w.get(http.StatusOK, "/"), "own/1")
}

func TestPagesWithoutAStore(t *testing.T) {
	var log bytes.Buffer
	kept := &broken{Store: store.Memory()}
	engine := debatetest.Engine(t, debate.Options{Store: kept})
	w := serve(t, engine, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	kept.fail = fmt.Errorf("load: %w: disk of db.example is full", store.ErrUnavailable)
	res, body := w.do(http.MethodGet, "/debates/cars", nil)
	require.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
	require.Equal(t, "5", res.Header.Get("Retry-After"))
	require.Contains(t, body, "The store is not available")
	require.NotContains(t, body, "db.example")
	require.Contains(t, log.String(), "db.example")
}

func TestFormats(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 1234567 * time.Nanosecond: "1ms", 1250 * time.Millisecond: "1.3s", 61 * time.Second: "1m1s", time.Hour: "1h", 90 * time.Minute: "1h30m", 2 * time.Minute: "2m",
		25*time.Hour + 29*time.Second: "25h",
	} {
		require.Equal(t, want, formatDuration(d))
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234", -123: "-123"} {
		require.Equal(t, want, formatNumber(n))
	}
	for amount, want := range map[float64]string{0: "0.00", 0.00123: "0.0012", 1.5: "1.50", 1234: "1234.00", -0.5: "-0.5000"} {
		require.Equal(t, want, formatCost(amount))
	}
	for name, want := range map[string]string{"Ada": "A", "ada lovelace": "AL", "A. B. Cee": "AC", "GPT-4": "G4", "": "", "!?": "", "Élan vital": "ÉV"} {
		require.Equal(t, want, initials(name))
	}
	require.Equal(t, "awaiting responses", words(fsm.AwaitingResponses))
	require.Equal(t, "round limit", words("round_limit"))
	require.Equal(t, "aé …", cut("aéé", 4))
	require.Equal(t, "aéé", cut("aéé", 5))
	require.Empty(t, formatTime(time.Time{}))
	require.Equal(t, `<time datetime="2026-01-31T15:04:05Z">2026-01-31 15:04:05</time>`, string(formatTime(time.Date(2026, 1, 31, 16, 4, 5, 0, time.FixedZone("", 3600)))))
	text, err := encodeJSON(map[string]int{"a": 1})
	require.NoError(t, err)
	require.True(t, json.Valid([]byte(text)))
}

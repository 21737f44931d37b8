package debatehttp

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
)

// deadlines takes a response and remembers the last deadline.
type deadlines struct {
	*httptest.ResponseRecorder
	last time.Time
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.last = at
	return nil
}

// The connection of a stream that has ended serves other requests without a deadline.
func TestDeadlinesEndWithTheStream(t *testing.T) {
	s := chatSite(t, false)
	s.letAllSpeak()
	s.begin()
	for _, r := range []struct{ method, path, body string }{
		{http.MethodGet, "/debates/cars/events", ""}, {http.MethodPost, "/v1/chat/completions", asked + `, "stream": true}`},
	} {
		w := &deadlines{httptest.NewRecorder(), time.Now()}
		s.Config.Handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), r.method, r.path, strings.NewReader(r.body)))
		require.Equal(t, http.StatusOK, w.Code)
		require.True(t, w.Flushed)
		require.Zero(t, w.last, r.path)
	}
}

func TestAHandlerBelowAPrefix(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.letAllSpeak()
	outer := httptest.NewServer(http.StripPrefix("/api/v2", s.Config.Handler))
	defer outer.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, outer.URL+"/api/v2/debates", strings.NewReader(posted))
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	at, err := res.Location()
	require.NoError(t, err)
	require.Equal(t, outer.URL+"/api/v2/debates/cars", at.String())
	c := &Client{URL: outer.URL + "/api/v2"}
	require.NotEmpty(t, seen(t, c, "cars", "", 0))
}

func TestRequestsWithoutAnswers(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.begin()
	for _, path := range []string{"/debates", "/debates/cars", "/debates/cars/events", "/openapi.json"} {
		code, header, body := s.do(http.MethodHead, path, "")
		require.Equal(t, http.StatusOK, code)
		require.Empty(t, body)
		require.NotEmpty(t, header.Get("Content-Type"))
	}
	s.wants(http.StatusOK, http.MethodGet, "/v1/models?api-version=1", "")
	require.Contains(t, s.refuses("invalid", http.MethodGet, "/debates/cars?x=1", "").Detail, "the parameters are none")
}

// FuzzQuery checks that no parameters break a query, and that a client sends what it reads.
func FuzzQuery(f *testing.F) {
	at := store.Status{ID: "d1", Created: time.Unix(1, 2000).UTC()}
	for _, text := range []string{
		"", "limit=2&cursor=" + cursorOf(at), "label=a:b&label=c&state=error", "created_since=2026-01-31T15:04:05Z&limit=x", "cursor=e30",
		"state=error&state=paused&outcome=consensus&failure_kind=network&waiting=Bo&created_since=2026-01-01T00:00:00Z" +
			"&created_before=2026-01-02T00:00:00Z&updated_since=2026-01-03T00:00:00Z&updated_before=2026-01-04T00:00:00Z",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		q, err := queryOf(v)
		if err != nil {
			require.NotEmpty(t, problemOf(err).Problems)
			return
		}
		again, err := queryOf(valuesOf(q))
		if err != nil { // a year beyond 9999, for example
			return
		}
		q.Limit, again.Limit = 0, 0
		require.True(t, q.CreatedSince.Equal(again.CreatedSince) && q.CreatedBefore.Equal(again.CreatedBefore))
		require.True(t, q.UpdatedSince.Equal(again.UpdatedSince) && q.UpdatedBefore.Equal(again.UpdatedBefore))
		require.Equal(t, q.States, again.States)
		require.Equal(t, q.Outcomes, again.Outcomes)
		require.Equal(t, q.FailureKinds, again.FailureKinds)
		require.Equal(t, q.Labels, again.Labels)
		require.Equal(t, q.BeforeID, again.BeforeID)
		require.Equal(t, q.Waiting, again.Waiting)
	})
}

package debatehttp

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/store"
)

// Requests that are made to be expensive are refused at once, with an answer that is not much longer than they are.
func TestExpensiveRequests(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.begin()
	many := func(format string) string {
		var text strings.Builder
		for i := 0; text.Len() < 900_000; i++ {
			fmt.Fprintf(&text, format, i)
		}
		return text.String()
	}
	for _, query := range []string{"a=b" + many("&label=%x:"), "label=a%zz", "label=a:1;limit=2"} {
		require.Contains(t, s.refuses("invalid", http.MethodGet, "/debates?"+query, "").Detail, "the query is not valid")
	}
	p := s.refuses("invalid", http.MethodGet, "/debates?label=a:1"+strings.Repeat("&label=a:1", maxValues), "")
	require.Contains(t, p.Detail, "label: it has 101 values, use at most 100")
	for _, path := range []string{"/debates", "/debates/cars/remarks"} {
		code, _, text := s.do(http.MethodPost, path, `{"z": 1`+many(`,"%x":1`)+`}`)
		require.Equal(t, http.StatusBadRequest, code)
		require.Less(t, len(text), 1<<20)
		require.Contains(t, text, " more")
		for _, nested := range []string{strings.Repeat("[", 500_000), strings.Repeat(`{"topic":`, 50_000), `{"topic":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}"} {
			s.refuses("invalid", http.MethodPost, path, nested)
		}
	}
	s.refuses("invalid", http.MethodPut, "/debates/cars/annotations/note", strings.Repeat("[", 500_000))
}

// Addresses mean one thing only: nothing is redirected, and an id is one part of the path.
func TestStrangePaths(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.begin()
	for _, path := range []string{"/debates/./cars", "/debates//cars", "/x/../debates/cars", "/debates/", "//debates", "/debates/cars/", "/"} {
		code, h, _ := s.do(http.MethodGet, path, "")
		require.Equal(t, http.StatusNotFound, code, path)
		require.Empty(t, h.Get("Location"))
		s.refuses("no-route", http.MethodGet, path, "")
		s.refuses("no-route", http.MethodDelete, path, "")
	}
	for _, id := range []string{"..%2Fcars", "%2e%2e", "cars%2Fresult", "cars%00", "%FF", "cars%20", strings.Repeat("x", 100_000)} {
		s.refuses("not-found", http.MethodGet, "/debates/"+id, "")
	}
	c := clientOf(s)
	for _, id := range []string{"", ".", "..", "../cars", "./cars"} {
		_, err := c.Result(t.Context(), id)
		require.Error(t, err, id)
		require.Error(t, c.Cancel(t.Context(), id), id)
		require.Error(t, c.Delete(t.Context(), id), id)
	}
	require.True(t, s.state().State.Active())
}

// What Authorize changes in the configuration of a chat completion does not change the preset.
func TestPresetsAreNotChanged(t *testing.T) {
	o := allowing()
	shared := preset
	shared.ID = "ignored"
	shared.Labels, shared.Participants = map[string]string{"team": "red"}, []debate.Participant{{Name: "Ada"}, {Name: "Bo"}}
	o.Presets = map[string]debate.Config{"pair": shared}
	var seats []string
	o.Authorize = func(_ context.Context, a *Access) error {
		a.Config.Labels["owner"] = "ann"
		a.Config.Participants[0].Instructions = "Be brief."
		seats = append(seats, a.Seat)
		return nil
	}
	s := open(t, store.Memory(), o)
	s.letAllSpeak()
	s.wants(http.StatusOK, http.MethodPost, "/v1/chat/completions?seat=Ada", asked+"}")
	for _, status := range debatetest.List(t, s.engine, store.Query{}) {
		require.Equal(t, map[string]string{"team": "red", "owner": "ann"}, status.Labels)
		require.NotEqual(t, "ignored", status.ID)
	}
	require.Equal(t, map[string]string{"team": "red"}, shared.Labels)
	require.Empty(t, shared.Participants[0].Instructions)
	require.Equal(t, []string{""}, seats, "nobody speaks for a seat in a launch")
}

// damagedStore has debates that cannot be read, besides the others.
type damagedStore struct{ store.Store }

func (d damagedStore) List(ctx context.Context, q store.Query) iter.Seq2[store.Status, error] {
	return func(yield func(store.Status, error) bool) {
		left := q.Limit
		for s, err := range d.Store.List(ctx, q) {
			for _, one := range []func() bool{
				func() bool { return yield(store.Status{ID: "broken-" + s.ID}, fmt.Errorf("damaged")) },
				func() bool { return yield(s, err) },
			} {
				if !one() {
					return
				}
				left--
				if left == 0 {
					return
				}
			}
		}
	}
}

func (d damagedStore) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	if id == "d1" {
		return store.Status{}, nil, fmt.Errorf("damaged")
	}
	return d.Store.Load(ctx, id, after)
}

// A debate that is damaged hides no others.
func TestDamagedDebatesInLists(t *testing.T) {
	kept := store.Memory()
	before := open(t, kept, allowing())
	before.letAllSpeak()
	for i := range 3 {
		body := strings.Replace(named(fmt.Sprint("d", i), "red"), `{"name": "Ada"`, `{"name": "Ada", "human": true`, 1)
		before.posts(http.StatusCreated, "/debates", body)
	}
	require.Eventually(t, func() bool {
		n, err := before.engine.Count(t.Context(), store.Query{Waiting: "Ada"})
		return err == nil && n[fsm.Paused] == 3
	}, time.Minute, time.Millisecond)
	before.shut()
	e := debatetest.Engine(t, debate.Options{Store: damagedStore{kept}})
	h, err := New(e, allowing())
	require.NoError(t, err)
	web := httptest.NewServer(h)
	defer web.Close()
	c := &Client{URL: web.URL}
	for _, limit := range []int{0, 1, 2, 3} {
		var ids []string
		var p page
		q := store.Query{Limit: limit}
		for values := valuesOf(q); ; values = valuesOf(store.Query{}) {
			if limit > 0 {
				values.Set("limit", fmt.Sprint(limit))
			}
			if p.Next != "" {
				values.Set("cursor", p.Next)
			}
			p = page{}
			require.NoError(t, c.call(t.Context(), "GET", "/debates", values, nil, &p))
			for _, s := range p.Items {
				ids = append(ids, s.ID)
			}
			if p.Next == "" {
				break
			}
		}
		require.Equal(t, []string{"d2", "d1", "d0"}, ids, "pages of %d", limit)
	}
	var from []string
	items, err := c.Inbox(t.Context(), "Ada", store.Query{})
	require.NoError(t, err)
	for _, item := range items {
		from = append(from, item.Debate)
	}
	require.Equal(t, []string{"d2", "d0"}, from)
}

// Identical launches that come at once are one launch.
func TestIdenticalLaunchesAtOnce(t *testing.T) {
	s := open(t, store.Memory(), signedIn())
	cfg := preset
	cfg.Topic = "Ban cars?"
	ids := make([]string, 100)
	errs := make([]error, len(ids))
	var done sync.WaitGroup
	for i := range ids {
		done.Go(func() { ids[i], errs[i] = clientOf(s).Launch(t.Context(), cfg, "key") })
	}
	done.Wait()
	for i := range ids {
		require.NoError(t, errs[i])
		require.Equal(t, ids[0], ids[i])
	}
	require.Len(t, debatetest.List(t, clientOf(s), store.Query{}), 1)
}

// Nothing stays of viewers who leave at any time.
func TestViewersWhoLeaveAtAnyTime(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.begin()
	<-s.gate.called
	began := runtime.NumGoroutine()
	var done sync.WaitGroup
	for i := range 1000 {
		after := time.Duration(rand.IntN(50)) * time.Millisecond
		done.Go(func() {
			ctx, leave := context.WithTimeout(t.Context(), after)
			defer leave()
			path := "/debates/cars/events" + []string{"", "?seat=Ada", "?seat=Judge"}[i%3]
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
			s.Config.Handler.ServeHTTP(httptest.NewRecorder(), r)
		})
		if i%100 == 0 {
			s.gate.tokens <- struct{}{}
		}
	}
	done.Wait()
	s.letAllSpeak()
	last := s.watch("")
	last.until("ended")
	require.NoError(t, last.body.Close())
	http.DefaultClient.CloseIdleConnections()
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= began }, time.Minute, 10*time.Millisecond)
}

// Authorize may add a label, whether or not the request has one.
func TestLabelsCanBeAdded(t *testing.T) {
	o := allowing()
	o.Authorize = func(_ context.Context, a *Access) error {
		if a.Config != nil {
			a.Config.Labels["team"] = "red"
		}
		if a.Query != nil {
			a.Query.Labels["team"] = "red"
		}
		return nil
	}
	s := open(t, store.Memory(), o)
	s.begin()
	list := parsed[page](t, s.wants(http.StatusOK, http.MethodGet, "/debates", "")).Items
	require.Len(t, list, 1)
	require.Equal(t, map[string]string{"team": "red"}, list[0].Labels)
}

// A stream for a seat that the debate does not have is refused before it begins.
func TestAStreamForNoSeat(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.begin()
	for range 2 {
		p := s.refuses("invalid", http.MethodGet, "/debates/cars/events?seat=Cleo", "", "Last-Event-ID", "4")
		require.Equal(t, http.StatusBadRequest, p.Status)
		require.Equal(t, "seat", p.Problems[0].Field)
	}
	s.stream("/debates/cars/events?seat=Ada", "").until("turn_started")
}

// The viewers of a debate that was deleted receive nothing of another debate with its id, and the other way round.
func TestADebateWithTheIDOfADeletedOne(t *testing.T) {
	kept := store.Memory()
	other := debatetest.Engine(t, debate.Options{Store: kept})
	cfg := preset
	cfg.ID = "cars"
	cfg.Topic = "Old?"
	cfg.Labels = map[string]string{"owner": "ann"}
	debatetest.Create(t, other, cfg)
	o := allowing()
	o.Authorize = func(_ context.Context, a *Access) error {
		if a.Principal != a.Debate.Labels["owner"] {
			return store.ErrNotFound
		}
		return nil
	}
	o.Principal = func(r *http.Request) (string, error) { return r.Header.Get("X-User"), nil }
	e, err := debate.NewEngine(debate.Options{Store: struct{ store.Store }{kept}}) // looks for changes now and then
	require.NoError(t, err)
	h, err := New(e, o)
	require.NoError(t, err)
	web := httptest.NewServer(h)
	defer web.Close()
	defer e.Close(t.Context())
	client := func(user string) *Client { return &Client{URL: web.URL, Header: http.Header{"X-User": {user}}} }

	var topics []string
	var last error
	for ev, err := range client("ann").Watch(t.Context(), "cars", "", 0) {
		last = err
		if err != nil {
			break
		}
		change, ok := ev.(debate.ConfigChanged)
		require.True(t, ok)
		topics = append(topics, string(change.Config))
		if len(topics) > 1 {
			break
		}
		time.Sleep(2 * time.Millisecond) // the time of their creation tells the debates apart
		require.NoError(t, other.Delete(t.Context(), "cars"))
		cfg.Topic, cfg.Labels = "New?", map[string]string{"owner": "bob"}
		d := debatetest.Create(t, other, cfg)
		cfg.Topic = "Newer?"
		require.NoError(t, d.Edit(t.Context(), cfg))
	}
	require.Len(t, topics, 1, "ann's debate")
	require.ErrorIs(t, last, store.ErrNotFound)
	for ev, err := range client("bob").Watch(t.Context(), "cars", "", 0) {
		require.NoError(t, err)
		require.Contains(t, string(ev.(debate.ConfigChanged).Config), "New?")
		break
	}
}

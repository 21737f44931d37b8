package debatehttp

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// countingStore counts what is read of journals.
type countingStore struct {
	store.Store
	store.Watcher
	entries, fromStart, now, most atomic.Int64
}

func newCountingStore() *countingStore {
	kept := store.Watched(store.Memory())
	return &countingStore{Store: kept, Watcher: kept}
}

func (c *countingStore) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	now := c.now.Add(1)
	defer c.now.Add(-1)
	for most := c.most.Load(); now > most && !c.most.CompareAndSwap(most, now); most = c.most.Load() {
	}
	status, entries, err := c.Store.Load(ctx, id, after)
	c.entries.Add(int64(len(entries)))
	if after == 0 {
		c.fromStart.Add(1)
	}
	return status, entries, err
}

// A thousand viewers of one debate read its journal once, and each commit once.
func TestAThousandViewersReadOnce(t *testing.T) {
	const viewers = 1000
	kept := newCountingStore()
	s := open(t, kept, allowing())
	s.begin()
	<-s.gate.called
	began := s.state().Seq
	kept.entries.Store(0)
	kept.fromStart.Store(0)

	handler := s.Config.Handler
	out := make([]*sink, viewers)
	var ready, done sync.WaitGroup
	for i := range out {
		out[i] = &sink{header: http.Header{}, began: sync.OnceFunc(ready.Done)}
		ready.Add(1)
		done.Go(func() {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/debates/cars/events", nil)
			if err == nil {
				handler.ServeHTTP(out[i], r)
			}
		})
	}
	ready.Wait()
	joined := kept.fromStart.Load()
	require.LessOrEqual(t, joined, int64(2), "the shared handle and the shared feed")
	s.letAllSpeak()
	done.Wait()
	total := s.state().Seq
	t.Logf("journal of %d entries, %d when the viewers came: %d entries read, %d times from the start, at most %d reads at a time", total, began, kept.entries.Load(), kept.fromStart.Load(), kept.most.Load())
	require.LessOrEqual(t, kept.most.Load(), int64(4), "the number of readers at a time")
	require.LessOrEqual(t, kept.entries.Load(), 6*total, "a constant number of readers: the driver, the feed, the handle and this test")
	for _, o := range out {
		require.Equal(t, int(total)+1, strings.Count("\n"+o.text.String(), "\nid: "), "all stored events and the end")
		require.Contains(t, o.text.String(), "event: ended\n")
	}
}

// sink takes a response.
type sink struct {
	header http.Header
	text   strings.Builder
	began  func()
}

func (s *sink) Header() http.Header { return s.header }
func (s *sink) WriteHeader(int)     {}
func (s *sink) Flush()              { s.began() }
func (s *sink) Write(b []byte) (int, error) {
	return s.text.Write(b)
}

// The feed ends with its last viewer, and nothing of it stays.
func TestNothingStaysOfAFeed(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	svc := newService(s.engine, allowing())
	s.begin()
	d, status, release, err := svc.open(t.Context(), "cars")
	require.NoError(t, err)
	one, leaveOne := svc.feeds.follow(d, status, "")
	two, leaveTwo := svc.feeds.follow(d, status, "")
	other, leaveOther := svc.feeds.follow(d, status, "Ada")
	require.Same(t, one, two)
	require.NotSame(t, one, other)
	leaveOne()
	leaveOne() // once more is no change
	require.Len(t, svc.feeds.open, 2)
	leaveTwo()
	leaveOther()
	for _, f := range []*feed{one, other} {
		waitForEnd(t, f)
	}
	require.Empty(t, svc.feeds.open)
	release()
	release()
	require.Empty(t, svc.debates)
	_, _, _, err = svc.open(t.Context(), "none")
	require.ErrorIs(t, err, store.ErrNotFound)
	require.Empty(t, svc.debates)
	require.True(t, s.state().State.Active(), "the debate goes on")
}

// waitForEnd waits until a feed has ended.
func waitForEnd(t *testing.T, f *feed) {
	t.Helper()
	for from := 0; ; {
		list, rest, changed, ended := f.next(from, 0)
		from = rest
		if ended {
			return
		}
		if len(list) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-time.After(time.Minute):
			require.Fail(t, "the feed does not end")
		}
	}
}

// A viewer who does not read is disconnected. It holds up neither the debate nor others, and catches up.
func TestSlowViewersAreDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // time passes only while the viewer does not read
		e, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{"model": offline.Model(false)}})
		require.NoError(t, err)
		o := allowing()
		o.Timeout = 30 * time.Second
		h, err := New(e, o)
		require.NoError(t, err)
		watch := func(w http.ResponseWriter, last string) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/debates/cars/events", nil)
			r.Header.Set("Last-Event-ID", last)
			h.ServeHTTP(w, r)
		}
		read := func(last string) []message { // everything, at once
			w := httptest.NewRecorder()
			watch(w, last)
			return viewerOf(t, w.Body).until("ended")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/debates", strings.NewReader(posted)))
		require.Equal(t, http.StatusCreated, w.Code)

		server, client := net.Pipe()
		left := make(chan struct{})
		go func() {
			defer close(left)
			watch(connected{server, http.Header{}}, "")
		}()
		seen := stored(viewerOf(t, client).until("turn")) // and now it stops reading
		began := time.Now()
		all := stored(read(""))
		require.Zero(t, time.Since(began), "nobody waits for the slow viewer")
		<-left
		require.Equal(t, o.Timeout, time.Since(began))
		require.NoError(t, server.Close())

		rest := read(seen[len(seen)-1].id)
		require.Equal(t, all, append(seen, stored(rest)...))
		require.Equal(t, fsm.Completed, result(rest).State)
		require.NoError(t, e.Close(t.Context()))
	})
}

// connected is a response that goes to a connection without buffers.
type connected struct {
	net.Conn
	header http.Header
}

func (c connected) Header() http.Header { return c.header }
func (connected) WriteHeader(int)       {}
func (connected) Flush()                {}

// A new viewer receives the live events of attempts in flight, and no others. Viewers receive frames in order.
func TestFramesOfAFeed(t *testing.T) {
	f := &feed{changed: make(chan struct{})}
	meta := func(kind string, seq int64, live bool) debate.EventMeta {
		return debate.EventMeta{Type: kind, Seq: seq, Live: live}
	}
	step := func(actor string) *debate.Attempt {
		return &debate.Attempt{Key: transcript.Key{Run: 1, Round: 1, Actor: actor}}
	}
	add := func(ev debate.Event) { f.add(ev, []byte(fmt.Sprint(f.count)+" ")) }
	read := func(from int, after int64) (text string) {
		for list, rest, _, _ := f.next(from, after); len(list) > 0; list, rest, _, _ = f.next(rest, after) {
			for _, one := range list {
				text += string(one.text)
			}
		}
		return strings.TrimSpace(text)
	}
	add(debate.ConfigChanged{EventMeta: meta("config", 1, false)})
	add(debate.TurnStarted{EventMeta: meta("turn_started", 1, true), Attempt: step("Ada")})
	add(debate.Chunk{EventMeta: new(meta("chunk", 1, true)), Attempt: step("Ada")})
	add(debate.TurnStarted{EventMeta: meta("turn_started", 1, true), Attempt: step("Bo")})
	require.Equal(t, "0 1 2 3", read(0, 0))
	add(debate.TurnFailed{EventMeta: meta("turn_failed", 1, true), Attempt: step("Ada")})
	add(debate.TurnStarted{EventMeta: meta("turn_started", 1, true), Attempt: step("Ada")})
	require.Equal(t, "0 3 5", read(0, 0), "an attempt replaces the one before")
	add(debate.Warning{EventMeta: meta("warning", 1, true)})
	add(debate.TurnDone{EventMeta: meta("turn", 2, false), Turn: transcript.Turn{Key: step("Ada").Key}})
	require.Equal(t, "0 3 6 7", read(0, 0))
	require.Equal(t, "3 6 7", read(0, 1), "the warning is about the second event")
	require.Equal(t, "3", read(0, 2), "the attempt in flight began before the second event")
	require.Equal(t, "7", read(7, 0))
	add(debate.TurnStarted{EventMeta: meta("turn_started", 2, true), Attempt: step("Cy")})
	add(debate.Dropped{EventMeta: meta("dropped", 3, false), Name: "Cy"})
	require.Equal(t, "9", read(8, 0))
	add(debate.StateChanged{EventMeta: meta("state", 4, false), To: fsm.Error})
	require.Equal(t, "0 6 7 9 10", read(0, 0), "an error ends all attempts")
	for range 3 * maxFrames {
		add(debate.Annotated{EventMeta: meta("annotated", 5, false)})
	}
	list, rest, _, ended := f.next(0, 0)
	require.Len(t, list, maxFrames)
	require.False(t, ended)
	f.finish(&Problem{Title: "end"})
	for !ended {
		list, rest, _, ended = f.next(rest, 0)
	}
	require.Equal(t, "event: problem\ndata: {\"title\":\"end\",\"status\":0}\n\n", string(list[len(list)-1].text))
}

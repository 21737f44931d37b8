package debatehttp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
)

func TestTwoViewersSeeTheSame(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.begin()
	one, two := s.watch(""), s.watch("")
	s.letAllSpeak()
	first, second := one.until("ended"), two.until("ended")

	require.Equal(t, stored(first), stored(second))
	for i, m := range stored(first) {
		require.Equal(t, strconv.Itoa(i+1), m.id, "ids are those of the journal, without a gap")
	}
	for _, m := range first {
		stamp := m.event.Meta()
		require.Equal(t, m.kind, stamp.Type)
		require.Equal(t, m.id == "" || m.kind == "ended", stamp.Live, "what is not stored has no id")
	}
	require.Equal(t, fsm.Completed, result(first).State)
	require.Equal(t, 2, result(first).Round)
	require.Len(t, result(first).Turns, 7)
	_, more := one.next()
	require.False(t, more, "the stream ends with the debate")

	code, header, body := s.do(http.MethodGet, "/debates/cars/result", "")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "application/json", header.Get("Content-Type"))
	require.NotContains(t, body, "<", "no browser takes it for a page")
	var r debate.Result
	require.NoError(t, json.Unmarshal([]byte(body), &r))
	require.Equal(t, result(first), &r)
	require.Equal(t, "Ban <b>cars</b>?", r.Topic)
}

// A viewer that reconnects with the id of its last event receives exactly the stored events after it.
func TestAViewerWhoComesBackMissesNothing(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.letAllSpeak()
	s.begin()
	first := s.watch("").until("ended")
	all := stored(first)
	for i, seen := range all {
		rest := s.watch(seen.id).until("ended")
		require.Equal(t, all[i+1:], append([]message{}, stored(rest)...), "after event %s", seen.id)
		require.Equal(t, eventsAfter(first, "warning", i+1), eventsAfter(rest, "warning", 0), "after event %s", seen.id)
	}
}

// A viewer who has the event ended learns that there is no more: an EventSource stops after 204. Who lacks it receives it, and
// so does everyone after a later entry.
func TestAViewerWhoHasTheLastEventIsDone(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.letAllSpeak()
	s.begin()
	all := s.watch("").until("ended")
	end := all[len(all)-1].id
	seq := stored(all)[len(stored(all))-1].id
	require.Equal(t, seq+"-ended", end)
	for _, path := range []string{"/debates/cars/events", "/debates/cars/events?seat=Ada"} {
		code, _, text := s.do(http.MethodGet, path, "", "Last-Event-ID", end)
		require.Equal(t, http.StatusNoContent, code)
		require.Empty(t, text)
		again := s.stream(path, "").until("ended")
		require.Equal(t, end, again[len(again)-1].id)
	}
	require.Len(t, s.watch(seq).until("ended"), 1+len(eventsAfter(all, "warning", len(stored(all)))))
	s.wants(http.StatusNoContent, http.MethodPut, "/debates/cars/annotations/note", "1")
	require.Equal(t, "annotated", s.watch(end).until("ended")[0].kind)
	for _, id := range []string{"-ended", "x-ended", "1-end"} {
		s.refuses("invalid", http.MethodGet, "/debates/cars/events", "", "Last-Event-ID", id)
	}
}

// eventsAfter returns the events of a kind that follow the nth durable event.
func eventsAfter(list []message, kind string, n int) (found []debate.Event) {
	for _, m := range list {
		if m.id != "" {
			n--
		} else if m.kind == kind && n <= 0 {
			found = append(found, m.event)
		}
	}
	return found
}

// A viewer whose last event is beyond the end comes from an earlier debate with the same id. It receives what is new.
func TestALastEventBeyondTheEnd(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.begin()
	<-s.gate.called
	began := s.state().Seq
	v := s.watch("1000")
	s.letAllSpeak()
	require.Equal(t, strconv.FormatInt(began+1, 10), stored(v.until("ended"))[0].id)
}

// A change that has begun is made, even if the client disconnects.
func TestWhoChangesMayLeave(t *testing.T) {
	o, leave := allowing(), func() {}
	o.Authorize = func(context.Context, *Access) error {
		leave()
		return nil
	}
	s := open(t, store.Memory(), o)
	s.begin()
	for _, change := range []struct{ method, path, body string }{
		{http.MethodPost, "/debates/cars/pause", ""},
		{http.MethodPost, "/debates/cars/remarks", bodies[Inject]},
		{http.MethodPut, "/debates/cars/annotations/note", bodies[Annotate]},
		{http.MethodPost, "/debates/cars/cancel", ""},
		{http.MethodDelete, "/debates/cars", ""},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		leave = cancel
		w := httptest.NewRecorder()
		s.Config.Handler.ServeHTTP(w, httptest.NewRequestWithContext(ctx, change.method, change.path, strings.NewReader(change.body)))
		require.Equal(t, http.StatusNoContent, w.Code, "%s: %s", change.path, w.Body.String())
	}
}

func TestLeavingStopsNothing(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.begin()
	v := s.watch("")
	s.gate.tokens <- struct{}{} // Ada speaks, Bo waits
	seen := stored(v.until("turn"))
	require.NoError(t, v.body.Close())
	<-s.gate.called
	<-s.gate.called
	s.letAllSpeak()

	rest := s.watch(seen[len(seen)-1].id).until("ended")
	require.Equal(t, fsm.Completed, result(rest).State)
	require.Equal(t, stored(s.watch("").until("ended")), append(seen, stored(rest)...))
}

// A debate starts even if the client that posted it disconnects.
func TestWhoPostsMayLeave(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.letAllSpeak()
	ctx, leave := context.WithCancel(t.Context())
	leave()
	w := httptest.NewRecorder()
	s.Config.Handler.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/debates", strings.NewReader(posted)))
	require.Equal(t, http.StatusCreated, w.Code, w.Body.String())
	require.Equal(t, fsm.Completed, result(s.watch("").until("ended")).State)
}

// The stream opens even if the debate has no new events.
func TestAViewerOfWhatStandsStill(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.gate.Provider = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
		return scripted.Reply{Err: &providers.Error{Kind: providers.Authentication, Err: errors.New("the key is refused")}}
	}}
	s.letAllSpeak()
	s.begin()
	v, last := s.watch(""), message{}
	for {
		m, more := v.next()
		require.True(t, more)
		change, ok := m.event.(debate.StateChanged)
		last = m
		if ok && change.To == fsm.Error {
			break
		}
	}
	s.watch(last.id)
}

// Chunks arrive as the model writes. They have no id, so a viewer that reconnects receives them again.
func TestWordsHaveNoID(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.gate.Provider = &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: "I say", Hang: true} }}
	s.letAllSpeak()
	s.begin()
	seen := s.watch("").until("chunk")
	require.Empty(t, seen[len(seen)-1].id)
	before := stored(seen)

	again := s.watch(before[len(before)-1].id).until("chunk")
	require.Empty(t, stored(again))
	for _, read := range [][]message{seen, again} {
		chunk := read[len(read)-1].event.(debate.Chunk)
		require.Equal(t, "I say", chunk.Text)
		require.Equal(t, "Ada", chunk.Key.Actor)
	}
}

func TestAQuietStreamBeats(t *testing.T) {
	s := open(t, store.Memory(), Options{Authorize: AllowEveryone, Heartbeat: time.Millisecond})
	s.begin()
	v := s.watch("")
	v.until("turn_started") // the model waits
	for v.beats < 3 {
		require.True(t, v.scanner.Scan())
		if v.scanner.Text() != "" {
			require.Equal(t, ": keep-alive", v.scanner.Text())
			v.beats++
		}
	}
	s.letAllSpeak()
	require.Equal(t, fsm.Completed, result(v.until("ended")).State)
}

func TestADebateIsCanceled(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.begin()
	s.gate.tokens <- struct{}{} // Ada speaks, Bo waits
	v := s.watch("")
	v.until("turn")
	for range 2 { // canceling twice is canceling once
		s.posts(http.StatusNoContent, "/debates/cars/cancel", "")
	}
	r := result(v.until("ended"))
	require.Equal(t, fsm.Canceled, r.State)
	require.Len(t, r.Turns, 1)
	require.Nil(t, r.Verdict)
}

// A viewer receives a pause from another part of the program, the turn that was in flight, and the rest of the debate.
func TestAViewerSeesAPause(t *testing.T) {
	s := open(t, store.Memory(), allowing())
	s.begin()
	<-s.gate.called // Ada is about to speak
	v := s.watch("")
	d, err := s.engine.Open(t.Context(), "cars")
	require.NoError(t, err)
	for range 2 { // pausing twice is pausing once
		require.NoError(t, d.Pause(t.Context()))
	}
	for {
		seen := v.until("state")
		if seen[len(seen)-1].event.(debate.StateChanged).To == fsm.Paused {
			break
		}
	}
	s.gate.tokens <- struct{}{}
	read := v.until("turn") // the call in flight is committed
	require.Equal(t, "Ada", read[len(read)-1].event.(debate.TurnDone).Turn.Actor)
	require.Empty(t, s.gate.called, "nothing new starts")

	require.NoError(t, d.Resume(t.Context()))
	require.NoError(t, d.Start(t.Context())) // the engine that ran the debate before the pause may have ended
	s.letAllSpeak()
	r := result(v.until("ended"))
	require.Equal(t, fsm.Completed, r.State)
	require.Len(t, r.Turns, 7)
}

// If a service stops during a debate, the next service with the same store continues it.
func TestTheNextServiceGoesOn(t *testing.T) {
	kept := store.Memory()
	s := open(t, kept, allowing())
	s.begin()
	s.gate.tokens <- struct{}{}
	v := s.watch("")
	seen := stored(v.until("turn"))
	s.shut()
	for _, more := v.next(); more; _, more = v.next() { //nolint:revive // the rest of the stream, which ends
	}

	s = open(t, kept, allowing())
	s.letAllSpeak()
	rest := s.watch(seen[len(seen)-1].id).until("ended")
	require.Equal(t, fsm.Completed, result(rest).State)
	for i, m := range append(seen, stored(rest)...) {
		require.Equal(t, strconv.Itoa(i+1), m.id)
	}
}

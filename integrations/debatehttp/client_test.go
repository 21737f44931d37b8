package debatehttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// clientOf returns a client of a server, who signs in as ann.
func clientOf(s *site) *Client {
	return &Client{URL: s.URL + "/", Header: http.Header{"authorization": {"ann"}}}
}

// signedIn returns options by which ann sees her own debates.
func signedIn() Options {
	o := allowing()
	o.Authorize = OwnersOnly("owner")
	o.Principal = func(r *http.Request) (string, error) {
		if user := r.Header.Get("Authorization"); user != "" {
			return user, nil
		}
		return "", errors.New("there is no user")
	}
	return o
}

// seen returns the events that a loop over a debate yields.
func seen(t *testing.T, c *Client, id, seat string, after int64) (list []debate.Event) {
	t.Helper()
	for ev, err := range c.Watch(t.Context(), id, seat, after) {
		require.NoError(t, err)
		list = append(list, ev)
	}
	return list
}

// durable returns the stored events among events, by their text.
func durable(list []debate.Event) (kept []string) {
	for _, ev := range list {
		if meta := ev.Meta(); !meta.Live {
			kept = append(kept, fmt.Sprint(meta.Seq, " ", meta.Type))
		}
	}
	return kept
}

func TestAClientDoesWhatTheEngineDoes(t *testing.T) {
	s := open(t, store.Memory(), signedIn())
	c, ctx := clientOf(s), t.Context()
	id, err := c.Launch(ctx, preset, "")
	wrong, ok := errors.AsType[*debate.Problems](err)
	require.True(t, ok, err)
	require.Equal(t, "topic", wrong.List[0].Field)
	require.Empty(t, id)

	cfg := preset
	cfg.Topic, cfg.Labels = "Ban cars?", map[string]string{"team": "a:b&c"}
	id, err = c.Launch(ctx, cfg, "key")
	require.NoError(t, err)
	again, err := c.Launch(ctx, cfg, "key")
	require.NoError(t, err)
	require.Equal(t, id, again)
	<-s.gate.called
	require.NoError(t, c.Pause(ctx, id))
	status, err := c.Status(ctx, id)
	require.NoError(t, err)
	require.Equal(t, fsm.Paused, status.State)
	refused, ok := errors.AsType[*fsm.Refused](c.Reset(ctx, id))
	require.True(t, ok)
	require.Equal(t, fsm.Paused, refused.State)
	require.Contains(t, refused.Methods, "Resume")
	require.NoError(t, c.Inject(ctx, id, debate.Remark{ID: "1", Text: "Mind the costs."}))
	require.NoError(t, c.Annotate(ctx, id, "a/b c", map[string]int{"stars": 4}))
	require.NoError(t, c.Annotate(ctx, id, "none", nil))
	require.NoError(t, c.Resume(ctx, id))
	s.letAllSpeak()
	events := seen(t, c, id, "", 0)
	result := events[len(events)-1].(debate.Ended).Result
	require.Equal(t, fsm.Completed, result.State)

	read, err := c.Result(ctx, id)
	require.NoError(t, err)
	require.Equal(t, result, read)
	require.JSONEq(t, `{"stars": 4}`, string(read.Annotations["a/b c"]))
	require.Equal(t, "null", string(read.Annotations["none"]))
	var remarks []string
	for _, turn := range read.Turns {
		if turn.Kind == transcript.Remark {
			remarks = append(remarks, turn.Actor+": "+turn.Text)
		}
	}
	require.Equal(t, []string{"ann: Mind the costs."}, remarks)
	short, err := c.Report(ctx, id, false)
	require.NoError(t, err)
	require.True(t, short.Redacted)
	full, err := c.Report(ctx, id, true)
	require.NoError(t, err)
	require.False(t, full.Redacted)
	require.NoError(t, c.Delete(ctx, id))
	_, err = c.Status(ctx, id)
	require.ErrorIs(t, err, store.ErrNotFound)
}

func TestAClientRetriesAndEdits(t *testing.T) {
	s := open(t, store.Memory(), signedIn())
	c, ctx := clientOf(s), t.Context()
	good := s.gate.Provider
	s.gate.Provider = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
		return scripted.Reply{Err: &providers.Error{Kind: providers.Authentication, Err: errors.New("refused")}}
	}}
	s.letAllSpeak()
	cfg := preset
	cfg.Topic, cfg.AskBeforeVerdict = "Ban cars?", true
	id, err := c.Launch(ctx, cfg, "")
	require.NoError(t, err)
	fails := 0
	for ev, err := range c.Watch(ctx, id, "", 0) {
		require.NoError(t, err)
		change, ok := ev.(debate.StateChanged)
		switch {
		case ok && change.To == fsm.Error:
			fails++
			if fails == 1 {
				require.NoError(t, c.Reset(ctx, id))
				cfg.Topic = "Allow cars?"
				require.NoError(t, c.Edit(ctx, id, cfg))
				require.NoError(t, c.Start(ctx, id))
			} else {
				s.gate.Provider = good
				require.NoError(t, c.Retry(ctx, id))
			}
		case ok && change.Question != nil:
			require.Error(t, c.Decide(ctx, id, change.Question.ID, "edit", debate.Remark{}, debate.Remark{}))
			require.NoError(t, c.Decide(ctx, id, change.Question.ID, "edit", debate.Remark{From: "Cleo", Text: "Be fair."}))
		}
	}
	require.Equal(t, 2, fails)
	r, err := c.Result(ctx, id)
	require.NoError(t, err)
	require.Equal(t, fsm.Completed, r.State)
	require.Equal(t, "Allow cars?", r.Topic)
	for _, end := range []func(context.Context, string) error{c.Stop, c.Cancel} {
		id, err := c.Launch(ctx, cfg, "")
		require.NoError(t, err)
		require.NoError(t, end(ctx, id))
	}
}

func TestAClientSpeaksForAPerson(t *testing.T) {
	s := open(t, store.Memory(), signedIn())
	s.letAllSpeak()
	c, ctx := clientOf(s), t.Context()
	cfg := preset
	cfg.Topic = "Ban cars?"
	cfg.Participants = []debate.Participant{{Name: "Ada"}, {Name: "Bo", Human: true}}
	cfg.Limits.MaxRounds = 2
	id, err := c.Launch(ctx, cfg, "")
	require.NoError(t, err)
	for ev, err := range c.Watch(ctx, id, "Bo", 0) {
		require.NoError(t, err)
		if a, ok := ev.(debate.Asked); ok && a.Key.Round == 1 {
			items, err := c.Inbox(ctx, "Bo", store.Query{Limit: 10})
			require.NoError(t, err)
			require.Len(t, items, 1)
			require.Equal(t, id, items[0].Debate)
			list, err := c.Waiting(ctx, id, "")
			require.NoError(t, err)
			require.Equal(t, items[0].Asked, list[0])
			list, err = c.Waiting(ctx, id, "Ada")
			require.NoError(t, err)
			require.Empty(t, list)
			require.NoError(t, c.Answer(ctx, id, a.Key, "No."))
			require.ErrorIs(t, c.Answer(ctx, id, a.Key, "Yes."), debate.ErrAnswered)
		} else if ok {
			require.NoError(t, c.Decline(ctx, id, a.Key, "I have to leave."))
			require.ErrorIs(t, c.Answer(ctx, id, a.Key, "Yes."), debate.ErrNotAsked)
		}
	}
	for _, err := range c.Watch(ctx, id, "Zoe", 0) {
		_, ok := errors.AsType[*debate.Problems](err)
		require.True(t, ok, err)
	}
}

func TestAClientLists(t *testing.T) {
	s := open(t, store.Memory(), signedIn())
	s.letAllSpeak()
	c, ctx := clientOf(s), t.Context()
	cfg := preset
	cfg.Topic = "Ban cars?"
	var ids []string
	for i := range 5 {
		cfg.Labels = map[string]string{"n": fmt.Sprint(i % 2)}
		id, err := c.Launch(ctx, cfg, "")
		require.NoError(t, err)
		ids = append([]string{id}, ids...)
		seen(t, c, id, "", 0)
	}
	list := func(q store.Query) (found []string, last store.Status) {
		for s, err := range c.List(ctx, q) {
			require.NoError(t, err)
			found, last = append(found, s.ID), s
		}
		return found, last
	}
	all, _ := list(store.Query{})
	require.Equal(t, ids, all)
	some, last := list(store.Query{Limit: 3, States: []fsm.State{fsm.Completed}, Outcomes: []transcript.Outcome{"round_limit"}})
	require.Equal(t, ids[:3], some)
	rest, _ := list(store.Query{CreatedBefore: last.Created, BeforeID: last.ID})
	require.Equal(t, ids[3:], rest)
	even, _ := list(store.Query{Labels: map[string]string{"n": "0"}, CreatedSince: time.Now().AddDate(0, 0, -1)})
	require.Equal(t, []string{ids[0], ids[2], ids[4]}, even)
	none, _ := list(store.Query{Waiting: "Bo"})
	require.Empty(t, none)
	none, _ = list(store.Query{FailureKinds: []string{"network"}})
	require.Empty(t, none)
	for _, err := range c.List(ctx, store.Query{}) {
		require.NoError(t, err)
		break
	}
}

// A client whose connections break misses no stored event. One that is refused, or whose context ends, learns why.
func TestAClientReconnects(t *testing.T) {
	s := open(t, store.Memory(), signedIn())
	inner := s.Config.Handler
	var connections atomic.Int64
	unreliable := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/events") {
			inner.ServeHTTP(w, r)
			return
		}
		switch n := connections.Add(1); {
		case n == 2:
			problem("closed", "").writeFor(w, r) // the server restarts
		case n < 12:
			inner.ServeHTTP(&breaking{ResponseWriter: w, left: 3}, r)
		default:
			inner.ServeHTTP(w, r)
		}
	}))
	defer unreliable.Close()
	c, ctx := clientOf(s), t.Context()
	c.URL = unreliable.URL
	cfg := preset
	cfg.Topic = "Ban cars?"
	id, err := c.Launch(ctx, cfg, "")
	require.NoError(t, err)
	s.letAllSpeak()
	got := seen(t, c, id, "", 0)
	want := seen(t, clientOf(s), id, "", 0)
	require.Equal(t, durable(want), durable(got))
	require.Greater(t, connections.Load(), int64(5))
	require.Equal(t, durable(want)[4:], durable(seen(t, clientOf(s), id, "", 4)))

	stranger := &Client{URL: s.URL}
	for _, err := range stranger.Watch(ctx, id, "", 0) {
		p, ok := errors.AsType[*Problem](err)
		require.True(t, ok)
		require.Equal(t, http.StatusUnauthorized, p.Status)
	}
	nobody := &Client{URL: "http://127.0.0.1:1"}
	for _, err := range nobody.Watch(ctx, id, "", 0) {
		require.ErrorContains(t, err, "refused")
	}
	gone, cancel := context.WithCancelCause(ctx)
	cancel(errors.New("enough"))
	for _, err := range clientOf(s).Watch(gone, id, "", 0) {
		require.EqualError(t, err, "enough")
	}
	for _, err := range clientOf(s).Watch(ctx, id, "", 0) {
		require.NoError(t, err)
		break
	}
}

// breaking is a response whose connection breaks after some events.
type breaking struct {
	http.ResponseWriter
	left int
}

func (b *breaking) Unwrap() http.ResponseWriter { return b.ResponseWriter }

func (b *breaking) Write(p []byte) (int, error) {
	if len(p) > 0 {
		b.left--
		if b.left < 0 {
			panic(http.ErrAbortHandler)
		}
	}
	n, err := b.ResponseWriter.Write(p)
	return n, errors.Join(err, http.NewResponseController(b.ResponseWriter).Flush())
}

// A client does not trust what answers it.
func TestAnswersOfStrangers(t *testing.T) {
	text, status := "", http.StatusOK
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	}))
	defer s.Close()
	c := &Client{URL: s.URL, Header: http.Header{"Authorization": {"Bearer secret"}}}
	watched := func() (last error) {
		for _, err := range c.Watch(t.Context(), "x", "", 0) {
			last = err
		}
		return last
	}
	text = "{"
	_, err := c.Status(t.Context(), "x")
	require.ErrorContains(t, err, "read response to GET /debates/x")
	require.NotContains(t, err.Error(), "secret")
	text = "event: turn\ndata: {\n\n"
	require.ErrorContains(t, watched(), "watch debate x: parse event")
	text = "event: problem\ndata: {\n\n"
	require.ErrorContains(t, watched(), "watch debate x")
	text, status = "<html>Bad gateway</html>", http.StatusBadGateway
	err = c.Pause(t.Context(), "x")
	require.EqualError(t, err, "502 Bad Gateway")
	require.EqualError(t, watched(), "502 Bad Gateway")
	_, err = (&Client{URL: ":"}).Result(t.Context(), "x")
	require.Error(t, err)
	require.ErrorContains(t, c.Annotate(t.Context(), "x", "y", func() {}), "encode request")
	for _, err := range c.List(t.Context(), store.Query{}) {
		require.EqualError(t, err, "502 Bad Gateway")
	}
}

// A client does not take a page for success, does not take its header to another server, and reads no endless response.
func TestServersThatAreNotHandlers(t *testing.T) {
	var stolen []string
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		stolen = append(stolen, r.Header.Get("X-Api-Key"))
	}))
	defer thief.Close()
	serve := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>Sign in</html>") }
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(w, r) }))
	defer s.Close()
	c := &Client{URL: s.URL, Header: http.Header{"X-Api-Key": {"secret"}}}
	ctx := t.Context()
	watched := func() (last error) {
		for _, err := range c.Watch(ctx, "x", "", 0) {
			last = err
		}
		return last
	}
	require.ErrorContains(t, c.Cancel(ctx, "x"), "response to POST /debates/x/cancel has the status 200, want 204")
	require.ErrorContains(t, watched(), `response to GET /debates/x/events has the type "text/html"`)

	for _, code := range []int{http.StatusFound, http.StatusTemporaryRedirect} {
		serve = func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, thief.URL, code) }
		for _, err := range []error{c.Cancel(ctx, "x"), c.Annotate(ctx, "x", "y", 1), watched()} {
			require.ErrorContains(t, err, fmt.Sprint(code))
		}
	}
	require.Empty(t, stolen)

	serve = func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = fmt.Fprint(w, strings.Repeat(" ", 1<<20))
		}
	}
	_, err := c.Status(ctx, "x")
	require.ErrorContains(t, err, "bytes")
	serve = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			_, _ = fmt.Fprint(w, strings.Repeat("x", 1<<20))
		}
	}
	require.ErrorContains(t, watched(), "an event has more than")

	serve = func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"items": [], "next": "again"}`) }
	for _, err := range c.List(ctx, store.Query{}) {
		require.NoError(t, err)
	}
}

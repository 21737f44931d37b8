package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
)

// gate is a model that answers one call for each token that it is given.
type gate struct {
	providers.Provider
	called chan struct{} // a token for each call that has begun
	tokens chan struct{}
}

func newGate() *gate {
	return &gate{offline.Model(false), make(chan struct{}, 100), make(chan struct{}, 100)}
}

func (g *gate) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	g.called <- struct{}{}
	select {
	case <-g.tokens:
		return g.Provider.Generate(ctx, r)
	case <-ctx.Done():
		return providers.Response{}, providers.ContextError(ctx, providers.Response{})
	}
}

// site is the service with a model that waits for tokens.
type site struct {
	t *testing.T
	*httptest.Server
	engine *debate.Engine
	gate   *gate
}

func open(t *testing.T, kept store.Store, beat time.Duration) *site {
	s := &site{t: t, gate: newGate()}
	var err error
	s.engine, err = debate.NewEngine(debate.Options{Store: kept, Providers: map[string]providers.Provider{"model": s.gate}})
	require.NoError(t, err)
	require.NoError(t, resumeDebates(t.Context(), s.engine))
	s.Server = httptest.NewServer(server{engine: s.engine, keepAlive: beat}.handler())
	t.Cleanup(s.shut)
	return s
}

// shut stops the service and cancels the calls in flight.
func (s *site) shut() {
	now, end := context.WithCancel(context.Background())
	end()
	_ = s.engine.Close(now)
	s.Server.Close() // waits for the streams, which have ended with the engine
}

func (s *site) letAllSpeak() { close(s.gate.tokens) }

func (s *site) do(method, path, body string, header ...string) (int, http.Header, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.URL+path, strings.NewReader(body))
	require.NoError(s.t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	return res.StatusCode, res.Header, string(b)
}

func (s *site) post(path, body string) (int, string) {
	s.t.Helper()
	code, _, text := s.do(http.MethodPost, path, body)
	return code, text
}

const posted = `{
	"id": "cars", "topic": "Ban <b>cars</b>?", "protocol": {"name": "panel/1", "format": "round-limited"}, "limits": {"max_rounds": 2},
	"participants": [{"name": "Ada", "side": "for"}, {"name": "Bo", "side": "against"}], "judges": [{"name": "Judge"}]
}`

func (s *site) begin() {
	s.t.Helper()
	code, header, body := s.do(http.MethodPost, "/debates", posted)
	require.Equal(s.t, http.StatusCreated, code, body)
	require.Equal(s.t, "/debates/cars", header.Get("Location"))
	require.JSONEq(s.t, `{"id": "cars"}`, body)
}

// message is a server-sent event.
type message struct {
	id    string
	kind  string
	event debate.Event
}

// viewer reads a stream.
type viewer struct {
	t       *testing.T
	body    io.Closer
	scanner *bufio.Scanner
	beats   int
}

// watch returns a viewer that has received all events up to the one with the id last.
func (s *site) watch(last string) *viewer {
	s.t.Helper()
	return s.stream("/debates/cars/events", last)
}

// stream returns a viewer of the stream at a path.
func (s *site) stream(path, last string) *viewer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL+path, nil)
	require.NoError(s.t, err)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	require.Equal(s.t, http.StatusOK, res.StatusCode)
	require.Equal(s.t, "text/event-stream", res.Header.Get("Content-Type"))
	require.Equal(s.t, "nosniff", res.Header.Get("X-Content-Type-Options"))
	s.t.Cleanup(func() { res.Body.Close() })
	scanner := bufio.NewScanner(res.Body)
	scanner.Buffer(nil, 1<<20)
	return &viewer{t: s.t, body: res.Body, scanner: scanner}
}

// next returns the next event, and false if the stream has ended.
func (v *viewer) next() (m message, more bool) {
	v.t.Helper()
	for v.scanner.Scan() {
		field, value, _ := strings.Cut(v.scanner.Text(), ": ")
		switch field {
		case "id":
			m.id = value
		case "event":
			m.kind = value
		case "data":
			require.NotContains(v.t, value, "<")
			var err error
			m.event, err = debate.ParseEvent([]byte(value))
			require.NoError(v.t, err)
		case "":
			if value != "" { // a comment
				v.beats++
			} else if m.event != nil {
				return m, true
			}
		default:
			require.Fail(v.t, "unknown field", "%q", v.scanner.Text())
		}
	}
	return m, false
}

// until returns all events up to the first one of a type.
func (v *viewer) until(kind string) (read []message) {
	v.t.Helper()
	for {
		m, more := v.next()
		require.True(v.t, more, "the stream ended after %d events", len(read))
		if read = append(read, m); m.kind == kind {
			return read
		}
	}
}

// stored returns the messages with an id.
func stored(all []message) (kept []message) {
	for _, m := range all {
		if m.id != "" {
			kept = append(kept, m)
		}
	}
	return kept
}

func result(all []message) *debate.Result { return all[len(all)-1].event.(debate.Ended).Result }

func TestTwoViewersSeeTheSame(t *testing.T) {
	s := open(t, store.Memory(), time.Hour)
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
		require.Equal(t, m.id == "", stamp.Live, "what is not stored has no id")
	}
	require.Equal(t, fsm.Completed, result(first).State)
	require.Equal(t, 2, result(first).Round)
	require.Len(t, result(first).Turns, 7)
	_, more := one.next()
	require.False(t, more, "the stream ends with the debate")

	code, header, body := s.do(http.MethodGet, "/debates/cars", "")
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
	s := open(t, store.Memory(), time.Hour)
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

func TestLeavingStopsNothing(t *testing.T) {
	s := open(t, store.Memory(), time.Hour)
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
	s := open(t, store.Memory(), time.Hour)
	s.letAllSpeak()
	ctx, leave := context.WithCancel(t.Context())
	leave()
	w := httptest.NewRecorder()
	server{engine: s.engine}.handler().ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/debates", strings.NewReader(posted)))
	require.Equal(t, http.StatusCreated, w.Code, w.Body.String())
	require.Equal(t, fsm.Completed, result(s.watch("").until("ended")).State)
}

// The stream opens even if the debate has no new events.
func TestAViewerOfWhatStandsStill(t *testing.T) {
	s := open(t, store.Memory(), time.Hour)
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
		if last = m; ok && change.To == fsm.Error {
			break
		}
	}
	s.watch(last.id)
}

// Chunks arrive as the model writes. They have no id, so a viewer that reconnects receives them again.
func TestWordsHaveNoID(t *testing.T) {
	s := open(t, store.Memory(), time.Hour)
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
	s := open(t, store.Memory(), time.Millisecond)
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
	s := open(t, store.Memory(), time.Hour)
	s.begin()
	s.gate.tokens <- struct{}{} // Ada speaks, Bo waits
	v := s.watch("")
	v.until("turn")
	for range 2 { // canceling twice is canceling once
		code, body := s.post("/debates/cars/cancel", "")
		require.Equal(t, http.StatusNoContent, code, body)
	}
	r := result(v.until("ended"))
	require.Equal(t, fsm.Canceled, r.State)
	require.Len(t, r.Turns, 1)
	require.Nil(t, r.Verdict)
}

// A viewer receives a pause from another part of the program, the turn that was in flight, and the rest of the debate.
func TestAViewerSeesAPause(t *testing.T) {
	s := open(t, store.Memory(), time.Hour)
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
	s := open(t, kept, time.Hour)
	s.begin()
	s.gate.tokens <- struct{}{}
	v := s.watch("")
	seen := stored(v.until("turn"))
	s.shut()
	for _, more := v.next(); more; _, more = v.next() { //nolint:revive // the rest of the stream, which ends
	}

	s = open(t, kept, time.Hour)
	s.letAllSpeak()
	rest := s.watch(seen[len(seen)-1].id).until("ended")
	require.Equal(t, fsm.Completed, result(rest).State)
	for i, m := range append(seen, stored(rest)...) {
		require.Equal(t, strconv.Itoa(i+1), m.id)
	}
}

func TestWhatIsRefused(t *testing.T) {
	s := open(t, store.Memory(), time.Hour)
	s.letAllSpeak()
	s.begin()
	s.watch("").until("ended")
	for name, test := range map[string]struct {
		method, path, body string
		want               int
		says               string
	}{
		"no JSON":              {"POST", "/debates", "cars", 400, "parse configuration"},
		"an unknown field":     {"POST", "/debates", `{"topik": "<cars>"}`, 400, "topik"},
		"too much":             {"POST", "/debates", strings.Repeat(" ", maxConfigBytes+1), 413, "larger than 1048576 bytes"},
		"a taken id":           {"POST", "/debates", posted, 409, "the id is taken"},
		"an unknown debate":    {"GET", "/debates/bikes", "", 404, "no such debate"},
		"its events":           {"GET", "/debates/bikes/events", "", 404, "no such debate"},
		"to cancel it":         {"POST", "/debates/bikes/cancel", "", 404, "no such debate"},
		"to cancel what ended": {"POST", "/debates/cars/cancel", "", 409, "completed"},
	} {
		t.Run(name, func(t *testing.T) { s.refuses(test.method, test.path, test.body, test.want, test.says) })
	}
	for _, path := range []string{"/debates", "/debates/cars/cancel"} {
		s.refuses("POST", path, posted, 403, "a page of another site", "Sec-Fetch-Site", "cross-site")
		s.refuses("POST", path, posted, 403, "a page of another site", "Origin", "https://example.com")
	}
}

func (s *site) refuses(method, path, body string, want int, says string, header ...string) {
	s.t.Helper()
	code, got, text := s.do(method, path, body, header...)
	require.Equal(s.t, want, code, text)
	require.Equal(s.t, "application/json", got.Get("Content-Type"))
	require.NotContains(s.t, text, "<")
	var said struct{ Error string }
	require.NoError(s.t, json.Unmarshal([]byte(text), &said))
	require.Contains(s.t, said.Error, says)
}

func TestAllProblemsAreListed(t *testing.T) {
	s := open(t, store.Memory(), time.Hour)
	for _, test := range []struct {
		body   string
		fields []string
		says   string
	}{
		{
			`{"topic": " ", "participants": [{"name": "A", "temperature": 3}], "limits": {"min_rounds": 4, "max_rounds": 2}}`,
			[]string{"topic", "participants[0].temperature", "participants", "judges", "limits.min_rounds"},
			`"topic"`,
		},
		{`{"topic": "T", "protocol": {"name": "duel/1"}}`, []string{"protocol.name"}, "duel/1"},
	} {
		code, body := s.post("/debates", test.body)
		require.Equal(t, http.StatusBadRequest, code, body)
		require.Contains(t, body, test.says)
		var said struct {
			Problems []struct{ Field, Reason string }
		}
		require.NoError(t, json.Unmarshal([]byte(body), &said))
		var fields []string
		for _, p := range said.Problems {
			fields = append(fields, p.Field)
			require.NotEmpty(t, p.Reason)
		}
		require.ElementsMatch(t, test.fields, fields)
	}
	code, body := s.post("/debates", strings.Replace(posted, `"side": "for"`, `"provider": "x"`, 1))
	require.Equal(t, http.StatusNotImplemented, code)
	require.Contains(t, body, `participants[0].provider: \"x\" is unknown, use one of model`)
	s.letAllSpeak()
	s.begin() // the id of the debate that could not start is free
}

func TestAnIDOfNoEvent(t *testing.T) {
	s := open(t, store.Memory(), time.Hour)
	s.begin()
	for _, id := range []string{"first", "-1", "1.5", "99999999999999999999", "1\t"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/debates/cars/events", nil)
		r.Header.Set("Last-Event-ID", id)
		w := httptest.NewRecorder()
		server{engine: s.engine, keepAlive: time.Hour}.handler().ServeHTTP(w, r)
		require.Equal(t, http.StatusBadRequest, w.Code)
		require.True(t, bytes.HasPrefix(w.Body.Bytes(), []byte(`{"error":`)), w.Body.String())
	}
}

// When the service stops, the call in flight is committed, the streams end, and no new debate starts.
func TestTheServiceEndsGracefully(t *testing.T) {
	kept, g := store.Memory(), newGate()
	engine, err := debate.NewEngine(debate.Options{Store: kept, Providers: map[string]providers.Provider{"model": g}})
	require.NoError(t, err)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, l, server{engine: engine, keepAlive: time.Hour}, time.Minute) }()

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
	code, body := s.post("/debates", strings.Replace(posted, `"cars"`, `"bikes"`, 1))
	require.Equal(t, http.StatusServiceUnavailable, code, body)
	g.tokens <- struct{}{}
	v.until("turn")
	for _, more := v.next(); more; _, more = v.next() { //nolint:revive // the rest of the stream, which ends
	}
	require.NoError(t, <-ended)

	head, _, err := kept.Load(t.Context(), "cars", 0)
	require.NoError(t, err)
	require.True(t, head.State.Active(), "the debate waits for the next service")
}

func TestTheProgram(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- console.Run(ctx, run, []string{"-listen", "127.0.0.1:0"}, io.Discard, w, func(string) string { return "" })
		w.Close()
	}()
	lines := bufio.NewScanner(r)
	require.True(t, lines.Scan())
	require.Contains(t, lines.Text(), offline.Notice)
	require.True(t, lines.Scan())
	_, url, found := strings.Cut(lines.Text(), "listening on ")
	require.True(t, found)

	s := &site{t: t, Server: &httptest.Server{URL: url}}
	code, _, body := s.do(http.MethodGet, "/debates/cars", "")
	require.Equal(t, http.StatusNotFound, code, body)
	interrupt()
	require.Equal(t, 0, <-ended)
}

func TestAnAddressThatIsTaken(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	var stderr bytes.Buffer
	require.Equal(t, 1, console.Run(t.Context(), run, []string{"-listen", l.Addr().String()}, io.Discard, &stderr, func(string) string { return "" }))
	require.Contains(t, stderr.String(), "address already in use")
}

// A person lists what is asked, replies, and hears nobody too early.
func TestAPersonTakesPart(t *testing.T) {
	s := open(t, store.Memory(), time.Hour)
	s.letAllSpeak()
	person := strings.Replace(posted, `"Bo",`, `"Bo", "human": true,`, 1)
	person = strings.Replace(person, `"round-limited"`, `"round-limited", "mode": "simultaneous"`, 1)
	code, body := s.post("/debates", person)
	require.Equal(t, http.StatusCreated, code, body)
	v := s.stream("/debates/cars/events?as=Bo", "")
	for round := range 2 {
		v.until("asked")
		code, _, body = s.do(http.MethodGet, "/debates/cars/waiting", "")
		require.Equal(t, http.StatusOK, code)
		var asked []debate.Asked
		require.NoError(t, json.Unmarshal([]byte(body), &asked))
		require.Equal(t, "Bo", asked[0].Key.Actor)
		given := func(text string) string {
			b, err := json.Marshal(map[string]any{"key": asked[0].Key, "text": text, "by": "bo@example.com"})
			require.NoError(t, err)
			return string(b)
		}
		s.refuses(http.MethodPost, "/debates/cars/replies", given(" "), http.StatusBadRequest, "it is blank")
		code, body = s.post("/debates/cars/replies", given("No."))
		require.Equal(t, http.StatusNoContent, code, body)
		s.refuses(http.MethodPost, "/debates/cars/replies", given("Yes."), http.StatusConflict, "the step has another reply")
		require.Equal(t, round+1, asked[0].Key.Round)
	}
	require.Equal(t, fsm.Completed, result(v.until("ended")).State)
	s.refuses(http.MethodPost, "/debates/cars/replies", "{", http.StatusBadRequest, "read reply")
	s.refuses(http.MethodGet, "/debates/none/waiting", "", http.StatusNotFound, "none")
}

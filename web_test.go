package debate_test

// A web service as a user would write it: debates by id over HTTP, events as they happen, and nothing that depends on
// who is watching. The service itself comes first, then the tests.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// web serves an engine's debates.
type web struct{ engine *debate.Engine }

func (s web) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /debates", s.create)
	mux.HandleFunc("POST /debates/{id}/{verb}", s.control)
	mux.HandleFunc("GET /debates/{id}/events", s.events)
	return mux
}

// recover goes on with the debates that an earlier process left in the middle.
func (s web) recover(ctx context.Context) error {
	for head, err := range s.engine.List(ctx, store.Query{States: fsm.Active()}) {
		if err != nil {
			return err
		}
		d, err := s.engine.Open(ctx, head.ID)
		if err == nil {
			err = d.Start(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s web) create(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		s.fail(w, http.StatusBadRequest, err)
		return
	}
	config, err := s.engine.ParseConfig(body)
	if err != nil {
		s.fail(w, http.StatusBadRequest, err)
		return
	}
	d, err := s.engine.Create(r.Context(), config)
	if err == nil {
		err = d.Start(r.Context())
	}
	if err != nil {
		s.fail(w, s.status(err), err)
		return
	}
	w.Header().Set("Location", "/debates/"+d.ID())
	s.answer(w, http.StatusCreated, map[string]string{"id": d.ID()})
}

func (s web) control(w http.ResponseWriter, r *http.Request) {
	verbs := map[string]func(*debate.Debate, context.Context) error{
		"start": (*debate.Debate).Start, "pause": (*debate.Debate).Pause, "resume": s.resume, "cancel": (*debate.Debate).Cancel,
	}
	verb, known := verbs[r.PathValue("verb")]
	if !known {
		http.NotFound(w, r)
		return
	}
	d, err := s.engine.Open(r.Context(), r.PathValue("id"))
	if err == nil {
		err = verb(d, r.Context())
	}
	if err != nil {
		s.fail(w, s.status(err), err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// resume also starts: the engine that drove the debate when it was paused may be gone.
func (web) resume(d *debate.Debate, ctx context.Context) error { //nolint:revive // the order of a method expression
	if err := d.Resume(ctx); err != nil {
		return err
	}
	return d.Start(ctx)
}

func (s web) events(w http.ResponseWriter, r *http.Request) {
	after := int64(0)
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		var err error
		if after, err = strconv.ParseInt(id, 10, 64); err != nil {
			s.fail(w, http.StatusBadRequest, fmt.Errorf("read Last-Event-ID: %w", err))
			return
		}
	}
	d, err := s.engine.Open(r.Context(), r.PathValue("id"))
	if err != nil {
		s.fail(w, s.status(err), err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	for event, err := range d.Watch(r.Context(), after) {
		if err != nil || s.send(w, event) != nil { // the viewer has gone, or will ask again
			return
		}
	}
}

// send writes a server-sent event. Only durable ones have an id, so that a viewer who comes back misses none.
func (web) send(w http.ResponseWriter, event debate.Event) error {
	data, err := json.Marshal(event)
	if err != nil {
		return err
	}
	stamp, id := event.Event(), ""
	if !stamp.Live {
		id = fmt.Sprintf("id: %d\n", stamp.Seq)
	}
	if _, err := fmt.Fprintf(w, "%sevent: %s\ndata: %s\n\n", id, stamp.Type, data); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

// status is the code of an error of the engine.
func (web) status(err error) int {
	if _, ok := errors.AsType[*debate.Problems](err); ok {
		return http.StatusBadRequest
	}
	if _, ok := errors.AsType[*fsm.Refused](err); ok {
		return http.StatusConflict
	}
	if _, ok := errors.AsType[*store.Conflict](err); ok {
		return http.StatusConflict
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, debate.ErrClosed):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

func (s web) fail(w http.ResponseWriter, code int, err error) {
	body := struct {
		Error    string             `json:"error"`
		Problems []protocol.Problem `json:"problems,omitempty"`
	}{Error: err.Error()}
	if wrong, ok := errors.AsType[*debate.Problems](err); ok {
		body.Problems = wrong.List
	}
	s.answer(w, code, body)
}

func (web) answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // the client has gone
}

// webGate is a model that answers one call for each token that it is given, and all once it is open.
type webGate struct {
	providers.Provider
	called chan struct{} // a token for each call that has begun
	tokens chan struct{}
}

func newWebGate(p providers.Provider) *webGate {
	return &webGate{p, make(chan struct{}, 100), make(chan struct{}, 100)}
}

func (g *webGate) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	g.called <- struct{}{}
	select {
	case <-g.tokens:
		return g.Provider.Generate(ctx, r)
	case <-ctx.Done():
		return providers.Response{}, providers.Ended(ctx, providers.Response{})
	}
}

// webSite is the service with debaters who wait to be let speak, and a judge who ends each debate after two rounds.
type webSite struct {
	t *testing.T
	*httptest.Server
	engine *debate.Engine
	gate   *webGate
}

func newWebSite(t *testing.T) *webSite {
	s := &webSite{t: t, gate: newWebGate(chatter())}
	s.restart(store.Memory())
	return s
}

// restart serves what a store holds, as another process would.
func (s *webSite) restart(kept store.Store) {
	var err error
	s.engine, err = debate.NewEngine(debate.Options{Store: kept, Providers: models(s.gate, court(s.t, 2))})
	require.NoError(s.t, err)
	require.NoError(s.t, web{s.engine}.recover(s.t.Context()))
	s.Server = httptest.NewServer(web{s.engine}.handler())
	s.t.Cleanup(s.shutDown)
}

func (s *webSite) shutDown() {
	ended, end := context.WithCancel(context.Background())
	end()
	_ = s.engine.Close(ended)         // calls in flight are cancelled, which is no error here
	s.Server.CloseClientConnections() // viewers watch on: somebody else may drive the debates
	s.Server.Close()
}

// post gives the status and the body of the answer.
func (s *webSite) post(path, body string) (int, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
	require.NoError(s.t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	return res.StatusCode, string(b)
}

const posted = `{
	"id": "cars", "topic": "Ban cars?", "labels": {"user": "7"}, "limits": {"max_rounds": 3, "time": "10m"},
	"protocol": {"name": "panel/1", "format": "convergence-seeking"},
	"participants": [{"name": "A", "provider": "m"}, {"name": "B", "provider": "m"}],
	"judges": [{"name": "J", "provider": "j", "temperature": 0}]
}`

// open posts the debate.
func (s *webSite) open() {
	s.t.Helper()
	code, body := s.post("/debates", posted)
	require.Equal(s.t, http.StatusCreated, code, body)
	require.JSONEq(s.t, `{"id": "cars"}`, body)
}

// letAllSpeak opens the gate for good.
func (s *webSite) letAllSpeak() { close(s.gate.tokens) }

// webMessage is a server-sent event.
type webMessage struct {
	id    string
	kind  string
	event debate.Event
}

// webStream is what a viewer reads.
type webStream struct {
	t       *testing.T
	body    io.Closer
	scanner *bufio.Scanner
}

// watch is a viewer who has seen all up to the event of an id.
func (s *webSite) watch(lastID string) *webStream {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL+"/debates/cars/events", nil)
	require.NoError(s.t, err)
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	require.Equal(s.t, http.StatusOK, res.StatusCode)
	require.Equal(s.t, "text/event-stream", res.Header.Get("Content-Type"))
	s.t.Cleanup(func() { res.Body.Close() })
	scanner := bufio.NewScanner(res.Body)
	scanner.Buffer(nil, 1<<20)
	return &webStream{s.t, res.Body, scanner}
}

// next is the next event; false says that the stream has ended.
func (s *webStream) next() (m webMessage, more bool) {
	s.t.Helper()
	for s.scanner.Scan() {
		field, value, _ := strings.Cut(s.scanner.Text(), ": ")
		switch field {
		case "id":
			m.id = value
		case "event":
			m.kind = value
		case "data":
			var err error
			m.event, err = debate.ParseEvent([]byte(value))
			require.NoError(s.t, err)
		case "":
			return m, true
		}
	}
	return m, false
}

// until reads up to the first event that is wanted.
func (s *webStream) until(wanted func(debate.Event) bool) (read []webMessage) {
	s.t.Helper()
	for {
		m, more := s.next()
		require.True(s.t, more, "the stream ended after %d events", len(read))
		if read = append(read, m); wanted(m.event) {
			return read
		}
	}
}

// rest reads to the end, which is the event with the result.
func (s *webStream) rest() (read []webMessage, result *debate.Result) {
	s.t.Helper()
	for m, more := s.next(); more; m, more = s.next() {
		read = append(read, m)
	}
	require.NotEmpty(s.t, read)
	ended, ok := read[len(read)-1].event.(debate.Ended)
	require.True(s.t, ok, "the last event is %T", read[len(read)-1].event)
	return read, ended.Result
}

// withID are the messages with an id.
func withID(all []webMessage) (kept []webMessage) {
	for _, m := range all {
		if m.id != "" {
			kept = append(kept, m)
		}
	}
	return kept
}

func webTurn(ev debate.Event) bool { _, ok := ev.(debate.TurnDone); return ok }

func webState(state fsm.State) func(debate.Event) bool {
	return func(ev debate.Event) bool {
		change, ok := ev.(debate.StateChanged)
		return ok && change.To == state
	}
}

// A debate that is posted runs by itself, and a viewer reads all of it.
func TestWebStreamsADebate(t *testing.T) {
	s := newWebSite(t)
	s.letAllSpeak()
	s.open()
	all, result := s.watch("").rest()

	require.Equal(t, fsm.Completed, result.State)
	require.Equal(t, transcript.JudgeDecided, result.Ending.Outcome)
	require.Equal(t, 2, result.Round)
	require.Len(t, result.Turns, 7)
	for i, m := range withID(all) {
		require.Equal(t, strconv.Itoa(i+1), m.id, "ids are those of the journal, without a gap")
	}
	for _, m := range all {
		stamp := m.event.Event()
		require.Equal(t, m.kind, stamp.Type)
		require.Equal(t, m.id == "", stamp.Live)
	}
}

// Whoever comes back with the id of the last event gets exactly the durable ones after it.
func TestWebReplaysWhatAViewerMissed(t *testing.T) {
	s := newWebSite(t)
	s.letAllSpeak()
	s.open()
	all, _ := s.watch("").rest()
	entries := withID(all)

	for i, seen := range entries {
		missed, result := s.watch(seen.id).rest()
		require.NotNil(t, result)
		require.Equal(t, entries[i+1:], append([]webMessage{}, withID(missed)...), "after event %s", seen.id)
		require.Len(t, missed, len(entries)-i, "only the result follows")
	}
}

// A viewer that leaves in the middle of a debate stops nothing, and reads the rest when it comes back.
func TestWebViewersComeAndGo(t *testing.T) {
	s := newWebSite(t)
	s.open()
	viewer := s.watch("")
	s.gate.tokens <- struct{}{} // A speaks, B waits
	seen := withID(viewer.until(webTurn))
	require.NoError(t, viewer.body.Close())
	<-s.gate.called
	<-s.gate.called
	s.letAllSpeak()

	missed, result := s.watch(seen[len(seen)-1].id).rest()
	require.Equal(t, fsm.Completed, result.State)
	whole, _ := s.watch("").rest()
	require.Equal(t, withID(whole), append(seen, withID(missed)...))
}

func TestWebPausesAndResumes(t *testing.T) {
	s := newWebSite(t)
	s.open()
	<-s.gate.called // A is about to speak
	viewer := s.watch("")
	for range 2 { // pausing twice is pausing once
		code, body := s.post("/debates/cars/pause", "")
		require.Equal(t, http.StatusNoContent, code, body)
	}
	viewer.until(webState(fsm.Paused))
	s.gate.tokens <- struct{}{}
	read := viewer.until(webTurn) // what was in flight is kept
	require.Equal(t, "A", read[len(read)-1].event.(debate.TurnDone).Turn.Actor)
	require.Empty(t, s.gate.called, "nothing new starts")

	code, body := s.post("/debates/cars/resume", "")
	require.Equal(t, http.StatusNoContent, code, body)
	s.letAllSpeak()
	_, result := viewer.rest()
	require.Equal(t, fsm.Completed, result.State)
	require.Len(t, result.Turns, 7)
}

func TestWebCancels(t *testing.T) {
	s := newWebSite(t)
	s.open()
	s.gate.tokens <- struct{}{}
	viewer := s.watch("")
	viewer.until(webTurn)
	for range 2 {
		code, body := s.post("/debates/cars/cancel", "")
		require.Equal(t, http.StatusNoContent, code, body)
	}
	_, result := viewer.rest()
	require.Equal(t, fsm.Canceled, result.State)
	require.Len(t, result.Turns, 1)
	require.Nil(t, result.Verdict)
}

// A process that ends in the middle of a debate leaves it to the next one.
func TestWebGoesOnAfterARestart(t *testing.T) {
	kept := store.Memory()
	s := &webSite{t: t, gate: newWebGate(chatter())}
	s.restart(kept)
	s.open()
	s.gate.tokens <- struct{}{}
	seen := withID(s.watch("").until(webTurn))
	s.shutDown()

	s.restart(kept)
	s.letAllSpeak()
	missed, result := s.watch(seen[len(seen)-1].id).rest()
	require.Equal(t, fsm.Completed, result.State)
	require.Len(t, result.Turns, 7)
	for i, m := range append(seen, withID(missed)...) {
		require.Equal(t, strconv.Itoa(i+1), m.id)
	}
}

func TestWebListsAllProblemsOfAConfiguration(t *testing.T) {
	s := newWebSite(t)
	code, body := s.post("/debates", `{"topic": " ", "participants": [{"name": "A", "temperature": 3}], "limits": {"min_rounds": 4, "max_rounds": 2}}`)
	require.Equal(t, http.StatusBadRequest, code, body)
	var got struct{ Problems []protocol.Problem }
	require.NoError(t, json.Unmarshal([]byte(body), &got))
	var fields []string
	for _, p := range got.Problems {
		fields = append(fields, p.Field)
		require.NotEmpty(t, p.Reason)
	}
	require.ElementsMatch(t, []string{"topic", "participants[0].temperature", "participants", "judges", "limits.min_rounds"}, fields)
}

// Names that this engine has nothing for are told at once, too.
func TestWebSaysWhyADebateDoesNotStart(t *testing.T) {
	s := newWebSite(t)
	code, body := s.post("/debates", strings.ReplaceAll(posted, `"provider": "m"`, `"provider": "x"`))
	require.Equal(t, http.StatusBadRequest, code, body)
	require.Contains(t, body, `participants[0].provider`)
	require.Contains(t, body, `\"x\" is unknown, the providers are j, m`)
}

func TestWebRefuses(t *testing.T) {
	s := newWebSite(t)
	s.letAllSpeak()
	s.open()
	s.watch("").rest()
	for _, test := range []struct {
		name, path, body string
		want             int
		says             string
	}{
		{"no JSON", "/debates", "topic: cars", http.StatusBadRequest, "parse configuration"},
		{"an unknown field", "/debates", `{"topik": "Cars?"}`, http.StatusBadRequest, "topik"},
		{"an unknown protocol", "/debates", `{"protocol": {"name": "duel/1"}}`, http.StatusBadRequest, "duel/1"},
		{"too much", "/debates", strings.Repeat(" ", 2<<20), http.StatusBadRequest, "too large"},
		{"an id that is taken", "/debates", posted, http.StatusConflict, "the id is taken"},
		{"an unknown debate", "/debates/bikes/pause", "", http.StatusNotFound, "no such debate"},
		{"an unknown verb", "/debates/cars/shout", "", http.StatusNotFound, ""},
		{"to pause what has ended", "/debates/cars/pause", "", http.StatusConflict, "completed"},
		{"to resume what has ended", "/debates/cars/resume", "", http.StatusConflict, "completed"},
		{"to cancel what has ended", "/debates/cars/cancel", "", http.StatusConflict, "completed"},
		{"to start what has ended", "/debates/cars/start", "", http.StatusConflict, "completed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, body := s.post(test.path, test.body)
			require.Equal(t, test.want, code, body)
			require.Contains(t, body, test.says)
		})
	}
}

func TestWebRefusesToStream(t *testing.T) {
	s := newWebSite(t)
	s.open()
	for name, test := range map[string]struct {
		id, last string
		want     int
	}{
		"an unknown debate": {"bikes", "", http.StatusNotFound},
		"an id of no event": {"cars", "first", http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/debates/"+test.id+"/events", nil)
			req.Header.Set("Last-Event-ID", test.last)
			res := httptest.NewRecorder()
			web{s.engine}.handler().ServeHTTP(res, req)
			require.Equal(t, test.want, res.Code)
			require.True(t, bytes.HasPrefix(res.Body.Bytes(), []byte(`{"error":`)), res.Body.String())
		})
	}
}

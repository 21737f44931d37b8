package debatehttp

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
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

// Unsupported reports that the model reads everything, as attachments require.
func (g *gate) Unsupported(providers.Request) map[string]string { return nil }

// site is a server with a model that waits for tokens.
type site struct {
	t *testing.T
	*httptest.Server
	engine *debate.Engine
	gate   *gate
}

// allowing returns options that allow everything.
func allowing() Options { return Options{Authorize: AllowEveryone, Heartbeat: time.Hour} }

// open starts a server with a store. It continues the debates of the store.
func open(t *testing.T, kept store.Store, o Options) *site {
	s := &site{t: t, gate: newGate()}
	var err error
	s.engine = debatetest.Engine(t, debate.Options{Store: kept, Providers: map[string]providers.Provider{"model": s.gate}, Documents: privateText})
	for _, head := range debatetest.List(t, s.engine, store.Query{States: fsm.Active()}) {
		d := debatetest.Open(t, s.engine, head.ID)
		require.NoError(t, d.Start(t.Context()))
	}
	h, err := New(s.engine, o)
	require.NoError(t, err)
	s.Server = httptest.NewServer(h)
	t.Cleanup(s.shut)
	return s
}

// privateText gives the text of each private document.
func privateText(context.Context, string, map[string]string, evidence.Document) (string, error) {
	return "The private text.", nil
}

// shut stops the service and cancels the calls in flight.
func (s *site) shut() {
	debatetest.Kill(s.engine)
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
	described(s.t, method, path, body, res.StatusCode, res.Header, string(b))
	return res.StatusCode, res.Header, string(b)
}

// posts sends a POST request and requires a status code.
func (s *site) posts(want int, path, body string) string {
	s.t.Helper()
	return s.wants(want, http.MethodPost, path, body)
}

// wants sends a request and requires a status code.
func (s *site) wants(want int, method, path, body string, header ...string) string {
	s.t.Helper()
	code, _, text := s.do(method, path, body, header...)
	require.Equal(s.t, want, code, text)
	return text
}

// refuses sends a request and requires a problem of a kind.
func (s *site) refuses(kind, method, path, body string, header ...string) Problem {
	s.t.Helper()
	code, h, text := s.do(method, path, body, header...)
	if strings.HasPrefix(path, chatPath) {
		e := parsed[chatError](s.t, text).Error
		require.Equal(s.t, cmp.Or(openAICodes[kind], kind), e.Code, text)
		return Problem{Detail: e.Message}
	}
	var p Problem
	require.NoError(s.t, json.Unmarshal([]byte(text), &p), text)
	require.Equal(s.t, typeOf(kind), p.Type, text)
	require.Equal(s.t, code, p.Status)
	require.Equal(s.t, "application/problem+json", h.Get("Content-Type"))
	require.NotEmpty(s.t, p.Title)
	return p
}

// parsed decodes JSON.
func parsed[T any](t *testing.T, text string) (v T) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &v), text)
	return v
}

const posted = `{
	"id": "cars", "topic": "Ban <b>cars</b>?", "protocol": {"name": "panel/1", "format": "round-limited"}, "limits": {"max_rounds": 2},
	"participants": [{"name": "Ada", "side": "for"}, {"name": "Bo", "side": "against"}], "judges": [{"name": "Judge"}]
}`

func (s *site) begin() {
	s.t.Helper()
	code, header, body := s.do(http.MethodPost, "/debates", posted)
	require.Equal(s.t, http.StatusCreated, code, body)
	require.Equal(s.t, "debates/cars", header.Get("Location"))
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
	require.Equal(s.t, "no-store", res.Header.Get("Cache-Control"))
	require.Equal(s.t, "no", res.Header.Get("X-Accel-Buffering"))
	s.t.Cleanup(func() { res.Body.Close() })
	v := viewerOf(s.t, res.Body)
	v.body = res.Body
	return v
}

// viewerOf returns a viewer who reads a stream from r.
func viewerOf(t *testing.T, r io.Reader) *viewer {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, 1<<20)
	return &viewer{t: t, scanner: scanner}
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
			describes(v.t, value, "components", "schemas", "Event")
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
		read = append(read, m)
		if m.kind == kind {
			return read
		}
	}
}

// stored returns the durable events.
func stored(all []message) (kept []message) {
	for _, m := range all {
		if m.id != "" && m.kind != "ended" {
			kept = append(kept, m)
		}
	}
	return kept
}

func result(all []message) *debate.Result { return all[len(all)-1].event.(debate.Ended).Result }

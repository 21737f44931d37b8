// Package fakellm provides fake model services, for tests of the providers that call them. Its servers use an in-memory
// network, so tests can run them in a testing/synctest bubble.
package fakellm

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Request is a request that a service received.
type Request struct {
	Path   string
	Header http.Header
	Body   map[string]any
}

// Server is a running service.
type Server struct {
	URL    string           // the base URL of the service
	Routes map[string]Reply // replies to requests that call no model, by path; only Status, Header and Body are used

	protocol Protocol
	network  *MemoryNetwork

	mu       sync.Mutex
	replies  []Reply
	requests []Request
}

// Start starts a service that sends the replies in order, one for each call. It sends the last reply to all further
// calls. The service stops when the test ends.
func Start(t testing.TB, p Protocol, replies ...Reply) *Server {
	t.Helper()
	s := &Server{URL: "http://service", Routes: map[string]Reply{}, protocol: p, network: NewMemoryNetwork(), replies: replies}
	server := &httptest.Server{Listener: s.network, Config: &http.Server{Handler: s}} //nolint:gosec // a test needs no protection against slow clients
	server.Start()
	t.Cleanup(server.Close)
	return s
}

// Client returns a new HTTP client that sends every request to the service, whatever its address.
func (s *Server) Client(t testing.TB) *http.Client {
	t.Helper()
	transport := &http.Transport{DialContext: s.network.Dial}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// Requests returns the requests received so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body) // to the end, because otherwise the server does not notice a disconnected client
	got := Request{Path: r.URL.Path, Header: r.Header}
	_ = json.Unmarshal(raw, &got.Body)
	reply, isPage := s.nextReply(got)
	if reply.Arrived != nil {
		reply.Arrived()
	}
	if reply.Gzip {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer func() { _ = z.Close() }()
		w = &filter{ResponseWriter: w, write: z.Write, flush: z.Flush}
	}
	if reply.Trickle {
		w = &filter{ResponseWriter: w, write: trickle(w)}
	}
	switch {
	case isPage || reply.Status != 0:
		s.writeError(w, reply)
	case !reply.Whole && (got.Body["stream"] == true || strings.HasSuffix(r.URL.Path, ":streamGenerateContent")):
		s.writeStream(w, r, reply)
	default:
		s.writeWhole(w, r, reply)
	}
}

// nextReply records a request and returns the reply to it. isPage reports whether the reply comes from Routes.
func (s *Server) nextReply(r Request) (reply Reply, isPage bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if page, ok := s.Routes[r.Path]; ok {
		return page, true
	}
	if words := complaint(s.protocol, r.Path, r.Body); words != "" {
		return Reply{Status: http.StatusBadRequest, Body: s.errorBody(words)}, true
	}
	reply = s.replies[0]
	if len(s.replies) > 1 {
		s.replies = s.replies[1:]
	}
	return reply, false
}

func (s *Server) writeError(w http.ResponseWriter, r Reply) {
	for name, value := range r.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(max(r.Status, http.StatusOK))
	body := r.Body
	if body == "" && r.Status >= http.StatusBadRequest {
		body = s.errorBody("the service failed")
	}
	fmt.Fprint(w, body)
}

// writeWhole writes a reply that does not stream.
func (s *Server) writeWhole(w http.ResponseWriter, r *http.Request, reply Reply) {
	switch {
	case reply.Error != "":
		fmt.Fprint(w, s.errorBody(reply.Error))
	case reply.RawLines != nil:
		fmt.Fprint(w, strings.Join(reply.RawLines, "\n"))
	case reply.Reset, reply.EndEarly:
		fmt.Fprint(w, `{"`)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	case reply.Hang:
		<-r.Context().Done()
	default:
		fmt.Fprint(w, s.protocol.body(reply))
	}
}

// writeStream writes a streaming reply.
func (s *Server) writeStream(w http.ResponseWriter, r *http.Request, reply Reply) {
	for name, value := range reply.Header {
		w.Header().Set(name, value)
	}
	for _, line := range s.protocol.streamStart(reply) {
		s.writeEvent(w, line)
	}
	switch {
	case reply.Error != "":
		s.writeEvent(w, s.errorEvent(reply.Error, reply.ErrorCode))
		for _, line := range s.protocol.streamEnd(reply) { // the stream ends as if there were no error
			s.writeEvent(w, line)
		}
	case reply.RawLines != nil:
		fmt.Fprint(w, strings.Join(reply.RawLines, "\n")) // the last line may be incomplete
		if reply.Hang {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	case reply.Reset:
		panic(http.ErrAbortHandler)
	case reply.Hang:
		<-r.Context().Done()
	case !reply.EndEarly:
		for _, line := range s.protocol.streamEnd(reply) {
			s.writeEvent(w, line)
		}
	}
}

// filter is a response writer whose bytes pass through write.
type filter struct {
	http.ResponseWriter
	write func([]byte) (int, error)
	flush func() error
}

func (f *filter) Write(p []byte) (int, error) { return f.write(p) }

func (f *filter) Flush() {
	if f.flush != nil {
		_ = f.flush() // the client notices
	}
	f.ResponseWriter.(http.Flusher).Flush()
}

// trickle returns a function that sends each byte by itself.
func trickle(w http.ResponseWriter) func([]byte) (int, error) {
	return func(p []byte) (int, error) {
		for i := range p {
			if _, err := w.Write(p[i : i+1]); err != nil {
				return i, err
			}
			w.(http.Flusher).Flush()
		}
		return len(p), nil
	}
}

// writeEvent writes an event of a stream. Server-sent events end with an empty line.
func (s *Server) writeEvent(w http.ResponseWriter, event string) {
	fmt.Fprintln(w, event)
	if s.protocol != Ollama {
		fmt.Fprintln(w)
	}
	w.(http.Flusher).Flush()
}

// errorEvent returns an error event of a stream.
func (s *Server) errorEvent(words, code string) string {
	body := s.errorBody(words)
	if s.protocol == Responses {
		body = object{"type": "error", "code": "an_error", "message": words, "param": nil, "sequence_number": 7}.String()
	}
	if code != "" {
		body = strings.Replace(body, `"an_error"`, `"`+code+`"`, 1)
	}
	if s.protocol == Ollama {
		return body
	}
	return "data: " + body
}

// errorBody returns an error with the given message, in the protocol's form.
func (s *Server) errorBody(words string) string {
	switch s.protocol {
	case Ollama:
		return object{"error": words}.String()
	case Anthropic:
		return object{"type": "error", "error": object{"type": "an_error", "message": words}}.String()
	default:
		return object{"error": object{"message": words, "type": "an_error"}}.String()
	}
}

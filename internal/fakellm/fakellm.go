// Package fakellm plays the services of models, for tests of the providers that call them. Its servers are on no
// network: a test may run them in a bubble of testing/synctest.
package fakellm

import (
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

// Request is a call that a service got.
type Request struct {
	Method string
	Path   string
	Header http.Header
	Body   map[string]any
}

// Server is a running service.
type Server struct {
	URL    string           // its address
	Routes map[string]Reply // answers to what is no call, by the path; only Status, Header and Body count

	protocol Protocol
	network  *MemoryNetwork

	mu       sync.Mutex
	replies  []Reply
	requests []Request
}

// Start runs a service that gives the replies to the calls in their order, the last to all that follow. It ends with
// the test.
func Start(t testing.TB, p Protocol, replies ...Reply) *Server {
	t.Helper()
	s := &Server{URL: "http://service", Routes: map[string]Reply{}, protocol: p, network: NewMemoryNetwork(), replies: replies}
	server := &httptest.Server{Listener: s.network, Config: &http.Server{Handler: s}} //nolint:gosec // no slow attacker here
	server.Start()
	t.Cleanup(server.Close)
	return s
}

// Client is a client of its own, which finds the service at any address.
func (s *Server) Client(t testing.TB) *http.Client {
	t.Helper()
	transport := &http.Transport{DialContext: s.network.Dial}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// Requests are those that came until now.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body) // to the end, or the server does not see that the client leaves
	got := Request{Method: r.Method, Path: r.URL.Path, Header: r.Header}
	_ = json.Unmarshal(raw, &got.Body)
	reply, isPage := s.nextReply(got)
	switch {
	case isPage || reply.Status != 0:
		s.writeError(w, reply)
	case got.Body["stream"] == true, strings.HasSuffix(r.URL.Path, ":streamGenerateContent"):
		s.writeStream(w, r, reply)
	default:
		s.writeWhole(w, r, reply)
	}
}

// nextReply notes a request and finds its answer.
func (s *Server) nextReply(r Request) (reply Reply, isPage bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if page, ok := s.Routes[r.Path]; ok {
		return page, true
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
		body = s.errorBody("it does not work")
	}
	fmt.Fprint(w, body)
}

// writeWhole gives a reply that does not stream.
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

// writeStream gives a reply in events.
func (s *Server) writeStream(w http.ResponseWriter, r *http.Request, reply Reply) {
	for _, line := range s.protocol.streamStart(reply) {
		writeLine(w, line)
	}
	switch {
	case reply.Error != "":
		writeLine(w, s.errorEvent(reply.Error))
		for _, line := range s.protocol.streamEnd(reply) { // as if nothing had been
			writeLine(w, line)
		}
	case reply.RawLines != nil:
		fmt.Fprint(w, strings.Join(reply.RawLines, "\n")) // the last may be half a line
	case reply.Reset:
		panic(http.ErrAbortHandler)
	case reply.Hang:
		<-r.Context().Done()
	case !reply.EndEarly:
		for _, line := range s.protocol.streamEnd(reply) {
			writeLine(w, line)
		}
	}
}

func writeLine(w http.ResponseWriter, line string) {
	fmt.Fprintln(w, line)
	w.(http.Flusher).Flush()
}

// errorEvent is an error within a stream.
func (s *Server) errorEvent(words string) string {
	if s.protocol == Ollama || s.protocol == Google {
		return s.errorBody(words)
	}
	return "data: " + s.errorBody(words)
}

// errorBody is an error with these words, in the protocol's form.
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

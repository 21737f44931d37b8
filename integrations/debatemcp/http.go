package debatemcp

import (
	"cmp"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/elenchus-go/debate"
)

const (
	defaultMaxSessions = 1_000
	defaultIdleTime    = time.Hour
	sessionHeader      = "Mcp-Session-Id"
)

// NewHandler returns a handler that serves the debates of an engine over streamable HTTP. It keeps the last messages to
// clients in memory, 10 MiB in all, so that a client whose connection breaks gets the rest when it connects again. Put the
// authorization of requests, and a check of their origin, in front of it.
func NewHandler(e *debate.Engine, o Options) (http.Handler, error) {
	switch {
	case o.MaxSessions < 0:
		return nil, fmt.Errorf("make MCP handler: MaxSessions is %d, want 0 or more", o.MaxSessions)
	case o.IdleTime < 0:
		return nil, fmt.Errorf("make MCP handler: IdleTime is %s, want 0 or more", o.IdleTime)
	}
	server, err := NewServer(e, o)
	if err != nil {
		return nil, err
	}
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		SessionTimeout: cmp.Or(o.IdleTime, defaultIdleTime),
		EventStore:     mcp.NewMemoryEventStore(nil),
		Logger:         o.Server.Logger,
	})
	return &limiter{next: h, server: server, most: cmp.Or(o.MaxSessions, defaultMaxSessions), used: map[string]use{}}, nil
}

// A limiter limits the sessions of a server.
type limiter struct {
	next   http.Handler
	server *mcp.Server
	most   int

	mu      sync.Mutex
	opening int            // requests for new sessions that are in flight
	used    map[string]use // by session
}

// use says when a session was used.
type use struct {
	requests int // in flight
	last     time.Time
	closing  bool
}

// ServeHTTP implements http.Handler.
func (l *limiter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get(sessionHeader)
	if id == "" && r.Method == http.MethodPost {
		if !l.makeRoom() {
			w.Header().Set("Retry-After", "60")
			http.Error(w, "all sessions are in use, try again later", http.StatusServiceUnavailable)
			return
		}
		o := &opening{ResponseWriter: w}
		o.opened = sync.OnceFunc(func() { l.opened(w.Header().Get(sessionHeader)) })
		defer o.opened()
		w = o
	} else {
		l.count(id, 1)
		defer l.count(id, -1)
	}
	l.next.ServeHTTP(w, r)
}

// opening is the response to a request for a new session. It calls opened before the client learns the session's id.
type opening struct {
	http.ResponseWriter
	opened func()
}

// WriteHeader implements http.ResponseWriter.
func (o *opening) WriteHeader(status int) {
	o.opened()
	o.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (o *opening) Write(b []byte) (int, error) {
	o.opened()
	return o.ResponseWriter.Write(b)
}

// Flush implements http.Flusher.
func (o *opening) Flush() {
	o.opened()
	_ = http.NewResponseController(o.ResponseWriter).Flush() // as much as it can
}

// Unwrap returns the response for http.ResponseController.
func (o *opening) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// count counts a request of a session that begins or ends.
func (l *limiter) count(id string, change int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if u, known := l.used[id]; known {
		u.requests, u.last = u.requests+change, time.Now()
		l.used[id] = u
	}
}

// opened notes that a new session is open. The id is empty if the request has failed.
func (l *limiter) opened(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opening--
	if id != "" {
		l.used[id] = use{last: time.Now()}
	}
}

// makeRoom ends the session that was idle for the longest time if there are too many. It reports whether there is room for
// another one.
func (l *limiter) makeRoom() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	var oldest *mcp.ServerSession
	live, n := map[string]use{}, l.opening
	for s := range l.server.Sessions() {
		u, known := l.used[s.ID()]
		if !known { // it is opening
			continue
		}
		live[s.ID()] = u
		if u.closing {
			continue
		}
		n++
		if u.requests == 0 && (oldest == nil || u.last.Before(live[oldest.ID()].last)) {
			oldest = s
		}
	}
	l.used = live // without those that have ended
	if n >= l.most {
		if oldest == nil {
			return false
		}
		u := l.used[oldest.ID()]
		u.closing = true
		l.used[oldest.ID()] = u
		go func() { _ = oldest.Close() }() // waits for its calls
	}
	l.opening++
	return true
}

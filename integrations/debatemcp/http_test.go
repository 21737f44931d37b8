package debatemcp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debatemcp"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
)

// web serves debates over HTTP.
func web(t *testing.T, model providers.Provider, c debate.Config, o debatemcp.Options) *httptest.Server {
	t.Helper()
	e := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"m": model}})
	o.Tools.Presets = map[string]debatetool.Preset{"panel": {Config: c}}
	h, err := debatemcp.NewHandler(e, o)
	require.NoError(t, err)
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		debatetest.Kill(e)
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// gated is the offline model. It replies when the gate is open.
type gated struct {
	providers.Provider
	gate chan struct{}
}

func (g gated) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	select {
	case <-g.gate:
		return g.Provider.Generate(ctx, r)
	case <-ctx.Done():
		return providers.Response{}, providers.ContextError(ctx, providers.Response{})
	}
}

// cutting cuts the first answer of a call of a tool after its first event.
type cutting struct {
	mu   sync.Mutex
	done bool
	cut  func()
}

func (c *cutting) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		body, err = io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && !c.done && strings.Contains(string(body), `"tools/call"`) {
		c.done = true
		answer.Body = &cutBody{answer.Body, c.cut}
	}
	return answer, err
}

type cutBody struct {
	io.ReadCloser
	cut func()
}

// Read returns the first event, and then an error.
func (b *cutBody) Read(p []byte) (int, error) {
	if b.cut == nil {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := b.ReadCloser.Read(p)
	if strings.Contains(string(p[:n]), "progress") {
		b.cut()
		b.cut = nil
	}
	return n, err
}

// A client whose connection breaks during a call gets the rest when it connects again.
func TestACutStreamResumes(t *testing.T) {
	m := gated{offline.Model(false), make(chan struct{})}
	s := web(t, m, debatetest.ShortPanel(2), debatemcp.Options{})
	cut := &cutting{cut: sync.OnceFunc(func() { close(m.gate) })}
	c := connect(t, &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: &http.Client{Transport: cut}}, nil)
	out, _ := c.call(t, "debate", map[string]any{"topic": "Ban cars?"})
	require.Equal(t, "completed", out.Status)
	require.True(t, cut.done)
	require.NoError(t, c.Close())
}

// listening is closed when a client listens.
type listening chan struct{}

func (l listening) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(r)
	if r.Method == http.MethodGet && err == nil {
		close(l)
	}
	return answer, err
}

// A client that opens one session too many ends the one that was idle for the longest time. Sessions with requests in flight
// stay.
func TestSessionsAreLimited(t *testing.T) {
	url := web(t, offline.Model(false), debatetest.ShortPanel(2), debatemcp.Options{MaxSessions: 3}).URL
	post := func(session, body string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer answer.Body.Close()
		_, err = io.Copy(io.Discard, answer.Body)
		require.NoError(t, err)
		return answer.StatusCode, answer.Header.Get("Mcp-Session-Id")
	}
	open := func() (int, string) {
		return post("", `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}`)
	}
	ping := func(session string) int {
		status, _ := post(session, `{"jsonrpc": "2.0", "id": 2, "method": "ping"}`)
		return status
	}
	var ids []string
	for range 3 {
		status, id := open()
		require.Equal(t, http.StatusOK, status)
		ids = append(ids, id)
	}
	require.Equal(t, http.StatusOK, ping(ids[0])) // the second is idle for longer
	status, fourth := open()
	require.Equal(t, http.StatusOK, status)
	require.Eventually(t, func() bool { return ping(ids[1]) == http.StatusNotFound }, time.Minute, time.Millisecond)
	for _, id := range []string{ids[0], ids[2], fourth} {
		require.Equal(t, http.StatusOK, ping(id))
	}
	for range 50 { // a client that opens sessions and leaves them
		status, _ = open()
		require.Equal(t, http.StatusOK, status)
	}

	// Each of three clients listens, so that none is idle.
	url = web(t, offline.Model(false), debatetest.ShortPanel(2), debatemcp.Options{MaxSessions: 3}).URL
	var clients []*client
	for range 3 {
		listens := listening(make(chan struct{}))
		clients = append(clients, connect(t, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: listens}}, nil))
		<-listens
	}
	status, _ = open()
	require.Equal(t, http.StatusServiceUnavailable, status)
	out, _ := clients[0].call(t, "debate", map[string]any{"topic": "Ban cars?"})
	require.Equal(t, "completed", out.Status)
	for _, c := range clients {
		require.NoError(t, c.Close())
	}
	require.Eventually(t, func() bool { status, _ = open(); return status == http.StatusOK }, time.Minute, time.Millisecond)
}

func TestHandlerOptions(t *testing.T) {
	e := debatetest.Engine(t, debate.Options{})
	for want, o := range map[string]debatemcp.Options{
		"make MCP handler: MaxSessions is -1, want 0 or more": {MaxSessions: -1},
		"make MCP handler: IdleTime is -1ns, want 0 or more":  {IdleTime: -1},
		"make MCP server: Heartbeat is -1ns, want 0 or more":  {Heartbeat: -1},
	} {
		_, err := debatemcp.NewHandler(e, o)
		require.EqualError(t, err, want)
	}
}

// The list of tools stands in the context of each conversation, so it is short.
func TestTheListOfToolsIsShort(t *testing.T) {
	c := inMemory(t, newServer(t, offline.Model(false), debatetest.ShortPanel(2)), nil)
	tools, err := c.ListTools(t.Context(), nil)
	require.NoError(t, err)
	raw, err := json.Marshal(tools)
	require.NoError(t, err)
	require.Less(t, len(raw), 8_000)
}

package debatemcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/debatetool"
)

const (
	defaultMaxWait   = 45 * time.Second
	defaultHeartbeat = 20 * time.Second
)

// Options configures a server.
type Options struct {
	// Tools configures the tools. MaxWait defaults to 45 seconds.
	Tools debatetool.Options
	// Heartbeat is the longest time between two progress notifications of a call. Defaults to 20 seconds.
	Heartbeat time.Duration
	// Server configures the server of the SDK. Its handlers for subscriptions are replaced. Its Logger also receives errors
	// of calls that have an internal cause.
	Server mcp.ServerOptions
}

// server serves the debates of a toolset.
type server struct {
	tools     *debatetool.Toolset
	heartbeat time.Duration
	log       *slog.Logger
}

// NewServer returns a server for the debates of an engine. Keep the engine open as long as the server runs.
func NewServer(e *debate.Engine, o Options) (*mcp.Server, error) {
	if o.Tools.MaxWait == 0 {
		o.Tools.MaxWait = defaultMaxWait
	}
	if o.Heartbeat < 0 {
		return nil, fmt.Errorf("make MCP server: Heartbeat is %s, want 0 or more", o.Heartbeat)
	}
	if o.Heartbeat == 0 {
		o.Heartbeat = defaultHeartbeat
	}
	tools, err := debatetool.New(e, o.Tools)
	if err != nil {
		return nil, fmt.Errorf("make MCP server: %w", err)
	}
	s, r := &server{tools: tools, heartbeat: o.Heartbeat, log: o.Server.Logger}, newResources(tools)
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	o.Server.SubscribeHandler, o.Server.UnsubscribeHandler = r.subscribe, r.unsubscribe
	server := mcp.NewServer(&mcp.Implementation{Name: "debate", Title: "Debates between models", Version: version()}, &o.Server)
	for _, t := range tools.Tools() {
		server.AddTool(&mcp.Tool{Name: t.Name(), Description: t.Description(), InputSchema: t.InputSchema(), OutputSchema: t.OutputSchema()}, s.handler(t))
	}
	r.addTo(server)
	return server, nil
}

// version returns the version of this module in the program, or "(devel)" if the program was built without one.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "github.com/elenchus-go/debate/integrations/debatemcp" {
				return m.Version
			}
		}
	}
	return "(devel)"
}

// handler returns the handler of a tool.
func (s *server) handler(t debatetool.Tool) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		input := r.Params.Arguments
		mayAsk := t.Name() == "debate" && mayElicit(r)
		if t.Name() == "debate" && len(r.Params.InputResponses) > 0 {
			out, err := takeReplies(ctx, s.tools, r.Params)
			if err != nil {
				return s.failure(ctx, t, err), nil
			}
			if out.Status == "failed" { // because a person has declined; another call tries again
				return success(out), nil
			}
			mayAsk = mayAsk && out.ID != "" // otherwise the person does not want to be asked now
			input, _ = json.Marshal(debatetool.Input{ID: r.Params.RequestState})
		}
		out, err := s.call(ctx, t, r, input)
		if err != nil {
			return s.failure(ctx, t, err), nil
		}
		if mayAsk {
			if asked := requestsFor(out); len(asked) > 0 {
				return &mcp.CallToolResult{InputRequests: asked, RequestState: out.ID}, nil
			}
		}
		return success(out), nil
	}
}

// call calls a tool, and notifies the client of the progress if it listens.
func (s *server) call(ctx context.Context, t debatetool.Tool, r *mcp.CallToolRequest, input json.RawMessage) (out debatetool.Output, err error) {
	n := &notifier{session: r.Session, token: r.Params.GetProgressToken(), every: s.heartbeat}
	defer n.listen(ctx)()
	for p, err := range t.Stream(ctx, input) {
		if err != nil {
			return out, err
		}
		if p.Output != nil {
			return *p.Output, nil
		}
		n.tell(ctx, fmt.Sprintf("Debate %s: %s", p.ID, p.Text))
	}
	return out, fmt.Errorf("call %s: it has no output", t.Name())
}

// success returns the result of a call: text for the model, the same as JSON, and the report of a debate that has ended.
func success(out debatetool.Output) *mcp.CallToolResult {
	r := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: out.Text()}}, StructuredContent: out}
	if slices.Contains([]string{"completed", "canceled"}, out.Status) {
		r.Content = append(r.Content, &mcp.ResourceLink{URI: scheme + out.ID + "/report", Name: "report", MIMEType: markdown, Description: "The report of the debate."})
	}
	return r
}

// failure returns the result of a call that failed. The model reads the message, and the log gets it if its cause is internal.
func (s *server) failure(ctx context.Context, t debatetool.Tool, err error) *mcp.CallToolResult {
	if e, ok := errors.AsType[*debatetool.Error](err); ok && e.Internal() {
		s.log.ErrorContext(ctx, "call tool", "tool", t.Name(), "debate", e.ID, "error", e.Err)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}, IsError: true}
}

// A notifier notifies a client of the progress of a call.
type notifier struct {
	session *mcp.ServerSession
	token   any // nil if the client does not listen
	every   time.Duration

	mu     sync.Mutex
	ticker *time.Ticker
	n      float64
	text   string
}

// listen repeats the last notification after each silence, until the function that it returns is called.
func (n *notifier) listen(ctx context.Context) (stop func()) {
	if n.token == nil {
		return func() {}
	}
	n.ticker = time.NewTicker(n.every)
	done, left := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		for {
			select {
			case <-n.ticker.C:
				n.tell(ctx, "")
			case <-done:
				return
			}
		}
	}()
	return func() { n.ticker.Stop(); close(done); <-left }
}

// tell sends a notification. An empty text repeats the last one.
func (n *notifier) tell(ctx context.Context, text string) {
	if n.token == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if text != "" {
		n.text = text
		n.ticker.Reset(n.every)
	}
	n.n++
	_ = n.session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: n.token, Progress: n.n, Message: n.text}) // a client that has gone misses nothing
}

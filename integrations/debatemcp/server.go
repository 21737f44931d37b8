package debatemcp

import (
	"cmp"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatetool"
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
	// StopOnCancel cancels a debate if the client cancels the call that holds it, so that the debate costs nothing more. By
	// default the debate goes on, and another call gets its answer. Many clients cancel a call that takes longer than 60
	// seconds.
	StopOnCancel bool
	// Sampler has debates use the models of the clients, if it is among the providers of the engine. It may be nil.
	Sampler *Sampler
	// Server configures the server of the SDK. Its handlers for subscriptions and for completion are replaced. Instructions
	// default to a text that says when to hold a debate. Its Logger also receives errors of calls that have an internal cause.
	Server mcp.ServerOptions
	// MaxSessions is the largest number of sessions over HTTP. If a client opens one more, the session ends that was idle for
	// the longest time. Defaults to 1,000.
	MaxSessions int
	// IdleTime is the time without requests after which a session over HTTP ends. Defaults to an hour.
	IdleTime time.Duration
}

// instructions tells models when to use the server.
const instructions = `This server has models debate a question before a judge, or vote on it, and keeps each debate.
Use debate before a decision that is hard to reverse, or where good arguments differ. Do not use it for facts that you can look up, for sums, or where an answer is needed at once: it takes minutes and costs many replies of models.
Give the participants all facts as background: they know nothing of this conversation. A call returns within a minute, with the answer or with what to call next. Use debate_list to find an earlier debate.`

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
	log := cmp.Or(o.Server.Logger, slog.New(slog.DiscardHandler))
	s, r := &server{
		tools: tools, forms: &forms{tools: tools, every: o.Heartbeat}, heartbeat: o.Heartbeat, stopOnCancel: o.StopOnCancel,
		sampler: o.Sampler, log: log,
	}, newResources(tools)
	o.Server.SubscribeHandler, o.Server.UnsubscribeHandler = r.subscribe, r.unsubscribe
	o.Server.CompletionHandler = r.complete
	if o.Server.Instructions == "" {
		o.Server.Instructions = instructions
	}
	if o.Server.Capabilities == nil { // lists never change, and nothing is logged to clients
		o.Server.Capabilities = &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Prompts: &mcp.PromptCapabilities{}, Resources: &mcp.ResourceCapabilities{}}
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "debate", Title: "Debates between models", Version: version()}, &o.Server)
	for i, t := range tools.Tools() {
		tool := describe(t.Name(), t.Description(), t.InputSchema())
		if i == 0 {
			tool.OutputSchema = outline(t.OutputSchema()) // the others have the same
		}
		server.AddTool(tool, s.handler(t))
	}
	s.addList(server)
	addPrompts(server)
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

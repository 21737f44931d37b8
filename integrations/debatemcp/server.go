package debatemcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
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
	// StopOnCancel cancels a debate if the client cancels the call that holds it, so that the debate costs nothing more. By
	// default the debate goes on, and another call gets its answer. Many clients cancel a call that takes longer than 60
	// seconds.
	StopOnCancel bool
	// Server configures the server of the SDK. Its handlers for subscriptions and for completion are replaced. Instructions
	// default to a text that says when to hold a debate.
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

// server serves the debates of a toolset.
type server struct {
	tools        *debatetool.Toolset
	forms        forms
	heartbeat    time.Duration
	stopOnCancel bool
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
	s, r := &server{tools: tools, heartbeat: o.Heartbeat, stopOnCancel: o.StopOnCancel}, newResources(tools)
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
	addList(server, tools)
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

// handler returns the handler of a tool.
func (s *server) handler(t debatetool.Tool) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c := &call{server: s, tool: t, request: r, notifier: &notifier{session: r.Session, token: r.Params.GetProgressToken(), every: s.heartbeat}}
		defer c.notifier.listen(ctx)()
		run := func(ctx context.Context) (debatetool.Output, mcp.InputRequestMap, error) {
			out, err := c.run(ctx, r.Params.Arguments)
			return out, nil, err
		}
		if t.Name() == "debate" && mayElicit(r) {
			if run = c.asking; r.ProtocolVersion() >= sinceRounds {
				run = c.inRounds
			}
		}
		out, asked, err := run(ctx)
		if err != nil && s.stopOnCancel && context.Cause(ctx) == context.Canceled { //nolint:errorlint // another cause means that the connection is lost
			err = errors.Join(err, c.cancelDebate(context.WithoutCancel(ctx)))
		}
		switch {
		case err != nil:
			return failure(err), nil
		case len(asked) > 0:
			return &mcp.CallToolResult{InputRequests: asked, RequestState: out.ID}, nil
		}
		return c.result(out), nil
	}
}

// A call is a call of a tool.
type call struct {
	*server
	tool     debatetool.Tool
	request  *mcp.CallToolRequest
	notifier *notifier
	id       string // of the debate, once it is known
}

// run calls the tool, and notifies the client of the progress if it listens.
func (c *call) run(ctx context.Context, input json.RawMessage) (out debatetool.Output, err error) {
	for p, err := range c.tool.Stream(ctx, input) {
		if err != nil {
			return out, err
		}
		c.id = p.ID
		if p.Output != nil {
			return *p.Output, nil
		}
		c.notifier.tell(ctx, fmt.Sprintf("Debate %s: %s", p.ID, p.Text))
	}
	return out, fmt.Errorf("call %s: it has no output", c.tool.Name())
}

// cancelDebate cancels the debate of a call that the client has canceled.
func (c *call) cancelDebate(ctx context.Context) error {
	if c.tool.Name() != "debate" || c.id == "" {
		return nil
	}
	d, err := c.tools.Open(ctx, c.id)
	if err == nil {
		err = d.Cancel(ctx)
	}
	return err
}

// result returns the result of a call: text for the model, the same as JSON, and the report of a debate that has ended.
func (c *call) result(out debatetool.Output) *mcp.CallToolResult {
	if out.Status == "waiting" && mayElicit(c.request) && len(requestsFor(out)) > 0 {
		out.Next = fmt.Sprintf(`Call debate with {"id": %q} to show the people a form for each reply. If they answer you instead, pass that on with debate_answer. Do not reply in their place.`, out.ID)
	}
	r := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: out.Text()}}, StructuredContent: out, IsError: out.Status == "failed"}
	if slices.Contains([]string{"completed", "canceled"}, out.Status) {
		r.Content = append(r.Content, &mcp.ResourceLink{URI: scheme + out.ID + "/report", Name: "report", MIMEType: markdown, Description: "The report of the debate."})
	}
	return r
}

// failure returns the result of a call that failed. The model reads the message.
func failure(err error) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}, IsError: true}
}

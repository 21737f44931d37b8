package debatemcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/elenchus-go/debate/integrations/debatetool"
)

// server serves the debates of a toolset.
type server struct {
	tools        *debatetool.Toolset
	forms        *forms
	heartbeat    time.Duration
	stopOnCancel bool
	sampler      *Sampler // may be nil
	log          *slog.Logger
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
			run = c.asking
			if r.ProtocolVersion() >= sinceRounds {
				run = c.inRounds
			}
		}
		out, asked, err := run(ctx)
		if err != nil && s.stopOnCancel && context.Cause(ctx) == context.Canceled { //nolint:errorlint // another cause means that the connection is lost
			err = errors.Join(err, c.cancelDebate(context.WithoutCancel(ctx)))
		}
		switch {
		case err != nil:
			return s.failure(ctx, t.Name(), err), nil
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
	leave, waitsFor := func() {}, ""
	defer func() { leave() }()
	for p, err := range c.tool.Stream(ctx, input) {
		if err != nil {
			return out, err
		}
		if waitsFor != p.ID && c.tool.Name() == "debate" {
			waitsFor = p.ID
			leave = c.sampler.enter(p.ID, newCaller(ctx, c.request))
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

// failure returns the result of a call that failed. The model reads the message, and the log gets it if its cause is
// internal.
func (s *server) failure(ctx context.Context, tool string, err error) *mcp.CallToolResult {
	if e, ok := errors.AsType[*debatetool.Error](err); ok && e.Internal() {
		s.log.ErrorContext(ctx, "call tool", "tool", tool, "debate", e.ID, "error", e.Err)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}, IsError: true}
}

// asking runs a call of debate. As often as the debate waits for people, it shows them forms, until somebody dismisses one.
func (c *call) asking(ctx context.Context) (out debatetool.Output, _ mcp.InputRequestMap, err error) {
	out, err = c.run(ctx, c.request.Params.Arguments)
	for err == nil {
		asked := requestsFor(out)
		if len(asked) == 0 {
			break
		}
		c.notifier.tell(ctx, fmt.Sprintf("Debate %s: The debate waits for %s.", out.ID, waitedFor(out)))
		if answered, failed := c.forms.show(ctx, c.request.Session, out.ID, asked); failed != nil || !answered {
			return out, nil, failed
		}
		if latest, failed := c.tools.Result(ctx, out.ID); failed != nil || latest.Status == "failed" { // because a person has declined; another call tries again
			return latest, nil, failed
		}
		out, err = c.run(ctx, continuation(out.ID))
	}
	return out, nil, err
}

// inRounds runs a call of debate, which may have replies to what an earlier call asked.
func (c *call) inRounds(ctx context.Context) (out debatetool.Output, asked mcp.InputRequestMap, err error) {
	p, input := c.request.Params, c.request.Params.Arguments
	answered := true
	if len(p.InputResponses) > 0 {
		c.id, answered = p.RequestState, false
		for _, step := range slices.Sorted(maps.Keys(p.InputResponses)) {
			form, ok := p.InputResponses[step].(*mcp.ElicitResult)
			if !ok {
				continue
			}
			took, err := c.forms.take(ctx, p.RequestState, step, form)
			if err != nil {
				return out, nil, err
			}
			answered = answered || took
		}
		out, err = c.tools.Result(ctx, p.RequestState)
		if err != nil || answered && out.Status == "failed" {
			return out, nil, err
		}
		input = continuation(p.RequestState)
	}
	out, err = c.run(ctx, input)
	if err == nil && answered { // otherwise the people do not want to be asked now
		asked = requestsFor(out)
	}
	return out, asked, err
}

// continuation returns the input that continues a debate.
func continuation(id string) json.RawMessage {
	input, _ := json.Marshal(debatetool.Input{ID: id}) // it has only a text
	return input
}

package debatemcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/elenchus-go/debate/debatetool"
)

// sinceRounds names the first version of the protocol in which a server must not send requests: it asks in the result of a
// call, and the client calls again with the replies.
const sinceRounds = "2026-07-28"

// mayElicit reports whether a call may ask the client for input.
func mayElicit(r *mcp.CallToolRequest) bool {
	c := r.ClientCapabilities()
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
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
		if answered, failed := c.forms.show(ctx, c.server, c.request.Session, out.ID, asked); failed != nil || !answered {
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
			took, err := c.take(ctx, p.RequestState, step, form)
			if err != nil {
				return out, nil, err
			}
			answered = answered || took
		}
		if out, err = c.tools.Result(ctx, p.RequestState); err != nil || answered && out.Status == "failed" {
			return out, nil, err
		}
		input = continuation(p.RequestState)
	}
	if out, err = c.run(ctx, input); err == nil && answered { // otherwise the people do not want to be asked now
		asked = requestsFor(out)
	}
	return out, asked, err
}

// continuation returns the input that continues a debate.
func continuation(id string) json.RawMessage {
	input, _ := json.Marshal(debatetool.Input{ID: id}) // it has only a text
	return input
}

// take gives a debate what a person has entered in a form. It reports whether the person has replied or declined. A form
// that was dismissed stays open, and so does the decision about a question.
func (s *server) take(ctx context.Context, id, key string, form *mcp.ElicitResult) (answered bool, err error) {
	step, isJSON := strings.CutPrefix(key, structured)
	reply := debatetool.Reply{}
	switch {
	case form.Action == "accept":
		b, err := json.Marshal(form.Content)
		if isJSON {
			reply.Text = string(b)
		} else if err == nil {
			err = json.Unmarshal(b, &reply)
		}
		if err != nil {
			return false, fmt.Errorf("read reply to %s: %w", step, err)
		}
	case form.Action == "decline" && isStep(step):
		reply.Action = "decline"
	default:
		return false, nil
	}
	reply.ID, reply.Step = id, step
	_, err = s.tools.Answer(ctx, reply)
	return err == nil, err
}

// isStep reports whether what is asked is the reply of a step, which a person can decline. The ids of questions have no
// slashes.
func isStep(step string) bool { return strings.Contains(step, "/") }

// waitedFor names the people for whom a debate waits.
func waitedFor(out debatetool.Output) string {
	var names []string
	for _, a := range out.Waiting {
		if a.Name == "" {
			a.Name = "a decision"
		}
		names = append(names, a.Name)
	}
	return strings.Join(names, ", ")
}

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

// sinceRounds names the first version of the protocol in which a client can be asked again during one call.
const sinceRounds = "2026-07-28"

// mayElicit reports whether the result of a call may ask the client for input.
func mayElicit(r *mcp.CallToolRequest) bool {
	c := r.ClientCapabilities()
	if c == nil || c.Elicitation == nil || c.Elicitation.Form == nil && c.Elicitation.URL != nil {
		return false
	}
	return len(r.Params.InputResponses) == 0 || r.ProtocolVersion() >= sinceRounds
}

// property is a field of a form.
type property struct {
	Type  string   `json:"type"`
	Title string   `json:"title"`
	Enum  []string `json:"enum,omitempty"`
}

// requestsFor returns a form for each thing that a debate asks people. Forms have no nested fields, so replies that follow
// a schema are left to debate_answer.
func requestsFor(out debatetool.Output) mcp.InputRequestMap {
	if out.Status != "waiting" {
		return nil
	}
	list := mcp.InputRequestMap{}
	for _, a := range out.Waiting {
		fields, required := map[string]property{"text": {Type: "string", Title: "Your reply"}}, []string{"text"}
		message := unquote(a.Task)
		for _, t := range slices.Backward(a.Said) {
			message = t.Actor + ": " + unquote(t.Text) + "\n\n" + message
		}
		if a.Name != "" {
			message = "For " + a.Name + "\n\n" + message
		}
		if len(a.Choices) > 0 {
			action := property{Type: "string", Title: "Your decision"}
			for _, c := range a.Choices {
				action.Enum = append(action.Enum, c.Action)
				message += "\n" + c.Action + ": " + c.Description
			}
			fields = map[string]property{"action": action, "text": {Type: "string", Title: "Your remark, for edit"}, "by": {Type: "string", Title: "Your name, for edit"}}
			required = []string{"action"}
		}
		if len(a.Schema) == 0 {
			list[a.Step] = &mcp.ElicitParams{Message: message, RequestedSchema: map[string]any{"type": "object", "properties": fields, "required": required}}
		}
	}
	return list
}

// unquote returns a quotation without its delimiters, for a person.
func unquote(text string) string {
	if lines := strings.Split(text, "\n"); len(lines) > 2 && strings.HasPrefix(text, "<<<") {
		return strings.Join(lines[1:len(lines)-1], "\n")
	}
	return text
}

// takeReplies gives a debate what people have entered, and returns the debate after the last reply. A form that was dismissed
// stays open. If all were dismissed, the output is zero.
func takeReplies(ctx context.Context, tools *debatetool.Toolset, p *mcp.CallToolParamsRaw) (out debatetool.Output, err error) {
	for _, step := range slices.Sorted(maps.Keys(p.InputResponses)) {
		form, ok := p.InputResponses[step].(*mcp.ElicitResult)
		if !ok {
			continue
		}
		reply := debatetool.Reply{}
		switch {
		case form.Action == "accept":
			b, err := json.Marshal(form.Content)
			if err == nil {
				err = json.Unmarshal(b, &reply)
			}
			if err != nil {
				return out, fmt.Errorf("read reply to %s: %w", step, err)
			}
		case form.Action == "decline" && isStep(step):
			reply.Action = "decline"
		default:
			continue
		}
		reply.ID, reply.Step = p.RequestState, step
		if out, err = tools.Answer(ctx, reply); err != nil {
			return out, err
		}
	}
	return out, nil
}

// isStep reports whether what is asked is the reply of a step, which a person can decline. The ids of questions have no
// slashes.
func isStep(step string) bool { return strings.Contains(step, "/") }

package ollama

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/prompt"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// Generate requests one reply from the model.
func (p *Provider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	r.Model = cmp.Or(r.Model, p.model)
	r, warnings := prompt.Separate(r) // a schema suppresses calls: https://github.com/ollama/ollama/issues/8095
	res, err := p.client.Generate(ctx, r, wire.Call{
		Model:    r.Model,
		URL:      p.base + "/api/chat",
		Body:     func(s wire.Support) (wire.Object, error) { return p.body(r, s) },
		Event:    readEvent,
		Warnings: warnings,
	})
	if err != nil {
		return res, p.explain(ctx, r.Model, err)
	}
	return res, nil
}

// The request. Source: https://docs.ollama.com/api/chat

// body returns the body of a request. Without truncate and shift, the server refuses a prompt that is too long, and
// ends a reply that fills the window; otherwise it would drop the beginning of the prompt.
func (p *Provider) body(r providers.Request, s wire.Support) (wire.Object, error) {
	asked, err := s.Prompt(r, nil)
	if err == nil {
		err = prompt.Refuse(r, p.refuses)
	}
	if err != nil {
		return nil, err
	}
	options := wire.Object{}
	body := wire.Object{
		"model": r.Model, "messages": messages(asked), "stream": true, "truncate": false, "shift": false, "options": options,
	}
	writeSettings(body, options, r)
	if p.numCtx > 0 {
		options["num_ctx"] = p.numCtx
	}
	if r.MayCallTools() { // the server has no tool choice
		tools := make([]wire.Object, len(r.Tools))
		for i, t := range r.Tools {
			tools[i] = wire.Object{"type": "function", "function": wire.Object{"name": t.Name, "description": t.Description, "parameters": t.Schema}}
		}
		body["tools"] = tools
	}
	schema, err := s.Schema(r.Schema)
	if err == nil && schema != nil {
		body["format"] = schema
	}
	return body, err
}

// message is a message of the prompt or of the reply.
type message struct {
	Role      string     `json:"role"`
	Content   wire.Text  `json:"content"`
	Images    [][]byte   `json:"images,omitempty"`
	Thinking  wire.Text  `json:"thinking,omitempty"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
	ToolName  string     `json:"tool_name,omitempty"`
}

type toolCall struct {
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// service names the service in reasoning that goes back. Source: https://docs.ollama.com/capabilities/tool-calling
const service = "ollama"

// messages returns the messages of a prompt. Each tool result is a message of its own.
func messages(p prompt.Prompt) []message {
	var list []message
	if p.System != "" {
		list = append(list, message{Role: "system", Content: wire.Text(p.System)})
	}
	for _, turn := range p.Dialog {
		m := message{Role: string(turn.Role), Content: wire.Text(turn.Text())}
		for _, part := range turn.Parts {
			switch {
			case part.ToolCall != nil:
				var c toolCall
				c.Function.Name, c.Function.Arguments = part.ToolCall.Name, part.ToolCall.Arguments
				m.ToolCalls = append(m.ToolCalls, c)
			case part.Reasoning != nil && part.Reasoning.Service == service: // only beside calls
				m.Thinking = append(m.Thinking, part.Reasoning.Text...)
			case part.Attachment != nil:
				m.Images = append(m.Images, part.Attachment.Data)
			case part.ToolResult != nil:
				list = append(list, message{Role: "tool", Content: wire.Text(part.ToolResult.Text), ToolName: part.ToolResult.Name})
			}
		}
		if len(m.Content) > 0 || m.ToolCalls != nil || m.Images != nil {
			list = append(list, m)
		}
	}
	return list
}

// The stream. Source: https://docs.ollama.com/api/streaming

// event is one line of a stream, or a whole reply.
type event struct {
	Model   string `json:"model"`
	Message struct {
		Content   wire.Text  `json:"content"`
		Thinking  wire.Text  `json:"thinking"`
		ToolCalls []toolCall `json:"tool_calls"`
	} `json:"message"`
	Done   bool       `json:"done"`
	Reason string     `json:"done_reason"`
	Prompt wire.Count `json:"prompt_eval_count"`
	Reply  wire.Count `json:"eval_count"`
}

// readEvent reads one line.
func readEvent(data []byte, r *wire.Reply) error {
	var e event
	if err := wire.Decode(data, &e); err != nil {
		return err
	}
	r.SetModel(e.Model)
	if err := r.ReasonFor(service, e.Message.Thinking); err != nil {
		return err
	}
	if err := r.Add(e.Message.Content); err != nil {
		return err
	}
	for _, c := range e.Message.ToolCalls {
		if err := r.AddCall(providers.ToolCall{Name: c.Function.Name, Arguments: c.Function.Arguments}); err != nil {
			return err
		}
	}
	if !e.Done {
		return nil
	}
	r.Usage().Input, r.Usage().Output = int(e.Prompt), int(e.Reply)
	if e.Reason == "" { // from older servers
		r.Finish("")
	}
	if err := r.FinishWord(e.Reason); err != nil {
		return err
	}
	return wire.ErrDone
}

package anthropic

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// Generate requests one reply from the model.
func (p *Provider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	r.Model = cmp.Or(r.Model, p.model)
	s := stream{thinking: map[int]*thought{}}
	return p.client.Generate(ctx, r, wire.Call{
		Model: r.Model,
		URL:   p.base + "/messages",
		Body:  func(s wire.Support) (wire.Object, error) { return body(r, s) },
		Event: s.read,
	})
}

// The request. Source: https://platform.claude.com/docs/en/api/messages/create

// defaultMaxTokens is the token limit of a request that has none, because the service requires one.
const defaultMaxTokens = 2048

// body returns the body of a request. With output_config the reply stays text, unlike with a forced tool call: it
// streams, and the part of a cut reply is kept. Models older than 4.5 refuse the field.
func body(r providers.Request, s wire.Support) (wire.Object, error) {
	prompt, err := wire.NewPrompt(r.Messages)
	if err != nil {
		return nil, err
	}
	body := wire.Object{"model": r.Model, "stream": true, "max_tokens": cmp.Or(r.MaxTokens, defaultMaxTokens)}
	writePrompt(body, prompt, !s.NoCache)
	if r.Temperature != nil {
		body["temperature"] = *r.Temperature
	}
	if len(r.Tools) > 0 {
		tools := make([]wire.Object, len(r.Tools))
		for i, t := range r.Tools {
			tools[i] = wire.Object{"name": t.Name, "description": t.Description, "input_schema": t.Schema}
		}
		body["tools"] = tools
	}
	schema, err := s.Schema(r.Schema)
	if err == nil && schema != nil {
		body["output_config"] = wire.Object{"format": wire.Object{"type": "json_schema", "schema": schema}}
	}
	return body, err
}

// block is a part of a message.
type block struct {
	Type         string          `json:"type"`
	Text         string          `json:"text,omitempty"`
	ID           string          `json:"id,omitempty"`   // of a tool call
	Name         string          `json:"name,omitempty"` // of a tool
	Input        json.RawMessage `json:"input,omitempty"`
	ToolID       string          `json:"tool_use_id,omitempty"` // the call of a tool result
	Content      string          `json:"content,omitempty"`     // of a tool result
	Failed       bool            `json:"is_error,omitempty"`
	CacheControl *cacheMark      `json:"cache_control,omitempty"`

	opaque json.RawMessage // replaces all fields
}

// MarshalJSON returns opaque reasoning unchanged.
func (b *block) MarshalJSON() ([]byte, error) {
	if b.opaque != nil {
		return b.opaque, nil
	}
	type plain block
	return json.Marshal((*plain)(b))
}

// message holds consecutive blocks of one role.
type message struct {
	Role    providers.Role `json:"role"`
	Content []*block       `json:"content"`
}

// service is the name of the service in opaque reasoning.
const service = "anthropic"

// blocks returns one block for each part of a turn. Joined, the texts equal the text of the turn. Each text is its own
// block, so that a new text does not change the blocks before it.
func blocks(t wire.Turn) []*block {
	var list []*block
	texts := 0
	for _, part := range t.Parts {
		switch {
		case part.ToolCall != nil:
			input := part.ToolCall.Arguments
			if len(input) == 0 {
				input = json.RawMessage("{}")
			}
			list = append(list, &block{Type: "tool_use", ID: part.ToolCall.ID, Name: part.ToolCall.Name, Input: input})
		case part.ToolResult != nil:
			list = append(list, &block{Type: "tool_result", ToolID: part.ToolResult.ID, Content: part.ToolResult.Text, Failed: part.ToolResult.Failed})
		case part.Reasoning != nil:
			if part.Reasoning.Service == service {
				list = append(list, &block{opaque: part.Reasoning.Data})
			}
		default:
			if texts++; texts > 1 {
				part.Text = wire.BlankLine + part.Text
			}
			list = append(list, &block{Type: "text", Text: part.Text})
		}
	}
	return list
}

// cacheMark asks the service to keep the prompt up to here for five minutes.
type cacheMark struct {
	Type string `json:"type"`
}

var ephemeral = &cacheMark{Type: "ephemeral"}

// lookback is the number of blocks that the service checks for a cache entry: the block with the breakpoint, and those
// before it.
// Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching
const lookback = 20

// maxBreakpoints is the maximum number of breakpoints in the dialog. The service allows four. One is in the system
// prompt, and one remains for a cache_control in Config.Extra.
const maxBreakpoints = 2

// writePrompt writes the prompt into the body of a request. With cache breakpoints, they are at the end of the system
// prompt and before the last text. The last text requests the reply and does not occur again. A second breakpoint in
// the dialog finds the cache entry of the previous prompt even if up to 39 texts were added since.
func writePrompt(body wire.Object, p wire.Prompt, breakpoints bool) {
	messages := make([]message, len(p.Dialog))
	var all []*block
	for i, turn := range p.Dialog {
		messages[i] = message{turn.Role, blocks(turn)}
		all = append(all, messages[i].Content...)
	}
	body["messages"] = messages
	system := &block{Type: "text", Text: p.System}
	if breakpoints {
		system.CacheControl = ephemeral
		for n, i := 0, len(all)-2; n < maxBreakpoints && i >= 0; n, i = n+1, i-lookback {
			if all[i].opaque == nil { // the service refuses breakpoints in reasoning
				all[i].CacheControl = ephemeral
			}
		}
	}
	if p.System != "" {
		body["system"] = []*block{system}
	}
}

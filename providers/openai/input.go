package openai

import (
	"encoding/json"
	"strings"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/prompt"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// inputItem is a message, a tool call or a tool result of the prompt.
type inputItem struct {
	Type      string          `json:"type,omitempty"`
	Role      providers.Role  `json:"role,omitempty"`
	Content   string          `json:"content,omitempty"`
	CallID    string          `json:"call_id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments string          `json:"arguments,omitempty"`
	Output    *string         `json:"output,omitempty"`
	opaque    json.RawMessage // reasoning, or a message with an attachment; replaces all fields
}

// attachedItem returns a message with an attachment.
func attachedItem(a *providers.Attachment) inputItem {
	raw, _ := json.Marshal(struct { // texts, so it cannot fail
		Role    providers.Role `json:"role"`
		Content []contentPart  `json:"content"`
	}{providers.User, []contentPart{inputPart(a)}})
	return inputItem{opaque: raw}
}

// MarshalJSON returns an opaque item unchanged.
func (i inputItem) MarshalJSON() ([]byte, error) {
	if i.opaque != nil {
		return i.opaque, nil
	}
	type plain inputItem
	return json.Marshal(plain(i))
}

// input returns the items of a prompt, in order. Consecutive texts of one role are one message.
func (p *Provider) input(given prompt.Prompt, s wire.Support) []inputItem {
	var list []inputItem
	for _, turn := range given.Dialog {
		var texts []string
		say := func() {
			if len(texts) > 0 {
				list = append(list, inputItem{Role: turn.Role, Content: strings.Join(texts, prompt.BlankLine)})
				texts = nil
			}
		}
		for _, part := range turn.Parts {
			switch {
			case part.Text != "":
				texts = append(texts, part.Text)
			case part.Attachment != nil:
				say()
				list = append(list, attachedItem(part.Attachment))
			case part.ToolCall != nil:
				say()
				list = append(list, inputItem{Type: "function_call", CallID: part.ToolCall.ID, Name: part.ToolCall.Name, Arguments: string(part.ToolCall.Arguments)})
			case part.ToolResult != nil:
				say()
				list = append(list, inputItem{Type: "function_call_output", CallID: part.ToolResult.ID, Output: &part.ToolResult.Text})
			case part.Reasoning.Data != nil && part.Reasoning.Service == p.service && !s.NoReasoning:
				say()
				list = append(list, inputItem{opaque: part.Reasoning.Data})
			}
		}
		say()
	}
	return list
}

// responsesTool is a tool in the form of the Responses API.
type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"` // defaults to true in this API
}

func responsesTools(given []providers.Tool) []responsesTool {
	list := make([]responsesTool, len(given))
	for i, t := range given {
		list[i] = responsesTool{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Schema}
	}
	return list
}

package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/prompt"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// service names the service in opaque reasoning.
const service = "anthropic"

// block is a part of a message.
type block struct {
	Type         string          `json:"type"`
	Text         string          `json:"text,omitempty"`
	ID           string          `json:"id,omitempty"`   // of a tool call
	Name         string          `json:"name,omitempty"` // of a tool
	Input        json.RawMessage `json:"input,omitempty"`
	Source       *source         `json:"source,omitempty"`      // of an image or a document
	Title        string          `json:"title,omitempty"`       // of a document
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

// blocks returns one block for each part of a turn. Joined, the texts equal the text of the turn. Each text is its own
// block, so that a new text does not change the blocks before it.
func blocks(t prompt.Turn) []*block {
	var list []*block
	texts := 0
	for _, part := range t.Parts {
		switch {
		case part.ToolCall != nil:
			list = append(list, &block{Type: "tool_use", ID: part.ToolCall.ID, Name: part.ToolCall.Name, Input: part.ToolCall.Arguments})
		case part.ToolResult != nil:
			result := &block{Type: "tool_result", ToolID: part.ToolResult.ID, Content: part.ToolResult.Text, Failed: part.ToolResult.Failed}
			if strings.TrimSpace(result.Content) == "" { // the service refuses blank text
				result.Content = ""
			}
			list = append(list, result)
		case part.Attachment != nil:
			list = append(list, attachmentBlock(part.Attachment))
		case part.Reasoning != nil:
			if part.Reasoning.Data != nil && part.Reasoning.Service == service {
				list = append(list, &block{opaque: part.Reasoning.Data})
			}
		default:
			texts++
			if texts > 1 {
				part.Text = prompt.BlankLine + part.Text
			}
			list = append(list, &block{Type: "text", Text: part.Text})
		}
	}
	return list
}

// cacheMark asks the service to keep the prompt up to here, for five minutes by default.
type cacheMark struct {
	Type string `json:"type"`
	TTL  string `json:"ttl,omitempty"`
}

var (
	shortMark = &cacheMark{Type: "ephemeral"}
	longMark  = &cacheMark{Type: "ephemeral", TTL: "1h"}
)

// lookback is the number of blocks that the service checks for a cache entry: the block with the breakpoint, and those
// before it.
// Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching
const lookback = 20

// maxBreakpoints is the maximum number of breakpoints in the dialog. The service allows four. One is in the system
// prompt, and one remains for a cache_control in Config.Extra.
const maxBreakpoints = 2

// writePrompt writes the prompt into the body of a request. With a mark, which is that of cache breakpoints, they are at the end of the system
// prompt and before the last text. The last text requests the reply and does not occur again. A second breakpoint in
// the dialog finds the cache entry of the previous prompt even if up to 39 texts were added since.
func writePrompt(body wire.Object, p prompt.Prompt, mark *cacheMark) {
	messages := make([]message, len(p.Dialog))
	var all []*block
	for i, turn := range p.Dialog {
		messages[i] = message{turn.Role, blocks(turn)}
		all = append(all, messages[i].Content...)
	}
	body["messages"] = messages
	system := &block{Type: "text", Text: p.System}
	if mark != nil {
		system.CacheControl = mark
		for n, i := 0, len(all)-2; n < maxBreakpoints && i >= 0; n, i = n+1, i-lookback {
			if all[i].opaque == nil { // the service refuses breakpoints in reasoning
				all[i].CacheControl = mark
			}
		}
	}
	if p.System != "" {
		body["system"] = []*block{system}
	}
}

// Sources of the forms of attachments: https://platform.claude.com/docs/en/build-with-claude/vision and
// https://platform.claude.com/docs/en/build-with-claude/pdf-support

// source is the content of an image or a document.
type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type,omitempty"`
	Data      []byte `json:"data,omitempty"`
	URL       string `json:"url,omitempty"`
}

// attachmentBlock returns an attachment as a block.
func attachmentBlock(a *providers.Attachment) *block {
	b := &block{Type: "image", Source: &source{Type: "base64", MediaType: a.MediaType, Data: a.Data}}
	if a.MediaType == prompt.PDF {
		b.Type, b.Title = "document", a.Name
	}
	if a.URL != "" {
		b.Source = &source{Type: "url", URL: a.URL}
	}
	return b
}

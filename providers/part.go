package providers

import (
	"encoding/json"
	"fmt"

	"github.com/elenchus-go/debate/internal/attachment"
)

// Part is one part of a message. Exactly one field is set.
type Part struct {
	Text       string      `json:"text,omitempty"`
	ToolCall   *ToolCall   `json:"tool_call,omitempty"`   // in messages of the assistant
	ToolResult *ToolResult `json:"tool_result,omitempty"` // in messages of the user
	Reasoning  *Reasoning  `json:"reasoning,omitempty"`   // in messages of the assistant
	Attachment *Attachment `json:"attachment,omitempty"`  // in messages of the user
}

// Attachment is an image or a document that the model reads. It has Data or a URL, but not both.
type Attachment struct {
	Name      string `json:"name"`            // such as "photo.png"
	MediaType string `json:"media_type"`      // such as "image/png" or "application/pdf"
	Pages     int    `json:"pages,omitempty"` // of a document; 0 if unknown
	Data      []byte `json:"data,omitempty"`
	URL       string `json:"url,omitempty"` // the service fetches it; the library never does
}

// String describes the attachment without its bytes and without its address, which may hold a key.
func (a Attachment) String() string {
	if a.URL != "" {
		return fmt.Sprintf("%s (%s, by URL)", a.Name, a.MediaType)
	}
	return fmt.Sprintf("%s (%s, %d bytes)", a.Name, a.MediaType, len(a.Data))
}

// Format writes the result of String for every verb, so that no log holds the bytes.
func (a Attachment) Format(f fmt.State, _ rune) { fmt.Fprint(f, a.String()) }

// Tokens returns the most tokens that the attachment has for a model: for an image, one for every 256 pixels, but at least
// 1,120 and at most 5,000; for a document, 5,000 for each page.
func (a *Attachment) Tokens() int { return attachment.Tokens(a.MediaType, a.Data, a.Pages) }

// Tool is a tool that a model may call.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"` // the JSON Schema of the arguments, an object
}

// ToolCall is a model's call of a tool.
type ToolCall struct {
	ID        string          `json:"id,omitempty"` // empty if the service does not number its calls; a provider changes it to what its service accepts, in call and result alike
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`        // as the model wrote them, or a JSON string if that is not JSON: validate them; a provider sends {} back for what is no object
	Opaque    string          `json:"opaque,omitempty"` // what the service needs back with the call
}

// ToolResult is the result of a tool call.
type ToolResult struct {
	ID     string `json:"id,omitempty"` // that of the call
	Name   string `json:"name"`         // that of the tool
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitempty"` // Text describes an error
}

// Reasoning is what a model thought before it replied. It has Text that a person can read, or Data that only the service
// can read. A provider sends Data back to the service that it came from. It sends Text back only beside tool calls, and
// only if Service names its service. It omits all other reasoning.
type Reasoning struct {
	Text    string          `json:"text,omitempty"`
	Service string          `json:"service,omitempty"` // the service that needs the part back, such as "anthropic"; empty if none does
	Data    json.RawMessage `json:"data,omitempty"`
}

package googleai

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/prompt"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// service names the service in opaque reasoning.
const service = "googleai"

// content is a message.
type content struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

// part is a part of a message.
type part struct {
	Text      wire.Text     `json:"text,omitempty"`
	Thought   bool          `json:"thought,omitempty"` // the text is reasoning
	Signature string        `json:"thoughtSignature,omitempty"`
	Call      *functionCall `json:"functionCall,omitempty"`
	Response  *functionCall `json:"functionResponse,omitempty"`
	Inline    *blob         `json:"inlineData,omitempty"`
	File      *blob         `json:"fileData,omitempty"`
}

type functionCall struct {
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name"`
	Args     json.RawMessage `json:"args,omitempty"`
	Response wire.Object     `json:"response,omitempty"`
}

// contents returns the messages of a prompt, with one part for each text, so that a new text does not change the parts
// before it. Joined, the texts equal the text of the message. A signature goes with the text that follows it, or
// with the last one. If a call follows, it goes with the text before the call. If signed is set, the first call of a message
// without a signature gets the placeholder.
func contents(p prompt.Prompt, signed bool) []content {
	list := make([]content, len(p.Dialog))
	for i, turn := range p.Dialog {
		c := content{Role: "user"}
		if turn.Role == providers.Assistant {
			c.Role = "model"
		}
		texts, signature := 0, ""
		for _, given := range turn.Parts {
			switch {
			case given.ToolCall != nil:
				signature = signBefore(c.Parts, signature)
				c.Parts = append(c.Parts, callPart(given.ToolCall, signature, signed && !hasCall(c.Parts)))
				signature = ""
			case given.Attachment != nil:
				c.Parts = append(c.Parts, attachmentPart(given.Attachment))
			case given.ToolResult != nil:
				c.Parts = append(c.Parts, part{Response: response(given.ToolResult)})
			case given.Text != "":
				texts++
				if texts > 1 {
					given.Text = prompt.BlankLine + given.Text
				}
				c.Parts = append(c.Parts, part{Text: wire.Text(given.Text), Signature: signature})
				signature = ""
			case given.Reasoning != nil && given.Reasoning.Service == service:
				_ = json.Unmarshal(given.Reasoning.Data, &signature) // the service refuses the prompt if it is not its own
			}
		}
		if last := len(c.Parts) - 1; signature != "" && last >= 0 && c.Parts[last].Call == nil {
			c.Parts[last].Signature = signature
		}
		list[i] = c
	}
	return list
}

// Rounds of tool calls. Sources: https://ai.google.dev/gemini-api/docs/function-calling and
// https://ai.google.dev/gemini-api/docs/thought-signatures

// placeholder is the documented signature of a call that another model made. Models of version 3 refuse a message whose
// first call has no signature.
const placeholder = "skip_thought_signature_validator"

// signBefore gives a signature to the last part, if that is a text without one. It returns the signature if there is no
// such part.
func signBefore(parts []part, signature string) string {
	last := len(parts) - 1
	if signature == "" || last < 0 || parts[last].Call != nil || parts[last].Signature != "" {
		return signature
	}
	parts[last].Signature = signature
	return ""
}

func hasCall(parts []part) bool {
	return slices.ContainsFunc(parts, func(p part) bool { return p.Call != nil })
}

// callPart returns a call in the service's form. A signature that precedes the call is used if it has none of its own, and
// the placeholder if signed is set and there is neither.
func callPart(c *providers.ToolCall, before string, signed bool) part {
	p := part{Signature: cmp.Or(c.Opaque, before), Call: &functionCall{ID: c.ID, Name: c.Name, Args: c.Arguments}}
	if p.Signature == "" && signed {
		p.Signature = placeholder
	}
	return p
}

// response returns a tool result in the service's form.
func response(r *providers.ToolResult) *functionCall {
	name := "output"
	if r.Failed {
		name = "error"
	}
	return &functionCall{ID: r.ID, Name: r.Name, Response: wire.Object{name: r.Text}}
}

// Sources of the forms of attachments: https://ai.google.dev/gemini-api/docs/file-input-methods,
// https://ai.google.dev/gemini-api/docs/image-understanding and
// https://ai.google.dev/gemini-api/docs/document-processing

// blob is an image or a document, as data or by its URL.
type blob struct {
	MediaType string `json:"mimeType"`
	Data      []byte `json:"data,omitempty"`
	URL       string `json:"fileUri,omitempty"`
}

// attachmentPart returns an attachment as a part.
func attachmentPart(a *providers.Attachment) part {
	b := &blob{a.MediaType, a.Data, a.URL}
	if a.URL != "" {
		return part{File: b}
	}
	return part{Inline: b}
}

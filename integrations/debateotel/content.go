package debateotel

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// Limits of texts in bytes. Names come from configurations and services, and warnings may quote either.
const (
	maxName    = 200
	maxWarning = 1000
	maxList    = 20 // entries of a list
)

// clip shortens a text that is longer than most bytes. The result is valid UTF-8.
func clip(s string, most int) string {
	const mark = "…"
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	n := max(0, most-len(mark))
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + mark
}

// content says which texts are recorded.
type content struct {
	texts bool
	most  int // length of an attribute
}

// callEnd is how a call ended. A journal has only the attempt.
type callEnd struct {
	attempt  *transcript.Attempt // nil if it has not ended by itself
	request  *providers.Request
	response *providers.Response
	kind     string // why it failed; empty if it did not
}

// message is a message as the conventions define it.
type message struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

// part is a text, a call of a tool, or what the call returned.
type part struct {
	Type      string `json:"type"`
	Content   string `json:"content,omitempty"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	Response  string `json:"response,omitempty"`
}

func text(s string) part { return part{Type: "text", Content: s} }

// calls returns the calls of tools in a message, and the results, at most that many bytes of each.
func calls(m []providers.Part, most int) (list []part) {
	for _, p := range m {
		if c := p.ToolCall; c != nil {
			list = append(list, part{Type: "tool_call", ID: c.ID, Name: clip(c.Name, maxName), Arguments: clip(string(c.Arguments), most)})
		}
		if r := p.ToolResult; r != nil {
			list = append(list, part{Type: "tool_call_response", ID: r.ID, Response: clip(r.Text, most)})
		}
	}
	return list
}

// reply returns the messages of a reply as JSON, with the calls of tools among its parts.
func (c content) reply(said string, parts []providers.Part) string {
	list := calls(parts, c.most)
	if said != "" {
		list = append([]part{text(clip(said, c.most))}, list...)
	}
	return encode([]message{{Role: string(providers.Assistant), Parts: list}})
}

// encode returns v as JSON. v holds only strings, so it cannot fail.
func encode(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// messages returns the prompt and the reply of a call, if texts are recorded. It omits the oldest
// messages of a prompt that is too long.
func (c content) messages(e *callEnd) (list []attribute.KeyValue) {
	if !c.texts {
		return nil
	}
	if e.request != nil {
		system, input := c.prompt(e.request.Messages)
		list = append(list, attribute.String(keyInput, encode(input)))
		if len(system) > 0 {
			list = append(list, attribute.String(keySystem, encode(system)))
		}
	}
	switch {
	case e.response != nil && (e.response.Text != "" || calls(e.response.Parts, 0) != nil):
		list = append(list, attribute.String(keyOutput, c.reply(e.response.Text, e.response.Parts)))
	case e.response == nil && e.attempt != nil && e.attempt.Reply != "":
		list = append(list, attribute.String(keyOutput, c.reply(e.attempt.Reply, nil)))
	}
	return list
}

// prompt returns the system instructions and the other messages of a prompt, each at most Options.MaxText long.
func (c content) prompt(all []providers.Message) (system []part, input []message) {
	left := c.most
	input = []message{}
	for _, m := range slices.Backward(all) {
		said := m.Text
		for _, p := range m.Parts {
			said += p.Text
			if p.Attachment != nil { // never its bytes
				said += " " + p.Attachment.String() + "\n"
			}
		}
		if m.Role == providers.System {
			system = append(system, text(clip(said, c.most)))
			continue
		}
		if left <= 0 {
			continue
		}
		parts := calls(m.Parts, left)
		for _, p := range parts {
			left -= len(p.Arguments) + len(p.Response)
		}
		said = clip(said, max(left, 0))
		if said != "" || len(parts) == 0 {
			left -= len(said)
			parts = append([]part{text(said)}, parts...)
		}
		input = append(input, message{Role: string(m.Role), Parts: parts})
	}
	slices.Reverse(input)
	return system, input
}

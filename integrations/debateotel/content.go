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
	if s = strings.ToValidUTF8(s, "\uFFFD"); len(s) <= most {
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

type part struct {
	Type    string `json:"type"`
	Content string `json:"content"`
}

// reply returns the messages of a reply as JSON.
func (c content) reply(text string) string {
	return encode([]message{{Role: string(providers.Assistant), Parts: []part{{"text", clip(text, c.most)}}}})
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
	case e.response != nil && e.response.Text != "":
		list = append(list, attribute.String(keyOutput, c.reply(e.response.Text)))
	case e.response == nil && e.attempt != nil && e.attempt.Reply != "":
		list = append(list, attribute.String(keyOutput, c.reply(e.attempt.Reply)))
	}
	return list
}

// prompt returns the system instructions and the other messages of a prompt, each at most Options.MaxText long.
func (c content) prompt(all []providers.Message) (system []part, input []message) {
	left := c.most
	input = []message{}
	for _, m := range slices.Backward(all) {
		text := m.Text
		for _, p := range m.Parts {
			text += p.Text
			if p.Attachment != nil { // never its bytes
				text += " " + p.Attachment.String() + "\n"
			}
		}
		if m.Role == providers.System {
			system = append(system, part{"text", clip(text, c.most)})
			continue
		}
		if left > 0 {
			text = clip(text, left)
			left -= len(text)
			input = append(input, message{Role: string(m.Role), Parts: []part{{"text", text}}})
		}
	}
	slices.Reverse(input)
	return system, input
}

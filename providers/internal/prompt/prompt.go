// Package prompt brings the messages of a request into a form that all services accept.
package prompt

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/providers"
)

var errNoMessages = errors.New("build prompt: no user or assistant message has text")

// New returns the prompt of a request. It omits messages without content, and blank texts. Its rounds of tool calls are in
// a form that all services accept: each call has an object as its arguments, and the next turn begins with the results, in
// the order of the calls. If ids is set, all IDs match it and differ. The request may have rounds of any other service.
func New(r providers.Request, ids *regexp.Regexp) (Prompt, error) {
	if r.ToolChoice != "" && r.ToolChoice != noTools {
		return Prompt{}, fmt.Errorf("build prompt: tool_choice is %q, want %q or an empty text", r.ToolChoice, noTools)
	}
	var p Prompt
	for i, m := range r.Messages {
		if err := checkMessage(m); err != nil {
			return Prompt{}, fmt.Errorf("build prompt: message %d %w", i+1, err)
		}
		parts := m.Parts
		if strings.TrimSpace(m.Text) != "" {
			parts = []providers.Part{{Text: m.Text}}
		}
		for _, part := range parts {
			if part.Text != "" && strings.TrimSpace(part.Text) == "" || part.Reasoning != nil && !goesBack(part.Reasoning, m) {
				continue
			}
			if m.Role != providers.System {
				p.add(m.Role, part)
				continue
			}
			if p.System != "" {
				p.System += BlankLine
			}
			p.System += part.Text
		}
	}
	if len(p.Dialog) == 0 {
		return Prompt{}, errNoMessages
	}
	if err := fitRounds(p.Dialog, ids); err != nil {
		return Prompt{}, fmt.Errorf("build prompt: %w", err)
	}
	return p, nil
}

// goesBack reports whether a service may need reasoning back. It never needs words, except beside tool calls.
func goesBack(r *providers.Reasoning, m providers.Message) bool {
	return r.Data != nil || r.Service != "" && slices.ContainsFunc(m.Parts, func(p providers.Part) bool { return p.ToolCall != nil })
}

// checkMessage returns what is wrong with a message.
func checkMessage(m providers.Message) error {
	switch {
	case m.Role != providers.System && m.Role != providers.User && m.Role != providers.Assistant:
		return fmt.Errorf("has the unknown role %q, want system, user or assistant", m.Role)
	case m.Text != "" && m.Parts != nil:
		return errors.New("has Text and Parts, want one of them")
	}
	for j, p := range m.Parts {
		kinds := 0
		for _, set := range []bool{p.Text != "", p.ToolCall != nil, p.ToolResult != nil, p.Reasoning != nil, p.Attachment != nil} {
			if set {
				kinds++
			}
		}
		switch {
		case kinds != 1:
			return fmt.Errorf("has a part %d with %d kinds of content, want one", j+1, kinds)
		case p.Attachment != nil && (len(p.Attachment.Data) > 0) == (p.Attachment.URL != ""):
			return fmt.Errorf("has a part %d whose attachment does not have either Data or a URL", j+1)
		case m.Role != providers.User && (p.ToolResult != nil || p.Attachment != nil), m.Role != providers.Assistant && (p.ToolCall != nil || p.Reasoning != nil):
			return fmt.Errorf("has a part %d that does not fit the role %s", j+1, m.Role)
		}
	}
	return nil
}

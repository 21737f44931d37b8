package anthropic

import (
	"encoding/json"
	"regexp"
	"slices"

	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/providers"
)

// Rounds of tool calls. Sources: https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use and
// https://platform.claude.com/docs/en/build-with-claude/extended-thinking#extended-thinking-with-tool-use

// callIDs is the pattern of the IDs of tool calls. The service has no limit of their length, but Bedrock has one of 64.
var callIDs = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// fitRounds returns a request that the service accepts with rounds of other services, and warnings about what it changed.
//
// With a budget for reasoning, the model's turn must begin with its own reasoning, which cannot be made up. So such a call
// has no reasoning. The service also refuses calls in a request without tools, so they are declared again.
func fitRounds(r providers.Request) (fitted providers.Request, warnings []string) {
	if thinksByBudget(r) && turnLacksThinking(r.Messages) {
		r.Reasoning = reasoning.None
		warnings = []string{"model " + r.Model + " does not reason in this call, because its turn began with tool calls without its reasoning"}
	}
	if len(r.Tools) == 0 {
		r.Tools = called(r.Messages)
		if r.Tools != nil {
			r.ToolChoice = "none"
		}
	}
	return r, warnings
}

// turnLacksThinking reports whether the messages end with rounds of tool calls whose first message does not begin with
// the service's reasoning. The service takes all messages since the last one without results as one turn.
func turnLacksThinking(messages []providers.Message) bool {
	first := len(messages)
	for i, m := range slices.Backward(messages) {
		switch {
		case m.Role == providers.Assistant:
			first = i
		case !slices.ContainsFunc(m.Parts, func(p providers.Part) bool { return p.ToolResult != nil }):
			return first < len(messages) && !beginsWithThinking(messages[first])
		}
	}
	return false
}

func beginsWithThinking(m providers.Message) bool {
	for _, p := range m.Parts {
		if p.Reasoning == nil || p.Reasoning.Data != nil && p.Reasoning.Service == service {
			return p.Reasoning != nil
		}
	}
	return false
}

// called returns the tools that the messages call, without their schemas, which are not known.
func called(messages []providers.Message) (tools []providers.Tool) {
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.ToolCall != nil && !slices.ContainsFunc(tools, func(t providers.Tool) bool { return t.Name == p.ToolCall.Name }) {
				tools = append(tools, providers.Tool{Name: p.ToolCall.Name, Schema: json.RawMessage(`{"type":"object"}`)})
			}
		}
	}
	return tools
}

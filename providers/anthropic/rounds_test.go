package anthropic_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/anthropic"
)

// A turn that another model began has no reasoning with a budget. Adaptive reasoning needs no reasoning before.
func TestTurnsOfOtherModelsHaveNoBudget(t *testing.T) {
	user := func(parts ...providers.Part) providers.Message {
		return providers.Message{Role: providers.User, Parts: parts}
	}
	model := func(parts ...providers.Part) providers.Message {
		return providers.Message{Role: providers.Assistant, Parts: parts}
	}
	question := providers.Message{Role: providers.User, Text: "Why?"}
	call := providers.Part{ToolCall: &providers.ToolCall{ID: "1", Name: "today", Arguments: json.RawMessage(`{}`)}}
	result := providers.Part{ToolResult: &providers.ToolResult{ID: "1", Text: "Monday."}}
	own := providers.Part{Reasoning: &providers.Reasoning{Service: "anthropic", Data: json.RawMessage(`{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}`)}}
	foreign := providers.Part{Reasoning: &providers.Reasoning{Service: "service", Data: json.RawMessage(`{}`)}}
	for name, test := range map[string]struct {
		model, reasoning string
		messages         []providers.Message
		want             string // the type of reasoning
	}{
		"no round":           {"claude-sonnet-4-5", "2048", []providers.Message{question}, "enabled"},
		"own round":          {"claude-sonnet-4-5", "2048", []providers.Message{question, model(own, call), user(result)}, "enabled"},
		"own second round":   {"claude-sonnet-4-5", "2048", []providers.Message{question, model(own, call), user(result), model(call), user(result)}, "enabled"},
		"foreign round":      {"claude-sonnet-4-5", "2048", []providers.Message{question, model(foreign, call), user(result)}, "disabled"},
		"level":              {"claude-sonnet-4-5", "low", []providers.Message{question, model(call), user(result)}, "disabled"},
		"text beside it":     {"claude-sonnet-4-5", "2048", []providers.Message{question, model(call), user(result, providers.Part{Text: "Go on."})}, "disabled"},
		"foreign turn ended": {"claude-sonnet-4-5", "2048", []providers.Message{question, model(call), user(result), model(providers.Part{Text: "Monday."}), question}, "enabled"},
		"adaptive":           {"claude-opus-4-8", "low", []providers.Message{question, model(call), user(result)}, "adaptive"},
	} {
		t.Run(name, func(t *testing.T) {
			s := fakellm.Start(t, fakellm.Anthropic, fakellm.Reply{Chunks: []string{"So."}})
			p, err := anthropic.New(anthropic.Config{Key: key, Model: test.model, BaseURL: s.URL + "/v1", HTTPClient: s.Client(t)})
			require.NoError(t, err)
			res, err := p.Generate(t.Context(), providers.Request{Messages: test.messages, Reasoning: test.reasoning, MaxTokens: 8192})
			require.NoError(t, err)
			got := s.Requests()[0].Body
			require.Equal(t, test.want, got["thinking"].(map[string]any)["type"])
			if test.want == "disabled" {
				require.Equal(t, []string{"model claude-sonnet-4-5 does not reason in this call, because its turn began with tool calls without its reasoning"}, res.Warnings)
			} else {
				require.Empty(t, res.Warnings)
			}
			if len(test.messages) > 1 { // the service refuses calls of tools that are not declared
				require.Equal(t, []any{map[string]any{"name": "today", "description": "", "input_schema": map[string]any{"type": "object"}}}, got["tools"])
				require.Equal(t, map[string]any{"type": "none"}, got["tool_choice"])
			}
		})
	}
}

package ollama_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/ollama"
)

var tools = []providers.Tool{{Name: "today", Schema: json.RawMessage(`{"type": "object"}`)}}

// The server gets its reasoning back beside calls, and nowhere else.
func TestThinkingGoesBackWithinRounds(t *testing.T) {
	call := providers.ToolCall{Name: "today", Arguments: json.RawMessage(`{}`)}
	p, s := provider(t, ollama.Config{}, fakellm.Reply{Reasoning: "I need the day.", ToolCalls: []providers.ToolCall{call}}, fakellm.Reply{Reasoning: "Hm.", Chunks: []string{"Monday."}})
	r := ask
	r.Tools = tools
	res := calltest.Generate(t, p, r)
	r.Messages = append(r.Messages[:1:1], providers.Message{Role: providers.Assistant, Parts: res.Parts},
		providers.Message{Role: providers.User, Parts: []providers.Part{{ToolResult: &providers.ToolResult{Name: "today", Text: "Monday."}}}})
	r.ToolChoice = "none"
	res = calltest.Generate(t, p, r)
	require.Equal(t, &providers.Reasoning{Text: "Hm."}, res.Parts[0].Reasoning, "no service needs it back")
	got := s.Requests()[1].Body
	require.NotContains(t, got, "tools", "the server has no tool choice")
	require.Equal(t, []any{
		map[string]any{"role": "user", "content": "Why?"},
		map[string]any{"role": "assistant", "content": "", "thinking": "I need the day.", "tool_calls": []any{map[string]any{"function": map[string]any{"name": "today", "arguments": map[string]any{}}}}},
		map[string]any{"role": "tool", "content": "Monday.", "tool_name": "today"},
	}, got["messages"])
}

func TestCheckLearnsWhetherAModelCallsTools(t *testing.T) {
	for body, want := range map[string]bool{
		`{"capabilities": ["completion"]}`:          true,
		`{"capabilities": ["completion", "tools"]}`: false,
		`{}`: false, // an older server
	} {
		p, s := provider(t, ollama.Config{}, fakellm.Reply{})
		s.Routes["/api/show"] = fakellm.Reply{Body: body}
		require.Empty(t, p.Unsupported(providers.Request{Tools: tools}), "nothing is known yet")
		require.NoError(t, p.Check(t.Context(), ""))
		found := p.Unsupported(providers.Request{Tools: tools})
		require.Equal(t, want, found["tools"] == "model m calls no tools, use one with tools, such as qwen3", body)
		require.Empty(t, p.Unsupported(providers.Request{}))
	}
}

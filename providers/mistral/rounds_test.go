package mistral_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/mistral"
)

// The service wants IDs of nine letters and digits, and no user message after a result.
func TestRoundsHaveMistralsForm(t *testing.T) {
	s := fakellm.Start(t, fakellm.Mistral, fakellm.Reply{Chunks: []string{"So."}})
	p, err := mistral.New(mistral.Config{Key: key, Model: "m", BaseURL: s.URL + "/v1", HTTPClient: s.Client(t)})
	require.NoError(t, err)
	call := func(id string) providers.Part {
		return providers.Part{ToolCall: &providers.ToolCall{ID: id, Name: "today", Arguments: json.RawMessage(`{}`)}}
	}
	result := func(id string) providers.Part {
		return providers.Part{ToolResult: &providers.ToolResult{ID: id, Name: "today", Text: id + ": Monday."}}
	}
	_, err = p.Generate(t.Context(), providers.Request{
		Tools: []providers.Tool{{Name: "today", Schema: json.RawMessage(`{"type": "object"}`)}}, ToolChoice: "none",
		Messages: []providers.Message{
			{Role: providers.User, Text: "Why?"},
			{Role: providers.Assistant, Parts: []providers.Part{call("call_1"), call("D681PevKs")}},
			{Role: providers.User, Parts: []providers.Part{{Text: "Reply now."}, result("D681PevKs"), result("call_1")}},
		},
	})
	require.NoError(t, err)
	function := map[string]any{"name": "today", "arguments": "{}"}
	require.Equal(t, []any{
		map[string]any{"role": "user", "content": "Why?"},
		map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{
			map[string]any{"id": "call00001", "type": "function", "function": function}, map[string]any{"id": "D681PevKs", "type": "function", "function": function},
		}},
		map[string]any{"role": "tool", "tool_call_id": "call00001", "content": "call_1: Monday."},
		map[string]any{"role": "tool", "tool_call_id": "D681PevKs", "content": "D681PevKs: Monday.\n\nReply now."},
	}, s.Requests()[0].Body["messages"])
	require.Equal(t, "none", s.Requests()[0].Body["tool_choice"])
}

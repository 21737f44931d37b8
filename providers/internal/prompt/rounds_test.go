package prompt_test

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/prompt"
)

// messages draws a dialog with rounds as any service may have left them.
func messages(t *rapid.T) []providers.Message {
	list := []providers.Message{{Role: providers.User, Text: "Why?"}}
	for range rapid.IntRange(1, 6).Draw(t, "rounds") {
		var parts, results []providers.Part
		for i := range rapid.IntRange(1, 4).Draw(t, "calls") {
			id := rapid.SampledFrom([]string{"", "1", "2", "call 1", "call00001", "call00002", "call00003", "调用", "abcdefghi"}).Draw(t, "id")
			arguments := rapid.SampledFrom([]string{`{"a": 1}`, `"x"`, `null`, `{`, ``}).Draw(t, "arguments")
			parts = append(parts, providers.Part{ToolCall: &providers.ToolCall{ID: id, Name: "tool", Arguments: json.RawMessage(arguments)}})
			results = append(results, providers.Part{ToolResult: &providers.ToolResult{ID: id, Name: "tool", Text: string(rune('a' + i))}})
		}
		if rapid.Bool().Draw(t, "text") {
			results = append([]providers.Part{{Text: "Go on."}}, results...)
		}
		list = append(list, providers.Message{Role: providers.Assistant, Parts: parts}, providers.Message{Role: providers.User, Parts: results})
	}
	return list
}

// Rounds have the form that services require, keep their results, and do not change when others follow.
func TestRoundsFitAndStay(t *testing.T) {
	ids := regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)
	rapid.Check(t, func(t *rapid.T) {
		given := messages(t)
		whole, err := prompt.New(providers.Request{Messages: given}, ids)
		require.NoError(t, err)
		seen := map[string]bool{}
		for i, turn := range whole.Dialog {
			for j, part := range turn.Parts {
				if part.ToolCall == nil {
					continue
				}
				require.Regexp(t, ids, part.ToolCall.ID)
				require.False(t, seen[part.ToolCall.ID], "%s occurs twice", part.ToolCall.ID)
				seen[part.ToolCall.ID] = true
				require.True(t, json.Valid(part.ToolCall.Arguments) && part.ToolCall.Arguments[0] == '{')
				result := whole.Dialog[i+1].Parts[j].ToolResult
				require.Equal(t, part.ToolCall.ID, result.ID)
				require.Equal(t, string(rune('a'+j)), result.Text, "each call keeps its result")
			}
		}
		for n := 1; n < len(given); n += 2 {
			part, err := prompt.New(providers.Request{Messages: given[:n]}, ids)
			require.NoError(t, err)
			require.Equal(t, part.Dialog, whole.Dialog[:len(part.Dialog)], "what is cached stays the same")
		}
	})
}

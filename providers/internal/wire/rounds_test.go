package wire_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
)

// An edit of a debate may change the model after each round. Each service accepts the rounds of each other one, and its own again.
func TestEachServiceContinuesTheRoundsOfEachOther(t *testing.T) {
	all := append(slices.Clone(protocols), fakellm.DeepSeek, fakellm.Mistral)
	call := providers.ToolCall{ID: "call-1", Name: "today", Arguments: json.RawMessage(`{}`)}
	looks := fakellm.Reply{Reasoning: "I need the day.", Chunks: []string{"I look."}, ToolCalls: []providers.ToolCall{call}}
	for _, a := range all {
		for _, b := range all {
			t.Run(string(a+" "+b), func(t *testing.T) {
				models := []providers.Provider{
					service(t, a, fakellm.Start(t, a, looks).Client(t), nil), service(t, b, fakellm.Start(t, b, looks).Client(t), nil),
				}
				r := providers.Request{
					Messages: []providers.Message{{Role: providers.User, Text: "Why?"}}, Reasoning: "2048", MaxTokens: 8192,
					Tools: []providers.Tool{{Name: "today", Schema: json.RawMessage(`{"type": "object"}`)}},
				}
				for _, n := range []int{0, 1, 0, 1, 1} {
					res, err := models[n].Generate(t.Context(), r)
					require.NoError(t, err)
					message := providers.Message{Role: providers.User}
					for _, part := range res.Parts {
						if part.ToolCall != nil {
							message.Parts = append(message.Parts, providers.Part{ToolResult: &providers.ToolResult{ID: part.ToolCall.ID, Name: "today", Text: "Monday."}})
						}
					}
					require.NotEmpty(t, message.Parts)
					r.Messages = append(r.Messages, providers.Message{Role: providers.Assistant, Parts: res.Parts}, message)
				}
			})
		}
	}
}

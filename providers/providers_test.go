package providers_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// The JSON of requests and responses must stay stable, because recordings contain it.
func TestJSON(t *testing.T) {
	cold := 0.0
	for name, test := range map[string]struct {
		value any
		want  string
	}{
		"minimal request": {
			providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "Why?"}}},
			`{"messages": [{"role": "user", "text": "Why?"}]}`,
		},
		"full request, without the callback": {
			providers.Request{
				Messages: []providers.Message{{Role: providers.System, Text: "Argue."}, {Role: providers.Assistant, Text: "So."}},
				Model:    "m", Temperature: &cold, MaxTokens: 600, Schema: json.RawMessage(`{"type":"object"}`),
				OnChunk: func(string) error { return nil },
			},
			`{"messages": [{"role": "system", "text": "Argue."}, {"role": "assistant", "text": "So."}],
			  "model": "m", "temperature": 0, "max_tokens": 600, "schema": {"type": "object"}}`,
		},
		"minimal response": {
			providers.Response{Text: "Because."},
			`{"text": "Because.", "usage": {"input": 0, "output": 0}}`,
		},
		"full response": {
			providers.Response{Text: "Bec", FinishReason: providers.Length, Model: "m-1", Usage: transcript.Usage{Input: 9, Output: 3}},
			`{"text": "Bec", "finish_reason": "length", "model": "m-1", "usage": {"input": 9, "output": 3}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(test.value)
			require.NoError(t, err)
			require.JSONEq(t, test.want, string(got))
		})
	}
}

package googleai_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/googleai"
)

// sendParts sends one round with the parts, and returns the parts of the model's message in the request.
func sendParts(t *testing.T, model string, parts ...providers.Part) any {
	t.Helper()
	p, s := provider(t, googleai.Config{}, fakellm.Reply{Chunks: []string{"So."}})
	r := ask
	r.Model = model
	r.Tools = []providers.Tool{{Name: "today", Schema: json.RawMessage(`{"type": "object"}`)}}
	var results []providers.Part
	for _, part := range parts {
		if part.ToolCall != nil {
			results = append(results, providers.Part{ToolResult: &providers.ToolResult{Text: "Monday."}})
		}
	}
	r.Messages = append(slices.Clip(ask.Messages), providers.Message{Role: providers.Assistant, Parts: parts}, providers.Message{Role: providers.User, Parts: results})
	_, err := p.Generate(t.Context(), r)
	require.NoError(t, err)
	return s.Requests()[0].Body["contents"].([]any)[1].(map[string]any)["parts"]
}

func call(opaque string) providers.Part {
	return providers.Part{ToolCall: &providers.ToolCall{Name: "today", Arguments: json.RawMessage(`{}`), Opaque: opaque}}
}

func sentCall(signature string) map[string]any {
	sent := map[string]any{"functionCall": map[string]any{"name": "today", "args": map[string]any{}}}
	if signature != "" {
		sent["thoughtSignature"] = signature
	}
	return sent
}

// Each signature stays with its part, also that of a text before a call.
func TestSignaturesStayWithTheirParts(t *testing.T) {
	sealed := providers.Part{Reasoning: &providers.Reasoning{Service: "googleai", Data: json.RawMessage(`"c2VhbGVk"`)}}
	text := providers.Part{Text: "I look."}
	signedText := map[string]any{"text": "I look.", "thoughtSignature": "c2VhbGVk"}
	require.Equal(t, []any{signedText, sentCall("c2ln")}, sendParts(t, "gemini-3-flash", text, sealed, call("c2ln")), "after the text")
	require.Equal(t, []any{signedText, sentCall("c2ln")}, sendParts(t, "gemini-3-flash", sealed, text, call("c2ln")), "before the text")
	require.Equal(t, []any{sentCall("c2VhbGVk")}, sendParts(t, "gemini-3-flash", sealed, call("")), "of the thoughts before a call")
	require.Equal(t, []any{sentCall("c2ln"), sentCall("")}, sendParts(t, "gemini-3-flash", call("c2ln"), call("")), "only the first of parallel calls has one")
}

func TestUnsignedCallsGetThePlaceholder(t *testing.T) {
	const placeholder = "skip_thought_signature_validator"
	require.Equal(t, []any{sentCall(placeholder), sentCall("")}, sendParts(t, "gemini-3-flash", call(""), call("")))
	require.Equal(t, []any{sentCall("")}, sendParts(t, "gemini-2.5-flash", call("")), "older models need none")
}

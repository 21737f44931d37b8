package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// Some servers ignore that a stream was asked for.
func TestWholeReplies(t *testing.T) {
	reply := fakellm.Reply{Chunks: []string{"Be", "cause."}, Usage: transcript.Usage{Input: 100, Cached: 90, Output: 50}, Whole: true}
	each(t, []fakellm.Reply{reply}, func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
		var heard []string
		res, err := p.Generate(calltest.Forever(t), calltest.Listen(&heard))
		require.NoError(t, err)
		require.Equal(t, "Because.", res.Text)
		require.Equal(t, []string{"Because."}, heard)
		require.Equal(t, providers.Stop, res.FinishReason)
		require.Equal(t, "m-1", res.Model)
		require.Equal(t, 100, res.Usage.Input)
		require.Equal(t, 50, res.Usage.Output)
	})
}

// TestPartsInRequests compares what each service receives for tools, tool calls, tool results and reasoning with
// testdata/parts.*.json.
func TestPartsInRequests(t *testing.T) {
	r := providers.Request{
		Tools: []providers.Tool{{Name: "search", Description: "Searches.", Schema: json.RawMessage(`{"type": "object", "properties": {"query": {"type": "string"}}}`)}},
		Messages: []providers.Message{
			{Role: providers.System, Text: "Argue."},
			{Role: providers.User, Text: "Why?"},
			{Role: providers.Assistant, Parts: []providers.Part{
				{Reasoning: &providers.Reasoning{Text: "No service gets this back."}},
				{Reasoning: &providers.Reasoning{Service: "anthropic", Data: json.RawMessage(`{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}`)}},
				{Reasoning: &providers.Reasoning{Service: "service", Data: json.RawMessage(`{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "b3BhcXVl"}`)}},
				{Reasoning: &providers.Reasoning{Service: "googleai", Data: json.RawMessage(`"c2VhbGVk"`)}},
				{Text: "Let me look."},
				{ToolCall: &providers.ToolCall{ID: "call-1", Name: "search", Arguments: json.RawMessage(`{"query": "bridges"}`), Opaque: "c2ln"}},
			}},
			{Role: providers.User, Parts: []providers.Part{
				{ToolResult: &providers.ToolResult{ID: "call-1", Name: "search", Text: "nothing", Failed: true}},
				{Text: "Go on."},
			}},
		},
	}
	for _, p := range protocols {
		t.Run(string(p), func(t *testing.T) {
			s := fakellm.Start(t, p, fakellm.Reply{Chunks: []string{"So."}})
			calltest.Generate(t, service(t, p, s.Client(t), nil), r)
			raw, err := json.MarshalIndent(s.Requests()[0].Body, "", "  ")
			require.NoError(t, err)
			require.NotContains(t, string(raw), "No service gets this back")
			require.Equal(t, p == fakellm.Anthropic, strings.Contains(string(raw), `"thinking"`), "opaque reasoning goes to its own service only")
			require.Equal(t, p == fakellm.Responses, strings.Contains(string(raw), `"encrypted_content":`), "opaque reasoning goes to its own service only")
			require.Equal(t, p == fakellm.Google, strings.Contains(string(raw), "c2VhbGVk"), "opaque reasoning goes to its own service only")
			golden.Require(t, "testdata/parts."+string(p)+".json", string(raw)+"\n")
		})
	}
}

func TestPartsThatDoNotFitAreRefused(t *testing.T) {
	call := &providers.ToolCall{Name: "search"}
	for want, m := range map[string]providers.Message{
		"message 1 has Text and Parts, want one of them":                 {Role: providers.User, Text: "a", Parts: []providers.Part{{Text: "b"}}},
		"message 1 has a part 1 with 0 kinds of content, want one":       {Role: providers.User, Parts: []providers.Part{{}}},
		"message 1 has a part 2 with 2 kinds of content, want one":       {Role: providers.Assistant, Parts: []providers.Part{{Text: "a"}, {Text: "b", ToolCall: call}}},
		"message 1 has a part 1 that does not fit the role user":         {Role: providers.User, Parts: []providers.Part{{ToolCall: call}}},
		"message 1 has a part 1 that does not fit the role assistant":    {Role: providers.Assistant, Parts: []providers.Part{{ToolResult: &providers.ToolResult{}}}},
		`message 1 has the unknown role "tool", want system, user or as`: {Role: "tool", Text: "7"},
	} {
		each(t, []fakellm.Reply{{Chunks: []string{"So."}}}, func(t *testing.T, p providers.Provider, s *fakellm.Server) {
			_, err := p.Generate(calltest.Forever(t), providers.Request{Messages: []providers.Message{m}})
			require.ErrorContains(t, calltest.RequireKind(t, providers.InvalidRequest, err), want)
			require.Empty(t, s.Requests())
		})
	}
}

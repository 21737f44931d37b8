package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/openai"
)

// round returns a request with one round of tool calls.
func round(parts ...providers.Part) providers.Request {
	parts = append(parts, providers.Part{ToolCall: &providers.ToolCall{ID: "call-1", Name: "today", Arguments: json.RawMessage(`{}`)}})
	return providers.Request{
		Tools: []providers.Tool{{Name: "today", Schema: json.RawMessage(`{"type": "object"}`)}},
		Messages: []providers.Message{
			{Role: providers.User, Text: "Why?"},
			{Role: providers.Assistant, Parts: parts},
			{Role: providers.User, Parts: []providers.Part{{ToolResult: &providers.ToolResult{ID: "call-1", Text: "Monday."}}}},
		},
	}
}

// reasoningOf returns the reasoning_content of the assistant's message in the last request.
func reasoningOf(s *fakellm.Server) any {
	got := s.Requests()
	return got[len(got)-1].Body["messages"].([]any)[1].(map[string]any)["reasoning_content"]
}

func chat(t *testing.T, protocol fakellm.Protocol) (*openai.Provider, *fakellm.Server) {
	t.Helper()
	s := fakellm.Start(t, protocol, fakellm.Reply{Chunks: []string{"So."}})
	p, err := openai.New(openai.Config{Key: key, Model: "m", BaseURL: s.URL + "/v1", HTTPClient: s.Client(t)})
	require.NoError(t, err)
	return p, s
}

// DeepSeek refuses calls without reasoning, also those of other models. The provider learns it from the first refusal.
func TestReasoningThatTheServerNeedsGoesBack(t *testing.T) {
	p, s := chat(t, fakellm.DeepSeek)
	own := providers.Part{Reasoning: &providers.Reasoning{Text: "I need the day.", Service: "service"}}
	res := calltest.Generate(t, p, round(own))
	require.Empty(t, res.Warnings)
	require.Equal(t, "I need the day.", reasoningOf(s))
	foreign := providers.Part{Reasoning: &providers.Reasoning{Text: "I need the day.", Service: "elsewhere"}}
	for i, want := range [][]string{{"model m does not support: tool calls without reasoning (a space is sent): requests omit what it refuses for the next 1h0m0s"}, nil} {
		res = calltest.Generate(t, p, round(foreign))
		require.Equal(t, want, res.Warnings)
		require.Equal(t, " ", reasoningOf(s), "no service gets the words of another")
		require.Len(t, s.Requests(), 3+i)
	}
}

// A server that refuses the field gets no reasoning for an hour.
func TestReasoningThatTheServerRefusesIsOmitted(t *testing.T) {
	p, s := chat(t, fakellm.OpenAI)
	own := providers.Part{Reasoning: &providers.Reasoning{Text: "I need the day.", Service: "service"}}
	for i, want := range [][]string{{"model m does not support: the reasoning of earlier replies: requests omit what it refuses for the next 1h0m0s"}, nil} {
		res := calltest.Generate(t, p, round(own))
		require.Equal(t, want, res.Warnings)
		require.Nil(t, reasoningOf(s))
		require.Len(t, s.Requests(), 2+i)
	}
}

// OpenAI's own servers combine tools with a schema. Other servers often refuse it, or never call a tool.
func TestOnlyOpenAICombinesToolsWithASchema(t *testing.T) {
	r := round()
	r.Schema = json.RawMessage(`{"type": "object"}`)
	for _, c := range []openai.Config{{}, {API: "chat"}, {BaseURL: "https://x.openai.azure.com/openai/v1"}} {
		c.Key, c.Model = key, "m"
		p, err := openai.New(c)
		require.NoError(t, err)
		require.Empty(t, p.Unsupported(r))
	}
	p, _ := chat(t, fakellm.OpenAI)
	require.Equal(t, map[string]string{"schema": "the service cannot combine tools with a schema in one call: it gets the schema only with tool_choice none"}, p.Unsupported(r))
	r.ToolChoice = "none"
	require.Empty(t, p.Unsupported(r))
}

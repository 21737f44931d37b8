package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
)

// sent returns the body that a service receives, without the messages.
func sent(t *testing.T, p fakellm.Protocol, r providers.Request) map[string]any {
	t.Helper()
	s := fakellm.Start(t, p, fakellm.Reply{Chunks: []string{"So."}})
	calltest.Generate(t, service(t, p, s.Client(t), nil), r)
	body := s.Requests()[0].Body
	for _, name := range []string{"messages", "contents", "system", "systemInstruction", "stream", "stream_options", "truncate", "shift", "model", "input", "include", "store"} {
		delete(body, name)
	}
	return body
}

func TestSettingsInRequests(t *testing.T) {
	seed, warm := int64(7), 0.5
	for protocol, want := range map[fakellm.Protocol]string{
		fakellm.OpenAI:    `{"temperature": 0.5, "top_p": 0.9, "seed": 7, "stop": ["END", "###"], "max_completion_tokens": 600}`,
		fakellm.Responses: `{"temperature": 0.5, "top_p": 0.9, "max_output_tokens": 600}`,
		fakellm.Anthropic: `{"temperature": 0.5, "top_p": 0.9, "stop_sequences": ["END", "###"], "max_tokens": 600}`,
		fakellm.Google:    `{"generationConfig": {"temperature": 0.5, "topP": 0.9, "seed": 7, "stopSequences": ["END", "###"], "maxOutputTokens": 600}}`,
		fakellm.Ollama:    `{"options": {"temperature": 0.5, "top_p": 0.9, "seed": 7, "stop": ["END", "###"], "num_predict": 600}}`,
	} {
		t.Run(string(protocol), func(t *testing.T) {
			r := calltest.Ask()
			r.Temperature = &warm
			r.TopP = 0.9
			r.Seed = &seed
			r.Stop = []string{"END", "###"}
			r.MaxTokens = 600
			require.Equal(t, object(t, want), sent(t, protocol, r))
		})
	}
}

// TestReasoningInRequests sends each level and a budget to models of each kind.
func TestReasoningInRequests(t *testing.T) {
	for _, test := range []struct {
		protocol         fakellm.Protocol
		model, reasoning string
		limit            int
		want             string
	}{
		{fakellm.OpenAI, "m", "", 0, `{}`},
		{fakellm.OpenAI, "m", "none", 0, `{"reasoning_effort": "none"}`},
		{fakellm.OpenAI, "m", "high", 0, `{"reasoning_effort": "high"}`},
		{fakellm.OpenAI, "gpt-4.1", "none", 0, `{}`},

		{fakellm.Responses, "m", "", 0, `{}`},
		{fakellm.Responses, "m", "none", 0, `{"reasoning": {"effort": "none"}}`},
		{fakellm.Responses, "m", "high", 0, `{"reasoning": {"effort": "high"}}`},
		{fakellm.Responses, "gpt-4.1", "none", 0, `{}`},

		{fakellm.Anthropic, "claude-sonnet-4-5", "", 900, `{"max_tokens": 900}`},
		{fakellm.Anthropic, "claude-sonnet-4-5", "none", 900, `{"max_tokens": 900, "thinking": {"type": "disabled"}}`},
		{fakellm.Anthropic, "claude-sonnet-4-5-20250929", "low", 4096, `{"max_tokens": 4096, "thinking": {"type": "enabled", "budget_tokens": 2048}}`},
		{fakellm.Anthropic, "claude-sonnet-4-5", "5000", 9096, `{"max_tokens": 9096, "thinking": {"type": "enabled", "budget_tokens": 5000}}`},
		{fakellm.Anthropic, "claude-opus-4-20250514", "medium", 4000, `{"max_tokens": 4000, "thinking": {"type": "enabled", "budget_tokens": 2000}}`},
		{fakellm.Anthropic, "claude-3-7-sonnet-latest", "low", 1500, `{"max_tokens": 1500}`},
		{fakellm.Anthropic, "claude-3-5-haiku-latest", "none", 0, `{"max_tokens": 2048}`},
		{fakellm.Anthropic, "claude-sonnet-4-5", "low", 0, `{"max_tokens": 4096, "thinking": {"type": "enabled", "budget_tokens": 2048}}`},
		{fakellm.Anthropic, "claude-opus-4-6", "low", 4096, `{"max_tokens": 4096, "thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}`},
		{fakellm.Anthropic, "claude-opus-4-6", "3000", 4096, `{"max_tokens": 4096, "thinking": {"type": "enabled", "budget_tokens": 3000}}`},
		{fakellm.Anthropic, "claude-sonnet-5", "high", 4096, `{"max_tokens": 4096, "thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}}`},

		{fakellm.Google, "gemini-2.5-flash", "", 0, `{"generationConfig": {}}`},
		{fakellm.Google, "gemini-2.5-flash", "none", 0, `{"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}`},
		{fakellm.Google, "gemini-2.5-flash", "medium", 0, `{"generationConfig": {"thinkingConfig": {"thinkingBudget": 8192, "includeThoughts": true}}}`},
		{fakellm.Google, "models/gemini-2.5-pro", "300", 0, `{"generationConfig": {"thinkingConfig": {"thinkingBudget": 300, "includeThoughts": true}}}`},
		{fakellm.Google, "gemini-3-pro-preview", "low", 0, `{"generationConfig": {"thinkingConfig": {"thinkingLevel": "low", "includeThoughts": true}}}`},
		{fakellm.Google, "gemini-2.0-flash", "none", 0, `{"generationConfig": {}}`},

		{fakellm.Ollama, "qwen3", "", 0, `{"options": {}}`},
		{fakellm.Ollama, "qwen3", "none", 0, `{"options": {}, "think": false}`},
		{fakellm.Ollama, "qwen3", "low", 0, `{"options": {}, "think": true}`},
		{fakellm.Ollama, "gpt-oss:20b", "low", 0, `{"options": {}, "think": "low"}`},
	} {
		t.Run(test.model+" "+test.reasoning, func(t *testing.T) {
			r := calltest.Ask()
			r.Temperature = nil
			r.MaxTokens = test.limit
			r.Model = test.model
			r.Reasoning = test.reasoning
			require.Equal(t, object(t, test.want), sent(t, test.protocol, r))
		})
	}
}

// A schema and the effort of reasoning are in the same field of Anthropic's requests.
func TestReasoningAndASchema(t *testing.T) {
	r := calltest.Ask()
	r.Model = "claude-opus-4-6"
	r.Reasoning = "low"
	r.Schema = json.RawMessage(`{"type": "object"}`)
	output := sent(t, fakellm.Anthropic, r)["output_config"].(map[string]any)
	require.Equal(t, "low", output["effort"])
	require.Contains(t, output, "format")
}

func TestUnsupportedSettings(t *testing.T) {
	seed := int64(7)
	huge := int64(1) << 40
	warm := 0.5
	five := []string{"a", "b", "c", "d", "e"}
	for _, test := range []struct {
		protocol fakellm.Protocol
		request  providers.Request
		want     map[string]string
	}{
		{fakellm.OpenAI, providers.Request{Model: "gpt-4.1", Reasoning: "high", Stop: five, TopP: 0.5, Seed: &seed}, nil}, // another server's
		{fakellm.OpenAI, providers.Request{Reasoning: "2048"}, map[string]string{"reasoning": "2048 tokens: the API has no budgets for reasoning, use low, medium or high, or set the field of your server in Config.Extra"}},
		{fakellm.Anthropic, providers.Request{Reasoning: "low", TopP: 0.95}, nil},
		{fakellm.Anthropic, providers.Request{Seed: &seed, Stop: []string{"\n"}}, map[string]string{
			"seed": "the service has no seed, remove it", "stop": "the service refuses blank texts, remove them",
		}},
		{fakellm.Anthropic, providers.Request{Model: "claude-3-5-haiku-latest", Reasoning: "low"}, map[string]string{"reasoning": "model claude-3-5-haiku-latest does not reason, remove it or use none"}},
		{fakellm.Anthropic, providers.Request{Model: "claude-opus-4-7", Reasoning: "2048"}, map[string]string{"reasoning": "2048 tokens: model claude-opus-4-7 has no budgets, use low, medium or high"}},
		{fakellm.Anthropic, providers.Request{Model: "claude-opus-4-10", Reasoning: "2048"}, map[string]string{"reasoning": "2048 tokens: model claude-opus-4-10 has no budgets, use low, medium or high"}},
		{fakellm.Anthropic, providers.Request{Model: "claude-sonnet-4-5", Reasoning: "1000"}, map[string]string{"reasoning": "1000 tokens are too few, use at least 1024"}},
		{fakellm.Anthropic, providers.Request{Model: "claude-fable-5", Reasoning: "none"}, map[string]string{"reasoning": "model claude-fable-5 always reasons, use low"}},
		{fakellm.Anthropic, providers.Request{Reasoning: "high", Temperature: &warm, TopP: 0.5}, map[string]string{
			"temperature": "0.5 is not possible with reasoning, remove it", "top_p": "0.5 is too small with reasoning, use 0.95 to 1",
		}},
		{fakellm.Anthropic, providers.Request{Model: "claude-opus-4-1", Temperature: &warm, TopP: 0.5}, map[string]string{"temperature": "model claude-opus-4-1 accepts temperature or top_p, remove one"}},
		{fakellm.Anthropic, providers.Request{Model: "claude-3-7-sonnet-latest", Temperature: &warm, TopP: 0.5}, nil},

		{fakellm.Google, providers.Request{Reasoning: "high", Stop: five, TopP: 0.5, Seed: &seed}, nil},
		{fakellm.Google, providers.Request{Stop: append(five, "f"), Seed: &huge}, map[string]string{
			"seed": "1099511627776 is out of range, use -2147483648 to 2147483647", "stop": "6 texts are too many, use at most 5",
		}},
		{fakellm.Google, providers.Request{Model: "gemini-2.0-flash", Reasoning: "low"}, map[string]string{"reasoning": "model gemini-2.0-flash does not reason, remove it or use none"}},
		{fakellm.Google, providers.Request{Model: "models/gemini-2.5-pro", Reasoning: "none"}, map[string]string{"reasoning": "model models/gemini-2.5-pro always reasons, use low"}},
		{fakellm.Google, providers.Request{Model: "gemini-2.5-flash", Reasoning: "none"}, nil},
		{fakellm.Google, providers.Request{Model: "gemini-3-flash", Reasoning: "none"}, map[string]string{"reasoning": "model gemini-3-flash always reasons, use low"}},
		{fakellm.Google, providers.Request{Model: "gemini-3-pro-preview", Reasoning: "medium"}, map[string]string{"reasoning": "model gemini-3-pro-preview has only low and high"}},
		{fakellm.Google, providers.Request{Model: "gemini-2.5-pro", Reasoning: "100"}, map[string]string{"reasoning": "100 tokens are out of range for model gemini-2.5-pro, use 128 to 32768"}},
		{fakellm.Google, providers.Request{Model: "gemini-2.5-flash-lite", Reasoning: "100"}, map[string]string{"reasoning": "100 tokens are out of range for model gemini-2.5-flash-lite, use 512 to 24576"}},
		{fakellm.Google, providers.Request{Model: "gemini-2.5-flash", Reasoning: "30000"}, map[string]string{"reasoning": "30000 tokens are out of range for model gemini-2.5-flash, use 1 to 24576"}},

		{fakellm.Ollama, providers.Request{Reasoning: "high", Stop: five, TopP: 0.5, Seed: &seed}, nil},
		{fakellm.Ollama, providers.Request{Reasoning: "2048"}, map[string]string{"reasoning": "2048 tokens: the server has no budgets for reasoning, use low, medium or high"}},
		{fakellm.Ollama, providers.Request{Model: "gpt-oss:120b", Reasoning: "none"}, map[string]string{"reasoning": "model gpt-oss:120b always reasons, use low"}},
	} {
		l := service(t, test.protocol, nil, nil).(providers.Limited)
		got := l.Unsupported(test.request)
		if len(test.want) == 0 {
			require.Empty(t, got)
		} else {
			require.Equal(t, test.want, got)
		}
	}
}

func object(t *testing.T, text string) (o map[string]any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &o))
	return o
}

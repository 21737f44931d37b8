package langchain

import (
	"encoding/json"

	"github.com/tmc/langchaingo/llms"

	"github.com/elenchus-go/debate/transcript"
)

// unspecified names the finish reason that googleai reports for a stream that has not ended.
const unspecified = "FinishReasonUnspecified"

// merge joins the choices, which are the blocks of one reply. anthropic returns one choice per block, each with the
// usage of the whole reply.
func merge(content *llms.ContentResponse) (text, reason string, info map[string]any, ok bool) {
	if content == nil {
		return "", "", nil, false
	}
	for _, choice := range content.Choices {
		if choice == nil {
			continue
		}
		text += choice.Content
		if !ok {
			reason = choice.StopReason
			info = choice.GenerationInfo
			ok = true
		}
	}
	return text, reason, info, ok
}

// usage returns the usage of a reply, and reports whether the model reports usage at all. If a count has several names,
// usage takes the first value that is not 0.
func usage(info map[string]any) (u transcript.Usage, counts bool) {
	if nested := fields(info["usage"]); nested != nil { // mistral: a struct
		info = nested
	}
	tokens := func(names ...string) int {
		for _, name := range names {
			v, ok := info[name]
			counts = counts || ok
			if n := number(v); n > 0 {
				return n
			}
		}
		return 0
	}
	u.Input = tokens("PromptTokens", "prompt_tokens", "input_tokens")
	u.Cached = tokens("PromptCachedTokens", "CachedTokens", "CacheReadInputTokens")
	if fresh := tokens("InputTokens"); fresh > 0 || u.Input == 0 { // anthropic: without cached ones
		u.Input = fresh + tokens("CacheReadInputTokens") + tokens("CacheCreationInputTokens")
	}
	u.Output = tokens("CompletionTokens", "OutputTokens", "completion_tokens", "output_tokens")
	u.Reasoning = tokens("ReasoningTokens", "CompletionReasoningTokens", "ThinkingTokens")
	if hidden := tokens("TotalTokens", "total_tokens") - u.Input - u.Output; hidden > 0 { // googleai: without reasoning
		u.Output += hidden
		u.Reasoning = max(u.Reasoning, hidden)
	}
	return u, counts
}

// fields returns the fields of a struct by their JSON names.
func fields(v any) (m map[string]any) {
	if raw, err := json.Marshal(v); err == nil {
		_ = json.Unmarshal(raw, &m) // what is no object has no fields
	}
	return m
}

// number returns v as an int, or 0 if v is not a number.
func number(v any) int {
	switch n := v.(type) {
	case int:
		return n
	case int32:
		return int(n)
	case int64:
		return int(n)
	case float64:
		return int(n)
	case json.Number:
		f, _ := n.Float64()
		return int(f)
	}
	return 0
}

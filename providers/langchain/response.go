package langchain

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// What can be wrong with a reply.
var (
	errNoChoices = replyError(providers.InvalidResponse, "it has no choices")
	errCutStream = replyError(providers.Network, "the stream was cut")
	errEmpty     = replyError(providers.InvalidResponse, "it is empty")
	errTokenCap  = replyError(providers.InvalidResponse, "it is empty: the token cap was used up, perhaps by reasoning")
	errFiltered  = replyError(providers.InvalidResponse, "it is empty: the service withheld it")
)

func replyError(kind providers.ErrorKind, cause string) *providers.Error {
	return &providers.Error{Kind: kind, Err: errors.New("read reply: " + cause)}
}

// unspecified is what googleai reports for a stream that has not ended.
const unspecified = "FinishReasonUnspecified"

// read makes a response of what the model returned after it had streamed said under a cap of tokens, and of what the
// transport saw. A response with an error is what can be told nevertheless.
func read(content *llms.ContentResponse, said string, limit int, seen observation) (providers.Response, error) {
	text, reason, info, ok := merge(content)
	if !ok {
		return providers.Response{}, errNoChoices
	}
	reason = cmp.Or(seen.finish, reason)
	res := providers.Response{Text: text, FinishReason: finishReasons[strings.ToLower(strings.TrimPrefix(reason, "FinishReason"))]}
	res.Model, _ = info["model"].(string)
	res.Model = cmp.Or(seen.model, res.Model)
	var counts bool
	res.Usage, counts = usage(info)
	if seen.usage != (transcript.Usage{}) {
		res.Usage = seen.usage
	}
	if res.FinishReason == "" && limit > 0 && res.Usage.Output >= limit {
		res.FinishReason = providers.Length // ollama gives no reason
	}
	// The last thing that a stream brings is a reason to stop and the usage, from a model that counts at all.
	silent := !seen.complete && reason == "" && counts && res.Usage == transcript.Usage{}
	return res, checkReply(res, said, silent || reason == unspecified)
}

// merge joins the choices, which are blocks of one reply: anthropic gives one for each, and the same usage in all.
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
			reason, info, ok = choice.StopReason, choice.GenerationInfo, true
		}
	}
	return text, reason, info, ok
}

// checkReply says what is wrong with a reply, if anything. An endless one shows no sign that the model came to its end.
func checkReply(res providers.Response, said string, endless bool) error {
	empty := strings.TrimSpace(res.Text) == ""
	switch {
	case endless && (empty || said != ""), len(res.Text) < len(strings.TrimSpace(said)):
		return errCutStream
	case !empty:
		return nil
	case res.FinishReason == providers.Length:
		return errTokenCap
	case res.FinishReason == providers.ContentFilter:
		return errFiltered
	}
	return errEmpty
}

// finishReasons are the reasons to stop by the lower-case words of the services.
var finishReasons = map[string]providers.FinishReason{
	"stop": providers.Stop, "end_turn": providers.Stop, "stop_sequence": providers.Stop, "complete": providers.Stop,
	"eos": providers.Stop, "eos_token": providers.Stop, "finish": providers.Stop, "endoftext": providers.Stop,
	"length": providers.Length, "max_tokens": providers.Length, "maxtokens": providers.Length,
	"model_length": providers.Length, "model_context_window_exceeded": providers.Length,
	"content_filter": providers.ContentFilter, "content_filtered": providers.ContentFilter,
	"refusal": providers.ContentFilter, "safety": providers.ContentFilter, "recitation": providers.ContentFilter,
	"blocklist": providers.ContentFilter, "prohibitedcontent": providers.ContentFilter, "spii": providers.ContentFilter,
	"guardrail_intervened": providers.ContentFilter,
}

// usage reads the tokens of a reply, and whether the model has a place for them at all. Of names for the same thing the
// first that is not 0 counts.
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

// fields are the fields of a struct by their JSON names.
func fields(v any) (m map[string]any) {
	if raw, err := json.Marshal(v); err == nil {
		_ = json.Unmarshal(raw, &m) // what is no object has no fields
	}
	return m
}

// number is v as an int, 0 where it is none.
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

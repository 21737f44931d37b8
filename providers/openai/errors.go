package openai

import (
	"fmt"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// finishReasons maps the finish reasons of OpenAI and of compatible servers.
var finishReasons = map[string]providers.FinishReason{
	"stop": providers.Stop, "eos": providers.Stop, "eos_token": providers.Stop, "end_turn": providers.Stop, "stop_sequence": providers.Stop,
	"length": providers.Length, "max_tokens": providers.Length, "model_length": providers.WindowFull, "model_context_window_exceeded": providers.WindowFull,
	"content_filter": providers.ContentFilter, "content_filtered": providers.ContentFilter, "refusal": providers.ContentFilter,
	"safety": providers.ContentFilter, "recitation": providers.ContentFilter,
	"tool_calls": providers.ToolCalls, "function_call": providers.ToolCalls,
}

// failedReasons maps the finish reasons of failed replies. They come from OpenRouter, DeepSeek and vLLM.
var failedReasons = map[string]providers.ErrorKind{
	"error": providers.ServerError, "insufficient_system_resource": providers.ServerError, "abort": providers.Network,
}

// finish completes a reply whose finish reason is set.
func finish(reason string, r *wire.Reply) error {
	if reason == "" {
		return nil
	}
	if kind, ok := failedReasons[reason]; ok {
		return &providers.Error{Kind: kind, Err: fmt.Errorf("read reply: the service ended it with finish reason %q", reason)}
	}
	r.Finish(finishReasons[reason])
	return nil
}

// errorKinds maps the codes in the errors of OpenAI and of compatible servers. Sources:
// https://platform.openai.com/docs/guides/error-codes, and the bodies in testdata/errors.json.
var errorKinds = map[string]providers.ErrorKind{
	"string_above_max_length":      providers.ContextOverflow,
	"account_deactivated":          providers.Billing,
	"access_terminated":            providers.Billing,
	"data_inspection_failed":       providers.ContentFiltered,
	"sensitive_content":            providers.ContentFiltered,
	"server_error":                 providers.ServerError,
	"engine_overloaded_error":      providers.ServerError,
	"exceeded_current_quota_error": providers.Billing,
}

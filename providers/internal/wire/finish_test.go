package wire

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
)

// A finish reason that is a failure, or that nobody knows, is an error.
func TestFinishWords(t *testing.T) {
	for word, want := range map[string]providers.FinishReason{
		"stop": providers.Stop, "STOP": providers.Stop, "end_turn": providers.Stop, "FinishReasonStop": providers.Stop, "eos-token": providers.Stop,
		"length": providers.Length, "MAX_TOKENS": providers.Length, "FINISH_REASON_MAX_TOKENS": providers.Length,
		"model_context_window_exceeded": providers.WindowFull,
		"SAFETY":                        providers.ContentFilter, "sensitive": providers.ContentFilter, "tool_use": providers.ToolCalls,
	} {
		r := NewReply(providers.Request{})
		require.NoError(t, r.FinishWord(word), word)
		require.True(t, r.complete, word)
		require.Equal(t, want, r.res.FinishReason, word)
	}
	for _, word := range []string{"", "null", "FINISH_REASON_UNSPECIFIED"} {
		r := NewReply(providers.Request{})
		require.NoError(t, r.FinishWord(word), word)
		require.False(t, r.complete, word)
	}
	for word, want := range map[string]providers.ErrorKind{
		"error": providers.ServerError, "engine_error": providers.ServerError, "FAILED": providers.ServerError, "pause_turn": providers.ServerError,
		"network_error": providers.Network, "abort": providers.Network, "cancelled": providers.Network, "time_limit": providers.Timeout,
		"malformed_function_call": providers.InvalidResponse, "MALFORMED_FUNCTION_CALL": providers.InvalidResponse,
		"OTHER": providers.InvalidResponse, "tired": providers.InvalidResponse,
	} {
		r := NewReply(providers.Request{})
		require.NoError(t, r.Add(Text("Half a sentence")))
		err := r.FinishWord(word)
		require.Error(t, err, word)
		require.Equal(t, want, providers.AsError(err).Kind, word)
		require.False(t, r.complete, word)
		require.Equal(t, "Half a sentence", r.Partial().Text, word)
	}
}

// After error_finish, the text is the error. It is no part of a reply.
func TestTextThatIsAnError(t *testing.T) {
	for text, want := range map[string]providers.ErrorKind{
		"Too many tokens, please wait before trying again. Please retry in 9s.": providers.RateLimit,
		`{"error": {"code": 402, "message": "pay"}}`:                            providers.Billing,
		"": providers.ServerError,
	} {
		r := NewReply(providers.Request{})
		require.NoError(t, r.Add(Text(text)))
		err := r.FinishWord("error_finish")
		require.Equal(t, want, providers.AsError(err).Kind, text)
		require.ErrorContains(t, err, `the service ended it with finish reason "error_finish"`)
		require.Empty(t, r.Partial().Text)
	}
}

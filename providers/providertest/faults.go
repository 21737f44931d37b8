package providertest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
)

func testCancelOnArrival(t *testing.T, h ProviderFunc) {
	ctx, cancel := context.WithCancelCause(t.Context())
	p := h(t, Reply{Hang: true, Arrived: func() { cancel(errCaller) }})
	var e chunkRecorder
	res, err := p.Generate(ctx, e.request(nil))
	_ = requireKind(t, providers.ServerError, res, err)
	require.ErrorIs(t, err, errCaller)
	require.Empty(t, e.chunks)
}

// testCancelWithMore cancels a call whose further chunks may have arrived already.
func testCancelWithMore(t *testing.T, h ProviderFunc) {
	ctx, cancel := context.WithCancelCause(t.Context())
	var e chunkRecorder
	res, err := h(t, sampleReply).Generate(ctx, e.request(func(int) error { cancel(errCaller); return nil }))
	failed := requireKind(t, providers.ServerError, res, err)
	require.ErrorIs(t, err, errCaller)
	require.Len(t, e.chunks, 1, "no chunk follows the end of the context")
	require.Equal(t, e.text(), failed.Partial.Text)
}

func testRetryAfter(t *testing.T, h ProviderFunc) {
	const delay = 7 * time.Second
	for _, form := range []RetryForm{RetrySeconds, RetryDate, RetryWords} {
		t.Run(string(form), func(t *testing.T) {
			res, err := h(t, Reply{Fail: providers.RateLimit, RetryAfter: delay, RetryForm: form}).Generate(t.Context(), sampleRequest())
			require.Equal(t, delay, requireKind(t, providers.RateLimit, res, err).RetryAfter)
		})
	}
}

func testErrorEvent(t *testing.T, h ProviderFunc) {
	for _, kind := range []providers.ErrorKind{providers.RateLimit, providers.ServerError, providers.ContextOverflow} {
		t.Run(string(kind), func(t *testing.T) {
			var e chunkRecorder
			res, err := h(t, Reply{Chunks: sampleReply.Chunks[:2], Fail: kind, Fault: ErrorEvent}).Generate(t.Context(), e.request(nil))
			require.Equal(t, e.text(), requireKind(t, kind, res, err).Partial.Text)
			require.Equal(t, strings.Join(sampleReply.Chunks[:2], ""), e.text())
		})
	}
}

func testCutConnection(t *testing.T, h ProviderFunc) {
	for n := range len(sampleReply.Chunks) + 1 {
		var e chunkRecorder
		res, err := h(t, Reply{Chunks: sampleReply.Chunks[:n], Fail: providers.Network, Fault: Cut}).Generate(t.Context(), e.request(nil))
		require.Equal(t, e.text(), requireKind(t, providers.Network, res, err).Partial.Text)
	}
}

func testDisturbedStream(t *testing.T, h ProviderFunc) {
	for _, fault := range []Fault{Trickle, Split, Gzip, LongLine} {
		t.Run(string(fault), func(t *testing.T) {
			reply := sampleReply
			reply.Fault = fault
			var e chunkRecorder
			res, err := h(t, reply).Generate(t.Context(), e.request(nil))
			require.NoError(t, err)
			requireReply(t, reply, res)
			requireChunks(t, e.chunks)
			require.Equal(t, res.Text, e.text())
		})
	}
}

func testNoUsage(t *testing.T, h ProviderFunc) {
	reply := Reply{Chunks: sampleReply.Chunks}
	var e chunkRecorder
	res, err := h(t, reply).Generate(t.Context(), e.request(nil))
	require.NoError(t, err)
	requireReply(t, reply, res)
}

func testReasoning(t *testing.T, h ProviderFunc) {
	reply := sampleReply
	reply.Reasoning = "The secret plan: attack."
	p := h(t, reply, Reply{Reasoning: reply.Reasoning, FinishReason: providers.Length, Usage: reply.Usage}, Reply{Reasoning: reply.Reasoning, Usage: reply.Usage})
	var e chunkRecorder
	res, err := p.Generate(t.Context(), e.request(nil))
	require.NoError(t, err)
	requireReply(t, reply, res)
	require.Equal(t, reply.text(), e.text(), "reasoning is not part of the text")
	var said strings.Builder
	for _, part := range res.Parts {
		if said.WriteString(part.Text); part.Reasoning != nil && part.Reasoning.Text != "" {
			require.Equal(t, reply.Reasoning, part.Reasoning.Text)
		}
	}
	if res.Parts != nil {
		require.Equal(t, res.Text, said.String())
	}
	for i := range 2 {
		r := sampleRequest()
		r.MaxTokens = reply.Usage.Output
		res, err = p.Generate(t.Context(), r)
		failed := requireKind(t, providers.InvalidResponse, res, err)
		require.Contains(t, failed.Error(), "reason", "the error says that the model only reasoned")
		require.Equal(t, i == 0, failed.Partial.FinishReason == providers.Length, "the partial reply says whether the token limit ended it")
	}
}

func testRefusal(t *testing.T, h ProviderFunc) {
	p := h(t, Reply{FinishReason: providers.ContentFilter, Usage: sampleReply.Usage}, Reply{FinishReason: providers.ContentFilter, Usage: sampleReply.Usage})
	var e chunkRecorder
	for _, r := range []providers.Request{sampleRequest(), e.request(nil)} {
		res, err := p.Generate(t.Context(), r)
		_ = requireKind(t, providers.ContentFiltered, res, err)
	}
	require.Empty(t, e.chunks)
}

// sampleCalls are tool calls.
var sampleCalls = []providers.ToolCall{
	{ID: "call-1", Name: "search", Arguments: json.RawMessage(`{"query":"bridges","limit":3}`)},
	{ID: "call-2", Name: "today", Arguments: json.RawMessage(`{}`)},
}

func testUnexpectedToolCall(t *testing.T, h ProviderFunc) {
	res, err := h(t, Reply{ToolCalls: sampleCalls, FinishReason: providers.ToolCalls, Usage: sampleReply.Usage}).Generate(t.Context(), sampleRequest())
	require.Contains(t, requireKind(t, providers.InvalidResponse, res, err).Error(), "tool")
}

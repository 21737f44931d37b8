package langchain

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/tmc/langchaingo/llms"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/adapter"
)

// heard is what a model has streamed. Some models stream on a goroutine of their own.
type heard struct {
	yield func(adapter.Chunk, error) bool

	mu   sync.Mutex
	text strings.Builder
}

// add yields a piece of the reply.
func (h *heard) add(ctx context.Context, piece string) error {
	h.mu.Lock()
	h.text.WriteString(piece)
	h.mu.Unlock()
	if piece != "" && !h.yield(adapter.Chunk{Text: piece}, nil) && ctx.Err() == nil {
		return context.Canceled
	}
	return ctx.Err()
}

var (
	errNoChoices = &providers.Error{Kind: providers.InvalidResponse, Err: errors.New("read reply: the reply has no choices")}
	errCutStream = &providers.Error{Kind: providers.Network, Err: errors.New("read reply: the stream was cut")}
)

// read yields what the model returned: reasoning, the text that it did not stream, the finish reason and the usage.
func (h *heard) read(content *llms.ContentResponse) {
	text, reason, info, ok := merge(content)
	if !ok {
		h.yield(adapter.Chunk{}, errNoChoices)
		return
	}
	var last adapter.Chunk
	for _, choice := range content.Choices {
		if choice != nil {
			last.Reasoning += choice.ReasoningContent
		}
	}
	last.Model, _ = info["model"].(string)
	u, counts := usage(info)
	last.Usage = u
	h.mu.Lock()
	streamed := h.text.String()
	h.mu.Unlock()
	// A complete stream ends with a finish reason and, if the model reports usage, with usage.
	endless := reason == unspecified || reason == "" && counts && u.Input+u.Output == 0
	if endless && (strings.TrimSpace(text) == "" || streamed != "") || len(text) < len(strings.TrimSpace(streamed)) {
		h.yield(last, errCutStream)
		return
	}
	if rest, ok := strings.CutPrefix(text, streamed); ok {
		last.Text = rest
	}
	last.FinishReason = reason
	h.yield(last, nil)
}

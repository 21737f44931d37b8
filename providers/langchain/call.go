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
	add adapter.Add

	mu   sync.Mutex
	text strings.Builder
}

// stream adds a piece of the reply. It is the model's streaming function.
func (h *heard) stream(_ context.Context, piece []byte) error {
	h.mu.Lock()
	h.text.Write(piece)
	h.mu.Unlock()
	return h.add(adapter.Chunk{Text: string(piece)})
}

var (
	errNoChoices = &providers.Error{Kind: providers.InvalidResponse, Err: errors.New("read reply: the reply has no choices")}
	errCutStream = &providers.Error{Kind: providers.Network, Err: errors.New("read reply: the stream was cut")}
)

// read adds what the model returned: reasoning, the text that it did not stream, the finish reason and the usage.
func (h *heard) read(content *llms.ContentResponse) error {
	text, reason, info, ok := merge(content)
	if !ok {
		return errNoChoices
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
		if err := h.add(last); err != nil {
			return err
		}
		return errCutStream
	}
	if rest, ok := strings.CutPrefix(text, streamed); ok {
		last.Text = rest
	}
	last.FinishReason = reason
	return h.add(last)
}

package debateeino

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/adapter"
	"github.com/elenchus-go/debate/transcript"
)

// FromModel returns a provider that calls a chat model of Eino, such as those of eino-ext. It applies the options to
// every call; the fields of a request override them. Eino has no options for schemas, seeds and reasoning that all its
// models share: schemas are not sent, so only the prompt describes a structured reply, and the other settings are
// refused. Pass the options of your model instead. The provider is safe for concurrent use if m is.
func FromModel(m model.BaseChatModel, options ...model.Option) providers.Provider {
	options = slices.Clone(options)
	return &adapter.Provider{
		Settings: settings("debateeino.FromModel"),
		Stream: func(ctx context.Context, r providers.Request) iter.Seq2[adapter.Chunk, error] {
			return func(yield func(adapter.Chunk, error) bool) {
				replies, err := call(ctx, m, r, append(slices.Clone(options), modelOptions(r)...))
				if err != nil {
					yield(adapter.Chunk{}, err)
					return
				}
				if last, ok := read(replies, yield); ok {
					yield(last, nil)
				}
			}
		},
	}
}

// settings returns the settings that Eino has no common option for.
func settings(constructor string) map[string]string {
	reason := "Eino has no such option for all models, pass the option of the model to " + constructor
	return map[string]string{"seed": reason, "reasoning": reason}
}

// call calls the model, and returns its reply as a stream.
func call(ctx context.Context, m model.BaseChatModel, r providers.Request, options []model.Option) (*schema.StreamReader[*schema.Message], error) {
	if r.OnChunk != nil {
		return m.Stream(ctx, messages(r.Messages), options...)
	}
	reply, err := m.Generate(ctx, messages(r.Messages), options...)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]*schema.Message{reply}), nil
}

// read yields the text and the reasoning of a message as they arrive, and returns the rest. It reports whether more is
// wanted.
func read(replies *schema.StreamReader[*schema.Message], yield func(adapter.Chunk, error) bool) (last adapter.Chunk, more bool) {
	defer replies.Close()
	for {
		m, err := replies.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return last, true
		case err != nil:
			yield(adapter.Chunk{}, err)
			return last, false
		case !yield(adapter.Chunk{Text: m.Content, Reasoning: m.ReasoningContent}, nil):
			return last, false
		}
		for _, c := range m.ToolCalls {
			last.ToolCalls = append(last.ToolCalls, providers.ToolCall{ID: c.ID, Name: c.Function.Name})
		}
		if m.ResponseMeta != nil {
			last.FinishReason = cmp.Or(m.ResponseMeta.FinishReason, last.FinishReason)
			last.Usage = cmp.Or(usage(m.ResponseMeta.Usage), last.Usage)
		}
	}
}

// usage returns the usage of a message.
func usage(t *schema.TokenUsage) (u transcript.Usage) {
	if t == nil {
		return u
	}
	u = transcript.Usage{Input: t.PromptTokens, Cached: t.PromptTokenDetails.CachedTokens, Output: t.CompletionTokens, Reasoning: t.CompletionTokensDetails.ReasoningTokens}
	if hidden := t.TotalTokens - u.Input - u.Output; hidden > 0 { // some models count reasoning only here
		u.Output += hidden
		u.Reasoning = max(u.Reasoning, hidden)
	}
	return u
}

// modelOptions returns the options for the fields of a request.
func modelOptions(r providers.Request) (o []model.Option) {
	if r.Model != "" {
		o = append(o, model.WithModel(r.Model))
	}
	if r.Temperature != nil {
		o = append(o, model.WithTemperature(float32(*r.Temperature)))
	}
	if r.TopP > 0 {
		o = append(o, model.WithTopP(float32(r.TopP)))
	}
	if len(r.Stop) > 0 {
		o = append(o, model.WithStop(r.Stop))
	}
	if r.MaxTokens > 0 {
		o = append(o, model.WithMaxTokens(r.MaxTokens))
	}
	return o
}

// messages returns messages in Eino's form.
func messages(list []providers.Message) (out []*schema.Message) {
	for _, m := range list {
		out = append(out, &schema.Message{Role: schema.RoleType(m.Role), Content: m.Text})
	}
	return out
}

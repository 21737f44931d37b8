package debateeino

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/adapter"
	"github.com/elenchus-go/debate/transcript"
)

// unsupported lists the settings that Eino has no common option for.
var unsupported = map[string]string{
	"seed":      "Eino has no such option for all models, set it in the model",
	"reasoning": "Eino has no such option for all models, set it in the model",
}

// FromModel returns a provider that calls a chat model of Eino, such as those of eino-ext. The options apply to each
// call; the fields of a request override them. Seeds and settings for reasoning are refused: set them in the model. Schemas
// are not sent: only the prompt describes a structured reply. The provider is safe for concurrent use if m is.
func FromModel(m model.BaseChatModel, options ...model.Option) providers.Provider {
	return &adapter.Provider{Settings: unsupported, Stream: func(ctx context.Context, r providers.Request, add adapter.Add) error {
		o := append(slices.Clip(options), modelOptions(r)...)
		replies, err := call(ctx, m, r, o)
		if err != nil {
			return err
		}
		last, err := read(replies, add)
		if err != nil {
			return err
		}
		return add(last)
	}}
}

// call calls the model, and returns its reply as a stream.
func call(ctx context.Context, m model.BaseChatModel, r providers.Request, options []model.Option) (*schema.StreamReader[*schema.Message], error) {
	if r.OnChunk != nil {
		return m.Stream(ctx, messages(r.Messages), options...)
	}
	reply, err := m.Generate(ctx, messages(r.Messages), options...)
	return schema.StreamReaderFromArray([]*schema.Message{reply}), err
}

// read adds the text and the reasoning of a message as they arrive, and returns the rest.
func read(replies *schema.StreamReader[*schema.Message], add adapter.Add) (last adapter.Chunk, err error) {
	defer replies.Close()
	for {
		m, err := replies.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return last, nil
		case err != nil:
			return last, err
		}
		if err := add(adapter.Chunk{Text: m.Content, Reasoning: m.ReasoningContent}); err != nil {
			return last, err
		}
		for _, c := range m.ToolCalls {
			last.ToolCalls = append(last.ToolCalls, providers.ToolCall{ID: c.ID, Name: c.Function.Name})
		}
		if m.ResponseMeta == nil {
			continue
		}
		last.FinishReason = cmp.Or(m.ResponseMeta.FinishReason, last.FinishReason)
		if t := m.ResponseMeta.Usage; t != nil {
			last.Usage = transcript.Usage{
				Input: t.PromptTokens, Cached: t.PromptTokenDetails.CachedTokens,
				Output: t.CompletionTokens, Reasoning: t.CompletionTokensDetails.ReasoningTokens,
			}
			last.Total = t.TotalTokens
		}
	}
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

// errInterrupted reports that an agent asks its user something.
var errInterrupted = &providers.Error{
	Kind: providers.InvalidRequest,
	Err:  errors.New("run agent: it was interrupted and waits for its user, use tools that need no approval"),
}

// FromAgent returns a provider that lets an agent of Eino speak, which may call its tools before each turn. The agent gets
// the prompt of the turn, with the system message at the head of the first user message, because it has instructions of
// its own. Its last message is the reply. Temperature, TopP, Stop, Model and MaxTokens apply to the model of an
// [adk.ChatModelAgent]. The model must be able to stream. Usage is that of all its calls. The provider is safe for concurrent use if the agent is.
func FromAgent(a adk.Agent, options ...adk.AgentRunOption) providers.Provider {
	// Tools may take any time: the debate's step timeout applies.
	return &adapter.Provider{Settings: unsupported, Timeout: -1, Stream: func(ctx context.Context, r providers.Request, add adapter.Add) error {
		list := messages(r.Messages)
		if list[0].Role == schema.System {
			list[1].Content = list[0].Content + "\n\n" + list[1].Content
			list = list[1:]
		}
		o := append(slices.Clip(options), adk.WithChatModelOptions(modelOptions(r)))
		runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: a, EnableStreaming: r.OnChunk != nil})
		return panicked(speak(runner.Run(ctx, list, o...), add), r.OnChunk != nil)
	}}
}

// panicked returns the panic that Eino reports as the text of an error, without the stack in its message. It returns any
// other error as it is.
func panicked(err error, streams bool) error {
	_, text, _ := strings.Cut(fmt.Sprint(err), "panic error: ")
	cause, stack, found := strings.Cut(text, "\nstack: ")
	if !found {
		return err
	}
	message := "run agent: panic: " + strings.TrimRight(cause, ", ")
	if streams && strings.Contains(cause, "nil pointer") {
		message += "; the debate streams replies: check that the agent's model has the method Stream"
	}
	const most = 8 << 10 // bytes that a failure keeps of a stack
	return &providers.Error{Kind: providers.Panic, Err: &panics.Error{Message: message, Stack: stack[:min(len(stack), most)]}}
}

// speak adds what an agent says.
func speak(events *adk.AsyncIterator[*adk.AgentEvent], add adapter.Add) error {
	text := adapter.AgentText{Add: add}
	var total adapter.Chunk
	for e, ok := events.Next(); ok; e, ok = events.Next() {
		switch {
		case e.Err != nil:
			return e.Err
		case e.Action != nil && e.Action.Interrupted != nil:
			return errInterrupted
		case e.Output == nil || e.Output.MessageOutput == nil || e.Output.MessageOutput.Role != schema.Assistant:
			continue // such as the result of a tool
		}
		replies := e.Output.MessageOutput.MessageStream
		if replies == nil {
			replies = schema.StreamReaderFromArray([]*schema.Message{e.Output.MessageOutput.Message})
		}
		text.Next()
		last, err := read(replies, func(c adapter.Chunk) error { return text.Say(c.Text) })
		if err != nil {
			return err
		}
		total.FinishReason = last.FinishReason
		total.Usage = total.Usage.Add(last.Usage)
		total.Total += last.Total
	}
	if err := text.End(); err != nil {
		return err
	}
	return add(total)
}

package debateeino

import (
	"context"
	"errors"
	"iter"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/adapter"
)

// errInterrupted is the error of an agent that asks its user something.
var errInterrupted = &providers.Error{
	Kind: providers.InvalidRequest,
	Err:  errors.New("run agent: it was interrupted and waits for its user, use tools that need no approval"),
}

// FromAgent returns a provider that lets an agent of Eino speak: a participant whose provider it is may call the agent's
// tools before each of its turns. The agent gets the prompt of the turn as messages, with the system message at the head
// of the first one, because the agent has instructions of its own. Its last message is the reply. Temperature, TopP,
// Stop, Model and MaxTokens of the participant apply to the model of a [adk.ChatModelAgent]. Usage is that of all calls
// of the model. The provider is safe for concurrent use if the agent is. It applies the options to every run.
func FromAgent(a adk.Agent, options ...adk.AgentRunOption) providers.Provider {
	return &adapter.Provider{
		Settings: settings("the model of the agent"),
		Timeout:  -1, // tools may take any time; the debate's step timeout applies
		Stream: func(ctx context.Context, r providers.Request) iter.Seq2[adapter.Chunk, error] {
			return func(yield func(adapter.Chunk, error) bool) {
				runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: a, EnableStreaming: r.OnChunk != nil})
				run := append([]adk.AgentRunOption{adk.WithChatModelOptions(modelOptions(r))}, options...)
				speak(runner.Run(ctx, userFirst(messages(r.Messages)), run...), yield)
			}
		},
	}
}

// speak yields what an agent says.
func speak(events *adk.AsyncIterator[*adk.AgentEvent], yield func(adapter.Chunk, error) bool) {
	text := adapter.AgentText{Yield: yield}
	var total adapter.Chunk
	for {
		e, ok := events.Next()
		switch {
		case !ok:
			if text.End() {
				yield(total, nil)
			}
			return
		case e.Err != nil:
			yield(adapter.Chunk{}, e.Err)
			return
		case e.Action != nil && e.Action.Interrupted != nil:
			yield(adapter.Chunk{}, errInterrupted)
			return
		case e.Output == nil || e.Output.MessageOutput == nil:
			continue
		}
		out := e.Output.MessageOutput
		replies := out.MessageStream
		if !out.IsStreaming {
			replies = schema.StreamReaderFromArray([]*schema.Message{out.Message})
		}
		if out.Role != schema.Assistant { // the result of a tool
			replies.Close()
			continue
		}
		text.Next()
		last, more := read(replies, func(c adapter.Chunk, err error) bool {
			if err != nil {
				return yield(c, err)
			}
			return text.Say(c.Text)
		})
		if !more {
			return
		}
		total.FinishReason = last.FinishReason
		total.Usage = total.Usage.Add(last.Usage)
	}
}

// userFirst moves the system message to the head of the first user message.
func userFirst(list []*schema.Message) []*schema.Message {
	if len(list) > 1 && list[0].Role == schema.System {
		list[1].Content = list[0].Content + "\n\n" + list[1].Content
		list = list[1:]
	}
	return list
}

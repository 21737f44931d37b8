// Package providers defines how a debate calls a model: one interface with one method, and one set of error kinds.
//
//	res, err := model.Generate(ctx, providers.Request{
//		Messages: []providers.Message{
//			{Role: providers.System, Text: "Answer in one sentence."},
//			{Role: providers.User, Text: "Should cities ban cars?"},
//		},
//		MaxTokens: 200,
//	})
//	if err != nil {
//		log.Fatal(providers.AsError(err).Kind, ": ", err)
//	}
//	fmt.Println(res.Text)
//
// The packages below this one implement [Provider] for the services of OpenAI, Anthropic, Google, Mistral and Ollama,
// and for any langchaingo model. Package providers/scripted provides a deterministic provider for tests and examples.
// A provider may implement further small interfaces: [Checker], [Limited], [Windowed], [Defaulted] and [Person].
//
// A provider calls [Request.OnChunk] only on the goroutine that called Generate, and never after Generate has returned.
// The consumer of a debate runs inside that callback. If it panicked on another goroutine, the process would end. If
// you adapt a library that streams on its own goroutine, pass the chunks to the caller's goroutine.
package providers

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/elenchus-go/debate/transcript"
)

// Provider calls a language model, or a service with several models. Implementations must be safe for concurrent use.
type Provider interface {
	// Generate requests one reply. It returns promptly when ctx ends. If the provider knows the kind of a failure, it
	// returns an *Error; callers treat any other error as a [ServerError]. The response of a failed call is empty, and
	// [Error.Partial] has the part of the reply that arrived before the failure.
	Generate(ctx context.Context, r Request) (Response, error)
}

// Checker is an optional interface of a provider. It validates the key and the model before the first call.
type Checker interface {
	// Check returns nil if the key is accepted and the model exists, or if the provider cannot tell. It returns an
	// *Error of kind [Authentication] if the key is refused and of kind [InvalidRequest] if the model does not exist.
	// An error of any other kind means that the check itself failed. An empty model means the provider's default.
	// Check calls the service: an engine also asks it whether this provider answers while another cannot be reached.
	Check(ctx context.Context, model string) error
}

// Person is an optional interface of a provider that asks a person for its replies. It is a statement about the
// replies, not about the service: warnings about models, such as that a judge may favor its own model, do not apply.
type Person interface {
	// IsPerson reports whether a person gives the replies.
	IsPerson() bool
}

// Limited is an optional interface of a provider whose service or models do not support every setting of a request. A
// debate asks before its first call, and refuses the settings of its configuration that are not supported. A provider
// without this interface is taken to support all settings, but no attachments.
type Limited interface {
	// Unsupported returns the settings of r that the service or the model does not support, by their JSON names, such as
	// "seed", each with a sentence that says what is wrong and what to use instead. The settings are Temperature, TopP,
	// Seed, Stop and Reasoning, and "attachments" for those in the messages of r; the sentence then names each attachment
	// that the model cannot read. Without attachments, r has no messages. If r has Tools, "tools" means that the model
	// cannot call any. If r has Tools and a Schema, "schema" means that the model cannot have both in one call, which is no
	// error: see Request.Schema. An empty model means the provider's default. Unsupported calls no
	// service. It returns only what is certain; what a service refuses later is a Warning of the response.
	Unsupported(r Request) map[string]string
}

// Windowed is an optional interface of a provider that knows the context windows of its models. A debate asks when it
// starts. An actor without a window of its own in the configuration has the provider's.
type Windowed interface {
	// Window returns how many tokens a prompt and its reply can have together, or 0 if the provider does not know. An empty
	// model means the provider's default. Window calls no service. It may know more after [Checker.Check].
	Window(model string) int
}

// Defaulted is an optional interface of a provider that has a default model. A debate with a limit of cost asks when it is
// created, and stores the name, so that it knows the price.
type Defaulted interface {
	// DefaultModel returns the name of the model that answers requests without one, or "" if the provider does not know.
	DefaultModel() string
}

// Role is the role of a message's author.
type Role string

// The roles of a message.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one message of a prompt. It has Text or Parts, but not both.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text"`
	// Parts holds the message if it is more than one text. A provider that does not support parts refuses them with an
	// error of kind [InvalidRequest].
	Parts []Part `json:"parts,omitempty"`
}

// Request is one call.
type Request struct {
	// Messages is the prompt: one system message, followed by user and assistant messages. Consecutive messages may
	// have the same role. The last message is a user message.
	Messages []Message `json:"messages"`
	// Model is the model's name. Defaults to the provider's model.
	Model string `json:"model,omitempty"`
	// Temperature is the sampling temperature. If it is nil, the provider chooses.
	Temperature *float64 `json:"temperature,omitempty"`
	// TopP samples only from the most likely tokens whose probabilities add up to it: more than 0, at most 1. If it is 0,
	// the service chooses.
	TopP float64 `json:"top_p,omitempty"`
	// Seed asks the service to sample in the same way in each call with the same request. If it is nil, the service
	// chooses.
	Seed *int64 `json:"seed,omitempty"`
	// Stop lists texts that end the reply where the model writes them. The reply does not contain them.
	Stop []string `json:"stop,omitempty"`
	// Reasoning says how much the model reasons before it replies: "none", "low", "medium", "high", or a budget in tokens,
	// such as "2048". If it is empty, the service chooses.
	Reasoning string `json:"reasoning,omitempty"`
	// AvoidRepetition asks the service to make repetitions less likely, because the model has repeated the same words without
	// end. A provider raises the penalty for repetitions if its service has one, and otherwise ignores it.
	AvoidRepetition bool `json:"avoid_repetition,omitempty"`
	// MaxTokens is the maximum number of output tokens, including reasoning. If it is 0, the provider chooses.
	MaxTokens int `json:"max_tokens,omitempty"`
	// SchemaName names the kind of a structured reply, such as "assessment/1". It is empty for free text.
	SchemaName string `json:"schema_name,omitempty"`
	// Schema is the JSON Schema of a structured reply. It is nil for free text. A provider whose service does not
	// support schemas ignores it: the prompt describes the reply too, and the caller validates the reply. Some services
	// cannot combine a schema with tools. Their providers then send no schema while the model may call tools, with a
	// Warning, and no tools if ToolChoice is "none". So gather with tools first. If the reply then is not valid, ask again
	// with the same tools and ToolChoice "none"; the service follows the schema in that call.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Tools lists the tools that the model may call. The response of a call with tools may consist of tool calls only. To
	// go on, add two messages: an assistant message with the Parts of the response, and a user message that begins with a
	// result for each call. The parts may be those of another provider. A provider that does not support tools refuses them
	// with an error of kind [InvalidRequest].
	Tools []Tool `json:"tools,omitempty"`
	// ToolChoice is "none" if the model must reply without a call. The calls of earlier rounds, and Tools, stay in the
	// request. If it is empty, the model chooses. A provider refuses any other value with an error of kind
	// [InvalidRequest].
	ToolChoice string `json:"tool_choice,omitempty"`
	// OnChunk, if set, receives the pieces of the reply in order as they arrive. A piece is never empty and contains only
	// whole UTF-8 characters: the provider keeps the bytes of an incomplete character until the rest arrives, and
	// replaces bytes that are not UTF-8 with U+FFFD. The provider calls OnChunk on the goroutine that
	// called Generate. If OnChunk returns an error, the provider ends the call and returns that error.
	OnChunk func(text string) error `json:"-"`
}

// FinishReason is the reason why a model stopped.
type FinishReason string

// The finish reasons.
const (
	Stop          FinishReason = "stop"           // the reply is complete
	Length        FinishReason = "length"         // the reply reached the token limit
	WindowFull    FinishReason = "window_full"    // the context window, or a limit of the service, ended the reply before the token limit
	ToolCalls     FinishReason = "tool_calls"     // the model waits for the results of its tool calls
	ContentFilter FinishReason = "content_filter" // the service filtered the rest of the reply
)

// Response is a reply.
type Response struct {
	Text         string           `json:"text"`                    // without reasoning
	Parts        []Part           `json:"parts,omitempty"`         // all parts in order; nil if the reply is one text
	FinishReason FinishReason     `json:"finish_reason,omitempty"` // empty if the provider does not report it
	Model        string           `json:"model,omitempty"`         // the model that replied; empty if not reported
	Usage        transcript.Usage `json:"usage"`                   // zero if the provider does not report it
	Warnings     []string         `json:"warnings,omitempty"`      // what the provider changed in the request, or noticed about the service
	// Read lists what the model looked at by itself, with tools of its own, such as files. A model that only calls the tools of
	// the request has none.
	Read []transcript.Access `json:"read,omitempty"`
}

// MayCallTools reports whether the model may call a tool: r has tools and does not forbid calls.
func (r Request) MayCallTools() bool { return len(r.Tools) > 0 && r.ToolChoice == "" }

// Attachments yields the attachments in the messages of r, in order.
func (r Request) Attachments() iter.Seq[*Attachment] {
	return func(yield func(*Attachment) bool) {
		for i := range r.Messages {
			for _, p := range r.Messages[i].Parts {
				if p.Attachment != nil && !yield(p.Attachment) {
					return
				}
			}
		}
	}
}

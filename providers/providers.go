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
// and for any model of langchaingo. Package providers/scripted is a deterministic provider for tests and examples. A
// provider may have more abilities, each of which is a small optional interface such as [Checker].
//
// A provider calls [Request.OnChunk] only on the goroutine that called Generate, and never after Generate has returned.
// The consumer of a debate runs inside that callback: on another goroutine, its panic would end the process. An adapter
// of a library that streams on its own goroutine must pass the chunks to the caller's goroutine.
package providers

import (
	"context"
	"encoding/json"

	"github.com/elenchus-go/debate/transcript"
)

// Provider is a language model, or a service that has several. It is safe for concurrent use.
type Provider interface {
	// Generate asks for one reply. When ctx ends it returns promptly. A failure is an *Error where the provider knows
	// its kind; any other error is taken for [ServerError]. The response of a failed call is empty: what the model had said
	// until then is in [Error.Partial].
	Generate(ctx context.Context, r Request) (Response, error)
}

// Checker is an optional power of a provider: to say before the first call whether the key is good and the model
// exists. It returns nil where both are good or it cannot know, an *Error of kind [Authentication] or [InvalidRequest] where
// they are not, and one of another kind where it could not find out.
type Checker interface {
	Check(ctx context.Context, model string) error
}

// Role says who speaks in a message.
type Role string

// The roles of messages.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one part of a prompt.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text"`
}

// Request is one call.
type Request struct {
	// Messages are the prompt: one system message first, then user and assistant messages, of which neighbours may
	// have the same role. The last is a user message.
	Messages []Message `json:"messages"`
	// Model names the model. Defaults to the provider's own.
	Model string `json:"model,omitempty"`
	// Temperature is the sampling temperature. Nil leaves it to the provider.
	Temperature *float64 `json:"temperature,omitempty"`
	// MaxTokens caps the reply, reasoning included. 0 leaves it to the provider.
	MaxTokens int `json:"max_tokens,omitempty"`
	// SchemaName names the kind of structured reply that is wanted, such as "assessment/1"; empty for free text.
	SchemaName string `json:"schema_name,omitempty"`
	// Schema is the JSON Schema that the reply should follow; nil for free text. A provider without native schema
	// output ignores it: the prompt describes the reply too, and the caller validates it.
	Schema json.RawMessage `json:"schema,omitempty"`
	// OnChunk, if set, receives the reply as it comes: never empty pieces, in order, whole UTF-8 characters where the
	// model sends such. It is called on the goroutine that called Generate. When it returns an error the provider
	// ends the call and returns that error.
	OnChunk func(text string) error `json:"-"`
}

// FinishReason says why a model stopped.
type FinishReason string

// The reasons to stop.
const (
	Stop          FinishReason = "stop"           // it had said all
	Length        FinishReason = "length"         // it was cut at the token cap
	ContentFilter FinishReason = "content_filter" // the service withheld the rest
)

// Response is a reply.
type Response struct {
	Text         string           `json:"text"`
	FinishReason FinishReason     `json:"finish_reason,omitempty"` // empty where the provider does not say
	Model        string           `json:"model,omitempty"`         // that answered; empty where the provider does not say
	Usage        transcript.Usage `json:"usage"`                   // zero where the provider does not say
}

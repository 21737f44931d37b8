// Package langchain adapts any langchaingo model as a provider, and any of its tools as a tool of participants; see [Tool].
//
//	model, err := bedrock.New(bedrock.WithModel("us.anthropic.claude-sonnet-4-5-20250929-v1:0"))
//	...
//	p := langchain.New(model)
//
// For the services of OpenAI, Anthropic, Google, Mistral and Ollama, and for all servers with an OpenAI-compatible API,
// use the other packages below providers. They speak each service's own protocol, and know more about its replies. Use
// this package for every other model of langchaingo.
//
// Implementations of llms.Model treat the same messages differently, and some report a canceled, cut or failed stream as
// a success. The adapter does what can be done from above:
//
//   - It sends every prompt in a form that all models accept: one leading system message, followed by alternating user
//     and assistant messages. The first of these is a user message, and each message has one text.
//   - It runs the model on its own goroutine, so that a model that ignores its context cannot block the caller. The
//     goroutine of such a model ends when the model returns. A panic of the model on this goroutine becomes an error.
//   - It passes chunks to the caller on the caller's goroutine, cut between characters. Text that the model did not
//     stream is passed at the end.
//   - It accepts a reply only if nothing shows that the reply was cut, if it has text, and if it is not much longer than
//     the token limit explains.
//   - If a model refuses the system prompt, it moves it to the first message of the user.
//   - It ends a call in which no chunk arrives for 120 s. See [Provider.Timeout].
//   - It reads usage and finish reasons under the names that each model uses.
//   - It derives the kind of an error from status codes and known phrases, and redacts keys that the error quotes.
//
// Memory and prompt templates of langchaingo need no adapter: a debate takes their texts as background, topic and instructions. The tests
// of examples/integrations/langchaingo show it.
//
// # Limitations
//
// langchaingo drops parts of requests and of responses, and an adapter cannot restore them:
//
//   - Schemas are not sent. Only the prompt describes a structured reply. JSON mode is on only if you pass
//     llms.WithJSONMode to [New].
//   - Some models cannot stream text. Set [Provider.NoStreaming] for them.
//   - Most models send a nil temperature as 0 or as their own default. Set a temperature.
//   - Settings for reasoning are refused; pass the option of your model to [New]. Some models drop the seed, stop texts
//     or TopP. [Provider.Unsupported] knows which of langchaingo's own models do.
//   - Tools, and parts of messages other than text, are refused.
//   - The retry delay after a rate limit is known only if the text of the error contains it. Some models drop status
//     codes, so that only the text of the error determines its kind.
//   - Some models drop errors inside a stream, so that the stream seems to be cut, or even whole. Give such a model a client of
//     [HTTPClient]. Otherwise, if a model reports usage, but a stream ends with neither a finish reason nor usage, the stream
//     counts as cut.
//   - Most models drop the name of the model that replied, and reasoning.
//   - Some models ignore contexts: after the call has returned, the request continues in the background.
//   - If a model panics on another goroutine that it started, the process ends.
package langchain

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/adapter"
)

// Provider calls a langchaingo model. It is safe for concurrent use if the model is.
type Provider struct {
	// Timeout limits the time in which no chunk arrives, or, without streaming, the time of the call. Set it before the
	// first call. Defaults to 120 s. A negative value disables the limit.
	Timeout time.Duration
	// NoStreaming asks the model for whole replies, which arrive in one chunk. Set it before the first call, for a model
	// that cannot stream text: Amazon's Nova models refuse to stream, and Cloudflare's models stream JSON.
	NoStreaming bool
	// ErrorKind returns the kind of an error of the model, or "" if the provider's own rules decide. Set it before the first
	// call, for a model whose errors they misunderstand. It must be safe for concurrent use.
	ErrorKind func(error) providers.ErrorKind

	model   llms.Model
	options []llms.CallOption
	adapted func() *adapter.Provider
}

// New returns a provider that calls m. The options are applied to every call. The fields of a request override them.
func New(m llms.Model, options ...llms.CallOption) *Provider {
	p := &Provider{model: m, options: slices.Clone(options)}
	p.adapted = sync.OnceValue(func() *adapter.Provider {
		return &adapter.Provider{Stream: p.stream, Kind: kindOfCode, Timeout: p.Timeout}
	})
	return p
}

// Generate requests one reply from the model.
func (p *Provider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	return p.adapted().Generate(ctx, r)
}

// stream calls the model once.
func (p *Provider) stream(ctx context.Context, r providers.Request, add adapter.Add) error {
	h := &heard{add: add}
	options := p.callOptions(r)
	if r.OnChunk != nil && !p.NoStreaming {
		options = append(options, llms.WithStreamingFunc(h.stream))
	}
	content, err := p.model.GenerateContent(ctx, contents(r), options...)
	if err != nil {
		return p.withKind(err)
	}
	return h.read(content)
}

// withKind returns err with the kind that ErrorKind gives it.
func (p *Provider) withKind(err error) error {
	if p.ErrorKind != nil {
		if kind := p.ErrorKind(err); kind != "" {
			return &providers.Error{Kind: kind, Err: fmt.Errorf("call model: %w", err)}
		}
	}
	return err
}

// callOptions returns the provider's options, followed by those of the request.
func (p *Provider) callOptions(r providers.Request) []llms.CallOption {
	o := slices.Clone(p.options)
	if r.Model != "" {
		o = append(o, llms.WithModel(r.Model))
	}
	o = append(o, settings(r)...)
	if r.MaxTokens > 0 {
		o = append(o, llms.WithMaxTokens(r.MaxTokens))
	}
	if r.AvoidRepetition { // each model knows at most one of them
		o = append(o, llms.WithFrequencyPenalty(frequencyPenalty), llms.WithRepetitionPenalty(repetitionPenalty))
	}
	return o
}

// The penalties for a model that has repeated itself without end.
const (
	frequencyPenalty  = 0.5
	repetitionPenalty = 1.3
)

// settings returns the options for the settings of a request.
func settings(r providers.Request) (o []llms.CallOption) {
	if r.Temperature != nil {
		o = append(o, llms.WithTemperature(*r.Temperature))
	}
	if r.TopP > 0 {
		o = append(o, llms.WithTopP(r.TopP))
	}
	if r.Seed != nil {
		o = append(o, llms.WithSeed(int(*r.Seed)))
	}
	if len(r.Stop) > 0 {
		o = append(o, llms.WithStopWords(r.Stop))
	}
	return o
}

// roles maps the roles to those of langchaingo that every model supports.
var roles = map[providers.Role]llms.ChatMessageType{
	providers.System:    llms.ChatMessageTypeSystem,
	providers.User:      llms.ChatMessageTypeHuman,
	providers.Assistant: llms.ChatMessageTypeAI,
}

// contents returns the messages of a request. Some models read only the first text of a message, so each has one.
func contents(r providers.Request) (list []llms.MessageContent) {
	for _, m := range r.Messages {
		list = append(list, llms.TextParts(roles[m.Role], m.Text))
	}
	return list
}

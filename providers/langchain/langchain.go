// Package langchain adapts any langchaingo model as a provider.
//
//	gpt, err := openai.New(openai.WithModel("gpt-5"))
//	...
//	p := langchain.New(gpt)
//
// Implementations of llms.Model treat the same messages differently, and some report a canceled, cut or failed stream as
// a success. The adapter compensates for these differences:
//
//   - It sends every prompt in a form that all models accept: one leading system message, followed by alternating user
//     and assistant messages. The first of these is a user message, and each message has one text.
//   - It runs the model on its own goroutine, so that a model that ignores its context cannot block the caller. The
//     goroutine of such a model ends when the model returns. A panic of the model on this goroutine becomes an error.
//   - It passes chunks to the caller on the caller's goroutine, cut between characters. Text that the model did not
//     stream is passed at the end.
//   - It accepts a reply only if the reply is complete and has text. It marks a reply that reached the token limit.
//   - It reads usage and finish reasons under the names that each model uses.
//   - It derives the kind of an error from status codes and known phrases, and redacts keys that the error quotes.
//
// # The transport
//
// langchaingo drops parts of requests and of responses. [Transport] adds them: schemas in each service's form, dropped
// settings, status codes, retry delays, errors within a stream, the end of a stream, the finish reason and the name of
// the model. The packages providers/openai, providers/anthropic, providers/ollama, providers/mistral and
// providers/googleai use it. Prefer them to New.
//
// # Limitations without the transport
//
//   - The models of openai, anthropic and ollama send a nil temperature as 0. Set a temperature.
//   - Schemas are not sent, and JSON mode is not switched on. Only the prompt describes the reply.
//   - The retry delay after a rate limit is known only if the text of the error contains it.
//   - ollama drops status codes. openai drops errors inside a stream, so that the stream seems to be cut. anthropic leaks
//     a goroutine for some of these errors.
//   - If a model reports usage, but a stream ends with neither a finish reason nor usage, the stream counts as cut.
//   - All models except mistral drop the name of the model that replied.
//   - Servers that do not support max_completion_tokens, such as older vLLM or Ollama's OpenAI-compatible endpoint,
//     ignore the token limit unless you set openai.WithLegacyMaxTokensField().
//
// # Limitations in any case
//
//   - Without a token limit, anthropic and googleai send a limit of 2048.
//   - A line of a stream may have at most 64 KB, or 512 KB with ollama. Longer lines are an error.
//   - langchaingo's mistral ignores contexts: after the call has returned, the request continues in the background.
//     providers/mistral does not use it.
//   - googleai does not support concurrent calls with different models. Create one client for each model and leave
//     providers.Request.Model empty, as providers/googleai does.
//   - If a model panics on another goroutine that it started, the process ends.
package langchain

import (
	"context"
	"slices"

	"github.com/tmc/langchaingo/llms"

	"github.com/elenchus-go/debate/providers"
)

// Provider calls a langchaingo model. It is safe for concurrent use if the model is.
type Provider struct {
	model   llms.Model
	options []llms.CallOption
}

// New returns a provider that calls m. The options are applied to every call. The fields of a request override them.
func New(m llms.Model, options ...llms.CallOption) *Provider {
	return &Provider{model: m, options: slices.Clone(options)}
}

// Generate requests one reply from the model.
func (p *Provider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	asked, err := newPrompt(r.Messages)
	if err != nil {
		return providers.Response{}, &providers.Error{Kind: providers.InvalidRequest, Err: err}
	}
	if ctx.Err() != nil {
		return providers.Response{}, providers.ContextError(ctx, providers.Response{})
	}
	run, cancel := context.WithCancel(ctx)
	defer cancel() // ends the model's goroutine even if onChunk panics
	c := &call{onChunk: r.OnChunk, options: newCallOptions(p.options, asked, r), maxTokens: r.MaxTokens, chunks: make(chan string), done: make(chan result, 1)}
	go c.run(c.options.withContext(run), p.model, asked.contents(), p.langchainOptions(run, c, r))
	return c.wait(ctx)
}

// langchainOptions returns the provider's options, followed by those of the request.
func (p *Provider) langchainOptions(run context.Context, c *call, r providers.Request) []llms.CallOption {
	o := slices.Clone(p.options)
	if r.Model != "" {
		o = append(o, llms.WithModel(r.Model))
	}
	if r.Temperature != nil {
		o = append(o, llms.WithTemperature(*r.Temperature))
	}
	if r.MaxTokens > 0 {
		o = append(o, llms.WithMaxTokens(r.MaxTokens))
	}
	if r.OnChunk != nil {
		o = append(o, llms.WithStreamingFunc(c.stream(run)))
	}
	return o
}

// Package langchain makes a provider of any langchaingo model.
//
//	gpt, err := openai.New(openai.WithModel("gpt-5"))
//	...
//	p := langchain.New(gpt)
//
// The models behind llms.Model differ in what they make of the same messages, and some report a stream that was
// cancelled, cut or failed as a success. The adapter trusts none of them:
//
//   - A prompt is sent in the one form that all of them take alike: one leading system message, then user and assistant
//     in turn, beginning with the user, one text each.
//   - The model runs on a goroutine of its own, so that one that ignores its context cannot hold up the caller. Such a
//     model is left behind; its goroutine ends when it returns. What it panics with there becomes an error.
//   - Chunks are handed over on the caller's goroutine, cut between characters. What a model returns without having
//     streamed is handed over at the end.
//   - A reply counts only if it came to its end, and holds text. One that ran into the token cap is marked.
//   - Usage is read under the names that each model gives it, finish reasons likewise.
//   - Errors get their kind from status codes and known words in their text; keys that they quote are blanked out.
//
// # The transport
//
// langchaingo drops much of what services say, and of what they are asked. [Transport] carries it past: schemas in each
// service's own form, settings that it forgets, status codes, how long to wait, errors within a stream, its proper end,
// the finish reason and the name of the model. The packages providers/openai, providers/anthropic, providers/ollama,
// providers/mistral and providers/googleai have it built in: prefer them to New.
//
// # What stays hidden without it
//
//   - A nil temperature is sent as 0 by the models of openai, anthropic and ollama. Name one.
//   - A schema is not sent, nor is JSON mode switched on for it. The prompt has to describe the reply.
//   - How long to wait after a rate limit is known only where the error says it in words.
//   - ollama drops status codes. openai drops errors inside a stream, which looks as if it had been cut; anthropic
//     leaves a goroutine behind for some of them.
//   - A stream that ends without a reason to stop and without usage is taken for cut, if the model reports usage at all.
//   - The name of the model that answered is dropped by all but mistral.
//   - Servers that know no max_completion_tokens, such as older vLLM or the compatible endpoint of Ollama, ignore the cap
//     unless the options have openai.WithLegacyMaxTokensField().
//
// # What stays as it is
//
//   - A cap of 0 is 2048 tokens for anthropic and googleai.
//   - A line of a stream may have 64 KB, with ollama 512 KB; longer ones are an error.
//   - langchaingo's mistral ignores contexts: a call that has ended runs on, unseen. providers/mistral does without it.
//   - googleai is not safe for concurrent calls that name several models: make one client for each and leave
//     providers.Request.Model empty, as providers/googleai does.
//   - A model that panics on a further goroutine of its own ends the process.
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

// New is a provider that calls m. The options go with every call; what a request asks for comes after them and wins.
func New(m llms.Model, options ...llms.CallOption) *Provider {
	return &Provider{model: m, options: slices.Clone(options)}
}

// Generate asks the model for one reply.
func (p *Provider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	asked, err := newPrompt(r.Messages)
	if err != nil {
		return providers.Response{}, &providers.Error{Kind: providers.InvalidRequest, Err: err}
	}
	if ctx.Err() != nil {
		return providers.Response{}, providers.ContextError(ctx, providers.Response{})
	}
	run, cancel := context.WithCancel(ctx)
	defer cancel() // also when onChunk panics: nothing of the call stays behind
	c := &call{onChunk: r.OnChunk, options: newCallOptions(p.options, asked, r), maxTokens: r.MaxTokens, chunks: make(chan string), done: make(chan result, 1)}
	go c.run(c.options.withContext(run), p.model, asked.contents(), p.langchainOptions(run, c, r))
	return c.wait(ctx)
}

// langchainOptions are the provider's own and what r asks for.
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

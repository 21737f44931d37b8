// Package scripted provides a provider with prepared replies, for tests and examples. It is deterministic and works
// offline.
//
//	model := scripted.Text("Cars take the space that people need.", "I have nothing to add.")
//	other := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
//		return scripted.Reply{Text: "You said: " + r.Messages[len(r.Messages)-1].Text, Chunks: 3}
//	}}
//
// A [Provider] takes its replies from a list, and after that from a function of the request. A [Reply] can arrive in
// chunks, take time, be cut, or fail. Concurrent calls take the replies from the list in the order in which the calls
// arrive. If that order is not certain, use the function, and choose the reply by the content of the request.
//
// [Values] makes replies that follow the schema of a request, with the values that a test chooses:
//
//	judge := &scripted.Provider{Func: scripted.Values{"quality": 9, "winner": "Debater A"}.Reply}
//
// A reply with a Text of your own is sent as it is, even if the request has a schema.
package scripted

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// Provider returns scripted replies. Set its fields before the first call. A Provider is safe for concurrent use, and
// must not be copied.
type Provider struct {
	// Replies are the replies to the first calls, one for each call.
	Replies []Reply
	// Func returns the replies to all further calls. Concurrent calls run it concurrently.
	Func func(providers.Request) Reply
	// Models lists the models that Check accepts. If it is empty, Check accepts any model.
	Models []string
	// DiscardCalls disables the record of calls, for benchmarks and long runs.
	DiscardCalls bool

	mu        sync.Mutex
	callCount int
	calls     []providers.Request
}

// Reply is the answer to one call.
type Reply struct {
	// Text is the text of the reply.
	Text string
	// Chunks is the number of chunks in which the text arrives. The chunks have about the same length, are never empty,
	// and are cut between characters, so a short text may arrive in fewer chunks. Defaults to 1.
	Chunks int
	// Latency is the duration of the whole reply. It is spread evenly: an equal part of it passes before each chunk.
	Latency time.Duration
	// Err is the error that the call returns after the text was sent. With a text, it simulates a stream that breaks
	// off; without one, a call that fails at once. A *providers.Error is copied, and the copy holds the text in Partial.
	// Any other error is returned unchanged.
	Err error
	// Hang simulates a reply that never ends: after the text, the call waits until its context ends.
	Hang bool
	// Reasoning precedes the text in the parts of the response.
	Reasoning []providers.Reasoning
	// ToolCalls follow the text in the parts of the response.
	ToolCalls []providers.ToolCall
	// FinishReason defaults to providers.Stop, or to providers.ToolCalls if there are any.
	FinishReason providers.FinishReason
	// Usage defaults to an estimate of one token for every 4 bytes, for the messages, the text and the tool calls.
	Usage transcript.Usage
}

// Text returns a provider that replies with the given texts, one for each call.
func Text(replies ...string) *Provider {
	p := &Provider{Replies: make([]Reply, len(replies))}
	for i, text := range replies {
		p.Replies[i].Text = text
	}
	return p
}

// Generate returns the next reply of the script. If none is left, it returns an error of kind
// [providers.InvalidRequest]. If ctx has already ended, the call does not use up a reply.
func (p *Provider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	if ctx.Err() != nil {
		return providers.Response{}, providers.ContextError(ctx, providers.Response{})
	}
	if r.ToolChoice != "" && r.ToolChoice != "none" {
		return providers.Response{}, &providers.Error{Kind: providers.InvalidRequest, Err: fmt.Errorf("scripted: tool_choice is %q, want \"none\" or an empty text", r.ToolChoice)}
	}
	reply, err := p.next(r)
	if err != nil {
		return providers.Response{}, err
	}
	said, err := reply.stream(ctx, r.OnChunk)
	if reply.Hang && err == nil {
		<-ctx.Done()
	}
	switch {
	case err != nil:
		return providers.Response{}, err
	case ctx.Err() != nil:
		return providers.Response{}, providers.ContextError(ctx, providers.Response{Text: said, Model: r.Model})
	case reply.Err != nil:
		return providers.Response{}, reply.failure(r.Model)
	}
	return reply.response(r), nil
}

// Calls returns the requests received so far, in order and without their callbacks. The messages are not copied: they
// share memory with the caller's requests.
func (p *Provider) Calls() []providers.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.calls)
}

// Check accepts the models in Models and the empty name, or any model if Models is empty.
func (p *Provider) Check(_ context.Context, model string) error {
	if model == "" || len(p.Models) == 0 || slices.Contains(p.Models, model) {
		return nil
	}
	return &providers.Error{Kind: providers.InvalidRequest, Err: fmt.Errorf(
		"scripted: unknown model %q, want one of %s", model, strings.Join(p.Models, ", "))}
}

// Unsupported returns nil: the script decides what to do with all settings and attachments.
func (p *Provider) Unsupported(providers.Request) map[string]string { return nil }

// next records the call and returns its reply.
func (p *Provider) next(r providers.Request) (Reply, error) {
	r.OnChunk = nil
	p.mu.Lock()
	call := p.callCount
	p.callCount++
	if !p.DiscardCalls {
		p.calls = append(p.calls, r)
	}
	p.mu.Unlock()
	switch {
	case call < len(p.Replies):
		return p.Replies[call], nil
	case p.Func != nil:
		return p.Func(r), nil
	}
	return Reply{}, &providers.Error{Kind: providers.InvalidRequest, Err: fmt.Errorf(
		"scripted: call %d: no reply left; the script has %d", call+1, len(p.Replies))}
}

// stream sends the text until ctx ends and returns what it has sent, or the error of onChunk.
func (y *Reply) stream(ctx context.Context, onChunk func(string) error) (said string, err error) {
	n := max(1, min(y.Chunks, len(y.Text)))
	from := 0
	for i := range n {
		y.wait(ctx, i, n)
		if ctx.Err() != nil {
			break
		}
		to := runeBoundary(y.Text, len(y.Text)*(i+1)/n)
		if to > from && onChunk != nil {
			err = onChunk(validText(y.Text[from:to]))
			if err != nil {
				break
			}
		}
		from = max(from, to)
	}
	return y.Text[:from], err
}

// wait waits for the latency of chunk i of n, or until ctx ends.
func (y *Reply) wait(ctx context.Context, i, n int) {
	d := y.Latency / time.Duration(n)
	if i == n-1 {
		d = y.Latency - d*time.Duration(n-1)
	}
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// validText returns text with U+FFFD for each byte that is not UTF-8.
func validText(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

// runeBoundary returns the first position at or after i where a character of s begins or s ends.
func runeBoundary(s string, i int) int {
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return i
}

// failure returns the reply's error with the text in Partial.
func (y *Reply) failure(model string) error {
	e, ok := y.Err.(*providers.Error) //nolint:errorlint // copying a wrapped error would lose the wrapper
	if !ok {
		return y.Err
	}
	failed := *e
	failed.Partial = providers.Response{Text: y.Text, Model: model, Usage: y.Usage}
	return &failed
}

// response returns the complete reply.
func (y *Reply) response(r providers.Request) providers.Response {
	res := providers.Response{Text: y.Text, FinishReason: y.FinishReason, Model: r.Model, Usage: y.Usage}
	for i := range y.Reasoning {
		res.Parts = append(res.Parts, providers.Part{Reasoning: &y.Reasoning[i]})
	}
	if len(y.Reasoning)+len(y.ToolCalls) > 0 && y.Text != "" {
		res.Parts = append(res.Parts, providers.Part{Text: y.Text})
	}
	written := len(y.Text)
	for i := range y.ToolCalls {
		res.Parts = append(res.Parts, providers.Part{ToolCall: &y.ToolCalls[i]})
		written += len(y.ToolCalls[i].Name) + len(y.ToolCalls[i].Arguments)
	}
	switch {
	case res.FinishReason != "":
	case len(y.ToolCalls) > 0:
		res.FinishReason = providers.ToolCalls
	default:
		res.FinishReason = providers.Stop
	}
	if res.Usage == (transcript.Usage{}) {
		res.Usage = estimate(r.Messages, written)
	}
	return res
}

// estimate returns a usage estimated from the lengths of the texts, and from the number of bytes that were written.
func estimate(messages []providers.Message, written int) transcript.Usage {
	in := 0
	for i := range messages {
		in += len(messages[i].Text)
		for _, p := range messages[i].Parts {
			in += len(p.Text)
			if p.ToolResult != nil {
				in += len(p.ToolResult.Text)
			}
			if p.Attachment != nil {
				in += 4 * p.Attachment.Tokens()
			}
		}
	}
	return transcript.Usage{Input: (in + 3) / 4, Output: (written + 3) / 4, Estimated: true}
}

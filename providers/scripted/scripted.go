// Package scripted is a provider that gives prepared replies. It is deterministic and offline, for tests and examples.
//
//	model := scripted.Text("Cars take the space that people need.", "I have nothing to add.")
//	other := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
//		return scripted.Reply{Text: "You said: " + r.Messages[len(r.Messages)-1].Text, Chunks: 3}
//	}}
//
// A [Provider] takes its replies from a list, and then from a function of the request. A [Reply] can come in chunks,
// take time, be cut, or fail. Concurrent calls take the replies of the list in the order in which they arrive. If that
// order is not certain, use the function and decide by what the request says.
//
// A scripted provider ignores the schema of a request: write replies that follow it.
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

// Provider plays a script. Set its fields before the first call. It is safe for concurrent use, and must not be copied.
type Provider struct {
	// Replies answer the first calls, one each.
	Replies []Reply
	// Func answers all further calls. Calls that run at the same time call it at the same time.
	Func func(providers.Request) Reply
	// Models are the models that Check knows. Where there are none it knows any.
	Models []string
	// DiscardCalls keeps no record of the calls, for benchmarks and long runs.
	DiscardCalls bool

	mu        sync.Mutex
	callCount int
	calls     []providers.Request
}

// Reply is the answer to one call.
type Reply struct {
	// Text is what the model says.
	Text string
	// Chunks is how many pieces the text comes in: of about the same length, none empty, cut between characters, so
	// that a short text may come in fewer. Defaults to 1.
	Chunks int
	// Latency is the time that the whole reply takes. It is spread evenly over the chunks: an equal part of it passes
	// before each.
	Latency time.Duration
	// Err ends the call once the text has been sent: a stream that was cut, or where there is no text a failure. An
	// *providers.Error is copied, with the text in its Partial; any other error is returned as it is.
	Err error
	// Hang has the reply never end: after the text nothing comes until the context ends.
	Hang bool
	// FinishReason defaults to providers.Stop.
	FinishReason providers.FinishReason
	// Usage defaults to an estimate, one token for every 4 bytes of the messages and of the text.
	Usage transcript.Usage
}

// Text is a script of one reply after the other.
func Text(replies ...string) *Provider {
	p := &Provider{Replies: make([]Reply, len(replies))}
	for i, text := range replies {
		p.Replies[i].Text = text
	}
	return p
}

// Generate gives the next reply of the script; where there is none, an error of kind [providers.InvalidRequest]. A call
// whose ctx has ended already takes no reply.
func (p *Provider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	if ctx.Err() != nil {
		return providers.Response{}, providers.ContextError(ctx, providers.Response{})
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

// Calls are the requests until now, in order and without their callbacks. Their messages are the caller's own, not
// copies.
func (p *Provider) Calls() []providers.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.calls)
}

// Check accepts the models that the script knows.
func (p *Provider) Check(_ context.Context, model string) error {
	if model == "" || len(p.Models) == 0 || slices.Contains(p.Models, model) {
		return nil
	}
	return &providers.Error{Kind: providers.InvalidRequest, Err: fmt.Errorf(
		"scripted: unknown model %q, the script has %s", model, strings.Join(p.Models, ", "))}
}

// next records the call and finds its reply.
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
		"scripted: call %d: no reply left, the script has %d", call+1, len(p.Replies))}
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
			if err = onChunk(y.Text[from:to]); err != nil {
				break
			}
		}
		from = max(from, to)
	}
	return y.Text[:from], err
}

// wait lets the time pass that belongs to chunk i of n, or less when ctx ends.
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

// runeBoundary is the first place at or after i where a character of s begins or s ends.
func runeBoundary(s string, i int) int {
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return i
}

// failure is the reply's error with what has been said.
func (y *Reply) failure(model string) error {
	e, ok := y.Err.(*providers.Error) //nolint:errorlint // whatever wraps one would be lost
	if !ok {
		return y.Err
	}
	failed := *e
	failed.Partial = providers.Response{Text: y.Text, Model: model, Usage: y.Usage}
	return &failed
}

// response is the whole reply.
func (y *Reply) response(r providers.Request) providers.Response {
	res := providers.Response{Text: y.Text, FinishReason: y.FinishReason, Model: r.Model, Usage: y.Usage}
	if res.FinishReason == "" {
		res.FinishReason = providers.Stop
	}
	if res.Usage == (transcript.Usage{}) {
		res.Usage = estimate(r.Messages, y.Text)
	}
	return res
}

// estimate is the usage of a call by the length of its texts.
func estimate(messages []providers.Message, text string) transcript.Usage {
	in := 0
	for i := range messages {
		in += len(messages[i].Text)
	}
	return transcript.Usage{Input: (in + 3) / 4, Output: (len(text) + 3) / 4, Estimated: true}
}

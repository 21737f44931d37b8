package langchain

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tmc/langchaingo/llms"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// call is one call of a model. The model runs on its own goroutine, and the rest of the call on the caller's.
type call struct {
	onChunk   func(text string) error
	options   *callOptions
	maxTokens int         // the token limit; 0 if the service chooses
	chunks    chan string // unbuffered, so that the model is at most one chunk ahead
	done      chan result // buffered, so that a model can return after the call has ended

	delivered   strings.Builder // the text passed to onChunk
	partialRune string          // the bytes of an incomplete character
	callbackErr error           // the error of onChunk
}

// result is what a model returned.
type result struct {
	content *llms.ContentResponse
	err     error
}

// run calls the model, on the model's goroutine.
func (c *call) run(ctx context.Context, m llms.Model, messages []llms.MessageContent, options []llms.CallOption) {
	var r result
	defer func() {
		if p := recover(); p != nil {
			r = result{err: fmt.Errorf("model panicked: %v", p)}
		}
		c.done <- r
	}()
	r.content, r.err = m.GenerateContent(ctx, messages, options...)
}

// stream returns a streaming function for the model. It passes chunks to the caller's goroutine until the call ends.
func (c *call) stream(run context.Context) func(context.Context, []byte) error {
	return func(_ context.Context, chunk []byte) error {
		if len(chunk) == 0 {
			return run.Err()
		}
		select {
		case c.chunks <- string(chunk):
			return nil
		case <-run.Done():
			return run.Err()
		}
	}
}

// wait waits for the reply and validates it. An error of onChunk and the end of ctx take precedence over the model's
// result.
func (c *call) wait(ctx context.Context) (providers.Response, error) {
	var res providers.Response
	content, err := c.receive(ctx)
	seen := c.options.observer.observation()
	if seen.err != nil && ctx.Err() == nil {
		err = seen.err
	}
	if err == nil {
		res, err = read(content, c.delivered.String(), c.maxTokens, seen)
	}
	if err == nil {
		err = c.deliverRest(res.Text)
	}
	switch {
	case c.callbackErr != nil:
		return providers.Response{}, c.callbackErr
	case ctx.Err() != nil:
		return providers.Response{}, providers.ContextError(ctx, c.partial(res, seen))
	case err != nil:
		return providers.Response{}, asError(err, c.partial(res, seen), seen.secrets)
	}
	return res, nil
}

// partial returns the part of a failed reply that arrived.
func (c *call) partial(res providers.Response, seen observation) providers.Response {
	if said := c.delivered.String(); len(said) > len(res.Text) {
		res.Text = said
	}
	if res.Usage == (transcript.Usage{}) {
		res.Usage = seen.usage
	}
	res.Model = cmp.Or(res.Model, seen.model)
	return res
}

// receive receives chunks until the model returns, onChunk fails, or ctx ends.
func (c *call) receive(ctx context.Context) (*llms.ContentResponse, error) {
	for {
		select {
		case chunk := <-c.chunks:
			if err := c.receiveChunk(chunk); err != nil {
				return nil, err
			}
		case r := <-c.done:
			return r.content, r.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// receiveChunk delivers the complete characters of a chunk.
func (c *call) receiveChunk(chunk string) error {
	chunk = c.partialRune + chunk
	n := completeRunes(chunk)
	c.partialRune = chunk[n:]
	return c.deliver(validText(chunk[:n]))
}

// deliverRest delivers the part of the reply that was not streamed.
func (c *call) deliverRest(text string) error {
	if rest, ok := strings.CutPrefix(text, c.delivered.String()); ok {
		return c.deliver(rest)
	}
	return nil
}

// deliver passes a piece of the reply to onChunk.
func (c *call) deliver(text string) error {
	if text == "" || c.onChunk == nil {
		return nil
	}
	c.delivered.WriteString(text)
	c.callbackErr = c.onChunk(text)
	return c.callbackErr
}

// validText returns text with U+FFFD for each byte that is not UTF-8.
func validText(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

// completeRunes returns the length of s without an incomplete character at its end.
func completeRunes(s string) int {
	for i := len(s) - 1; i >= 0 && len(s)-i < utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) && !utf8.FullRuneInString(s[i:]) {
			return i
		}
	}
	return len(s)
}

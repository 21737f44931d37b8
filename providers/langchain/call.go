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

// call is one run of a model. The model runs on its own goroutine; the rest of the call on that of the caller.
type call struct {
	onChunk func(text string) error
	wish    *wish
	limit   int         // of tokens, 0 where the service has its own
	chunks  chan string // unbuffered: the model is never more than one chunk ahead
	done    chan result // holds one: a model that was left behind can still return

	said    strings.Builder // what onChunk was given
	tail    string          // the bytes of a character that is not complete yet
	refused error           // what onChunk answered
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

// stream passes chunks from whatever goroutine the model calls it on to the caller's, until the call ends.
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

// outcome waits for the reply and judges it. A refused chunk and the end of ctx count whatever the model says.
func (c *call) outcome(ctx context.Context) (providers.Response, error) {
	var res providers.Response
	content, err := c.listen(ctx)
	seen := c.wish.sight.report()
	if seen.problem != nil && ctx.Err() == nil {
		err = seen.problem
	}
	if err == nil {
		res, err = read(content, c.said.String(), c.limit, seen)
	}
	if err == nil {
		err = c.finish(res.Text)
	}
	switch {
	case c.refused != nil:
		return providers.Response{}, c.refused
	case ctx.Err() != nil:
		return providers.Response{}, providers.Ended(ctx, c.partial(res, seen))
	case err != nil:
		return providers.Response{}, failure(err, c.partial(res, seen), seen.secrets)
	}
	return res, nil
}

// partial is a reply that failed with all that came of it.
func (c *call) partial(res providers.Response, seen report) providers.Response {
	if said := c.said.String(); len(said) > len(res.Text) {
		res.Text = said
	}
	if res.Usage == (transcript.Usage{}) {
		res.Usage = seen.usage
	}
	res.Model = cmp.Or(res.Model, seen.model)
	return res
}

// listen takes chunks until the model returns, a chunk is refused, or ctx ends.
func (c *call) listen(ctx context.Context) (*llms.ContentResponse, error) {
	for {
		select {
		case chunk := <-c.chunks:
			if err := c.take(chunk); err != nil {
				return nil, err
			}
		case r := <-c.done:
			return r.content, r.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take hands over what is complete of a chunk.
func (c *call) take(chunk string) error {
	chunk = c.tail + chunk
	n := complete(chunk)
	c.tail = chunk[n:]
	return c.give(chunk[:n])
}

// finish hands over what the reply has beyond its chunks: all of it, where the model did not stream.
func (c *call) finish(text string) error {
	if rest, ok := strings.CutPrefix(text, c.said.String()); ok {
		return c.give(rest)
	}
	return nil
}

// give hands over a piece of the reply.
func (c *call) give(text string) error {
	if text == "" || c.onChunk == nil {
		return nil
	}
	c.said.WriteString(text)
	c.refused = c.onChunk(text)
	return c.refused
}

// complete is the length of s without the beginning of a character at its end.
func complete(s string) int {
	for i := len(s) - 1; i >= 0 && len(s)-i < utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) && !utf8.FullRuneInString(s[i:]) {
			return i
		}
	}
	return len(s)
}

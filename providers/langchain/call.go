package langchain

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// call is one call of a model. The model runs on its own goroutine, and the rest of the call on the caller's.
type call struct {
	reply  *wire.Reply
	limit  int         // the token limit; 0 if the service chooses
	chunks chan string // unbuffered, so that the model is at most one chunk ahead
	done   chan result // buffered, so that a model can return after the call has ended

	streamed strings.Builder
}

// result is what a model returned.
type result struct {
	content *llms.ContentResponse
	err     error
}

// run calls the model, on the model's goroutine.
func (c *call) run(ctx context.Context, m llms.Model, messages []llms.MessageContent, options []llms.CallOption) {
	var r result
	returned := false
	defer func() {
		if !returned {
			r = result{err: &providers.Error{Kind: providers.Panic, Err: panics.New(recover())}}
		}
		c.done <- r
	}()
	r.content, r.err = m.GenerateContent(ctx, messages, options...)
	returned = true
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

// wait waits for the reply and validates it. An error of OnChunk and the end of ctx take precedence over the model's
// result.
func (c *call) wait(ctx context.Context, timeout time.Duration) (providers.Response, error) {
	content, err := c.receive(ctx, timeout)
	if err == nil {
		err = c.read(content)
	}
	var res providers.Response
	if err == nil {
		res, err = c.reply.End()
	}
	switch {
	case c.reply.CallbackErr() != nil:
		return providers.Response{}, c.reply.CallbackErr()
	case ctx.Err() != nil:
		return providers.Response{}, providers.ContextError(ctx, c.reply.Partial())
	case err != nil:
		return providers.Response{}, asError(err, c.reply.Partial())
	}
	return res, nil
}

// receive receives chunks until the model returns, OnChunk fails, ctx ends, or no chunk arrives in time. The time that
// OnChunk takes does not count.
func (c *call) receive(ctx context.Context, timeout time.Duration) (*llms.ContentResponse, error) {
	silence := make(<-chan time.Time)
	for {
		var timer *time.Timer
		if timeout > 0 {
			timer = time.NewTimer(timeout)
			silence = timer.C
		}
		var err error
		select {
		case chunk := <-c.chunks:
			c.streamed.WriteString(chunk)
			err = c.reply.Add(wire.Text(chunk))
		case r := <-c.done:
			return r.content, r.err
		case <-ctx.Done():
			err = ctx.Err()
		case <-silence:
			err = &providers.Error{Kind: providers.Timeout, Err: fmt.Errorf("call model: the service sent nothing for %v", timeout)}
		}
		if timer != nil {
			timer.Stop()
		}
		if err != nil {
			return nil, err
		}
	}
}

var (
	errNoChoices = &providers.Error{Kind: providers.InvalidResponse, Err: errors.New("read reply: the reply has no choices")}
	errCutStream = &providers.Error{Kind: providers.Network, Err: errors.New("read reply: the stream was cut")}
)

// read adds what the model returned to the reply: the text that it did not stream, the finish reason and the usage.
func (c *call) read(content *llms.ContentResponse) error {
	text, reason, info, ok := merge(content)
	if !ok {
		return errNoChoices
	}
	for _, choice := range content.Choices {
		if choice == nil {
			continue
		}
		if err := c.reply.Reason(wire.Text(choice.ReasoningContent)); err != nil {
			return err
		}
	}
	name, _ := info["model"].(string)
	c.reply.SetModel(name)
	u, counts := usage(info)
	*c.reply.Usage() = u
	streamed := c.streamed.String()
	// A complete stream ends with a finish reason and, if the model reports usage, with usage.
	endless := reason == unspecified || reason == "" && counts && u.Input+u.Output == 0
	if endless && (strings.TrimSpace(text) == "" || streamed != "") || len(text) < len(strings.TrimSpace(streamed)) {
		return errCutStream
	}
	if rest, ok := strings.CutPrefix(text, streamed); ok {
		if err := c.reply.Add(wire.Text(rest)); err != nil {
			return err
		}
	}
	c.reply.Finish(finishReasons[strings.ToLower(strings.TrimPrefix(reason, "FinishReason"))])
	return nil
}

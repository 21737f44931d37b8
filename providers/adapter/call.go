package adapter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/wire"
	"github.com/elenchus-go/debate/transcript"
)

// call is one call of a model. The model runs on its own goroutine, and the rest of the call on the caller's.
type call struct {
	reply  *wire.Reply
	sent   int // the size of the prompt in bytes
	kind   func(error) providers.ErrorKind
	chunks chan Chunk // unbuffered, so that the model is at most one chunk ahead
	done   chan error // buffered, so that a model can return after the call has ended

	finish string
}

// run calls the model, on the model's goroutine.
func (c *call) run(ctx context.Context, stream func(context.Context, providers.Request, Add) error, r providers.Request) {
	err := error(&providers.Error{Kind: providers.Panic, Err: errUnfinished})
	defer func() { c.done <- err }()
	add := func(chunk Chunk) error {
		select {
		case c.chunks <- chunk:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if panicked := panics.Call(func() { err = stream(ctx, r, add) }); panicked != nil {
		err = &providers.Error{Kind: providers.Panic, Err: panicked}
	}
}

// errUnfinished is the error of a model whose goroutine ends before the model returns.
var errUnfinished = errors.New("the goroutine ended early")

// wait waits for the reply and validates it. An error of OnChunk and the end of ctx take precedence over the model's
// result.
func (c *call) wait(ctx context.Context, timeout time.Duration) (providers.Response, error) {
	var res providers.Response
	err := c.receive(ctx, timeout)
	if err == nil {
		c.reply.Finish("") // whatever the model says about it
		err = c.reply.FinishWord(c.finish)
		if err == nil {
			res, err = c.reply.End()
		}
	}
	switch {
	case c.reply.CallbackErr() != nil:
		return providers.Response{}, c.reply.CallbackErr()
	case ctx.Err() != nil:
		return providers.Response{}, providers.ContextError(ctx, c.reply.Partial())
	case err != nil:
		return providers.Response{}, asError(err, c.reply.Partial(), c.sent, c.kind)
	}
	return res, nil
}

// receive receives chunks until the model returns, OnChunk fails, ctx ends, or no chunk arrives in time. The time that
// OnChunk takes does not count.
func (c *call) receive(ctx context.Context, timeout time.Duration) error {
	silence := make(<-chan time.Time)
	for {
		var timer *time.Timer
		if timeout > 0 {
			timer = time.NewTimer(timeout)
			silence = timer.C
		}
		var err error
		returned := false
		select {
		case chunk := <-c.chunks:
			err = c.add(chunk)
		case err = <-c.done:
			returned = true
		case <-ctx.Done():
			err = ctx.Err()
		case <-silence:
			err = &providers.Error{Kind: providers.Timeout, Err: fmt.Errorf("call model: the service sent nothing for %v", timeout)}
		}
		if timer != nil {
			timer.Stop()
		}
		if returned || err != nil {
			return err
		}
	}
}

// add adds a chunk to the reply.
func (c *call) add(chunk Chunk) error {
	c.reply.SetModel(chunk.Model)
	c.reply.Warn(chunk.Warning)
	c.reply.NoteRead(chunk.Read)
	if u := chunk.Usage; u != (transcript.Usage{}) {
		if hidden := chunk.Total - u.Input - u.Output; hidden > 0 {
			u.Output += hidden
			u.Reasoning = max(u.Reasoning, hidden)
		}
		*c.reply.Usage() = u
	}
	if chunk.FinishReason != "" {
		c.finish = chunk.FinishReason
	}
	if err := c.reply.Reason(wire.Text(chunk.Reasoning)); err != nil {
		return err
	}
	if err := c.reply.Add(wire.Text(chunk.Text)); err != nil {
		return err
	}
	for _, toolCall := range chunk.ToolCalls {
		if err := c.reply.AddCall(toolCall); err != nil {
			return err
		}
	}
	return nil
}

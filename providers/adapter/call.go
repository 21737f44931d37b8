package adapter

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/wire"
	"github.com/elenchus-go/debate/transcript"
)

// call is one call of a model. The model runs on its own goroutine, and the rest of the call on the caller's.
type call struct {
	reply  *wire.Reply
	kind   func(error) providers.ErrorKind
	pieces chan piece // unbuffered, so that the model is at most one chunk ahead
	done   chan error // buffered, so that a model can return after the call has ended

	finish string
}

// piece is what Stream yields.
type piece struct {
	chunk Chunk
	err   error
}

// run calls the model, on the model's goroutine.
func (c *call) run(ctx context.Context, stream func(context.Context, providers.Request) iter.Seq2[Chunk, error], r providers.Request) {
	var err error
	returned := false
	defer func() {
		if !returned {
			err = &providers.Error{Kind: providers.Panic, Err: panics.New(recover())}
		}
		c.done <- err
	}()
	// This is no range loop, because some models call back on goroutines of their own, or after they were told to end.
	stream(ctx, r)(func(chunk Chunk, err error) bool {
		select {
		case c.pieces <- piece{chunk, err}:
			return err == nil
		case <-ctx.Done():
			return false
		}
	})
	returned = true
}

// wait waits for the reply and validates it. An error of OnChunk and the end of ctx take precedence over the model's
// result.
func (c *call) wait(ctx context.Context, timeout time.Duration) (providers.Response, error) {
	var res providers.Response
	err := c.receive(ctx, timeout)
	if err == nil {
		c.reply.Finish(finishReason(c.finish))
		res, err = c.reply.End()
	}
	switch {
	case c.reply.CallbackErr() != nil:
		return providers.Response{}, c.reply.CallbackErr()
	case ctx.Err() != nil:
		return providers.Response{}, providers.ContextError(ctx, c.reply.Partial())
	case err != nil:
		return providers.Response{}, asError(err, c.reply.Partial(), c.kind)
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
		case p := <-c.pieces:
			if err = c.add(p.chunk); p.err != nil && err == nil {
				err = p.err
			}
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
	if chunk.Usage != (transcript.Usage{}) {
		*c.reply.Usage() = chunk.Usage
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

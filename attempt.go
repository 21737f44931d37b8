package debate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// perform makes attempts until one gives the turn, or no other can.
func (c *call) perform() error {
	c.turn.begin()
	c.start()
	switch {
	case c.ctx.Err() != nil:
		return c.ended(0, nil)
	case c.timing.budget && c.timing.limit <= 1 && !c.concluding: // there is no time left to call in
		return errOutOfTime
	}
	for n := 1; ; n++ {
		err := c.attempt(n)
		if c.ctx.Err() != nil {
			return c.ended(n, err)
		}
		if err == nil {
			return c.done()
		}
		failed := providers.AsError(err)
		if c.attempts.widened && failed.Kind == providers.Validation { // the model writes no longer replies than the first
			failed = &providers.Error{Kind: providers.InvalidResponse, Partial: failed.Partial, Err: failed}
		}
		again := c.again(n, failed)
		if err := c.failed(failed, again); err != nil || again < 0 {
			return c.giveUp(n, failed)
		}
		if wait(c.ctx, again) != nil {
			return c.ended(n, err)
		}
		if c.timing.waited {
			c.start()
		}
	}
}

// ended is why the call's context did. A step that took too long is a failure like others.
func (c *call) ended(n int, err error) error {
	cause := context.Cause(c.ctx)
	if errors.Is(cause, errOutOfTime) && c.keep() {
		return nil
	}
	if timeout, ok := errors.AsType[*providers.Error](cause); ok {
		if err != nil {
			timeout = &providers.Error{Kind: timeout.Kind, Err: timeout.Err, Partial: providers.AsError(err).Partial}
		}
		_ = c.failed(timeout, -1) // the viewer's leaving changes nothing any more
		return c.giveUp(n, timeout)
	}
	return cause
}

// failed tells of a failed attempt.
func (c *call) failed(e *providers.Error, again time.Duration) error {
	return c.tell(TurnFailed{Stamp: live("turn_failed"), Attempt: c.attempts.current, Error: e.Kind, Message: c.mask.Reveal(e.Error()), Again: again})
}

// attempt makes one call of the model, and the turn of its reply.
func (c *call) attempt(n int) error {
	c.attempts.current = &Attempt{Key: c.step.Key, Kind: c.step.Kind, Role: c.role, N: n}
	start := TurnStarted{Stamp: live("turn_started"), Attempt: c.attempts.current}
	start.Seq = c.step.Horizon
	part := c.feed.begin(start)
	if c.emit != nil {
		if err := c.emit(start, start.Seq); err != nil {
			return err
		}
	}
	began, prompt, reasked := time.Now(), c.prompt.tokens-c.prompt.slack, c.attempts.reasked
	c.request.OnChunk = c.stream(part)
	resp, err := c.model.provider.Generate(c.ctx, c.request)
	err = c.inTime(resp, err)
	whole := err == nil
	if failed := providers.AsError(err); failed != nil {
		if resp = failed.Partial; len(strings.TrimSpace(resp.Text)) > len(c.attempts.partial) {
			c.attempts.partial = strings.TrimSpace(resp.Text)
		}
	} else {
		err = c.accept(resp)
	}
	a := transcript.Attempt{Provider: c.model.providerName, Model: c.model.actor.Model, Usage: c.usage(resp, whole), Took: time.Since(began)}
	if !reasked && !c.model.substituted { // else it is not the prompt that was estimated, or not the actor's model
		a.Prompt = prompt
	}
	c.tried(a, resp, err)
	return err
}

// inTime is the error of a call; one that went beyond the step's time is a timeout, whatever its provider makes of it.
func (c *call) inTime(resp providers.Response, err error) error {
	timeout, late := errors.AsType[*providers.Error](context.Cause(c.ctx))
	if !late {
		return err
	}
	if err != nil {
		resp = providers.AsError(err).Partial
	}
	return &providers.Error{Kind: timeout.Kind, Err: timeout.Err, Partial: resp}
}

// stream passes the pieces of an attempt's text on as they come.
func (c *call) stream(p *part) func(string) error {
	offset, seq := 0, c.step.Horizon
	ctx, feed, emit, attempt := c.ctx, c.feed, c.emit, c.attempts.current // c runs another step after this one
	return func(text string) error {
		feed.chunk(p, text)
		if emit == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		ev := Chunk{Stamp: Stamp{Type: "chunk", Seq: seq, Live: true}, Attempt: attempt, Offset: offset, Text: text}
		offset += len(text)
		return emit(ev, seq)
	}
}

// accept takes a reply as the turn, or says what is wrong with it.
func (c *call) accept(r providers.Response) error {
	if strings.TrimSpace(r.Text) == "" && !c.attempts.reasked {
		return &providers.Error{Kind: providers.InvalidResponse, Partial: r, Err: errors.New("the reply is empty")}
	}
	c.turn.clear()
	if c.model.substituted {
		c.turn.flag(transcript.Substituted)
	}
	if c.attempts.reasked || c.attempts.widened {
		c.turn.flag(transcript.Reasked)
	}
	switch r.Finish {
	case providers.Length:
		c.turn.flag(transcript.Truncated)
	case providers.ContentFilter:
		c.turn.flag(transcript.Withheld)
	case providers.Stop:
	}
	if c.contract != nil {
		return c.structured(r)
	}
	text := c.mask.Reveal(r.Text)
	c.turn.says(text, nil, c.count(text))
	return nil
}

// structured takes a reply by its contract, or asks again for what is wrong with it.
func (c *call) structured(r providers.Response) error {
	parsed, err := c.parse(r)
	switch {
	case err == nil:
		c.turn.says(parsed.Text, parsed.Data, c.count(parsed.Text))
		if parsed.Repaired {
			c.turn.flag(transcript.Repaired)
		}
		return nil
	case c.most(providers.InvalidResponse) == 0:
	case r.Finish == providers.Length && c.widen():
		return &providers.Error{Kind: providers.InvalidResponse, Partial: r, Err: fmt.Errorf("%w with more room: %w", errReask, err)}
	case r.Finish != providers.Length && !c.attempts.reasked:
		return c.reask(r, err)
	}
	if !c.judging && c.step.Actor != protocol.Retrieving && c.standIn() {
		return nil
	}
	return &providers.Error{Kind: providers.InvalidResponse, Partial: r, Err: err}
}

// parse reads a reply by its contract. One that was cut is not read: an object that stands in it may be a draft.
func (c *call) parse(r providers.Response) (reply.Reply, error) {
	if r.Finish == providers.Length {
		return reply.Reply{}, fmt.Errorf("the reply was cut off at %d tokens", c.request.MaxTokens)
	}
	if !c.mask.Mentions(r.Text) { // nobody is masked, or a script knows the names
		if parsed, err := c.contract.Parse(r.Text, c.names); err == nil || c.mask == nil {
			return parsed, err
		}
	}
	parsed, err := c.contract.Parse(r.Text, c.mask.All(c.names))
	if err != nil {
		return parsed, err
	}
	return c.contract.Rename(parsed, c.mask.Reveal)
}

// widen doubles the room for the reply, once, as far as the window has any; false: there is no more.
func (c *call) widen() bool {
	room := min(2*c.request.MaxTokens, c.model.actor.Window-c.prompt.tokens)
	if c.attempts.widened || room <= c.request.MaxTokens {
		return false
	}
	c.attempts.widened, c.request.MaxTokens = true, room
	return true
}

// reask puts what was wrong with a reply into the request.
func (c *call) reask(r providers.Response, findings error) error {
	c.attempts.reasked = true
	c.prompt.data.Findings = []string{findings.Error()}
	if invalid, ok := errors.AsType[*reply.Invalid](findings); ok {
		c.prompt.data.Findings = invalid.Findings
	}
	words, err := c.prompt.set.User("reask", c.prompt.data)
	if err != nil {
		return &providers.Error{Kind: providers.Validation, Partial: r, Err: err}
	}
	c.request.Messages = append(slices.Clone(c.request.Messages),
		providers.Message{Role: providers.Assistant, Text: r.Text}, providers.Message{Role: providers.User, Text: words})
	return &providers.Error{Kind: providers.InvalidResponse, Partial: r, Err: fmt.Errorf("%w: %w", errReask, findings)}
}

// wait sleeps for a time, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

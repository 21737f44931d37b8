package debate

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// observe begins the step for the observer.
func (c *execution) observe() {
	c.ctx, c.end = c.reports.observe(c.ctx, Step{Debate: c.debate, Attempt: Attempt{Key: c.step.Key, Kind: c.step.Kind, Role: c.role}})
}

// unobserve ends the step for the observer. err is why it failed.
func (c *execution) unobserve(err error) {
	if c.end == nil {
		return
	}
	if err == nil && c.viewing { // the viewer has panicked, which cancels the call
		err = context.Canceled
	}
	o := Outcome{Err: err}
	c.endCall(o) // a call that has not returned
	if err == nil {
		t := c.turn.Turn
		o.Turn = &t
	}
	c.end(o)
}

// newAttempt returns an attempt that the step makes, as the context of its call.
func (c *execution) newAttempt(n int, kind transcript.Kind, provider, model string) *attemptContext {
	a := Attempt{Key: c.step.Key, Kind: kind, Role: c.role, Number: n}
	return &attemptContext{c.ctx, Step{Debate: c.debate, Attempt: a, Provider: provider, Model: model}}
}

// beginCall notes that a call begins, and returns its context.
func (c *execution) beginCall(a *attemptContext, r *providers.Request) (ctx context.Context) {
	if ctx, c.attempts.end = c.reports.observe(a, a.Step); c.attempts.end != nil {
		c.attempts.request = new(*r)
		c.attempts.request.OnChunk = nil
	}
	c.attempts.began = time.Now()
	return ctx
}

// addAttempt adds an attempt and its outcome to the turn.
func (c *execution) addAttempt(a transcript.Attempt, resp providers.Response, err error) {
	asked := a.Model
	a.Model, a.FinishReason = cmp.Or(resp.Model, asked), string(resp.FinishReason)
	if a.Model != asked {
		a.Requested = asked
	}
	a.Warnings = resp.Warnings
	if invalid, ok := errors.AsType[*reply.Invalid](err); ok {
		a.Violations = invalid.Rules
	}
	c.price(&a.Usage, a.Model, asked)
	a.Usage = limitUsage(a.Usage, 1) // a service can report anything
	if failed := providers.AsError(err); failed != nil {
		a.ErrorKind, a.ErrorMessage = string(failed.Kind), c.pseudonyms.Reveal(failed.Error())
	}
	a.Began, a.Duration = c.attempts.began.UTC(), time.Since(c.attempts.began)
	a.Waited, c.attempts.waited = c.attempts.waited, 0
	if c.keepReplies {
		a.Reply = firstBytes(validText(resp.Text), maxKept)
	}
	c.turn.addAttempt(a)
	if c.attempts.end != nil {
		a, resp := a, resp // only the observer's are on the heap
		c.endCall(Outcome{Err: err, Attempt: &a, Response: &resp})
	}
}

// endCall ends the call for the observer, if there is one and it has begun.
func (c *execution) endCall(o Outcome) {
	end := c.attempts.end
	if end == nil {
		return
	}
	o.Request, c.attempts.end, c.attempts.request = c.attempts.request, nil, nil
	end(o)
}

// stream returns a callback that passes on the text of an attempt while it streams, in whole characters.
func (c *execution) stream(p *liveAttempt, call *attemptContext) func(string) error {
	seq := c.step.VisibleSeq
	feed, emit, reports, began := c.feed, c.emit, c.reports, c.attempts.began // c is reused for other steps
	return func(text string) error {
		if text != "" && p.firstChunk == 0 {
			p.firstChunk = time.Since(began)
		}
		offset := 0
		if text = p.visible(text); text != "" {
			offset = feed.chunk(p, text)
		}
		if text == "" || emit == nil && reports.queue == nil || call.Err() != nil {
			return call.Err()
		}
		ev := Chunk{EventMeta: EventMeta{Type: "chunk", Seq: seq, Live: true}, Attempt: &call.Attempt, Offset: offset, Text: text}
		if reports.queue != nil {
			reports.live(call.Debate, ev)
		}
		if emit == nil {
			return nil
		}
		return emit(ev, seq)
	}
}

// reportFailure emits a TurnFailed event for the current attempt. It returns an error if the viewer has left.
func (c *execution) reportFailure(e *providers.Error, again time.Duration) error {
	ev := TurnFailed{EventMeta: liveMeta("turn_failed"), Attempt: c.attempts.current, Error: e.Kind, Message: c.pseudonyms.Reveal(e.Error()), RetryIn: again}
	c.feed.fail(ev)
	if c.reports.queue != nil {
		c.reports.live(c.debate, ev)
	}
	c.reports.logAttempt(c.ctx, c.debate, ev)
	if c.emit == nil {
		return nil
	}
	return c.emit(ev, ev.Seq)
}

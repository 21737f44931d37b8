package debate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// perform makes attempts until one succeeds or no further attempt is possible. If a provider or a hook panics, perform
// returns a failure. If it ends the goroutine, perform sets c.exited. A panic of the viewer passes through.
func (c *execution) perform() (err error) {
	returned := false
	defer func() { c.unobserve(err) }()
	defer func() {
		if returned || c.viewing {
			return
		}
		v := recover()
		f := c.panicked(panics.New(v))
		if err = f; v == nil {
			c.exited = f
		}
	}()
	c.observe()
	err = c.performAttempts()
	returned = true
	return err
}

// panicked returns the failure of a step in which the program's own code panicked. It calls no such code.
func (c *execution) panicked(p *panics.Error) *Failure {
	e := &providers.Error{Kind: providers.Panic, Err: p}
	if part := c.attempts.part; part != nil { // a call was in progress or had just ended
		e.Partial = c.attempts.response
		if e.Partial.Text == "" {
			e.Partial.Text = c.feed.textOf(part)
		}
		a := transcript.Attempt{Provider: c.model.providerName, Model: c.model.actor.Model, Usage: e.Partial.Usage, FirstChunk: part.firstChunk}
		if a.Usage == (transcript.Usage{}) && !makesNoText(c.step.Actor) {
			a.Usage = transcript.Usage{Input: c.prompt.tokens, Output: window.Estimate(e.Partial.Text), Estimated: true}
		}
		c.addAttempt(a, e.Partial, e)
		_ = c.reportFailure(e, -1) // the step ends even if the viewer has left
	}
	return c.newFailure(len(c.turn.Attempts), e)
}

func (c *execution) performAttempts() error {
	c.turn.start()
	c.start()
	switch {
	case c.ctx.Err() != nil:
		return c.contextEnded(0, nil)
	case c.timing.budget && c.timing.limit <= 1 && !c.concluding: // no time is left for a call
		return errOutOfTime
	}
	for n := 1; ; n++ {
		reconsiders := c.attempts.doubtful != nil
		err := c.attempt(n)
		if c.ctx.Err() != nil {
			return c.contextEnded(n, err)
		}
		if err == nil {
			c.finish()
			return nil
		}
		if reconsiders { // the model is asked once, and the first reply stands
			_ = c.reportFailure(providers.AsError(err), -1)
			return c.giveUp(n, providers.AsError(err))
		}
		failed, shorter := c.tryShorter(n, providers.AsError(err))
		if c.attempts.capRaised && failed.Kind == providers.InvalidRequest { // the model does not allow the raised limit
			failed = &providers.Error{Kind: providers.InvalidResponse, Partial: failed.Partial, Err: failed}
		}
		again := time.Duration(0)
		if !shorter {
			again = c.retryDelay(n, failed)
		}
		if err := c.reportFailure(failed, again); err != nil || again < 0 {
			return c.giveUp(n, failed)
		}
		c.attempts.waited = again
		switch ended := c.wait(again); {
		case errors.Is(ended, errHeld):
			return ended
		case ended != nil:
			return c.contextEnded(n, err)
		}
		if c.timing.waited {
			c.start()
		}
	}
}

// contextEnded handles the end of the call's context and returns its cause. A step that took too long counts as a
// failure.
func (c *execution) contextEnded(n int, err error) error {
	cause := context.Cause(c.ctx)
	if timeout, ok := errors.AsType[*providers.Error](cause); c.attempts.outage && (ok || errors.Is(cause, errOutOfTime)) {
		if !ok {
			timeout = &providers.Error{Kind: providers.Timeout, Err: cause}
		}
		c.attempts.waitError = errUnreachable
		return c.giveUp(n, timeout)
	}
	if errors.Is(cause, errOutOfTime) && (c.keepDoubtful() || c.keepPartial()) {
		return nil
	}
	if timeout, ok := errors.AsType[*providers.Error](cause); ok {
		if err != nil {
			timeout = &providers.Error{Kind: timeout.Kind, Err: timeout.Err, Partial: providers.AsError(err).Partial}
		}
		if n > 0 {
			_ = c.reportFailure(timeout, -1) // the step ends even if the viewer has left
		}
		return c.giveUp(n, timeout)
	}
	return cause
}

// attempt calls the model once and accepts its reply as the turn, or returns an error.
func (c *execution) attempt(n int) error {
	call := c.newAttempt(n, c.step.Kind, c.model.providerName, c.request.Model)
	c.attempts.current = &call.Attempt
	start := TurnStarted{EventMeta: liveMeta("turn_started"), Attempt: c.attempts.current}
	start.Seq = c.step.VisibleSeq
	part := c.feed.begin(start)
	if c.reports.queue != nil {
		c.reports.live(c.debate, start)
	}
	if c.emit != nil {
		if err := c.emit(start, start.Seq); err != nil {
			return err
		}
	}
	prompt, reasked := c.prompt.tokens-c.prompt.slack, c.attempts.askedAgain
	c.attempts.part, c.attempts.response = part, providers.Response{}
	ctx := c.beginCall(call, &c.request)
	c.request.OnChunk = c.stream(part, call)
	resp, err := c.model.provider.Generate(ctx, c.request)
	c.attempts.response = resp
	c.noteAnswer(c.attempts.began, err)
	err = c.checkTimeout(resp, err)
	if err == nil && part.end() {
		_ = c.request.OnChunk("") // the turn counts even if the viewer has left
	}
	whole := err == nil
	if failed := providers.AsError(err); failed != nil {
		resp = failed.Partial
		said, _ := reasoning.Split(validText(resp.Text[:incompleteCharacter(resp.Text)]))
		if text := strings.TrimSpace(said); len(text) > len(c.attempts.partial) && !isBlank(text) {
			c.attempts.partial = text
		} else if failed.Kind == providers.InvalidResponse && isBlank(text) {
			err = c.emptyReply(failed)
		}
	} else if err = c.accept(resp); err == nil {
		resp.Warnings = c.keepReasoning(resp)
		err = c.reconsider(resp)
	}
	a := transcript.Attempt{Provider: c.model.providerName, Model: c.model.actor.Model, Usage: c.usage(resp, whole), FirstChunk: part.firstChunk}
	// Otherwise the estimate is for another prompt or another model, or the service may ignore a part of the prompt, or the
	// prompt has attachments, whose estimate is far above most counts.
	if !reasked && !c.model.substituted && c.prompt.opaque == 0 && !c.showsAttachments() {
		a.PromptTokens = prompt
		if c.compareCount(&a, resp.FinishReason, err); a.Cut {
			resp.Warnings = append(slices.Clip(resp.Warnings), c.cutWarning(prompt, a.Usage.Input))
		}
	}
	c.addAttempt(a, resp, err)
	c.attempts.part = nil
	return err
}

// compareCount records what the service's count of the prompt says about the estimate. err is the error of the attempt. A
// service that cuts a prompt may have no room for the reply.
func (c *execution) compareCount(a *transcript.Attempt, end providers.FinishReason, err error) {
	failed, scale, n := providers.AsError(err), c.prompt.scale, a.Usage.Input
	if a.Usage.Estimated || failed != nil && failed.Kind != providers.InvalidResponse && end != providers.WindowFull {
		return
	}
	cut := scale.SuspectsCut(a.PromptTokens, n) || scale.SuspectsFirstCut(a.PromptTokens-c.prompt.schema, n)
	a.Cut = cut && a.Usage.Cached == 0
	a.Counted = failed != nil && failed.Kind == providers.InvalidResponse && !cut && n > 0
}

// cutWarning returns the warning that a service seems to have cut a prompt.
func (c *execution) cutWarning(estimated, counted int) string {
	return fmt.Sprintf("the server counted %d tokens in a prompt of about %.0f: it seems to cut prompts to its context window without an error; lower the window of %s from %d tokens to that of the server, or enlarge the server's",
		counted, float64(estimated)*c.prompt.scale.Factor(), c.step.Actor, c.model.actor.Window)
}

// checkTimeout returns the error of a call. If the step's time is over, that is a timeout, regardless of what the
// provider returned.
func (c *execution) checkTimeout(resp providers.Response, err error) error {
	timeout, late := errors.AsType[*providers.Error](context.Cause(c.ctx))
	if !late {
		return err
	}
	if err != nil {
		resp = providers.AsError(err).Partial
	}
	return &providers.Error{Kind: timeout.Kind, Err: timeout.Err, Partial: resp}
}

// accept sets a reply as the turn's reply, or returns an error if it is not valid.
func (c *execution) accept(r providers.Response) error {
	text := r.Text
	if c.contract == nil { // a contract removes reasoning itself
		text, _ = reasoning.Split(validText(r.Text))
	}
	if isBlank(text) && !c.attempts.askedAgain {
		return c.emptyReply(&providers.Error{Kind: providers.InvalidResponse, Partial: r, Err: errors.New("the reply is empty")})
	}
	c.turn.clearFlags()
	if c.model.substituted {
		c.turn.flag(transcript.Substituted)
	}
	if c.attempts.askedAgain || c.attempts.capRaised {
		c.turn.flag(transcript.Reasked)
	}
	switch r.FinishReason {
	case providers.Length, providers.WindowFull:
		c.turn.flag(transcript.Truncated)
	case providers.ContentFilter:
		c.turn.flag(transcript.Filtered)
	case providers.Stop, providers.ToolCalls:
	}
	if c.contract != nil {
		return c.structured(r)
	}
	text = c.pseudonyms.Reveal(text)
	c.turn.setReply(text, nil, c.count(text))
	return nil
}

// keepReasoning records the reasoning of an accepted reply. Opaque reasoning goes back only to participants, whose prompts
// use the same names in each round. It returns the warnings of the reply.
func (c *execution) keepReasoning(r providers.Response) []string {
	if slices.Contains(c.turn.Flags, transcript.Defaulted) {
		return r.Warnings
	}
	text, o := "", (*reasoning.Opaque)(nil)
	if c.keepText {
		text = c.pseudonyms.Reveal(readableReasoning(r))
	}
	if r.Parts != nil && c.debating && !c.step.Blind {
		if o = opaqueParts(r); o != nil {
			o.Provider, o.Model = c.model.providerName, c.model.actor.Model
		}
	}
	if warning := c.turn.setReasoning(text, o); warning != "" {
		return append(slices.Clip(r.Warnings), warning)
	}
	return r.Warnings
}

// structured validates a reply against its contract. If the reply is invalid, it prepares a request for a valid one
// if possible.
func (c *execution) structured(r providers.Response) error {
	parsed, err := c.parse(r)
	if _, inline := reasoning.Split(parsed.Text); err == nil && inline != "" {
		parsed, err = c.withoutReasoning(parsed)
	}
	switch {
	case err == nil:
		c.turn.setReply(parsed.Text, parsed.Data, c.count(parsed.Text))
		if parsed.Repaired {
			c.turn.flag(transcript.Repaired)
		}
		return nil
	case r.FinishReason == providers.WindowFull:
		return &providers.Error{Kind: providers.ContextOverflow, Partial: r, Err: fmt.Errorf("the context window was full before the reply was complete: %w", err)}
	case c.maxRetries(providers.InvalidResponse) == 0:
	case r.FinishReason == providers.Length && c.raiseCap(r.Text, c.usage(r, true).Reasoning):
		return &providers.Error{Kind: providers.InvalidResponse, Partial: r, Err: fmt.Errorf("%w with a higher token limit: %w", errAskedAgain, err)}
	case r.FinishReason != providers.Length && !c.attempts.askedAgain:
		return c.askAgain(r, err)
	}
	if _, ok := c.defaultReply(); ok && !c.judging && c.step.Actor != protocol.Retriever {
		err = fmt.Errorf("%w: %w", errDefault, err)
	}
	return &providers.Error{Kind: providers.InvalidResponse, Partial: r, Err: err}
}

// parse validates a reply against its contract. It rejects a truncated reply, because a complete object in it may be
// a draft.
func (c *execution) parse(r providers.Response) (reply.Reply, error) {
	if r.FinishReason == providers.Length {
		return reply.Reply{}, fmt.Errorf("the reply was truncated at %d tokens", c.request.MaxTokens)
	}
	return parseReply(c.contract, &c.step, c.pseudonyms, c.names, r.Text)
}

// parseReply validates the reply to a step against its contract, and replaces pseudonyms with the names of the
// participants.
func parseReply(contract *reply.Contract, s *protocol.Step, m *judge.Pseudonyms, names []string, text string) (reply.Reply, error) {
	if !m.Mentions(text) { // the step is not blind, or the reply uses the real names
		if parsed, err := contract.Parse(text, names); err == nil || !s.Blind {
			return parsed, err
		}
	}
	parsed, err := contract.Parse(text, m.SortedPseudonyms(names))
	if err != nil {
		return parsed, err
	}
	return contract.MapStrings(parsed, m.Reveal)
}

// emptyReply returns the error of a reply without text. If the token limit ended the reply, reasoning has used it up, and
// emptyReply prepares a request with room for more.
func (c *execution) emptyReply(e *providers.Error) error {
	limit := c.request.MaxTokens
	if e.Partial.FinishReason != providers.Length || c.maxRetries(e.Kind) == 0 || !c.raiseCap("", 0) {
		if onlyReasons(e.Partial) {
			return &providers.Error{Kind: e.Kind, Partial: e.Partial, Err: fmt.Errorf("%w: %s", e.Err, lessReasoning(c.step.Actor))}
		}
		return e
	}
	return &providers.Error{Kind: e.Kind, Partial: e.Partial, Err: fmt.Errorf(
		"%w with a limit of %d tokens: %d "+usedUp+": %w", errAskedAgain, c.request.MaxTokens, limit, e.Err)}
}

// usedUp is in the error of a reply that did not begin before its token limit.
const usedUp = "were used up before the reply began"

// withoutReasoning removes reasoning from the strings of a valid reply, and validates the rest.
func (c *execution) withoutReasoning(r reply.Reply) (reply.Reply, error) {
	said, err := c.contract.MapStrings(r, func(s string) string { s, _ = reasoning.Split(s); return s })
	if err != nil {
		return said, err
	}
	valid, err := c.contract.Parse(string(said.Data), c.names)
	valid.Repaired = r.Repaired
	return valid, err
}

// raiseCap doubles the token limit of a reply that reached it, once, as far as the window allows. If text has nothing but
// reasoning, or at least half of the limit was spent on reasoning, the new limit has room for more of it. raiseCap returns
// false if the limit cannot be raised.
func (c *execution) raiseCap(text string, thought int) bool {
	limit := 2 * c.request.MaxTokens
	if said, _ := reasoning.Split(text); isBlank(said) || thought > 0 && 2*thought >= c.request.MaxTokens {
		limit = max(limit, c.request.MaxTokens+reasoning.MediumTokens)
	}
	room := min(limit, c.model.actor.Window-c.prompt.tokens)
	if c.attempts.capRaised || room <= c.request.MaxTokens {
		return false
	}
	c.attempts.capRaised, c.request.MaxTokens = true, room
	return true
}

// askAgain adds the invalid reply and its violations to the request, and returns an error for the attempt.
func (c *execution) askAgain(r providers.Response, findings error) error {
	violations := []string{findings.Error()}
	if invalid, ok := errors.AsType[*reply.Invalid](findings); ok {
		violations = invalid.Violations
	}
	return c.ask("reask", r, violations, findings)
}

// wait waits before the next attempt. It returns errHeld if the debate is paused or the engine is closed, and the cause if
// the step's context ends. An attempt that follows at once belongs to the call in flight: a pause does not prevent it.
func (c *execution) wait(d time.Duration) error {
	if d == 0 {
		return context.Cause(c.ctx)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-c.pause.begun():
		return errHeld
	case <-c.closing:
		return errHeld
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	}
}

package step

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// Do executes the step. It returns the turn, which is valid until the Run is reset, or an error: a [*journal.Failure] if all
// attempts have failed, [ErrOutOfTime], [ErrNextJob], one that wraps [ErrSuperseded], or the cause that ended ctx. cancel
// ends ctx; Do calls it when the time of the step is over.
//
// If a provider or a hook panics, Do returns a Failure. A panic between Viewing(true) and Viewing(false) passes through.
func (r *Run) Do(ctx context.Context, cancel context.CancelCauseFunc, host Host) (t *transcript.Turn, err error) {
	r.ctx = ctx
	r.cancel = cancel
	r.host = host
	defer func() {
		if call := r.attempts.open; call != nil {
			call.End(nil, nil, cmp.Or(err, context.Canceled))
		}
		r.timing.stop()
	}()
	defer func() {
		if r.viewing {
			return
		}
		if v := recover(); v != nil {
			t = nil
			err = r.panicked(panics.New(v))
		}
	}()
	err = r.perform() //nolint:contextcheck // it has the context of the run
	if err != nil {
		return nil, err
	}
	return &r.draft.Turn, nil
}

// panicked returns the failure of a step in which the program's own code panicked. It calls no such code.
func (r *Run) panicked(p *panics.Error) *journal.Failure {
	e := &providers.Error{Kind: providers.Panic, Err: p}
	if s := r.attempts.stream; s != nil { // a call was in progress or had just ended
		e.Partial = r.attempts.response
		if e.Partial.Text == "" {
			e.Partial.Text = s.call.Text()
		}
		a := r.newAttempt(e.Partial.Usage)
		if a.Usage == (transcript.Usage{}) && !r.Plan.NoText {
			a.Usage = transcript.Usage{
				Input:     r.query.Tokens,
				Output:    window.Estimate(e.Partial.Text),
				Estimated: true,
			}
		}
		r.addAttempt(a, &e.Partial, e)
		_ = r.attempts.current.Failed(e, -1) // the step ends even if the viewer has left
	}
	return r.failure(len(r.draft.Attempts), e)
}

func (r *Run) perform() error {
	r.draft.start(&r.Plan.Step)
	r.query.set(&r.Plan)
	r.startTimer()
	timeIsUp := r.Plan.Limits.Budget && r.Plan.Limits.Time <= 1 // none is left for a call
	switch {
	case r.ctx.Err() != nil:
		return r.contextEnded(0, nil)
	case timeIsUp && !r.Plan.Concluding:
		return ErrOutOfTime
	}
	switch err := r.resume(); {
	case r.ctx.Err() != nil:
		return r.contextEnded(0, nil)
	case err != nil:
		return err
	}
	for {
		made := len(r.draft.Attempts)
		n := r.progress().number + 1
		again, err := r.attempt(n)
		if r.ctx.Err() != nil {
			return r.contextEnded(n, err)
		}
		switch {
		case r.attempts.ended != nil:
			return r.attempts.ended
		case again:
			continue
		case err == nil:
			r.finish()
			return nil
		}
		failed := providers.AsError(err)
		wait := time.Duration(-1)
		if len(r.draft.Attempts) > made { // otherwise the call could not begin
			failed, wait = r.follow(failed)
		}
		if err := r.attempts.current.Failed(failed, wait); err != nil || wait < 0 {
			return r.giveUp(n, failed)
		}
		r.attempts.waited = wait
		switch ended := r.wait(wait); {
		case errors.Is(ended, errHeld):
			return ended
		case ended != nil:
			return r.contextEnded(n, err)
		}
		if r.timing.waited {
			r.startTimer()
		}
	}
}

// contextEnded handles the end of the step's context and returns its cause. A step that took too long counts as a
// failure.
func (r *Run) contextEnded(n int, err error) error {
	cause := context.Cause(r.ctx)
	timeout, ok := errors.AsType[*providers.Error](cause)
	if r.attempts.outage && (ok && !r.attempts.ordinary || errors.Is(cause, ErrOutOfTime)) {
		if !ok {
			timeout = &providers.Error{
				Kind: providers.Timeout,
				Err:  cause,
			}
		}
		r.attempts.waitError = errUnreachable
		return r.giveUp(n, timeout)
	}
	if errors.Is(cause, ErrOutOfTime) && (r.keepDoubtful() || r.keepPartial()) {
		return nil
	}
	if ok {
		if err != nil {
			timeout = &providers.Error{
				Kind:    timeout.Kind,
				Err:     timeout.Err,
				Partial: providers.AsError(err).Partial,
			}
		}
		if n > 0 {
			_ = r.attempts.current.Failed(timeout, -1) // the step ends even if the viewer has left
		}
		return r.giveUp(n, timeout)
	}
	return cause
}

// wait waits before the next attempt. It returns errHeld if the debate is paused or the engine is closed, and the cause if
// the step's context ends. An attempt that follows at once belongs to the call in flight: a pause does not prevent it.
func (r *Run) wait(d time.Duration) error {
	if d == 0 {
		return context.Cause(r.ctx)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-r.Plan.Hold.Paused():
		return errHeld
	case <-r.Plan.Closing:
		return errHeld
	case <-r.ctx.Done():
		return context.Cause(r.ctx)
	}
}

// giveUp ends a step that failed after all attempts. It completes the turn with a default or partial reply if that is
// possible, and otherwise returns the failure.
func (r *Run) giveUp(n int, e *providers.Error) error {
	if r.keepDoubtful() {
		return nil
	}
	f := r.failure(n, e)
	switch {
	case errors.Is(r.attempts.waitError, errUnreachable):
		f.Unreachable = true
		return f
	case errors.Is(r.attempts.waitError, errLongWait):
		return r.longWait(n, e)
	case r.attempts.waitError != nil:
		return r.attempts.waitError
	case Fatal(e.Kind):
		return f
	case (errors.Is(e, errDefault) || r.Plan.UseDefault) && r.useDefault():
	case r.keepPartial():
		return nil
	default:
		return f
	}
	r.finish()
	return nil
}

// longWait returns the failure of a step whose service asks for a wait that is longer than the time that the debate has left.
func (r *Run) longWait(n int, e *providers.Error) *journal.Failure {
	long := *e
	long.Err = fmt.Errorf(
		"the service asks to wait for %v, and the debate has less time left: %w",
		e.RetryAfter.Round(time.Second),
		e.Err,
	)
	f := r.failure(n, &long)
	f.RetryAfter = e.RetryAfter
	return f
}

// keepDoubtful completes the turn with the reply that the model was asked to reconsider. It returns false if there is none.
func (r *Run) keepDoubtful() bool {
	if r.attempts.doubtful == nil {
		return false
	}
	r.draft.restore(r.attempts.doubtful)
	r.finish()
	return true
}

// keepPartial completes the turn with the partial text of a failed attempt, if the plan allows it and there is any text.
func (r *Run) keepPartial() bool {
	if !r.Plan.KeepPartial || r.Plan.Private {
		return false
	}
	text, flags := r.partOf(r.attempts.partial)
	if text == "" {
		return false
	}
	r.setReply(r.Plan.Pseudonyms.Reveal(text), nil)
	for _, f := range flags {
		r.draft.flag(f)
	}
	r.finish()
	return true
}

// resume continues a step after the rounds that it has made: it changes the request as its attempts did, and runs the calls
// of the last round if they have no results yet.
func (r *Run) resume() error {
	t := r.Plan.Tools
	if t == nil || len(t.Rounds) == 0 {
		return nil
	}
	for _, a := range attemptsOf(t.Rounds[t.Counted:]) {
		r.draft.addAttempt(a)
	}
	r.attempts.stored = len(r.draft.Attempts)
	tried := attemptsOf(t.Rounds)
	r.replay(tried, len(tried))
	if last := &t.Rounds[len(t.Rounds)-1]; last.Results == nil {
		round := *last
		r.query.dialog.number = len(t.Rounds)
		return r.callTools(&round)
	}
	return nil
}

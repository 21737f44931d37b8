package step

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/reasoning"
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
	switch {
	case r.ctx.Err() != nil:
		return r.contextEnded(0, nil)
	case r.Plan.Limits.Budget && r.Plan.Limits.Time <= 1 &&
		!r.Plan.Concluding: // no time is left for a call
		return ErrOutOfTime
	}
	switch err := r.resume(); {
	case r.ctx.Err() != nil:
		return r.contextEnded(0, nil)
	case err != nil:
		return err
	}
	for n := len(r.draft.Attempts) + 1; ; n++ {
		reconsiders := r.attempts.doubtful != nil
		again, err := r.attempt(n)
		if r.ctx.Err() != nil {
			return r.contextEnded(n, err)
		}
		switch {
		case r.attempts.ended != nil:
			return r.attempts.ended
		case again:
			r.attempts.waitedAfter++
			continue
		case err == nil:
			r.finish()
			return nil
		}
		if reconsiders { // the model is asked once, and the first reply stands
			_ = r.attempts.current.Failed(providers.AsError(err), -1)
			return r.giveUp(n, providers.AsError(err))
		}
		failed, shorter := r.tryShorter(n, providers.AsError(err))
		if r.query.capRaised &&
			failed.Kind == providers.InvalidRequest { // the model does not allow the raised limit
			failed = &providers.Error{
				Kind:    providers.InvalidResponse,
				Partial: failed.Partial,
				Err:     failed,
			}
		}
		wait := time.Duration(0)
		if !shorter {
			wait = r.retryDelay(n, failed)
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
			timeout = &providers.Error{Kind: providers.Timeout, Err: cause}
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
	if !r.Plan.KeepPartial || r.Plan.Private || r.attempts.partial == "" {
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

// otherWindow says that the window of a turn is not the one into which its history fits.
const otherWindow = "what was left out of the history is not known: tokens are counted in another way than then"

// Repeat returns the request of the last attempt of a step that was executed earlier, with the estimated tokens of its
// prompt. It calls no model, but changes the first request as the failed attempts did. missing says in words what cannot be
// repeated, because the attempts do not have it, or because tokens are counted in another way than then. fitted is how the
// history was fitted then.
//
// tried has no attempts of Tools.Rounds up to Tools.Counted. If it is nil, Repeat returns the next request of a step that has
// not ended.
func (r *Run) Repeat(tried []transcript.Attempt, fitted *transcript.Window) (request providers.Request, tokens int, missing []string) {
	r.query.set(&r.Plan)
	t := r.Plan.Tools
	most := len(tried) - 1
	ended := len(tried) > 0
	if t != nil {
		earlier := t.Rounds[:t.Counted]
		if tried == nil {
			earlier = t.Rounds
			most++
		}
		before := attemptsOf(earlier)
		tried = append(before, tried...)
		most = most + len(before)
	}
	recounted := ended && tried[0].PromptTokens > 0 &&
		tried[0].PromptTokens != r.query.Tokens-r.query.Slack
	missing = r.replay(tried, most)
	if missing == nil && ended && !reflect.DeepEqual(r.query.window, fitted) {
		missing = append(missing, otherWindow)
	}
	if recounted && r.query.capRaised {
		missing = append(
			missing,
			"how far the token limit of the reply was raised is not known: tokens are counted in another way than then",
		)
	}
	if t != nil && most >= 0 && most < len(tried) && tried[most].ToolsForbidden {
		r.query.forbidTools()
	}
	return r.query.model.Request, r.query.Tokens, missing
}

// replay changes the request as the first n attempts did, without a call.
func (r *Run) replay(tried []transcript.Attempt, n int) (missing []string) {
	ends := r.Plan.Tools.roundEnds()
	for i := 0; i < n; i++ {
		r.lookAt(tried, i, missing)
		if round := ends[i]; round != nil {
			r.query.dialog.number++
			if round.Results != nil {
				r.query.addRound(*round)
			}
			r.replaySubstitute(tried, i)
			continue
		}
		switch a := tried[i]; providers.ErrorKind(a.ErrorKind) {
		case "": // it called tools when there was no room left, or had gathered what it needs
			r.query.forbidTools()
			if a.FinishReason == string(providers.ToolCalls) {
				missing = append(missing, fmt.Sprintf("the round of tool calls of attempt %d is not kept", i+1))
			}
		case providers.ContextOverflow:
			r.query.shorten(func() bool {
				i++ // the attempt of the summary
				request, err := r.query.summaryRequest(&r.Plan.Summarizer, r.Plan.Pseudonyms, r.Plan.Step.Actor)
				if err == nil && r.look != nil {
					r.look(i, &request, missing)
				}
				done, lacks := r.repeatSummary(tried[i])
				missing = append(missing, lacks...)
				return done
			})
		case providers.InvalidRequest:
			r.query.dropReasoning()
		case providers.InvalidResponse:
			missing = append(missing, r.repeatAskedAgain(i, a)...)
		case providers.Loop:
			r.query.avoidRepetition()
		case providers.Refused:
			r.repeatInsist(a)
		default: // the same request is sent again
		}
		r.replaySubstitute(tried, i)
	}
	return missing
}

// lookAt shows the request of attempt i.
func (r *Run) lookAt(tried []transcript.Attempt, i int, missing []string) {
	if r.look == nil {
		return
	}
	if tried[i].ToolsForbidden {
		r.query.forbidTools()
	}
	r.look(i, &r.query.model.Request, missing)
}

// replaySubstitute turns to the substitute that made the attempt after attempt i, if another model did.
func (r *Run) replaySubstitute(tried []transcript.Attempt, i int) {
	for i+1 < len(tried) && !r.made(tried[i+1]) && r.substitute() {
		continue
	}
}

// repeatAskedAgain changes the request as an invalid reply of attempt i did.
func (r *Run) repeatAskedAgain(i int, a transcript.Attempt) (missing []string) {
	switch {
	case !strings.Contains(a.ErrorMessage, errAskedAgain.Error()): // the same request is sent again
	case strings.Contains(a.ErrorMessage, usedUp), strings.Contains(a.ErrorMessage, cutCalling):
		r.query.raiseCap("", 0)
	case a.ReplyCut:
		r.query.askedAgain = true
		return []string{fmt.Sprintf("the invalid reply of attempt %d is longer than 64 KiB, and not kept whole", i+1)}
	case a.Reply != "":
		said := &providers.Response{
			Text:         a.Reply,
			FinishReason: providers.FinishReason(a.FinishReason),
			Usage:        a.Usage,
		}
		switch {
		case r.Plan.Speech != nil && r.spoken(said.Text).Dialogue && r.askAlone():
		case r.accept(said) == nil:
			_ = r.reconsider(said)
		}
	case a.FinishReason == string(providers.Length):
		r.query.raiseCap("the beginning of a reply", a.Usage.Reasoning)
	default:
		return []string{fmt.Sprintf("the invalid reply of attempt %d is not kept: set Options.KeepReplies", i+1)}
	}
	return nil
}

// made reports whether the model in use made an attempt.
func (r *Run) made(a transcript.Attempt) bool {
	model := r.query.model.Request.Model
	return a.Provider == r.query.model.Provider &&
		(model == "" || a.Model == model || a.Requested == model)
}

// repeatSummary changes the request as the attempt of a summary did, or returns false.
func (r *Run) repeatSummary(a transcript.Attempt) (done bool, missing []string) {
	if a.ErrorKind == "" && a.Reply == "" {
		r.query.summarized = true
		return false, []string{"the summary of the older half of the history, which was made after an overflow, " +
			"is not kept: set Options.KeepReplies"}
	}
	if a.ErrorKind == "" && a.ReplyCut {
		r.query.summarized = true
		return false, []string{"the summary of the older half of the history, which was made after an overflow, " +
			"is longer than 64 KiB, and not kept whole"}
	}
	said, _ := reasoning.Split(a.Reply)
	if a.ErrorKind != "" || characters.IsBlank(said) {
		return false, nil
	}
	r.query.useSummary(r.Plan.Pseudonyms, said)
	return true, nil
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
	r.attempts.waitedAfter = len(r.draft.Attempts)
	tried := attemptsOf(t.Rounds)
	r.replay(tried, len(tried))
	if last := &t.Rounds[len(t.Rounds)-1]; last.Results == nil {
		round := *last
		r.query.dialog.number = len(t.Rounds)
		return r.callTools(&round)
	}
	return nil
}

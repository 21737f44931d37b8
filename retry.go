package debate

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// retryDelay returns the wait before the next attempt after attempt n has failed. It is negative if there is no next
// attempt.
func (c *execution) retryDelay(n int, e *providers.Error) time.Duration {
	switch {
	case errors.Is(e, errDefault):
		return -1
	case n-c.attempts.waitedAfter >= c.config.Limits.StepAttempts && c.maxWait(e) == 0:
		return -1
	case errors.Is(e, errAskedAgain):
		c.countFailure(e.Kind)
		return 0
	case e.Kind == providers.ContextOverflow && c.shortenPrompt():
		return 0
	case e.Kind == providers.InvalidRequest && c.dropReasoning(): // the service may no longer accept it
		return 0
	}
	if again := backoff(e, c.countFailure(e.Kind), c.maxRetries(e.Kind)); again >= 0 && again < c.timeLeft() && (c.maxWait(e) == 0 || !c.exceedsTimeout(again)) && c.mayWaitFirst(again) {
		return again
	}
	if c.substitute() {
		return 0
	}
	rest := c.waitForService(e)
	if rest >= 0 {
		c.attempts.waitedAfter = n
	}
	return rest
}

// tryShorter shortens the prompt after attempt n has failed with an error that may be an overflow. It reports whether it
// did. It does so once: otherwise, the error has the kind that it would have without the guess.
func (c *execution) tryShorter(n int, e *providers.Error) (*providers.Error, bool) {
	if e.Otherwise == "" {
		return e, false
	}
	if !c.attempts.shortened && n-c.attempts.waitedAfter < c.config.Limits.StepAttempts && c.shortenPrompt() {
		c.attempts.shortened = true
		return e, true
	}
	certain := *e
	certain.Kind, certain.Otherwise = e.Otherwise, ""
	return &certain, false
}

// The wait before the nth retry is random, between minBackoff and a bound that doubles up to maxBackoff.
const (
	minBackoff = time.Second
	maxBackoff = time.Minute
)

// backoff returns the wait before the next attempt after the nth failure of a kind. It is negative if there is no
// next attempt.
func backoff(e *providers.Error, nth, most int) time.Duration {
	if nth > most {
		return -1
	}
	upper := min(minBackoff<<min(nth, 6), maxBackoff)
	return max(minBackoff+rand.N(upper-minBackoff+1), e.RetryAfter)
}

// substitute switches to the judge's next substitute, which starts with a fresh request. It returns false if there is
// none left.
func (c *execution) substitute() bool {
	for len(c.model.substitutes) > 0 {
		next := c.model.substitutes[0]
		c.model.substitutes = c.model.substitutes[1:]
		name, provider, err := c.model.bind(next.Provider)
		if err != nil {
			continue
		}
		c.model.actor, c.model.providerName, c.model.provider = &next, name, provider
		c.noteReached()
		c.attempts.failures, c.attempts.askedAgain, c.attempts.capRaised, c.attempts.shortened, c.model.substituted = nil, false, false, false, true
		fresh := next.request()
		fresh.MaxTokens = substituteLimit(findParticipant(c.config.Judges, c.step.Actor), &next)
		fresh.Messages, fresh.Schema, fresh.SchemaName = c.withAttachments(c.prompt.messages), c.request.Schema, c.request.SchemaName
		c.request = fresh
		if room := next.Window - next.MaxTokens; c.prompt.tokens > room {
			c.shrink(room)
		}
		return true
	}
	return false
}

// firstContact is the time in which Run retries calls to a provider that has never answered, counted from the step's start.
// If connections are refused, the step fails within 15 s, and if none is made in the time that the providers give it, within
// 30 s. A person who has just configured the provider waits for the answer.
const firstContact = 10 * time.Second

// mayWaitFirst reports whether the step may wait before its next attempt. It may not wait longer than firstContact for a
// provider that this engine has never reached.
func (c *execution) mayWaitFirst(wait time.Duration) bool {
	return !c.neverReached() || time.Since(c.turn.Started)-c.timing.viewed+wait <= firstContact
}

// neverReached reports whether the provider cannot be reached and has never answered this engine, in a debate without turns
// that Run drives. Its address is probably wrong: to wait for it would only hide that.
func (c *execution) neverReached() bool {
	return c.firstRun.Load() && c.timing.maxOutage > 0 && !c.attempts.unreachable.IsZero() && !c.answers.since(c.model.providerName, time.Time{})
}

// waitForService returns the wait for a rate limit that affects all participants, or for a provider that cannot be
// reached: dropping one participant after the other would not help. It is negative if the time budget does not allow
// the wait.
func (c *execution) waitForService(e *providers.Error) time.Duration {
	most := c.maxWait(e)
	if most == 0 {
		return -1
	}
	outage, rest := e.Kind != providers.RateLimit, max(e.RetryAfter, maxBackoff)
	if outage && c.neverReached() {
		c.attempts.waitError = errUnreachable
		return -1
	}
	if time.Since(c.turn.Started)-c.timing.viewed+rest >= most {
		if c.attempts.waitError = errOutOfTime; outage {
			c.attempts.waitError = errUnreachable
		}
		return -1
	}
	if c.exceedsTimeout(rest) { // the next job continues to wait
		c.attempts.waitError = errServiceWait
		return -1
	}
	c.timing.timer.Stop()                // the wait counts towards the debate's time, not the step's
	if c.timing.waited = true; !outage { // in an outage, one attempt follows each wait
		c.attempts.failures = nil
	}
	c.attempts.outage = outage
	return rest
}

// giveUp ends a step that failed after all attempts. It completes the turn with a default or partial reply if that is
// possible, and otherwise returns the failure.
func (c *execution) giveUp(n int, e *providers.Error) error {
	if c.keepDoubtful() {
		return nil
	}
	f := c.newFailure(n, e)
	switch {
	case errors.Is(c.attempts.waitError, errUnreachable):
		f.Unreachable = true
		return f
	case c.attempts.waitError != nil:
		return c.attempts.waitError
	case f.mustStop():
		return f
	case (errors.Is(e, errDefault) || c.hasDefault()) && c.useDefault():
	case c.keepPartial():
		return nil
	default:
		return f
	}
	c.finish()
	return nil
}

// keepDoubtful completes the turn with the reply that the model was asked to reconsider. It returns false if there is none.
func (c *execution) keepDoubtful() bool {
	if c.attempts.doubtful == nil {
		return false
	}
	c.turn.restore(c.attempts.doubtful)
	c.finish()
	return true
}

// hasDefault reports whether the debate continues with a default reply if the step fails.
func (c *execution) hasDefault() bool {
	switch c.step.Actor {
	case protocol.Retriever:
		return c.config.OnRetrievalFailure == Continue
	case protocol.Embedder:
		return true
	case protocol.Summarizer:
		return c.step.Kind != transcript.Conclusion
	}
	return c.judging && c.config.OnJudgeFailure == Continue
}

func (c *execution) newFailure(n int, e *providers.Error) *Failure {
	stack := ""
	if p, ok := errors.AsType[*panics.Error](e); ok {
		stack = p.Stack
	}
	return &Failure{
		Stack: stack,
		Key:   c.step.Key, Kind: e.Kind, Provider: c.model.providerName, Model: c.usedModel(), Attempts: n, AttemptDetails: c.turn.Attempts,
		Started: c.turn.Started.UTC(), At: time.Now().UTC(), Message: c.pseudonyms.Reveal(e.Error()), Recoverable: true, cause: e,
		OnlyReasoning: e.Kind == providers.InvalidResponse && onlyReasons(e.Partial),
	}
}

// usedModel returns the name of the model of the last attempt.
func (c *execution) usedModel() string {
	if n := len(c.turn.Attempts); n > 0 && c.turn.Attempts[n-1].Model != "" {
		return c.turn.Attempts[n-1].Model
	}
	return c.model.actor.Model
}

// usageFailure returns a failure that holds the usage of a call that ended with the time budget, or nil if the call
// made no attempt.
func (c *execution) usageFailure() *Failure {
	if len(c.turn.Attempts) == 0 {
		return nil
	}
	return c.newFailure(len(c.turn.Attempts), &providers.Error{Kind: providers.Timeout, Err: errOutOfTime})
}

// subtractWait subtracts the time that a call waited for an earlier call of its actor.
func (c *execution) subtractWait(waited time.Duration) {
	if left := max(c.timing.remaining-waited, 1); left < c.timing.limit {
		c.timing.limit, c.timing.budget = left, true
	}
	if c.timing.maxWait > 0 {
		c.timing.maxWait = max(c.timing.maxWait-waited, 1)
	}
	if c.timing.maxOutage > 0 {
		c.timing.maxOutage = max(c.timing.maxOutage-waited, 1)
	}
}

// keepPartial completes the turn with the partial text of a failed attempt, if the policy allows it and there is any
// text.
func (c *execution) keepPartial() bool {
	if c.contract != nil || !c.debating || c.attempts.partial == "" || c.config.OnFailure != Degrade {
		return false
	}
	c.turn.setReply(c.attempts.partial, nil, c.count(c.attempts.partial))
	c.turn.flag(transcript.Partial)
	c.finish()
	return true
}

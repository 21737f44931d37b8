package debate

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// again is the wait before the next attempt after the nth has failed; negative: none follows.
func (c *call) again(n int, e *providers.Error) time.Duration {
	switch {
	case n-c.attempts.waitedAfter >= c.config.Limits.StepCalls && !c.limited(e):
		return -1
	case errors.Is(e, errReask):
		c.failedBy(e.Kind)
		return 0
	case e.Kind == providers.ContextOverflow && c.relieve():
		return 0
	}
	if again := backoff(e, c.failedBy(e.Kind), c.most(e.Kind)); again >= 0 && again < c.left() && (!c.limited(e) || !c.outlasts(again)) {
		return again
	}
	if c.substitute() {
		return 0
	}
	rest := c.sitOut(e)
	if rest >= 0 {
		c.attempts.waitedAfter = n
	}
	return rest
}

// The wait before the nth retry is drawn between shortest and a bound that doubles up to longest.
const (
	shortest = time.Second
	longest  = time.Minute
)

// backoff is the wait before the next attempt after the nth failure of a kind; negative: none follows.
func backoff(e *providers.Error, nth, most int) time.Duration {
	if nth > most {
		return -1
	}
	upper := min(shortest<<min(nth, 6), longest)
	return max(shortest+rand.N(upper-shortest+1), e.RetryAfter)
}

// substitute has the next model of the reserve give the reply, from the beginning.
func (c *call) substitute() bool {
	for len(c.model.substitutes) > 0 {
		next := c.model.substitutes[0]
		c.model.substitutes = c.model.substitutes[1:]
		name, provider, err := c.model.bind(next.Provider)
		if err != nil {
			continue
		}
		c.model.actor, c.model.providerName, c.model.provider = &next, name, provider
		c.attempts.failures, c.attempts.reasked, c.attempts.widened, c.model.substituted = nil, false, false, true
		c.request.Model, c.request.Temperature = next.Model, next.Temperature
		c.request.MaxTokens = min(find(c.config.Judges, c.step.Actor).MaxTokens, next.MaxTokens) // the step's cap holds: budgets count on it
		c.request.Messages = c.prompt.messages
		if room := next.Window - next.MaxTokens; c.prompt.tokens > room {
			c.shrink(room)
		}
		return true
	}
	return false
}

// sitOut is the wait for a rate limit to pass that hits everyone who debates: dropping them one by one would help nobody.
// It is negative where the time budget has no room for it.
func (c *call) sitOut(e *providers.Error) time.Duration {
	if !c.limited(e) {
		return -1
	}
	rest := max(e.RetryAfter, longest)
	if c.outlasts(rest) { // the next job goes on waiting
		c.attempts.leave = errResting
		return -1
	}
	if time.Since(c.turn.Began)-c.timing.viewed+rest >= c.timing.maxWait {
		c.attempts.leave = errOutOfTime
		return -1
	}
	c.timing.timer.Stop() // the rest is the debate's time, not the step's
	c.timing.waited, c.attempts.failures = true, nil
	return rest
}

// giveUp is what becomes of a step that has failed for good: its turn, as far as there is one, or its failure.
func (c *call) giveUp(n int, e *providers.Error) error {
	f := c.failure(n, e)
	switch {
	case c.attempts.leave != nil:
		return c.attempts.leave
	case f.wrong():
		return f
	case c.spared() && c.standIn():
	case c.keep():
		return nil
	default:
		return f
	}
	_ = c.done() // the time of the call is over, not its viewer's
	return nil
}

// spared says whether the debate goes on without a step that failed, on what stands in for it.
func (c *call) spared() bool {
	switch c.step.Actor {
	case protocol.Retrieving:
		return c.config.OnRetrievalFailure == GoOn
	case protocol.Embedding:
		return true
	case protocol.Summarizing:
		return c.step.Kind != transcript.Conclusion
	}
	return c.judging && c.config.OnJudgeFailure == GoOn
}

func (c *call) failure(n int, e *providers.Error) *Failure {
	return &Failure{
		Key: c.step.Key, Kind: e.Kind, Provider: c.model.providerName, Model: c.model.actor.Model, Attempts: n, Tried: c.turn.Attempts,
		Began: c.turn.Began.UTC(), At: time.Now().UTC(), Message: c.mask.Reveal(e.Error()), Recoverable: true, cause: e,
	}
}

// spent is what a call used that the debate's time has ended; nil: nothing.
func (c *call) spent() *Failure {
	if len(c.turn.Attempts) == 0 {
		return nil
	}
	return c.failure(len(c.turn.Attempts), &providers.Error{Kind: providers.Timeout, Err: errOutOfTime})
}

// shorten takes away the time that a call waited for another of its actor.
func (c *call) shorten(waited time.Duration) {
	if left := max(c.timing.remaining-waited, 1); left < c.timing.limit {
		c.timing.limit, c.timing.budget = left, true
	}
	if c.timing.maxWait > 0 {
		c.timing.maxWait = max(c.timing.maxWait-waited, 1)
	}
}

// keep has what was said so far stand as a partial turn, where there is something.
func (c *call) keep() bool {
	if c.contract != nil || !c.debating || c.attempts.partial == "" || c.config.OnFailure != Degrade {
		return false
	}
	c.turn.says(c.attempts.partial, nil, c.count(c.attempts.partial))
	c.turn.flag(transcript.Partial)
	_ = c.done() // the time of the call is over, not its viewer's
	return true
}

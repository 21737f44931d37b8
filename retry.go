package debate

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// retries are how many times a call is made again, by the kind of its failure, where the configuration says nothing.
var retries = map[providers.Kind]int{
	providers.Network: 3, providers.RateLimit: 5, providers.API: 2, providers.Timeout: 2, providers.InvalidResponse: 1,
	providers.ContextOverflow: 0, providers.Authentication: 0, providers.Validation: 0,
}

// The wait before the nth retry is drawn between shortest and a bound that doubles up to longest.
const (
	shortest = time.Second
	longest  = time.Minute
)

// again is the wait before the next attempt after the nth has failed; negative: none follows.
func (c *call) again(n int, e *providers.Error) time.Duration {
	switch {
	case n-c.since >= c.config.Limits.StepCalls && !c.limited(e):
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
		c.since = n
	}
	return rest
}

func (c *call) failedBy(kind providers.Kind) int {
	if c.failures == nil {
		c.failures = map[providers.Kind]int{}
	}
	c.failures[kind]++
	return c.failures[kind]
}

// most is how often a call is made again after a kind of failure.
func (c *call) most(kind providers.Kind) int {
	if n, ok := c.config.Retries[kind]; ok {
		return n
	}
	return retries[kind]
}

// left is what is left of the step's time.
func (c *call) left() time.Duration {
	return c.limit - time.Since(c.began) + time.Duration(c.clock.viewed.Load())
}

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
	for len(c.reserve) > 0 {
		next := c.reserve[0]
		c.reserve = c.reserve[1:]
		name, provider, err := c.bind(next.Provider)
		if err != nil {
			continue
		}
		c.who, c.name, c.provider = &next, name, provider
		c.failures, c.reasked, c.widened, c.substituted = nil, false, false, true
		c.request.Model, c.request.Temperature = next.Model, next.Temperature
		c.request.MaxTokens = min(find(c.config.Judges, c.step.Actor).MaxTokens, next.MaxTokens) // the step's cap holds: budgets count on it
		c.request.Messages = c.asked
		if room := next.Window - next.MaxTokens; c.tokens > room {
			c.shrink(room)
		}
		return true
	}
	return false
}

// shrink leaves out the oldest part of the history, so that the prompt has about so many tokens; false: it cannot. A summary
// outlasts the turns behind it, and the newest turn outlasts all: that is cut.
func (c *call) shrink(tokens int) bool {
	list, first := slices.Clone(c.asked), 1
	if len(list) < 3 {
		return false
	}
	if c.summary {
		first = 2
	}
	for ; first > 0; first-- {
		for len(list) > first+2 && c.tokens > tokens { // the first is the system's, the last two are the newest turn and the task
			gone := c.count(list[first].Text)
			list = slices.Delete(list, first, first+1)
			c.tokens -= gone
			c.leaveOut(gone)
			c.summary = c.summary && first > 1
		}
	}
	if len(list) == 3 && c.tokens > tokens {
		list[1].Text = c.clipped(list[1].Text, c.tokens-tokens)
	}
	if slices.Equal(list, c.asked) {
		return false
	}
	c.asked, c.request.Messages, c.reasked = list, list, false
	return true
}

// clipped is a turn without about so many tokens, but with a hundred. The mark at its end stays.
func (c *call) clipped(text string, by int) string {
	const least = 100
	has, end := c.count(text), ""
	if has <= 2*least {
		return text
	}
	if at := strings.LastIndexByte(text, '\n'); c.mask != nil && at >= 0 {
		text, end = text[:at], text[at:]
	}
	text = window.Clip(text, max(has-by, least)) + end
	gone := has - c.count(text)
	c.tokens -= gone
	c.fill(gone, 0)
	return text
}

// leaveOut reports that one more turn of the history is not shown.
func (c *call) leaveOut(tokens int) { c.fill(tokens, 1) }

// fill reports that the history is so many tokens and turns shorter, which is all that there is room for.
func (c *call) fill(tokens, turns int) {
	w := transcript.Window{Used: c.history, Kept: len(c.asked) - 2}
	if c.turn.Window != nil {
		w = *c.turn.Window
	}
	w.Used, w.Kept, w.Cut = max(w.Used-tokens, 0), w.Kept-turns, w.Cut+turns
	w.Limit = w.Used
	c.turn.Window = &w
}

// sitOut is the wait for a rate limit to pass that hits everyone who debates: dropping them one by one would help nobody.
// It is negative where the time budget has no room for it.
func (c *call) sitOut(e *providers.Error) time.Duration {
	if !c.limited(e) {
		return -1
	}
	rest := max(e.RetryAfter, longest)
	if c.outlasts(rest) { // the next job goes on waiting
		c.leave = errResting
		return -1
	}
	if time.Since(c.turn.Began)-c.viewed+rest >= c.patience {
		c.leave = errOutOfTime
		return -1
	}
	c.clock.stop() // the rest is the debate's time, not the step's
	c.rested, c.failures = true, nil
	return rest
}

// limited says whether an attempt failed by a rate limit that hits everyone who debates.
func (c *call) limited(e *providers.Error) bool {
	return e.Kind == providers.RateLimit && c.patience != 0
}

// outlasts says whether a wait is longer than what is left of a worker's job.
func (c *call) outlasts(wait time.Duration) bool {
	end, ok := c.ctx.Deadline()
	return ok && time.Until(end) <= wait
}

// giveUp is what becomes of a step that has failed for good: its turn, as far as there is one, or its failure.
func (c *call) giveUp(n int, e *providers.Error) error {
	f := c.failure(n, e)
	switch {
	case c.leave != nil:
		return c.leave
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
		Key: c.step.Key, Kind: e.Kind, Provider: c.name, Model: c.who.Model, Attempts: n, Tried: c.turn.Attempts,
		Began: c.turn.Began.UTC(), At: time.Now().UTC(), Message: c.mask.reveal(e.Error()), Recoverable: true, cause: e,
	}
}

// spent is what a call used that the debate's time has ended; nil: nothing.
func (c *call) spent() *Failure {
	if len(c.turn.Attempts) == 0 {
		return nil
	}
	return c.failure(len(c.turn.Attempts), &providers.Error{Kind: providers.Timeout, Err: errOutOfTime})
}

// note has the journal know of a rate limit that is being sat out, so that the time counts.
func (c *call) note(ch *change) error {
	value, err := json.Marshal(map[string]string{"actor": c.step.Actor, "provider": c.name, "phase": c.step.Phase})
	if err != nil || !ch.rec.snap.State.Active() {
		return err
	}
	return ch.add(Annotated{Stamp: ch.stamp("annotated"), At: ch.now, Name: "rate_limit", Value: value})
}

// shorten takes away the time that a call waited for another of its actor.
func (c *call) shorten(waited time.Duration) {
	if left := max(c.room-waited, 1); left < c.limit {
		c.limit, c.budget = left, true
	}
	if c.patience > 0 {
		c.patience = max(c.patience-waited, 1)
	}
}

// keep has what was said so far stand as a partial turn, where there is something.
func (c *call) keep() bool {
	if c.contract != nil || !c.debating || c.partial == "" || c.config.OnFailure != Degrade {
		return false
	}
	c.turn.Text, c.turn.Tokens = c.partial, c.count(c.partial)
	c.turn.Flags = append(c.turn.Flags, transcript.Partial)
	_ = c.done() // the time of the call is over, not its viewer's
	return true
}

// errResting ends a call of a worker's job that has not the time to sit out a rate limit.
var errResting = errors.New("a rate limit is to be sat out, which the next job goes on with")

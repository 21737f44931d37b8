package debate

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/elenchus-go/debate/internal/steptimer"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// execution is one step on its way to a turn: all attempts. Everything that it needs of the record was taken when it was
// planned, so it runs beside others.
type execution struct {
	step       protocol.Step
	role       string
	config     *Config
	created    time.Time         // when the debate was
	concluding bool              // the debate concludes
	judging    bool              // the actor is a judge
	debating   bool              // the actor is a participant
	contract   *reply.Contract   // nil: free text
	names      []string          // the participants that the reply may name
	pseudonyms *judge.Pseudonyms // how the model sees the participants; nil: by name
	model      model
	prompt     judgePromptTokens
	request    providers.Request
	attempts   attempts
	timing     timing
	counter    counter
	turn       draft

	after, over chan struct{} // the end of the actor's call before this one, and of this one

	ctx    context.Context
	cancel context.CancelCauseFunc
	feed   *liveFeed
	// emit shows an event, which is stamped with a seq; nil: nobody watches.
	emit func(ev Event, seq int64) error
}

// executionPool are reused: each is as large as a turn with its prompt.
var executionPool = sync.Pool{New: func() any { return new(execution) }}

// model is who gives the reply.
type model struct {
	actor        *Participant // whose settings count; a substitute's once it stepped in
	providerName string
	provider     providers.Provider
	bind         func(name string) (string, providers.Provider, error)
	substitutes  []Participant // who may still give the reply in a judge's name
	substituted  bool
}

// judgePromptTokens is what the request was made of, so that it can be made shorter or asked again.
type judgePromptTokens struct {
	set        *prompts.Set
	briefing   *briefing
	data       *prompts.Data       // nil if the reply is free text
	messages   []providers.Message // without those that ask again
	tokens     int                 // estimated, with the slack
	slack      int                 // what the fixed part was rounded up by
	history    int                 // tokens of the history
	summarized bool                // the history begins with a summary
	shortened  bool                // an overflow had a part of the history summarized
}

// attempts is what became of the attempts so far.
type attempts struct {
	current     *Attempt
	failures    map[providers.ErrorKind]int // of the model in use
	partial     string                      // the most that was said in a failed attempt
	askedAgain  bool                        // an invalid reply was asked for again
	capRaised   bool                        // a reply was cut, and its cap was doubled
	waitedAfter int                         // the last attempt after which a rate limit was waited out
	waitError   error                       // why a rate limit cannot be waited out
}

// timing is how long the attempts may take.
type timing struct {
	limit     time.Duration // for all attempts
	budget    bool          // the limit is what is left of the debate's time
	maxWait   time.Duration // for a rate limit that hits everyone; 0: none
	waited    bool          // a rate limit was waited out: the step's time begins again
	remaining time.Duration // of the debate's time, when the call was planned
	launched  time.Time
	timer     *steptimer.Timer
	began     time.Time     // when the timer was started
	viewed    time.Duration // that the viewer took, by the timers before
}

// counter counts tokens for the actor's model and keeps the last count.
type counter struct {
	count  func(model, text string) int
	text   string
	tokens int
}

// start gives the call its time.
func (c *execution) start() {
	if c.timing.timer != nil {
		c.timing.timer.Stop()
		c.timing.viewed += c.timing.timer.Viewed()
	}
	c.timing.waited, c.timing.began = false, time.Now()
	if rest := c.timing.maxWait - time.Since(c.turn.Started) + c.timing.viewed; c.timing.maxWait > 0 && rest < c.timing.limit {
		c.timing.limit, c.timing.budget = rest, true
	}
	cancel, limit, budget, concluding := c.cancel, c.timing.limit, c.timing.budget, c.concluding
	c.timing.timer = steptimer.Start(limit, func() { // it may ring late, when c runs another step
		cancel(timeoutError(limit, budget, concluding))
	})
}

// finish is a turn that has come to its end. An error is that of a viewer who has gone.
func (c *execution) finish() error {
	c.turn.finish(c.timing.viewed + c.timing.timer.Viewed())
	return c.warn()
}

// warn tells what a user should know of the turn.
func (c *execution) warn() error {
	for _, w := range turnWarnings(&c.turn.Turn) {
		if err := c.notify(Warning{EventMeta: liveMeta("warning"), Key: c.step.Key, Text: w}); err != nil {
			return err
		}
	}
	return nil
}

// liveMeta is the stamp of an event that is not stored; its seq is set when it is shown.
func liveMeta(kind string) EventMeta { return EventMeta{Type: kind, Live: true} }

func (c *execution) notify(ev Event) error {
	c.feed.notify(ev)
	if c.emit == nil {
		return nil
	}
	return c.emit(ev, ev.Meta().Seq)
}

// addAttempt adds an attempt to the turn, with what came of it.
func (c *execution) addAttempt(a transcript.Attempt, resp providers.Response, err error) {
	asked := a.Model
	a.Model, a.FinishReason = cmp.Or(resp.Model, asked), string(resp.FinishReason)
	c.price(&a.Usage, a.Model, asked)
	if failed := providers.AsError(err); failed != nil {
		a.ErrorKind, a.ErrorMessage = string(failed.Kind), c.pseudonyms.Reveal(failed.Error())
	}
	c.turn.addAttempt(a)
}

// count is how many tokens a text has for the actor's model. The last text is not counted again.
func (c *execution) count(text string) int {
	if text != c.counter.text {
		c.counter.text, c.counter.tokens = text, c.counter.count(c.model.actor.Model, text)
	}
	return c.counter.tokens
}

// usage is what the provider counted, else an estimate.
func (c *execution) usage(r providers.Response, whole bool) transcript.Usage {
	switch {
	case makesNoText(c.step.Actor): // no model writes
	case r.Usage == (transcript.Usage{}) && r.Text != "":
		return transcript.Usage{Input: c.prompt.tokens, Output: c.count(r.Text), Estimated: true}
	case !whole && 4*r.Usage.Output < c.count(r.Text): // a stream that was cut before its count came
		r.Usage.Output, r.Usage.Estimated = c.count(r.Text), true
	}
	return r.Usage
}

// price adds what a call cost, by the name of the model that answered, else of the one that was asked for.
func (c *execution) price(u *transcript.Usage, answered, asked string) {
	if c.config.Prices == nil || *u == (transcript.Usage{}) {
		return
	}
	p, known := c.config.Prices.Lookup(answered)
	if !known {
		p, known = c.config.Prices.Lookup(asked)
	}
	u.Cost, u.Unpriced = p.Cost(*u), !known
}

// useDefault puts the contract's safe defaults in the place of a reply, and nothing in that of a summary.
func (c *execution) useDefault() bool {
	safe, ok := reply.Reply{}, c.step.Actor == protocol.Summarizer
	if c.contract != nil {
		safe, ok = c.contract.Default(c.names)
	}
	if ok {
		c.turn.setDefault(safe.Text, safe.Data, c.count(safe.Text))
	}
	return ok
}

// timeoutError returns the cause with which a call ends when its time is over.
func timeoutError(limit time.Duration, budget, concluding bool) error {
	switch {
	case !budget:
		return &providers.Error{Kind: providers.Timeout, Err: fmt.Errorf("the step took longer than %v", limit)}
	case concluding:
		return &providers.Error{Kind: providers.Timeout, Err: errOutOfTime}
	}
	return errOutOfTime
}

func (c *execution) countFailure(kind providers.ErrorKind) int {
	if c.attempts.failures == nil {
		c.attempts.failures = map[providers.ErrorKind]int{}
	}
	c.attempts.failures[kind]++
	return c.attempts.failures[kind]
}

// maxRetries is how often a call is made again after a kind of failure.
func (c *execution) maxRetries(kind providers.ErrorKind) int {
	if n, ok := c.config.Retries[kind]; ok {
		return n
	}
	return defaultRetries[kind]
}

// timeLeft is what is timeLeft of the step's time.
func (c *execution) timeLeft() time.Duration {
	return c.timing.limit - time.Since(c.timing.began) + c.timing.timer.Viewed()
}

// waitsForRateLimit says whether an attempt failed by a rate limit that hits everyone who debates.
func (c *execution) waitsForRateLimit(e *providers.Error) bool {
	return e.Kind == providers.RateLimit && c.timing.maxWait != 0
}

// exceedsTimeout says whether a wait is longer than what is left of a worker's job.
func (c *execution) exceedsTimeout(wait time.Duration) bool {
	end, ok := c.ctx.Deadline()
	return ok && time.Until(end) <= wait
}

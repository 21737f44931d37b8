package debate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/elenchus-go/debate/internal/steptimer"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// call is one step on its way to a turn: all attempts. Everything that it needs of the record was taken when it was
// planned, so it runs beside others.
type call struct {
	step     protocol.Step
	role     string
	who      *Participant
	name     string // of the provider
	provider providers.Provider
	contract *reply.Contract // nil: free text
	names    []string        // whom the reply may speak of
	mask     *mask           // behind which the model sees them; nil: it knows who is who
	set      *prompts.Set
	data     prompts.Data
	request  providers.Request
	tokens   int // of the prompt, estimated, and the slack
	slack    int
	turn     transcript.Turn
	reasked  bool
	widened  bool     // a reply was cut, and the cap is twice what it was
	at       *Attempt // the attempt that is being made

	created     time.Time // of the debate
	config      *Config
	concluding  bool // the debate is
	judging     bool // the actor is a judge
	debating    bool // the actor is a participant
	bind        func(name string) (string, providers.Provider, error)
	reserve     []Participant // who may still give the reply in a judge's name
	substituted bool
	failures    map[providers.Kind]int       // of the model at hand
	partial     string                       // the most that was said in a failed attempt
	tally       func(model, text string) int // tokens
	counted     struct {                     // last
		text   string
		tokens int
	}
	asked    []providers.Message // without the words of asking again
	summed   bool                // a part of the history was summed up
	summary  bool                // the history begins with a summary
	history  int                 // of tokens, the history's
	patience time.Duration       // with a rate limit that hits everyone; 0: none
	rested   bool                // a rate limit was sat out: the step's time begins anew
	leave    error               // why it cannot be sat out
	since    int                 // the attempt after which one was sat out last
	room     time.Duration       // of the debate's time, when the call was planned
	launched time.Time

	after, over chan struct{} // the end of the actor's call before this one, and of this one

	ctx    context.Context
	cancel context.CancelCauseFunc
	limit  time.Duration // for all attempts
	budget bool          // the limit is what is left of the debate's time budget
	clock  *steptimer.Timer
	began  time.Time     // when the clock was started
	viewed time.Duration // that the viewer took, by the clocks before
	feed   *feed
	// emit shows an event, which is stamped with a seq; nil: nobody watches.
	emit func(ev Event, seq int64) error
}

// start gives the call its time.
func (c *call) start() {
	if c.clock != nil {
		c.clock.Stop()
		c.viewed += c.clock.Viewed()
	}
	c.rested, c.began = false, time.Now()
	if rest := c.patience - time.Since(c.turn.Began) + c.viewed; c.patience > 0 && rest < c.limit {
		c.limit, c.budget = rest, true
	}
	c.clock = steptimer.Start(c.limit, func() { c.cancel(c.overtime()) })
}

// done is a turn that has come to its end. An error is that of a viewer who has gone.
func (c *call) done() error {
	c.turn.Ended, c.turn.Viewed = time.Now(), c.viewed+c.clock.Viewed()
	return c.warn()
}

// warn tells what a user should know of the turn.
func (c *call) warn() error {
	for _, w := range warnings(&c.turn) {
		if err := c.tell(Warning{Stamp: live("warning"), Key: c.step.Key, Text: w}); err != nil {
			return err
		}
	}
	return nil
}

// live is the stamp of an event that is not stored; its seq is set when it is shown.
func live(kind string) Stamp { return Stamp{Type: kind, Live: true} }

func (c *call) tell(ev Event) error {
	c.feed.note(ev)
	if c.emit == nil {
		return nil
	}
	return c.emit(ev, ev.Event().Seq)
}

// tried adds an attempt to the turn, with what came of it.
func (c *call) tried(a transcript.Attempt, resp providers.Response, err error) {
	asked := a.Model
	a.Model, a.Finish = cmp.Or(resp.Model, asked), string(resp.Finish)
	c.price(&a.Usage, a.Model, asked)
	if failed := providers.AsError(err); failed != nil {
		a.Error, a.Message = string(failed.Kind), c.mask.reveal(failed.Error())
	}
	c.turn.Attempts = append(c.turn.Attempts, a)
	c.turn.Usage = c.turn.Usage.Add(a.Usage)
}

// count is how many tokens a text has for the actor's model. The last text is not counted again.
func (c *call) count(text string) int {
	if text != c.counted.text {
		c.counted.text, c.counted.tokens = text, c.tally(c.who.Model, text)
	}
	return c.counted.tokens
}

// usage is what the provider counted, else an estimate.
func (c *call) usage(r providers.Response, whole bool) transcript.Usage {
	switch {
	case wordless(c.step.Actor): // no model writes
	case r.Usage == (transcript.Usage{}) && r.Text != "":
		return transcript.Usage{Input: c.tokens, Output: c.count(r.Text), Estimated: true}
	case !whole && 4*r.Usage.Output < c.count(r.Text): // a stream that was cut before its count came
		r.Usage.Output, r.Usage.Estimated = c.count(r.Text), true
	}
	return r.Usage
}

// price adds what a call cost, by the name of the model that answered, else of the one that was asked for.
func (c *call) price(u *transcript.Usage, answered, asked string) {
	if c.config.Prices == nil || *u == (transcript.Usage{}) {
		return
	}
	p, known := c.config.Prices.Of(answered)
	if !known {
		p, known = c.config.Prices.Of(asked)
	}
	u.Cost, u.Unpriced = p.Cost(*u), !known
}

// standIn puts the contract's safe defaults in the place of a reply, and nothing in that of a summary.
func (c *call) standIn() bool {
	safe, ok := reply.Reply{}, c.step.Actor == protocol.Summarizing
	if c.contract != nil {
		safe, ok = c.contract.Fallback(c.names)
	}
	if ok {
		c.turn.Text, c.turn.Data, c.turn.Tokens = safe.Text, safe.Data, c.count(safe.Text)
		c.turn.Flags = slices.DeleteFunc(c.turn.Flags, func(f transcript.Flag) bool { return f == transcript.Substituted }) // it failed too
		c.turn.Flags = append(c.turn.Flags, transcript.Fallback)
	}
	return ok
}

// overtime is the cause with which a call ends when its time is over.
func (c *call) overtime() error {
	switch {
	case !c.budget:
		return &providers.Error{Kind: providers.Timeout, Err: fmt.Errorf("the step took longer than %v", c.limit)}
	case c.concluding:
		return &providers.Error{Kind: providers.Timeout, Err: errOutOfTime}
	}
	return errOutOfTime
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
	return c.limit - time.Since(c.began) + c.clock.Viewed()
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

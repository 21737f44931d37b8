package debate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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
	clock  *clock
	began  time.Time     // when the clock was started
	viewed time.Duration // that the viewer took, by the clocks before
	feed   *feed
	// emit shows an event, which is stamped with a seq; nil: nobody watches.
	emit func(ev Event, seq int64) error
}

// errOutOfTime ends a call when the debate's time budget has no more room for it.
var errOutOfTime = errors.New("the time budget is used up")

// perform makes attempts until one gives the turn, or no other can.
func (c *call) perform() error {
	c.turn.Began = time.Now()
	c.start()
	switch {
	case c.ctx.Err() != nil:
		return c.ended(0, nil)
	case c.budget && c.limit <= 1 && !c.concluding: // there is no time left to call in
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
		if c.widened && failed.Kind == providers.Validation { // the model writes no longer replies than the first
			failed = &providers.Error{Kind: providers.InvalidResponse, Partial: failed.Partial, Err: failed}
		}
		again := c.again(n, failed)
		if err := c.failed(failed, again); err != nil || again < 0 {
			return c.giveUp(n, failed)
		}
		if wait(c.ctx, again) != nil {
			return c.ended(n, err)
		}
		if c.rested {
			c.start()
		}
	}
}

// start gives the call its time.
func (c *call) start() {
	if c.clock != nil {
		c.clock.stop()
		c.viewed += time.Duration(c.clock.viewed.Load())
	}
	c.rested, c.began = false, time.Now()
	if rest := c.patience - time.Since(c.turn.Began) + c.viewed; c.patience > 0 && rest < c.limit {
		c.limit, c.budget = rest, true
	}
	c.clock = startClock(c.limit, func() { c.cancel(c.overtime()) })
}

// done is a turn that has come to its end. An error is that of a viewer who has gone.
func (c *call) done() error {
	c.turn.Ended, c.turn.Viewed = time.Now(), c.viewed+time.Duration(c.clock.viewed.Load())
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
	return c.tell(TurnFailed{Stamp: live("turn_failed"), Attempt: c.at, Error: e.Kind, Message: c.mask.reveal(e.Error()), Again: again})
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

// attempt makes one call of the model, and the turn of its reply.
func (c *call) attempt(n int) error {
	c.at = &Attempt{Key: c.step.Key, Kind: c.step.Kind, Role: c.role, N: n}
	start := TurnStarted{Stamp: live("turn_started"), Attempt: c.at}
	start.Seq = c.step.Horizon
	part := c.feed.begin(start)
	if c.emit != nil {
		if err := c.emit(start, start.Seq); err != nil {
			return err
		}
	}
	began, prompt, reasked := time.Now(), c.tokens-c.slack, c.reasked
	c.request.OnChunk = c.stream(part)
	resp, err := c.provider.Generate(c.ctx, c.request)
	err = c.inTime(resp, err)
	whole := err == nil
	if failed := providers.AsError(err); failed != nil {
		if resp = failed.Partial; len(strings.TrimSpace(resp.Text)) > len(c.partial) {
			c.partial = strings.TrimSpace(resp.Text)
		}
	} else {
		err = c.accept(resp)
	}
	a := transcript.Attempt{Provider: c.name, Model: c.who.Model, Usage: c.usage(resp, whole), Took: time.Since(began)}
	if !reasked && !c.substituted { // else it is not the prompt that was estimated, or not the actor's model
		a.Prompt = prompt
	}
	c.tried(a, resp, err)
	return err
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
	offset := 0
	return func(text string) error {
		c.feed.chunk(p, text)
		if c.emit == nil || c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		ev := Chunk{Stamp: Stamp{Type: "chunk", Seq: c.step.Horizon, Live: true}, Attempt: c.at, Offset: offset, Text: text}
		offset += len(text)
		return c.emit(ev, ev.Seq)
	}
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

// errReask says that a reply was invalid, and that its words for a second attempt are in the request.
var errReask = errors.New("the reply is asked for again")

// accept takes a reply as the turn, or says what is wrong with it.
func (c *call) accept(r providers.Response) error {
	if strings.TrimSpace(r.Text) == "" && !c.reasked {
		return &providers.Error{Kind: providers.InvalidResponse, Partial: r, Err: errors.New("the reply is empty")}
	}
	c.turn.Flags = nil
	if c.substituted {
		c.turn.Flags = append(c.turn.Flags, transcript.Substituted)
	}
	if c.reasked || c.widened {
		c.turn.Flags = append(c.turn.Flags, transcript.Reasked)
	}
	switch r.Finish {
	case providers.Length:
		c.turn.Flags = append(c.turn.Flags, transcript.Truncated)
	case providers.ContentFilter:
		c.turn.Flags = append(c.turn.Flags, transcript.Withheld)
	case providers.Stop:
	}
	if c.contract == nil {
		c.turn.Text = c.mask.reveal(r.Text)
	} else if err := c.structured(r); err != nil {
		return err
	}
	c.turn.Tokens = c.count(c.turn.Text)
	return nil
}

// structured takes a reply by its contract, or asks again for what is wrong with it.
func (c *call) structured(r providers.Response) error {
	parsed, err := c.parse(r)
	switch {
	case err == nil:
		c.turn.Text, c.turn.Data = parsed.Text, parsed.Data
		if parsed.Repaired {
			c.turn.Flags = append(c.turn.Flags, transcript.Repaired)
		}
		return nil
	case c.most(providers.InvalidResponse) == 0:
	case r.Finish == providers.Length && c.widen():
		return &providers.Error{Kind: providers.InvalidResponse, Partial: r, Err: fmt.Errorf("%w with more room: %w", errReask, err)}
	case r.Finish != providers.Length && !c.reasked:
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
	if !c.mask.worn(r.Text) { // nobody is masked, or a script knows the names
		if parsed, err := c.contract.Parse(r.Text, c.names); err == nil || c.mask == nil {
			return parsed, err
		}
	}
	parsed, err := c.contract.Parse(r.Text, c.mask.names(c.names))
	if err != nil {
		return parsed, err
	}
	return c.contract.Rename(parsed, c.mask.reveal)
}

// widen doubles the room for the reply, once, as far as the window has any; false: there is no more.
func (c *call) widen() bool {
	room := min(2*c.request.MaxTokens, c.who.Window-c.tokens)
	if c.widened || room <= c.request.MaxTokens {
		return false
	}
	c.widened, c.request.MaxTokens = true, room
	return true
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

// reask puts what was wrong with a reply into the request.
func (c *call) reask(r providers.Response, findings error) error {
	c.reasked = true
	c.data.Findings = []string{findings.Error()}
	if invalid, ok := errors.AsType[*reply.Invalid](findings); ok {
		c.data.Findings = invalid.Findings
	}
	words, err := c.set.User("reask", c.data)
	if err != nil {
		return &providers.Error{Kind: providers.Validation, Partial: r, Err: err}
	}
	c.request.Messages = append(slices.Clone(c.request.Messages),
		providers.Message{Role: providers.Assistant, Text: r.Text}, providers.Message{Role: providers.User, Text: words})
	return &providers.Error{Kind: providers.InvalidResponse, Partial: r, Err: fmt.Errorf("%w: %w", errReask, findings)}
}

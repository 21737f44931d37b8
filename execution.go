package debate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/steptimer"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// execution is the execution of one step, with all its attempts. It copies everything that it needs from the record
// when it is planned, so that it can run concurrently with others.
type execution struct {
	step        protocol.Step
	promptSeq   int64 // seq of the last entry that the prompt is made from
	role        string
	config      *Config
	created     time.Time         // when the debate was created
	concluding  bool              // the debate concludes
	debate      string            // ID of the debate
	keepText    bool              // the turn keeps reasoning
	keepReplies bool              // its attempts keep the replies
	judging     bool              // the actor is a judge
	debating    bool              // the actor is a participant
	contract    *reply.Contract   // nil for free text
	names       []string          // participants that the reply may name
	ownNames    []string          // the same if the protocol lists them for the step; otherwise nil
	pseudonyms  *judge.Pseudonyms // names by which the model sees the participants
	model       model
	prompt      promptParts
	request     providers.Request
	attempts    attempts
	timing      timing
	answers     *lastAnswers // of the engine's providers
	counter     counter
	turn        draft

	after, over chan struct{}   // closed when the actor's previous call ends, and when this one ends
	pause       *pauseSignal    // of the driver
	firstRun    *atomic.Bool    // of the driver
	closing     <-chan struct{} // closed when the engine is closed

	ctx     context.Context
	cancel  context.CancelCauseFunc
	end     func(Outcome) // ends the step for the observer; nil if nobody observes it
	feed    *liveFeed
	reports *reporter
	// emit shows an event that carries the given seq; nil if there is no viewer.
	emit    func(ev Event, seq int64) error
	show    func(ev Event, seq int64) error // what emitShown calls
	viewing bool                            // the viewer is looking at an event on this goroutine, or has panicked
	exited  *Failure                        // set if a provider or a hook has ended the goroutine
	err     error                           // how the call ended; nil if its turn was committed or is no longer wanted
	// shown is emitShown as a value. It stays when the execution is reused.
	shown func(ev Event, seq int64) error
}

// emitShown shows an event while the step's timer stands still.
func (c *execution) emitShown(ev Event, seq int64) error {
	c.timing.timer.Viewing(true)
	defer c.timing.timer.Viewing(false)
	c.viewing = true
	err := c.show(ev, seq)
	c.viewing = false // not deferred: it stays true if the viewer panics
	return err
}

// release gives the execution back to the pool. Nothing may use it afterwards.
func (c *execution) release() {
	if c.prompt.data != nil {
		promptDataPool.Put(c.prompt.data)
	}
	executionPool.Put(c)
}

// promptDataPool holds the data of prompts that may have to ask for a reply again.
var promptDataPool = sync.Pool{New: func() any { return new(prompts.Data) }}

// executionPool holds executions for reuse, because each is as large as a turn with its prompt.
var executionPool = sync.Pool{New: func() any {
	c := new(execution)
	c.shown = c.emitShown
	return c
}}

// pauseSignal tells the calls of a driver whether the debate is paused.
type pauseSignal struct {
	mu     sync.Mutex
	paused bool
	begins chan struct{} // closed when a pause begins
}

// begun returns a channel that is closed while the debate is paused.
func (p *pauseSignal) begun() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.begins
}

// set says whether the debate is paused.
func (p *pauseSignal) set(paused bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.begins == nil || p.paused && !paused {
		p.begins = make(chan struct{})
	}
	if paused && !p.paused {
		close(p.begins)
	}
	p.paused = paused
}

// model identifies the model that gives the reply.
type model struct {
	actor        *Participant // its configuration; a substitute's after a substitution
	providerName string
	provider     providers.Provider
	bind         func(name string) (string, providers.Provider, error)
	substitutes  []Participant // remaining substitutes of a judge
	substituted  bool          // a substitute is in use
}

// promptParts holds what the request was built from, so that it can be shortened or sent again.
type promptParts struct {
	set        *prompts.Set
	fixed      *fixedPrompt
	data       *prompts.Data       // nil if the reply is free text
	messages   []providers.Message // without attachments, and without those that ask for a reply again
	tokens     int                 // estimated tokens of the prompt, including slack
	slack      int                 // tokens by which the fixed part was rounded up
	history    int                 // tokens of the history
	opaque     int                 // the part of them that opaque reasoning takes
	schema     int                 // tokens of the schema, a part of tokens
	cut        window.Cut          // of the history, before any overflow
	scale      window.Calibration  // of the actor's tokens
	summarized bool                // the history begins with a summary
	shortened  bool                // part of the history was summarized after an overflow
}

// attempts is the state of the attempts so far.
type attempts struct {
	current     *Attempt
	part        *liveAttempt                // the live events of current while its call is in progress; otherwise nil
	began       time.Time                   // when that call began
	waited      time.Duration               // wait before it
	end         func(Outcome)               // ends that call for the observer; nil if nobody observes it
	request     *providers.Request          // what it asks; nil if nobody observes it
	response    providers.Response          // what the provider returned; zero until then
	failures    map[providers.ErrorKind]int // number of failures by kind, for the model in use
	partial     string                      // longest text of a failed attempt
	askedAgain  bool                        // the request asks for a valid reply after an invalid one
	doubtful    *draft                      // the turn with a valid reply that the model is asked to reconsider; otherwise nil
	capRaised   bool                        // the token limit was raised after a truncated or empty reply
	shortened   bool                        // the prompt was shortened because of a guess
	waitedAfter int                         // number of the last attempt before a wait for a rate limit
	waitError   error                       // why the step cannot wait any longer
	// While calls fail because the provider cannot be reached: when the last one failed, and the one before it or, if
	// there is none, the same one.
	unreachable, unreachableSince time.Time
	outage                        bool // the step waits until the provider can be reached
	recoveries                    int  // number of waits in which the provider has answered others, but not this step
}

// timing is the time limit for the attempts.
type timing struct {
	limit     time.Duration // for all attempts
	budget    bool          // the limit is the remaining time budget of the debate
	maxWait   time.Duration // for a rate limit that affects all participants; 0 if the step must not wait for it
	maxOutage time.Duration // for a provider that cannot be reached; 0 if the step must not wait for it
	waited    bool          // the step waited for a rate limit or a provider: its time begins again
	remaining time.Duration // remaining time of the debate when the call was planned
	launched  time.Time
	timer     *steptimer.Timer
	began     time.Time     // when the timer started
	viewed    time.Duration // time that the viewer took, according to earlier timers
}

// counter counts tokens for the actor's model and caches the last count.
type counter struct {
	count  func(model, text string) int
	text   string
	tokens int
}

// start starts the timer of the step.
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
	c.timing.timer = steptimer.Start(limit, func() { // it may fire late, when c is reused for another step
		cancel(timeoutError(limit, budget, concluding))
	})
}

// setMessages sets the messages of the prompt, to which the request adds the attachments.
func (c *execution) setMessages(list []providers.Message) {
	c.prompt.messages, c.request.Messages = list, c.withAttachments(list)
}

// withAttachments returns messages with the attachments between the system prompt and the history.
func (c *execution) withAttachments(list []providers.Message) []providers.Message {
	if !c.showsAttachments() {
		return list
	}
	return slices.Concat(list[:1], c.prompt.fixed.shown, list[1:])
}

// showsAttachments reports whether the actor sees attachments.
func (c *execution) showsAttachments() bool {
	return c.prompt.fixed != nil && len(c.prompt.fixed.shown) > 0
}

// finish completes the turn.
func (c *execution) finish() { c.turn.finish(c.timing.viewed + c.timing.timer.Viewed()) }

// count returns the number of tokens that a text has for the actor's model. It caches the last text.
func (c *execution) count(text string) int {
	if text != c.counter.text {
		c.counter.text, c.counter.tokens = text, c.counter.count(c.model.actor.Model, text)
	}
	return c.counter.tokens
}

// usage returns the usage that the provider reported, or an estimate.
func (c *execution) usage(r providers.Response, whole bool) transcript.Usage {
	switch {
	case makesNoText(c.step.Actor): // no text is generated
	case r.Usage == (transcript.Usage{}) && (r.Text != "" || r.Parts != nil):
		thought := 0
		if text := partsReasoning(r.Parts); text != "" {
			thought = c.count(text)
		}
		return transcript.Usage{Input: c.prompt.tokens, Output: c.count(r.Text) + thought, Reasoning: thought, Estimated: true}
	case !whole && 4*r.Usage.Output < c.count(r.Text): // the stream ended before the usage was reported
		r.Usage.Output, r.Usage.Estimated = c.count(r.Text), true
	}
	return r.Usage
}

// price adds the cost of a call, by the price of the model that answered, or of the requested one if that is unknown.
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

// defaultReply returns the default of the reply contract, or an empty text for a summary. It returns false if there is no
// default.
func (c *execution) defaultReply() (reply.Reply, bool) {
	if c.contract != nil {
		return c.contract.Default(c.names)
	}
	return reply.Reply{}, c.step.Actor == protocol.Summarizer
}

// useDefault sets the default reply as the turn's reply. It returns false if there is no default.
func (c *execution) useDefault() bool {
	safe, ok := c.defaultReply()
	if ok {
		c.turn.setDefault(safe.Text, safe.Data, c.count(safe.Text))
	}
	return ok
}

// timeoutError returns the cause that ends a call when its time is over.
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

// maxRetries returns the maximum number of retries for a kind of error.
func (c *execution) maxRetries(kind providers.ErrorKind) int {
	if n, ok := c.config.Retries[kind]; ok {
		return n
	}
	return defaultRetries[kind]
}

// timeLeft returns the remaining time of the step.
func (c *execution) timeLeft() time.Duration {
	return c.timing.limit - time.Since(c.timing.began) + c.timing.timer.Viewed()
}

// maxWait returns how long the step may wait after e. It is 0 unless e affects all participants: it is a rate limit of
// all, or the provider cannot be reached.
func (c *execution) maxWait(e *providers.Error) time.Duration {
	switch {
	case e.Kind == providers.RateLimit:
		return c.timing.maxWait
	case !c.attempts.unreachable.IsZero() && !c.isBack() && c.attempts.recoveries < maxRecoveries:
		return c.timing.maxOutage
	}
	return 0
}

// lastAnswers holds, for each provider of an engine, when the last call began that it has answered, even if with an
// error.
type lastAnswers struct {
	mu    sync.Mutex
	began map[string]time.Time // by the provider's name
}

// add records that a provider has answered a call that began at the given time.
func (l *lastAnswers) add(provider string, began time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.began == nil {
		l.began = map[string]time.Time{}
	}
	if began.After(l.began[provider]) {
		l.began[provider] = began
	}
}

// since reports whether a provider has answered a call that began after t, when another call had failed. A call that began
// earlier proves nothing: the server may have answered it before it went down, or while it was being stopped.
func (l *lastAnswers) since(provider string, t time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.began[provider].After(t)
}

// noteAnswer records whether a call that began at the given time has reached the provider. err is the error of the call.
func (c *execution) noteAnswer(began time.Time, err error) {
	failed := providers.AsError(err)
	switch {
	case failed == nil || failed.Partial.Text != "":
	case failed.Kind == providers.Network:
		now := time.Now()
		c.attempts.unreachableSince, c.attempts.unreachable = cmp.Or(c.attempts.unreachable, now), now
		if c.attempts.outage && c.isBack() { // the outage is over: this is a first failure
			c.attempts.outage = false
			c.attempts.recoveries++
			delete(c.attempts.failures, providers.Network)
		}
		return
	case failed.Kind == providers.Timeout:
		return
	}
	c.noteReached()
	c.answers.add(c.model.providerName, began)
}

// noteReached records that the provider of the next call is not known to be unreachable.
func (c *execution) noteReached() {
	c.attempts.unreachable, c.attempts.unreachableSince = time.Time{}, time.Time{}
	c.attempts.outage, c.attempts.recoveries = false, 0
}

// maxRecoveries is the number of outages after which a step whose calls still fail is alone with that. Others may be
// answered between two outages.
const maxRecoveries = 2

// isBack reports whether the provider has answered a call of others that began after the last but one failure of the step.
// Then others can reach it, or could before another outage began.
func (c *execution) isBack() bool {
	return c.answers.since(c.model.providerName, c.attempts.unreachableSince)
}

// exceedsTimeout reports whether a wait is longer than the remaining time of a worker's job.
func (c *execution) exceedsTimeout(wait time.Duration) bool {
	end, ok := c.ctx.Deadline()
	return ok && time.Until(end) <= wait
}

package step

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/seal"
	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// Run executes one step. Set its Plan, then call Do, Repeat, RereadCalls or RereadTurn once. A Run may be reused if it is reset to
// its zero value.
type Run struct {
	Plan Plan

	query    query
	draft    draft
	attempts attempts
	timing   timing

	ctx     context.Context
	cancel  context.CancelCauseFunc
	host    Host
	viewing bool // somebody is looking at an event on this goroutine, or has panicked while doing so

	look func(i int, request *providers.Request, missing []string) // sees each request that Repeat makes again; may be nil
}

// attempts is the state of the attempts so far.
type attempts struct {
	current     Call               // of the last attempt
	open        Call               // the call in progress, which may be for a summary; nil if there is none
	began       time.Time          // when that call began
	hash        string             // keyed hash of its request
	stream      *stream            // of the attempt whose call is in progress or has just ended; otherwise nil
	response    providers.Response // what the provider returned; zero until then
	whole       bool               // the attempt keeps the reply, because the turn lacks a part of it
	waited      time.Duration      // wait before the call
	stored      int                // number of attempts that the host has stored with rounds of tool calls
	ended       error              // why the host has ended the step between two attempts
	partial     string             // longest text of a failed attempt
	doubtful    *draft             // the turn with a valid reply that the model is asked to reconsider; otherwise nil
	substituted bool               // a substitute is in use
	wants       transcript.Next    // what the reply of the last attempt calls for; empty if there is none, or if it is the turn
	failed      *providers.Error   // of the last attempt; nil if it has not failed
	waitError   error              // why the step cannot wait any longer
	// While calls fail because the provider cannot be reached: when the first one failed, when the last one did, and the one
	// before it or, if there is none, the same one.
	lost, unreachable, unreachableSince time.Time
	outage                              bool // the step waits until the provider can be reached
	ordinary                            bool // the wait has an end of its own, after which the failure is like others
	recovered                           bool // the last attempt has failed after an outage that was over
	recoveries                          int  // number of waits in which the provider has answered others, but not this step
}

// Viewing says whether somebody looks at an event of the step on the goroutine of Do. Meanwhile, the time limit stands
// still, and a panic is not the step's.
func (r *Run) Viewing(now bool) {
	r.viewing = now
	r.timing.timer.Viewing(now)
}

// Spent returns a failure that holds the usage of a step that ended with the time budget, or nil if the step made no
// attempt. If the step waited to try again, the failure has the kind and the message of the last attempt.
func (r *Run) Spent() *journal.Failure {
	n := len(r.draft.Attempts)
	if n == 0 {
		return nil
	}
	e := &providers.Error{
		Kind: providers.Timeout,
		Err:  ErrOutOfTime,
	}
	waits := r.attempts.waited > 0 || r.attempts.waitError != nil
	if last := r.attempts.failed; waits && last != nil {
		cause := cmp.Or(last.Err, error(last))
		e = &providers.Error{
			Kind: last.Kind,
			Err:  fmt.Errorf("%w: %s", ErrOutOfTime, cause.Error()),
		}
	}
	f := r.failure(n, e)
	f.OutOfTime = true
	return f
}

// Unreachable reports whether the provider could not be reached in the last attempt.
func (r *Run) Unreachable() bool { return !r.attempts.unreachable.IsZero() }

// Late subtracts the time that a step waited before Do for an earlier step of its actor.
func (r *Run) Late(waited time.Duration) {
	r.attempts.waited = waited
	l := &r.Plan.Limits
	if left := max(l.Remaining-waited, 1); left < l.Time {
		l.Time = left
		l.Budget = true
	}
	for _, most := range []*time.Duration{&l.RateLimit, &l.Outage, &l.OutageTime, &l.OutageUnknown} {
		if *most > 0 {
			*most = max(*most-waited, 1)
		}
	}
}

// progress returns the progress of the step so far.
func (r *Run) progress() *progress { return r.Plan.progressOf(r.draft.Attempts) }

// isLast reports whether no attempt may follow the one whose reply is read.
func (r *Run) isLast() bool {
	c := r.progress()
	c.counted++
	return c.isLast()
}

// maxRetries returns the maximum number of retries for a kind of error.
func (r *Run) maxRetries(kind providers.ErrorKind) int {
	return r.Plan.maxRetries(kind)
}

// finish completes the turn.
func (r *Run) finish() { r.draft.finish(r.query.window, r.timing.viewedTime()) }

func (r *Run) failure(n int, e *providers.Error) *journal.Failure {
	only := e.Kind == providers.InvalidResponse && onlyReasons(e.Partial)
	if r.Plan.Private {
		e = hide(e)
	}
	r.draft.end()
	f := &journal.Failure{
		Key:            r.Plan.Step.Key,
		Kind:           e.Kind,
		Provider:       r.query.model.Provider,
		Model:          r.usedModel(),
		Attempts:       n,
		AttemptDetails: r.draft.Attempts,
		Started:        r.draft.Started.UTC(),
		At:             time.Now().UTC(),
		Message:        r.Plan.Pseudonyms.Reveal(e.Error()),
		Recoverable:    true,
		OnlyReasoning:  only,
		Cause:          e,
	}
	if p, ok := errors.AsType[*panics.Error](e); ok {
		f.Stack = p.Stack
	}
	return f
}

// usedModel returns the name of the model of the last attempt.
func (r *Run) usedModel() string {
	if n := len(r.draft.Attempts); n > 0 && r.draft.Attempts[n-1].Model != "" {
		return r.draft.Attempts[n-1].Model
	}
	return r.query.model.Request.Model
}

// begin begins a call and returns its context.
func (r *Run) begin(a Attempt) (context.Context, Call, error) {
	request := a.Request
	private := r.Plan.Private && !a.Summary // a summarizer reads no documents
	if private {
		a.Request = shownRequest(&r.query, a.Request)
	}
	ctx, call, err := r.host.Begin(r.ctx, a)
	if private {
		ctx = providers.WithPrivate(ctx)
		call = &privateCall{call, r.ctx, &r.draft}
	}
	r.attempts.open = call
	r.attempts.began = time.Now()
	r.attempts.hash = r.hash(request, r.attempts.began)
	return ctx, call, err
}

// newAttempt returns an attempt with the model in use.
func (r *Run) newAttempt(used transcript.Usage) transcript.Attempt {
	return transcript.Attempt{
		Provider:   r.query.model.Provider,
		Model:      r.query.model.Request.Model,
		Usage:      used,
		FirstChunk: r.attempts.stream.first,
	}
}

// addAttempt adds an attempt and its outcome to the turn, and ends its call.
func (r *Run) addAttempt(a transcript.Attempt, resp *providers.Response, err error) {
	asked := a.Model
	a.Model = cmp.Or(resp.Model, asked)
	a.FinishReason = string(resp.FinishReason)
	if a.Model != asked {
		a.Requested = asked
	}
	if !r.Plan.Private {
		a.Warnings = resp.Warnings
		a.Read = limitRead(resp.Read) // it may quote private documents
	}
	if invalid, ok := errors.AsType[*reply.Invalid](err); ok {
		a.Violations = invalid.Rules
	}
	r.price(&a.Usage, a.Model, asked)
	a.Usage = turns.LimitUsage(a.Usage, 1) // a service can report anything
	failed := providers.AsError(err)
	r.attempts.failed = failed
	if failed != nil {
		if r.Plan.Private {
			failed = hide(failed)
		}
		a.ErrorKind = string(failed.Kind)
		a.ErrorMessage = r.Plan.Pseudonyms.Reveal(failed.Error())
	}
	a.Hash = r.attempts.hash
	r.attempts.hash = ""
	a.Began = r.attempts.began.UTC()
	a.Duration = time.Since(r.attempts.began)
	a.Waited = r.attempts.waited
	r.attempts.waited = 0
	if (r.Plan.KeepReplies || r.attempts.whole) && !r.Plan.Private {
		said := characters.Valid(resp.Text)
		a.Reply = characters.First(said, maxKept)
		a.ReplyCut = len(a.Reply) < len(said)
	}
	call := r.attempts.open
	r.attempts.open = nil
	call.End(r.draft.addAttempt(a), resp, err)
}

// The limits of what an attempt keeps of what its model has looked at.
const (
	maxAccesses   = 200
	maxPlaces     = 20
	maxAccessText = 300 // bytes of a title or of a path
)

// limitRead returns what a model has looked at, in valid and short texts. A service can report anything.
func limitRead(list []transcript.Access) (kept []transcript.Access) {
	short := func(text string) string {
		return characters.First(characters.Valid(text), maxAccessText)
	}
	for _, a := range list[:min(len(list), maxAccesses)] {
		a.Kind = short(a.Kind)
		a.Title = short(a.Title)
		places := a.Places[:min(len(a.Places), maxPlaces)]
		a.Places = nil
		for _, p := range places {
			a.Places = append(a.Places, transcript.Place{
				Path: short(p.Path),
				Line: max(p.Line, 0),
			})
		}
		kept = append(kept, a)
	}
	return kept
}

// price adds the cost of a call, by the price of the model that answered, or of the requested one if that is unknown. If neither
// is known, the cost that the service reports stays.
func (r *Run) price(u *transcript.Usage, answered, asked string) {
	if r.Plan.Prices == nil || *u == (transcript.Usage{}) {
		return
	}
	p, known := r.Plan.Prices.Lookup(answered)
	if !known {
		p, known = r.Plan.Prices.Lookup(asked)
	}
	if !known && u.Cost > 0 {
		return
	}
	u.Cost = p.Cost(*u)
	u.Unpriced = !known
}

// timing is the time limit of the attempts.
type timing struct {
	waited bool // the step waited for a rate limit or a provider: its time begins again
	timer  *timer
	began  time.Time     // when the timer started
	viewed time.Duration // time that the viewer took, according to earlier timers
}

// stop stops the timer, if there is one.
func (t *timing) stop() {
	if t.timer != nil {
		t.timer.Stop()
	}
}

// viewedTime returns the time that the viewer took.
func (t *timing) viewedTime() time.Duration { return t.viewed + t.timer.Viewed() }

// waitedSoFar returns the time since the step began, without what the viewer took according to earlier timers.
func (r *Run) waitedSoFar() time.Duration {
	return time.Since(r.draft.Started) - r.timing.viewed
}

// startTimer starts the timer of the step.
func (r *Run) startTimer() {
	t := &r.timing
	l := &r.Plan.Limits
	if t.timer != nil {
		t.timer.Stop()
		t.viewed += t.timer.Viewed()
	}
	t.waited = false
	t.began = time.Now()
	rest := l.RateLimit - r.waitedSoFar()
	if l.RateLimit > 0 && rest < l.Time {
		l.Time = rest
		l.Budget = true
	}
	cancel := r.cancel
	limit := l.Time
	budget := l.Budget
	concluding := r.Plan.Concluding
	t.timer = newTimer(limit, func() { // it may fire late, when r is reused for another step
		cancel(timeoutError(limit, budget, concluding))
	})
}

// timeoutError returns the cause that ends a step when its time is over.
func timeoutError(limit time.Duration, budget, concluding bool) error {
	switch {
	case !budget:
		return &providers.Error{
			Kind: providers.Timeout,
			Err:  fmt.Errorf("the step took longer than %v", limit),
		}
	case concluding:
		return &providers.Error{
			Kind: providers.Timeout,
			Err:  ErrOutOfTime,
		}
	}
	return ErrOutOfTime
}

// hash returns the keyed hash of a request of the step, for a call that began at the given time. It is empty if the secret of the
// debate is hidden.
func (r *Run) hash(request *providers.Request, began time.Time) string {
	key, ok := r.Plan.Keys.Of(seal.CallID(r.Plan.Step.Key.String(), began))
	if !ok {
		return ""
	}
	p := &r.Plan.Prompt
	k := known{
		messages:             p.Messages,
		attachments:          p.Attachments,
		digests:              p.Digests,
		digestsOfAttachments: p.AttachmentDigests,
		schema:               r.Plan.Model.Request.Schema,
		digestOfSchema:       p.SchemaDigest,
	}
	return key.Hash(k.digest(request))
}

// Matches reports whether a request has the hash of an attempt. known is false if that cannot be told.
func (r *Run) Matches(request *providers.Request, hash string, began time.Time) (equal, known bool) {
	is := r.hash(request, began)
	return is == hash, is != "" && hash != "" && !r.Plan.Private
}

// A timer is the time limit of one step. It stops while the viewer of the debate is busy, so that a slow viewer causes no timeout.
// Reading a clock for each chunk would cost too much, so the timer samples: it checks at 256 moments whether the viewer is busy.
// If the viewer is busy, the time since the previous moment does not count.
type timer struct {
	left    time.Duration // remaining time of the step
	next    time.Duration // time until the next moment
	tick    time.Duration
	expire  func()
	timer   *time.Timer
	viewing atomic.Bool
	viewed  atomic.Int64 // nanoseconds in which the viewer was busy
	stopped atomic.Bool
}

// newTimer returns a running timer. It calls expire on its own goroutine when limit has passed, not counting the
// viewer's time.
func newTimer(limit time.Duration, expire func()) *timer {
	tick := max(limit/256, 1)
	k := &timer{
		left:   limit,
		next:   tick,
		tick:   tick,
		expire: expire,
	}
	k.timer = time.AfterFunc(1<<63-1, k.ring)
	k.timer.Reset(k.next)
	return k
}

func (k *timer) ring() {
	if k.viewing.Load() {
		k.viewed.Add(int64(k.next))
	} else {
		k.left -= k.next
	}
	switch {
	case k.stopped.Load():
	case k.left <= 0:
		k.expire()
	default:
		k.next = min(k.tick, k.left)
		k.timer.Reset(k.next)
	}
}

// Stop ends the timer. It is safe to call Stop more than once.
func (k *timer) Stop() {
	k.stopped.Store(true)
	k.timer.Stop()
}

// Viewing records whether the viewer is busy.
func (k *timer) Viewing(now bool) { k.viewing.Store(now) }

// Viewed returns how long the viewer was busy, as far as sampled.
func (k *timer) Viewed() time.Duration { return time.Duration(k.viewed.Load()) }

package step

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// retryDelay returns the wait before the next attempt after attempt n has failed. It is negative if there is no next
// attempt.
func (r *Run) retryDelay(n int, e *providers.Error) time.Duration {
	switch {
	case errors.Is(e, errDefault):
		return -1
	case n-r.attempts.waitedAfter >= r.Plan.Limits.Attempts && r.maxWait(e) == 0:
		return -1
	case errors.Is(e, errAskedAgain):
		r.countFailure(e.Kind)
		return 0
	case e.Kind == providers.ContextOverflow && r.shorten(n):
		return 0
	case e.Kind == providers.InvalidRequest && r.query.dropReasoning(): // the service may no longer accept it
		return 0
	}
	if e.Kind == providers.Loop {
		r.query.avoidRepetition()
	}
	if e.Final {
		if r.substitute() {
			return 0
		}
		return -1
	}
	if again := backoff(e, r.countFailure(e.Kind), r.maxRetries(e.Kind)); again >= 0 && again < r.timeLeft() && (r.maxWait(e) == 0 || !r.exceedsTimeout(again)) && r.mayWaitFirst(again) {
		return again
	}
	if r.substitute() {
		return 0
	}
	rest := r.waitForService(e)
	if rest >= 0 {
		r.attempts.waitedAfter = n
	}
	return rest
}

// shorten shortens the prompt after attempt n has failed; see query.shorten.
func (r *Run) shorten(n int) bool {
	return r.query.shorten(func() bool { return r.summarizeOldest(n) })
}

// tryShorter shortens the prompt after attempt n has failed with an error that may be an overflow. It reports whether it
// did. It does so once: otherwise, the error has the kind that it would have without the guess.
func (r *Run) tryShorter(n int, e *providers.Error) (*providers.Error, bool) {
	if e.Otherwise == "" {
		return e, false
	}
	if !r.attempts.shortened && n-r.attempts.waitedAfter < r.Plan.Limits.Attempts && r.shorten(n) {
		r.attempts.shortened = true
		return e, true
	}
	certain := *e
	certain.Kind, certain.Otherwise = e.Otherwise, ""
	return &certain, false
}

// summarizeOldest replaces the older half of the history with a summary by the summarizer. The usage counts towards
// the step.
func (r *Run) summarizeOldest(n int) bool {
	s := &r.Plan.Summarizer
	if s.Client == nil || len(r.query.olderHalf()) == 0 {
		return false
	}
	request, err := r.query.summaryRequest(s, r.Plan.Pseudonyms, r.Plan.Step.Actor)
	if err != nil {
		return false
	}
	ctx, _, err := r.begin(Attempt{Number: n, Summary: true, Provider: s.Provider, Request: &request})
	if err != nil {
		return false
	}
	resp, err := s.Client.Generate(ctx, request)
	if failed := providers.AsError(err); failed != nil {
		resp = failed.Partial
	}
	a := transcript.Attempt{Provider: s.Provider, Model: s.Request.Model, Usage: r.query.usage(resp, err == nil, r.Plan.NoText)}
	r.addAttempt(a, &resp, err)
	said, _ := reasoning.Split(resp.Text)
	if err != nil || characters.IsBlank(said) {
		return false
	}
	r.query.useSummary(r.Plan.Pseudonyms, said)
	return true
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

func (r *Run) countFailure(kind providers.ErrorKind) int {
	if r.attempts.failures == nil {
		r.attempts.failures = map[providers.ErrorKind]int{}
	}
	r.attempts.failures[kind]++
	return r.attempts.failures[kind]
}

// maxRetries returns the maximum number of retries for a kind of error.
func (r *Run) maxRetries(kind providers.ErrorKind) int {
	if n, ok := r.Plan.Retries[kind]; ok {
		return n
	}
	return DefaultRetries[kind]
}

// substitute switches to the next substitute, which starts with a fresh request. It returns false if there is none left.
func (r *Run) substitute() bool {
	if len(r.Plan.Substitutes) == 0 {
		return false
	}
	next := r.Plan.Substitutes[0]
	r.Plan.Substitutes = r.Plan.Substitutes[1:]
	r.noteReached()
	r.attempts.failures, r.attempts.shortened, r.attempts.substituted = nil, false, true
	r.query.change(next)
	return true
}

// firstContact is the time in which a first run retries calls to a provider that has never answered, counted from the
// step's start. If connections are refused, the step fails within 15 s, and if none is made in the time that the providers
// give it, within 30 s. A person who has just configured the provider waits for the answer.
const firstContact = 10 * time.Second

// mayWaitFirst reports whether the step may wait before its next attempt. It may not wait longer than firstContact for a
// provider that this engine has never reached.
func (r *Run) mayWaitFirst(wait time.Duration) bool {
	return !r.neverReached() || time.Since(r.draft.Started)-r.timing.viewed+wait <= firstContact
}

// neverReached reports whether the provider cannot be reached and has never answered this engine, in a first run. Its
// address is probably wrong: to wait for it would only hide that.
func (r *Run) neverReached() bool {
	first := r.Plan.FirstRun
	return first != nil && first.Load() && r.Plan.Limits.Outage > 0 && r.maxRetries(providers.Network) > 0 && r.Unreachable() &&
		!r.Plan.Answers.since(r.query.model.Provider, time.Time{})
}

// waitForService returns the wait for a rate limit that affects all participants, or for a provider that cannot be
// reached: dropping one participant after the other would not help. It is negative if the time budget does not allow
// the wait.
func (r *Run) waitForService(e *providers.Error) time.Duration {
	most := r.maxWait(e)
	if most == 0 {
		return -1
	}
	outage, rest := e.Kind != providers.RateLimit, max(e.RetryAfter, maxBackoff)
	if outage && r.neverReached() {
		r.attempts.waitError = errUnreachable
		return -1
	}
	if time.Since(r.draft.Started)-r.timing.viewed+rest >= most {
		switch {
		case outage:
			r.attempts.waitError = errUnreachable
		case e.RetryAfter > maxBackoff:
			r.attempts.waitError = errLongWait
		default:
			r.attempts.waitError = ErrOutOfTime
		}
		return -1
	}
	if r.exceedsTimeout(rest) { // the next job continues to wait
		r.attempts.waitError = ErrNextJob
		return -1
	}
	r.timing.stop()                      // the wait counts towards the debate's time, not the step's
	if r.timing.waited = true; !outage { // in an outage, one attempt follows each wait
		r.attempts.failures = nil
	}
	r.attempts.outage = outage
	return rest
}

// timeLeft returns the remaining time of the step.
func (r *Run) timeLeft() time.Duration {
	return r.Plan.Limits.Time - time.Since(r.timing.began) + r.timing.timer.Viewed()
}

// exceedsTimeout reports whether a wait is longer than the remaining time of a worker's job.
func (r *Run) exceedsTimeout(wait time.Duration) bool {
	end, ok := r.ctx.Deadline()
	return ok && time.Until(end) <= wait
}

// maxWait returns how long the step may wait after e. It is 0 unless e affects all participants: it is a rate limit of
// all, or the provider cannot be reached.
func (r *Run) maxWait(e *providers.Error) time.Duration {
	switch {
	case e.Kind == providers.RateLimit:
		return r.Plan.Limits.RateLimit
	case r.Unreachable() && !r.isBack() && r.attempts.recoveries < maxRecoveries && r.maxRetries(providers.Network) > 0:
		return r.Plan.Limits.Outage
	}
	return 0
}

// noteAnswer records whether a call that began at the given time has reached the provider. err is the error of the call.
func (r *Run) noteAnswer(began time.Time, err error) {
	failed, s := providers.AsError(err), &r.attempts
	switch {
	case failed == nil || failed.Partial.Text != "":
	case failed.Kind == providers.Network:
		now := time.Now()
		s.unreachableSince, s.unreachable = cmp.Or(s.unreachable, now), now
		if s.outage && r.isBack() { // the outage is over: this is a first failure
			s.outage = false
			s.recoveries++
			delete(s.failures, providers.Network)
		}
		return
	case failed.Kind == providers.Timeout:
		return
	}
	r.noteReached()
	r.Plan.Answers.add(r.query.model.Provider, began)
}

// noteReached records that the provider of the next call is not known to be unreachable.
func (r *Run) noteReached() {
	s := &r.attempts
	s.unreachable, s.unreachableSince, s.outage, s.recoveries = time.Time{}, time.Time{}, false, 0
}

// maxRecoveries is the number of outages after which a step whose calls still fail is alone with that. Others may be
// answered between two outages.
const maxRecoveries = 2

// isBack reports whether the provider has answered a call of others that began after the last but one failure of the step.
// Then others can reach it, or could before another outage began.
func (r *Run) isBack() bool {
	return r.Plan.Answers.since(r.query.model.Provider, r.attempts.unreachableSince)
}

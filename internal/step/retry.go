package step

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/journal"
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
	case e.Kind == providers.InvalidRequest &&
		r.query.dropReasoning(): // the service may no longer accept it
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
	again := backoff(e, r.countFailure(e.Kind), r.maxRetries(e.Kind))
	inTime := again < r.timeLeft() && (r.maxWait(e) == 0 || !r.exceedsTimeout(again))
	if again >= 0 && inTime && r.mayWaitFirst(again) {
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
	certain.Kind = e.Otherwise
	certain.Otherwise = ""
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
	ctx, _, err := r.begin(Attempt{
		Number:   n,
		Summary:  true,
		Provider: s.Provider,
		Request:  &request,
	})
	if err != nil {
		return false
	}
	resp, err := s.Client.Generate(ctx, request)
	if failed := providers.AsError(err); failed != nil {
		resp = failed.Partial
	}
	a := transcript.Attempt{
		Provider: s.Provider,
		Model:    s.Request.Model,
		Usage:    r.query.usage(resp, err == nil, r.Plan.NoText),
	}
	r.addAttempt(a, &resp, err)
	said, _ := reasoning.Split(resp.Text)
	if err != nil || characters.IsBlank(said) {
		return false
	}
	r.query.useSummary(r.Plan.Pseudonyms, said)
	return true
}

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
	return journal.DefaultRetries()[kind]
}

// substitute switches to the next substitute, which starts with a fresh request. It returns false if there is none left.
func (r *Run) substitute() bool {
	if len(r.Plan.Substitutes) == 0 {
		return false
	}
	next := r.Plan.Substitutes[0]
	r.Plan.Substitutes = r.Plan.Substitutes[1:]
	r.noteReached()
	r.attempts.failures = nil
	r.attempts.shortened = false
	r.attempts.substituted = true
	r.query.change(next)
	return true
}

// waitForService returns the wait for a rate limit that affects all participants, or for a provider that cannot be
// reached: dropping one participant after the other would not help. It is negative if the step must not wait.
func (r *Run) waitForService(e *providers.Error) time.Duration {
	most := r.maxWait(e)
	if most == 0 {
		return -1
	}
	if e.Kind != providers.RateLimit {
		return r.waitForProvider(e)
	}
	rest := max(e.RetryAfter, maxBackoff)
	if r.waitedSoFar()+rest >= most {
		r.attempts.waitError = ErrOutOfTime
		if e.RetryAfter > maxBackoff {
			r.attempts.waitError = errLongWait
		}
		return -1
	}
	if r.exceedsTimeout(rest) { // the next job continues to wait
		r.attempts.waitError = ErrNextJob
		return -1
	}
	r.timing.stop() // the wait counts towards the debate's time, not the step's
	r.timing.waited = true
	r.attempts.failures = nil
	r.attempts.outage = false
	return rest
}

// timeLeft returns the remaining time of the step.
func (r *Run) timeLeft() time.Duration {
	return r.Plan.Limits.Time - time.Since(r.timing.began) + r.timing.timer.Viewed()
}

// maxWait returns how long the step may wait after e. It is 0 unless e affects all participants: it is a rate limit of
// all, or the provider cannot be reached.
func (r *Run) maxWait(e *providers.Error) time.Duration {
	switch {
	case e.Kind == providers.RateLimit:
		return r.Plan.Limits.RateLimit
	case r.Unreachable() && !r.isBack() && r.attempts.recoveries < maxRecoveries &&
		r.mayWaitForProvider():
		return r.Plan.Limits.Outage
	}
	return 0
}

package step

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// follow does what follows an attempt that has failed, and notes it in the attempt. It returns the error as it counts, and the wait
// before the next attempt, which is negative if there is none.
func (r *Run) follow(e *providers.Error) (failed *providers.Error, wait time.Duration) {
	certain := r.certain(e)
	c := r.progress()
	o := outcome{
		kind:  e.Kind,
		guess: e.Otherwise,
		wants: r.attempts.wants,
		final: e.Final,
		waits: r.maxWait(certain) > 0,
		first: r.attempts.recovered,
		ends:  errors.Is(e, errDefault),
	}
	for _, next := range c.next(&o) {
		failed = certain
		if next == transcript.NextShortened {
			failed = e
		}
		wait = 0
		if prepare := preparations[next]; prepare != nil {
			wait = prepare(r, failed, c)
		}
		if c.summarized {
			next = transcript.NextSummarized
		}
		if wait >= 0 || next == transcript.NextGivenUp {
			r.draft.note(next)
			break
		}
	}
	return failed, wait
}

// preparations say how a step prepares what may follow a failed attempt. They return the wait before it, which is negative if nothing
// can be prepared. What they lack was prepared when the reply was read.
var preparations = map[transcript.Next]func(r *Run, e *providers.Error, c *progress) time.Duration{
	transcript.NextShortened: (*Run).shorten,
	transcript.NextReasoningDropped: func(r *Run, _ *providers.Error, _ *progress) time.Duration {
		return atOnce(r.query.dropReasoning())
	},
	transcript.NextSubstitute: func(r *Run, _ *providers.Error, _ *progress) time.Duration {
		return atOnce(r.substitute())
	},
	transcript.NextRetried: (*Run).retry,
	transcript.NextWaited:  (*Run).waitForService,
	transcript.NextGivenUp: func(*Run, *providers.Error, *progress) time.Duration {
		return -1
	},
}

// atOnce returns no wait if something is done, otherwise a negative one.
func atOnce(done bool) time.Duration {
	if done {
		return 0
	}
	return -1
}

// retry returns the wait before the same request is sent again. It is negative if there is no time for it.
func (r *Run) retry(e *providers.Error, c *progress) time.Duration {
	again := backoff(e, c.failuresOf(e.Kind, r.attempts.recovered)+1)
	inTime := again < r.timeLeft() && (r.maxWait(e) == 0 || !r.exceedsTimeout(again))
	if !inTime || !r.mayWaitFirst(again) {
		return -1
	}
	r.query.sendAgain(e.Kind)
	return again
}

// certain returns an error as it counts if no shorter prompt follows it: a guess of an overflow has the kind that it would have
// without the guess. If the model does not allow the raised token limit, its earlier reply counts as invalid.
func (r *Run) certain(e *providers.Error) *providers.Error {
	if e.Otherwise != "" {
		known := *e
		known.Kind = e.Otherwise
		known.Otherwise = ""
		e = &known
	}
	if r.query.capRaised && e.Kind == providers.InvalidRequest {
		return &providers.Error{
			Kind:    providers.InvalidResponse,
			Partial: e.Partial,
			Err:     e,
		}
	}
	return e
}

// shorten shortens the prompt, perhaps with a summary; see query.shorten.
func (r *Run) shorten(_ *providers.Error, c *progress) time.Duration {
	return atOnce(r.query.shorten(func() bool {
		c.summarized = r.summarizeOldest(c.number)
		return c.summarized
	}))
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
	r.draft.note(transcript.NextSummary)
	r.addAttempt(a, &resp, err)
	said, _ := reasoning.Split(resp.Text)
	if err != nil || characters.IsBlank(said) {
		return false
	}
	r.query.useSummary(r.Plan.Pseudonyms, said)
	return true
}

// backoff returns the wait before the same request is sent again after the nth failure of a kind.
func backoff(e *providers.Error, nth int) time.Duration {
	upper := min(minBackoff<<min(nth, 6), maxBackoff)
	return max(minBackoff+rand.N(upper-minBackoff+1), e.RetryAfter)
}

// substitute switches to the next substitute, which starts with a fresh request. It returns false if there is none left.
func (r *Run) substitute() bool {
	if len(r.Plan.Substitutes) == 0 {
		return false
	}
	next := r.Plan.Substitutes[0]
	r.Plan.Substitutes = r.Plan.Substitutes[1:]
	r.noteReached()
	r.attempts.substituted = true
	r.query.change(next)
	return true
}

// waitForService returns the wait for a rate limit that affects all participants, or for a provider that cannot be
// reached: dropping one participant after the other would not help. It is negative if the step must not wait.
func (r *Run) waitForService(e *providers.Error, _ *progress) time.Duration {
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
	return r.waitOutside(rest, false)
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

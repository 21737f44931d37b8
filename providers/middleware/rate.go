package middleware

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// PerMinute is how much a service allows.
type PerMinute struct {
	Requests int // 0: no limit
	Tokens   int // of prompts and replies together; 0: no limit
	// Burst is how much may be used at once after a rest: what the limits allow in this time, and at least one request
	// and one token. Defaults to a minute, as with services that fill up an allowance steadily.
	Burst time.Duration
	// MaxWait is how long a call waits for its turn. One that would have to wait longer gives an error at once, of kind
	// [providers.RateLimit] with the wait as its RetryAfter, as a service would: who called can do better than wait.
	// Defaults to 4 minutes, less than the engine gives a step.
	MaxWait time.Duration
}

// RateLimit lets calls begin as fast as the limits allow, first come first served. A call takes the estimated tokens of
// its prompt and its MaxTokens before it begins; once it has ended, what it really used is settled, which lets the next
// ones begin sooner or later. A call without MaxTokens takes its prompt alone.
//
// A call whose ctx ends while it waits gives [providers.ContextError]. Where the wait would go beyond the deadline of ctx, or
// beyond the limits' Patience, it gives an error of kind [providers.RateLimit] at once, with the wait as its RetryAfter.
func RateLimit(limits PerMinute) Middleware {
	if limits.Burst <= 0 {
		limits.Burst = time.Minute
	}
	if limits.MaxWait <= 0 {
		limits.MaxWait = 4 * time.Minute
	}
	l := &limiter{
		maxWait:  limits.MaxWait,
		requests: newBucket(limits.Requests, limits.Burst), tokens: newBucket(limits.Tokens, limits.Burst),
		queue: make(chan struct{}, 1), settled: make(chan struct{}, 1),
	}
	return func(p providers.Provider) providers.Provider {
		return &wrapped{p, func(ctx context.Context, r providers.Request) (providers.Response, error) {
			tokens := 0
			if l.tokens != nil {
				tokens = estimate(r.Messages) + r.MaxTokens
			}
			if err := l.acquire(ctx, tokens); err != nil {
				return providers.Response{}, err
			}
			resp, err := p.Generate(ctx, r)
			if l.tokens != nil {
				l.settle(tokens, used(resp, err, r.Messages))
			}
			return resp, err
		}}
	}
}

func estimate(messages []providers.Message) (tokens int) {
	for i := range messages {
		tokens += window.Estimate(messages[i].Text)
	}
	return tokens
}

// used is how many tokens a call took.
func used(resp providers.Response, err error, prompt []providers.Message) int {
	u := usage(resp, err, prompt)
	if u == (transcript.Usage{}) {
		return estimate(prompt) // for all that one knows
	}
	return u.Input + u.Output
}

// usage is what a provider reports of a call, else an estimate where there is some text.
func usage(resp providers.Response, err error, prompt []providers.Message) transcript.Usage {
	if failed := providers.AsError(err); failed != nil {
		resp = failed.Partial
	}
	if resp.Usage != (transcript.Usage{}) || resp.Text == "" {
		return resp.Usage
	}
	return transcript.Usage{Input: estimate(prompt), Output: window.Estimate(resp.Text), Estimated: true}
}

// limiter lets calls begin one after the other.
type limiter struct {
	queue   chan struct{} // full while a call is next; a channel serves who waits in order
	settled chan struct{} // wakes the next call: there is more in the bucket than it knew

	maxWait time.Duration

	mu                        sync.Mutex
	requests, tokens          *bucket
	queuedCalls, queuedTokens int // that wait, and the tokens that they need
}

// acquire waits until a call that needs so many tokens may begin.
func (l *limiter) acquire(ctx context.Context, tokens int) error {
	if ctx.Err() != nil {
		return providers.ContextError(ctx, providers.Response{})
	}
	wait := l.join(tokens)
	if err := checkWait(ctx, wait, l.maxWait); err != nil {
		l.leave(tokens)
		return err
	}
	if err := acquire(ctx, l.queue); err != nil {
		l.leave(tokens)
		return err
	}
	defer func() { <-l.queue }()
	for {
		wait := l.take(tokens)
		if wait == 0 {
			return nil
		}
		if err := l.wait(ctx, wait); err != nil {
			l.leave(tokens)
			return err
		}
	}
}

// join puts a call at the end of the queue and says how long that will take.
func (l *limiter) join(tokens int) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	wait := max(l.requests.wait(now, l.queuedCalls, 1), l.tokens.wait(now, l.queuedTokens, tokens))
	l.queuedCalls, l.queuedTokens = l.queuedCalls+1, l.queuedTokens+tokens
	return wait
}

func (l *limiter) leave(tokens int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queuedCalls, l.queuedTokens = l.queuedCalls-1, l.queuedTokens-tokens
}

// take lets the first call of the queue begin, or says how long it has to wait.
func (l *limiter) take(tokens int) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if wait := max(l.requests.wait(now, 0, 1), l.tokens.wait(now, 0, tokens)); wait > 0 {
		return wait
	}
	l.requests.take(now, 1)
	l.tokens.take(now, tokens)
	l.queuedCalls, l.queuedTokens = l.queuedCalls-1, l.queuedTokens-tokens
	return 0
}

// wait lets the time pass, or less where it turns out that less is needed.
func (l *limiter) wait(ctx context.Context, wait time.Duration) error {
	if err := checkWait(ctx, wait, l.maxWait); err != nil {
		return err
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.settled:
	case <-ctx.Done():
		return providers.ContextError(ctx, providers.Response{})
	}
	return nil
}

// checkWait says whether there is time for a wait.
func checkWait(ctx context.Context, wait, patience time.Duration) error {
	most := patience
	if deadline, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(deadline)-1)
	}
	if wait == 0 || wait <= most {
		return nil
	}
	return &providers.Error{Kind: providers.RateLimit, RetryAfter: wait, Err: fmt.Errorf(
		"wait for the rate limit: %v, longer than the call may wait", wait)}
}

// settle gives back what a call had taken too much, or takes what was missing.
func (l *limiter) settle(taken, used int) {
	l.mu.Lock()
	l.tokens.take(time.Now(), used-taken)
	l.mu.Unlock()
	if used < taken {
		select {
		case l.settled <- struct{}{}:
		default: // it is being told already
		}
	}
}

// bucket is what may be taken at once. It fills up steadily; nil, it is bottomless.
type bucket struct {
	*rate.Limiter
}

func newBucket(perMinute int, size time.Duration) *bucket {
	if perMinute <= 0 {
		return nil
	}
	limit := rate.Limit(float64(perMinute) / 60)
	return &bucket{rate.NewLimiter(limit, max(1, int(float64(limit)*size.Seconds())))}
}

// wait is the time until n can be taken, after others have taken what they need. Who needs more than the bucket can hold
// waits until it is full.
func (b *bucket) wait(now time.Time, others, n int) time.Duration {
	if b == nil {
		return 0
	}
	missing := float64(others+min(n, b.Burst())) - b.TokensAt(now)
	if missing < 0.01 { // less is an error of arithmetic
		return 0
	}
	seconds := min(missing/float64(b.Limit()), 1e9) // which a Duration can hold
	return max(1, time.Duration(math.Round(seconds*float64(time.Second))))
}

// take takes n, which may leave a debt; below 0 it gives back.
func (b *bucket) take(now time.Time, n int) {
	if b == nil {
		return
	}
	for n > b.Burst() { // more than a reservation can be
		b.ReserveN(now, b.Burst())
		n -= b.Burst()
	}
	b.ReserveN(now, n)
}

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

// PerMinute holds the limits of a service for one minute.
type PerMinute struct {
	Requests int // the number of requests; 0 means no limit
	Tokens   int // the number of input and output tokens together; 0 means no limit
	// Burst sets how much may be used at once after an idle period: as much as the limits allow in this time, and at
	// least one request and one token. Defaults to a minute, which matches services that refill their limits steadily.
	Burst time.Duration
	// MaxWait limits how long a call waits for the rate limit. A call that would have to wait longer returns an error of
	// kind [providers.RateLimit] at once, with the wait in RetryAfter. Defaults to 4 minutes, which is shorter than the
	// engine's default time limit for a step.
	MaxWait time.Duration
}

// RateLimit returns middleware that delays calls so that they stay within the limits. Calls start in the order in which
// they arrived. Before a call starts, RateLimit reserves the estimated tokens of its prompt plus its MaxTokens, if it
// has any. After the call, RateLimit replaces the reservation with the tokens that the call used.
//
// If the context of a waiting call ends, the call returns a [providers.ContextError]. If the wait would exceed MaxWait or
// the deadline of the context, the call returns an error of kind [providers.RateLimit] at once, with the wait in
// RetryAfter.
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
		for _, part := range messages[i].Parts {
			tokens += window.Estimate(part.Text)
			if part.Reasoning != nil {
				tokens += len(part.Reasoning.Data) / 4
			}
			if part.ToolCall != nil {
				tokens += len(part.ToolCall.Arguments) / 4
			}
			if part.ToolResult != nil {
				tokens += window.Estimate(part.ToolResult.Text)
			}
			if part.Attachment != nil {
				tokens += part.Attachment.Tokens()
			}
		}
	}
	return tokens
}

// used returns how many tokens a call used.
func used(resp providers.Response, err error, prompt []providers.Message) int {
	u := usage(resp, err, prompt)
	if u == (transcript.Usage{}) {
		return estimate(prompt) // nothing was reported, and there is no text
	}
	return u.Input + u.Output
}

// usage returns the usage that the provider reported. Without a report, it returns an estimate if there is some text,
// and zero otherwise.
func usage(resp providers.Response, err error, prompt []providers.Message) transcript.Usage {
	if failed := providers.AsError(err); failed != nil {
		resp = failed.Partial
	}
	if resp.Usage != (transcript.Usage{}) || resp.Text == "" {
		return resp.Usage
	}
	return transcript.Usage{Input: estimate(prompt), Output: window.Estimate(resp.Text), Estimated: true}
}

// limiter starts calls one after the other.
type limiter struct {
	queue   chan struct{} // full while a call is first in the queue; a channel serves waiting goroutines in order
	settled chan struct{} // wakes the first call after tokens were returned to the bucket

	maxWait time.Duration

	mu                        sync.Mutex
	requests, tokens          *bucket
	queuedCalls, queuedTokens int // the number of waiting calls, and the tokens that they need
}

// acquire waits until a call that needs the given number of tokens may start.
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

// join adds a call to the queue and returns the expected wait.
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

// take reserves the tokens of the first call in the queue and returns 0, or returns how long the call has to wait.
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

// wait waits for the given time, or until another call returns tokens.
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

// checkWait returns an error if the wait exceeds patience or the deadline of ctx.
func checkWait(ctx context.Context, wait, patience time.Duration) error {
	most := patience
	if deadline, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(deadline)-1)
	}
	if wait == 0 || wait <= most {
		return nil
	}
	return &providers.Error{Kind: providers.RateLimit, RetryAfter: wait, Err: fmt.Errorf(
		"wait for the rate limit: %v is longer than the call may wait", wait)}
}

// settle corrects the reservation of a call to the number of tokens that the call used.
func (l *limiter) settle(taken, used int) {
	l.mu.Lock()
	l.tokens.take(time.Now(), used-taken)
	l.mu.Unlock()
	if used < taken {
		select {
		case l.settled <- struct{}{}:
		default: // a wake-up is already pending
		}
	}
}

// bucket is a token bucket, which refills steadily. A nil bucket has no limit.
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

// wait returns the time until n can be taken, after the calls ahead have taken others. A call that needs more than the
// bucket can hold waits until the bucket is full.
func (b *bucket) wait(now time.Time, others, n int) time.Duration {
	if b == nil {
		return 0
	}
	missing := float64(others+min(n, b.Burst())) - b.TokensAt(now)
	if missing < 0.01 { // a smaller amount is a rounding error
		return 0
	}
	seconds := min(missing/float64(b.Limit()), 1e9) // fits into a Duration
	return max(1, time.Duration(math.Round(seconds*float64(time.Second))))
}

// take takes n, which may leave the bucket with a negative amount. If n is negative, take returns tokens to the bucket.
func (b *bucket) take(now time.Time, n int) {
	if b == nil {
		return
	}
	for n > b.Burst() { // one reservation can take at most the burst
		b.ReserveN(now, b.Burst())
		n -= b.Burst()
	}
	b.ReserveN(now, n)
}

// Package middleware limits, replaces and counts the calls of any provider.
//
//	meter := &middleware.Meter{Prices: prices}
//	other = middleware.Wrap(other, meter.Measure, middleware.Timeout(middleware.Timeouts{}))
//	model = middleware.Wrap(model,
//		middleware.Fallback(middleware.Fallbacks{Alternatives: []middleware.Alternative{{Provider: other, Model: "small"}}}),
//		middleware.Concurrency(4),
//		middleware.RateLimit(middleware.PerMinute{Requests: 60, Tokens: 90_000}),
//		meter.Measure,
//		middleware.Timeout(middleware.Timeouts{}),
//	)
//
// This order is recommended. The timeout does not count the time that a call waits for the rate limit, a call that
// times out releases its slot, and the meter counts every attempt. Middleware that is listed after a fallback applies
// only to the wrapped provider; the alternatives have their own.
//
// If one middleware wraps several providers, they share its limit, as a service's limit holds for all uses of a key. No
// middleware retries, since the engine does. All of them keep a call and its chunks on the caller's goroutine. All
// implement [providers.Checker] and pass Check on to the wrapped provider if it implements it.
package middleware

import (
	"context"
	"slices"

	"github.com/elenchus-go/debate/providers"
)

// Middleware puts something around a provider.
type Middleware func(providers.Provider) providers.Provider

// Wrap puts middleware around p. The first is the outermost: it sees a call before the others, and its outcome last.
func Wrap(p providers.Provider, m ...Middleware) providers.Provider {
	for _, m := range slices.Backward(m) {
		p = m(p)
	}
	return p
}

type generate func(context.Context, providers.Request) (providers.Response, error)

// wrapped is a provider whose calls go another way.
type wrapped struct {
	inner    providers.Provider
	generate generate
}

func (w *wrapped) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	return w.generate(ctx, r)
}

func (w *wrapped) Check(ctx context.Context, model string) error { return check(ctx, w.inner, model) }

func check(ctx context.Context, p providers.Provider, model string) error {
	if c, ok := p.(providers.Checker); ok {
		return c.Check(ctx, model)
	}
	return nil
}

// chunkObserver stands between a provider and the caller's OnChunk, to know what became of the text.
type chunkObserver struct {
	onChunk        func(string) error
	receivedChunk  bool // the caller has had text
	callbackFailed bool // the caller wants no more
}

// observeChunks puts a listener into the request.
func observeChunks(r *providers.Request) *chunkObserver {
	l := &chunkObserver{onChunk: r.OnChunk}
	if l.onChunk != nil {
		r.OnChunk = l.chunk
	}
	return l
}

func (l *chunkObserver) chunk(text string) error {
	l.receivedChunk = true
	err := l.onChunk(text)
	l.callbackFailed = err != nil
	return err
}

// callerEnded says whether the caller callerEnded the call, by the context or by its callback.
func (l *chunkObserver) callerEnded(ctx context.Context) bool {
	return l.callbackFailed || ctx.Err() != nil
}

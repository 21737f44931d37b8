// Package middleware provides limits, timeouts and metrics for any provider.
//
//	meter := &middleware.Meter{Prices: prices}
//	model = middleware.Wrap(model,
//		middleware.Concurrency(4),
//		middleware.RateLimit(middleware.PerMinute{Requests: 60, Tokens: 90_000}),
//		meter.Measure,
//		middleware.Timeout(middleware.Timeouts{}),
//	)
//
// This order is recommended. With it, the timeout does not count the time that a call waits for the rate limit, a call
// that times out releases its slot, and the meter counts every attempt.
//
// If you wrap several providers with the same middleware, they share its limit. Use this for providers that share a key.
// The middleware in this package does not retry and asks no other model, because the engine does: Config.Retries says how
// often it repeats a call, and Config.Substitutes which models take over a judge's reply. Middleware keeps a call and its
// chunks on the caller's goroutine. The wrapped providers implement [providers.Checker], [providers.Limited], [providers.Windowed],
// [providers.Defaulted] and [providers.Person], and forward them to the inner provider if that implements them too.
package middleware

import (
	"context"
	"slices"

	"github.com/elenchus-go/debate/providers"
)

// Middleware wraps a provider and returns the wrapped one.
type Middleware func(providers.Provider) providers.Provider

// Wrap returns p wrapped in the given middleware. The first one is the outermost: it handles a call first, and the
// result last.
func Wrap(p providers.Provider, m ...Middleware) providers.Provider {
	for _, m := range slices.Backward(m) {
		p = m(p)
	}
	return p
}

type generate func(context.Context, providers.Request) (providers.Response, error)

// wrapped is a provider with a replaced Generate.
type wrapped struct {
	inner    providers.Provider
	generate generate
}

func (w *wrapped) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	return w.generate(ctx, r)
}

// Unwrap returns the inner provider, which may not be able to check itself although the wrapped one has the method.
func (w *wrapped) Unwrap() providers.Provider { return w.inner }

func (w *wrapped) Check(ctx context.Context, model string) error { return check(ctx, w.inner, model) }

func (w *wrapped) Unsupported(r providers.Request) map[string]string { return unsupported(w.inner, r) }

func (w *wrapped) Window(model string) int { return windowOf(w.inner, model) }

func (w *wrapped) IsPerson() bool { return isPerson(w.inner) }

func (w *wrapped) DefaultModel() string {
	if d, ok := w.inner.(providers.Defaulted); ok {
		return d.DefaultModel()
	}
	return ""
}

func isPerson(p providers.Provider) bool {
	h, ok := p.(providers.Person)
	return ok && h.IsPerson()
}

func unsupported(p providers.Provider, r providers.Request) map[string]string {
	if l, ok := p.(providers.Limited); ok {
		return l.Unsupported(r)
	}
	for range r.Attachments() {
		return map[string]string{"attachments": "the provider does not say what it reads, implement providers.Limited"}
	}
	return nil
}

func windowOf(p providers.Provider, model string) int {
	if w, ok := p.(providers.Windowed); ok {
		return w.Window(model)
	}
	return 0
}

func check(ctx context.Context, p providers.Provider, model string) error {
	if c, ok := p.(providers.Checker); ok {
		return c.Check(ctx, model)
	}
	return nil
}

// chunkObserver wraps the caller's OnChunk and records whether it failed.
type chunkObserver struct {
	onChunk        func(string) error
	callbackFailed bool // onChunk returned an error
}

// observeChunks replaces the request's OnChunk, if it has one, and returns the observer.
func observeChunks(r *providers.Request) *chunkObserver {
	l := &chunkObserver{onChunk: r.OnChunk}
	if l.onChunk != nil {
		r.OnChunk = l.chunk
	}
	return l
}

func (l *chunkObserver) chunk(text string) error {
	err := l.onChunk(text)
	l.callbackFailed = err != nil
	return err
}

// callerEnded reports whether the caller ended the call, by its context or by an error of OnChunk.
func (l *chunkObserver) callerEnded(ctx context.Context) bool {
	return l.callbackFailed || ctx.Err() != nil
}

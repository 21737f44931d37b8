package middleware

import (
	"context"

	"github.com/elenchus-go/debate/providers"
)

// Concurrency returns middleware that runs at most n calls at the same time. Further calls wait and start in the order
// in which they arrived. If n is below 1, there is no limit. If the context of a waiting call ends, the call returns a
// [providers.ContextError].
func Concurrency(n int) Middleware {
	if n < 1 {
		return func(p providers.Provider) providers.Provider { return p }
	}
	slots := make(chan struct{}, n) // a channel serves waiting goroutines in order
	return func(p providers.Provider) providers.Provider {
		return &wrapped{p, func(ctx context.Context, r providers.Request) (providers.Response, error) {
			if err := acquire(ctx, slots); err != nil {
				return providers.Response{}, err
			}
			defer func() { <-slots }()
			return p.Generate(ctx, r)
		}}
	}
}

// acquire waits for a slot.
func acquire(ctx context.Context, slots chan<- struct{}) error {
	if ctx.Err() != nil {
		return providers.ContextError(ctx, providers.Response{})
	}
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return providers.ContextError(ctx, providers.Response{})
	}
}

package middleware

import (
	"context"

	"github.com/elenchus-go/debate/providers"
)

// Concurrency lets at most n calls run at once. The others wait their turn, first come first served. With an n below 1
// there is no limit. A call whose ctx ends while it waits gives [providers.ContextError].
func Concurrency(n int) Middleware {
	if n < 1 {
		return func(p providers.Provider) providers.Provider { return p }
	}
	slots := make(chan struct{}, n) // a channel serves who waits in order
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

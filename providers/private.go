package providers

import "context"

type privateKey struct{}

// WithPrivate returns the context of a call whose request has private texts. What the service replies may quote them.
func WithPrivate(ctx context.Context) context.Context {
	return context.WithValue(ctx, privateKey{}, true)
}

// IsPrivate reports whether the request of a call has private texts. Do not store or log such a request, nor its response.
func IsPrivate(ctx context.Context) bool { return ctx.Value(privateKey{}) != nil }

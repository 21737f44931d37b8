package providers

import (
	"context"
	"errors"
	"time"
)

// Kind is a class of failures that call for the same answer.
type Kind string

// The kinds of failures.
const (
	Network         Kind = "network"          // the connection failed, or a stream ended before its end
	RateLimit       Kind = "rate_limit"       // the service asks to wait
	API             Kind = "api_error"        // the service failed, or gave an error of no other kind
	Timeout         Kind = "timeout"          // the call took longer than it may
	ContextOverflow Kind = "context_overflow" // the prompt is larger than the model's window
	Authentication  Kind = "authentication"   // the key is missing or refused
	Validation      Kind = "validation"       // the request can never succeed as it is: an unknown model, a bad parameter
	InvalidResponse Kind = "invalid_response" // the reply is empty or not what was asked for
)

// Error is a failed call.
type Error struct {
	Kind       Kind
	RetryAfter time.Duration // how long the service asks to wait; 0 where it does not say
	Partial    Response      // what had come until the failure
	Err        error         // the cause
}

// Error reads "kind: cause".
func (e *Error) Error() string {
	if e.Err == nil {
		return string(e.Kind)
	}
	return string(e.Kind) + ": " + e.Err.Error()
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// AsError is err as an *Error. One that has none in its chain is [Timeout] when it stems from an expired deadline, else
// [API]. It is nil for a nil err.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Kind: Timeout, Err: err}
	}
	return &Error{Kind: API, Err: err}
}

// Ended is the error of a call whose ctx has ended: the context's cause together with what had come until then. It is
// [Timeout] where a deadline expired, else [API].
func Ended(ctx context.Context, partial Response) *Error {
	e := &Error{Kind: API, Partial: partial, Err: context.Cause(ctx)}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(e.Err, context.DeadlineExceeded) {
		e.Kind = Timeout
	}
	return e
}

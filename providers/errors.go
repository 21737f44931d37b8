package providers

import (
	"context"
	"errors"
	"time"
)

// ErrorKind is a class of failures that call for the same answer.
type ErrorKind string

// The kinds of failures.
const (
	Network         ErrorKind = "network"          // the connection failed, or a stream ended before its end
	RateLimit       ErrorKind = "rate_limit"       // the service asks to wait
	ServerError     ErrorKind = "server_error"     // the service failed, or gave an error of no other kind
	Timeout         ErrorKind = "timeout"          // the call took longer than it may
	ContextOverflow ErrorKind = "context_overflow" // the prompt is larger than the model's window
	Authentication  ErrorKind = "authentication"   // the key is missing or refused
	InvalidRequest  ErrorKind = "invalid_request"  // the request can never succeed as it is: an unknown model, a bad parameter
	InvalidResponse ErrorKind = "invalid_response" // the reply is empty or not what was asked for
)

// Error is a failed call.
type Error struct {
	Kind       ErrorKind
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
// [ServerError]. It is nil for a nil err.
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
	return &Error{Kind: ServerError, Err: err}
}

// ContextError is the error of a call whose ctx has ended: the context's cause together with what had come until then. It is
// [Timeout] where a deadline expired, else [ServerError].
func ContextError(ctx context.Context, partial Response) *Error {
	e := &Error{Kind: ServerError, Partial: partial, Err: context.Cause(ctx)}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(e.Err, context.DeadlineExceeded) {
		e.Kind = Timeout
	}
	return e
}

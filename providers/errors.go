package providers

import (
	"context"
	"errors"
	"time"
)

// ErrorKind classifies a failure by how the caller should handle it.
type ErrorKind string

// The kinds of failures.
const (
	Network         ErrorKind = "network"          // the connection failed, or a stream broke off
	RateLimit       ErrorKind = "rate_limit"       // the service asks the caller to wait
	ServerError     ErrorKind = "server_error"     // the service failed, or the error has no other kind
	Timeout         ErrorKind = "timeout"          // the call exceeded its time limit
	ContextOverflow ErrorKind = "context_overflow" // the prompt is larger than the model's context window
	Authentication  ErrorKind = "authentication"   // the key is missing or refused
	InvalidRequest  ErrorKind = "invalid_request"  // a retry cannot succeed: the model is unknown, or a parameter invalid
	WrongAddress    ErrorKind = "wrong_address"    // what answers at the address is no service of models, such as a web site
	InvalidResponse ErrorKind = "invalid_response" // the reply is empty or malformed
	Loop            ErrorKind = "loop"             // the model repeated the same words without end
	Refused         ErrorKind = "refused"          // the model declined to speak
	ContentFiltered ErrorKind = "content_filtered" // the service refused the prompt or the reply for its content
	Billing         ErrorKind = "billing"          // the account has no credit, or may not use the service or the model
	OutOfMemory     ErrorKind = "out_of_memory"    // the model needs more memory than its server has
	Declined        ErrorKind = "declined"         // the person who was asked gives no reply
	Panic           ErrorKind = "panic"            // the program's own code panicked, or ended its goroutine
)

// Error is the error of a failed call.
type Error struct {
	Kind ErrorKind
	// Otherwise is set only if Kind is a ContextOverflow that is guessed, because a large request was refused in unknown
	// words that speak of a length and of a limit. It is the kind of the error if a shorter prompt fails too.
	Otherwise  ErrorKind
	RetryAfter time.Duration // the wait that the service asks for; 0 if it does not ask for one
	Final      bool          // the service says that a retry does not help, whatever the kind is
	Partial    Response      // the part of the reply that arrived before the failure; the finish reason if the reply is empty
	Err        error         // the cause
}

// Error returns "kind: cause".
func (e *Error) Error() string {
	if e.Err == nil {
		return string(e.Kind)
	}
	return string(e.Kind) + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// AsError returns err as an *Error. If there is no *Error in the chain of err, AsError returns one of kind [Timeout] if
// err wraps [context.DeadlineExceeded], and one of kind [ServerError] otherwise. It returns nil if err is nil.
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

// ContextError returns the error of a call whose ctx has ended. The error holds the context's cause and the part of the
// reply that has arrived. Its kind is [Timeout] if a deadline expired, and [ServerError] otherwise.
func ContextError(ctx context.Context, partial Response) *Error {
	e := &Error{Kind: ServerError, Partial: partial, Err: context.Cause(ctx)}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(e.Err, context.DeadlineExceeded) {
		e.Kind = Timeout
	}
	return e
}

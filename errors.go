package debate

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// errProtocol says that a protocol asks for what cannot be: trying again would not help.
var errProtocol = errors.New("the protocol is wrong")

// errOutOfTime ends a call when the debate's time budget has no more room for it.
var errOutOfTime = errors.New("the time budget is used up")

// errAskedAgain says that a reply was invalid, and that its words for a second attempt are in the request.
var errAskedAgain = errors.New("the reply is asked for again")

func (q *Question) actions() (names []string) {
	for _, c := range q.Choices {
		names = append(names, c.Action)
	}
	return names
}

// needsChange says that no other attempt can help, but a change of keys or models does: dropping someone would hide it.
func (f *Failure) needsChange() bool {
	return f.Kind == providers.Authentication || f.Kind == providers.InvalidRequest
}

// The actions of a question about a failure.
const (
	actionRetry = "retry"
	actionDrop  = "drop"
	actionEnd   = "end"
)

// errViewerLeft says that the viewer of a Run broke out; errSuperseded, that a call's step may not be committed any more.
var (
	errViewerLeft = errors.New("the viewer has gone")
	errSuperseded = errors.New("the step is no longer wanted")
)

var (
	// ErrBusy says that this engine already drives the debate.
	ErrBusy = errors.New("the debate is being driven already")
	// ErrClosed says that the engine was closed.
	ErrClosed = errors.New("the engine is closed")
	// ErrUnsupported says that a debate is of a protocol that this engine does not have, or was written by a newer
	// version of the library. It can be listed and watched, but not driven.
	ErrUnsupported = errors.New("not supported by this engine")
)

// Problems are everything that is wrong with a configuration, field by field.
type Problems struct {
	List []protocol.Problem `json:"list"`
}

// Error has a line for each problem.
func (p *Problems) Error() string {
	lines := make([]string, len(p.List))
	for i, x := range p.List {
		lines[i] = x.String()
	}
	return "check configuration: " + strings.Join(lines, "\n")
}

// problemsError is nil where there is none.
func problemsError(list []protocol.Problem) error {
	if len(list) == 0 {
		return nil
	}
	return &Problems{List: list}
}

// Failure is why a step failed for good: what stops a debate in an error, or drops a participant.
type Failure struct {
	Key            transcript.Key       `json:"key"`  // of the step
	Kind           providers.ErrorKind  `json:"kind"` // of the last error
	Provider       string               `json:"provider,omitempty"`
	Model          string               `json:"model,omitempty"`
	Attempts       int                  `json:"attempts"`
	AttemptDetails []transcript.Attempt `json:"attempt_details,omitempty"` // in order, with what each used
	Started        time.Time            `json:"started,omitzero"`          // when the first attempt did
	At             time.Time            `json:"at,omitzero"`               // when the last one failed
	Message        string               `json:"message"`                   // the last error in words
	Recoverable    bool                 `json:"recoverable"`

	cause error // where the failure happened in this process
}

// Error says who failed where, and why.
func (f *Failure) Error() string {
	s := fmt.Sprintf("run step %s of %s in round %d", f.Key.Phase, f.Key.Actor, f.Key.Round)
	if f.Provider != "" {
		s += fmt.Sprintf(": call provider %s", f.Provider)
	}
	if f.Model != "" {
		s += fmt.Sprintf(", model %s", f.Model)
	}
	if f.Attempts > 1 {
		s += fmt.Sprintf(" (%d attempts)", f.Attempts)
	}
	return s + ": " + f.Message
}

// usage is what all attempts usage.
func (f *Failure) usage() (u transcript.Usage) {
	for _, a := range f.AttemptDetails {
		u = u.Add(a.Usage)
	}
	return u
}

// Unwrap is the cause, such as a *providers.Error; nil for a failure that was read from the store.
func (f *Failure) Unwrap() error { return f.cause }

// Hint is what a person can do about it.
func (f *Failure) Hint() string {
	if f.Provider == "" { // no model was called
		return fmt.Sprintf("step %s of %s cannot be run: give Options what the message names, or Edit the debate, then Retry", f.Key.Phase, f.Key.Actor)
	}
	switch f.Kind {
	case providers.Authentication:
		return fmt.Sprintf("provider %s refuses its key: give it one that is valid in Options.Providers, then Retry", f.Provider)
	case providers.InvalidRequest:
		return fmt.Sprintf("provider %s cannot take the request as it is: see whether it has a model %q and the parameters fit it, Edit the debate, then Retry", f.Provider, f.Model)
	case providers.ContextOverflow:
		return fmt.Sprintf("the prompt is longer than model %q reads: lower the Window of %s, or choose a model that reads more", f.Model, f.Key.Actor)
	case providers.RateLimit:
		return fmt.Sprintf("provider %s allows no more calls now: Retry later, raise its limits, or slow down with a rate limit of your own", f.Provider)
	case providers.Timeout:
		return fmt.Sprintf("model %q is too slow for the timeouts: raise Limits.StepTimeout, or choose a faster one", f.Model)
	case providers.Network:
		return fmt.Sprintf("provider %s cannot be reached, or its connection broke: check its address and the network, then Retry", f.Provider)
	case providers.InvalidResponse:
		return fmt.Sprintf("model %q gives no usable reply: choose one that keeps to a format, or give it more tokens", f.Model)
	case providers.ServerError:
	}
	return fmt.Sprintf("provider %s failed: its message says why; Retry may help", f.Provider)
}

// Question waits for a person: the debate is paused until Decide.
type Question struct {
	Cause   string   `json:"cause"`
	Failure *Failure `json:"failure,omitempty"`
	Choices []Choice `json:"choices"`
}

// Choice is one answer to a question.
type Choice struct {
	Action      string `json:"action"` // what Decide takes
	Label       string `json:"label"`
	Description string `json:"description"`
}

// errRateLimitWait ends a call of a worker's job that has not the time to sit out a rate limit.
var errRateLimitWait = errors.New("a rate limit is to be sat out, which the next job goes on with")

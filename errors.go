package debate

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// errProtocol reports that a protocol returned an impossible step. A retry cannot help.
var errProtocol = errors.New("invalid protocol")

// errUnfinished reports that the goroutine of a drive or of a step ended before its work did.
var errUnfinished = errors.New("the goroutine ended early")

// actionsOf returns the actions of the choices of a question.
func actionsOf(q *Question) (names []string) {
	for _, c := range q.Choices {
		names = append(names, c.Action)
	}
	return names
}

// mustStop reports whether the debate must stop. The step can only succeed with another key, account, model or program,
// when the provider can be reached again, or after a long wait. Dropping the actor would hide that.
func mustStop(f *Failure) bool {
	return step.Fatal(f.Kind) || f.Unreachable || f.RetryAfter > 0
}

// The actions of a person: about a failure, and at a gate.
const (
	actionRetry = "retry"
	actionDrop  = "drop"
	actionEnd   = "end"

	actionApprove = "approve"
	actionEdit    = "edit"
	actionStop    = "stop"

	actionRefuse = "refuse" // a call of a tool

	// Decisions that answer no question.
	actionDecline = "decline"
	actionHold    = "hold"
	actionRelease = "release"
)

var (
	// ErrBusy reports that this engine already drives the debate.
	ErrBusy = errors.New("the debate is already being driven")
	// ErrClosed reports that the engine was closed.
	ErrClosed = errors.New("the engine is closed")
	// ErrUnsupported reports that this engine lacks something that the debate needs, such as its protocol, a provider,
	// a prompt or a reply contract. The engine leaves the debate as it is, because another engine may have what is missing.
	// The debate can be listed, watched and, except for an unknown protocol, controlled. It is also the cause of a
	// [NewerFormat].
	ErrUnsupported = errors.New("not supported by this engine")
	// ErrTaken reports that the store has another debate with the id.
	ErrTaken = errors.New("the id is taken")
	// ErrAnswered reports that a step of a person has another reply.
	ErrAnswered = errors.New("the step has another reply")
	// ErrNotAsked reports that the debate does not wait for a person's reply to a step, or no longer does.
	ErrNotAsked = errors.New("the debate does not ask for this step")
)

// unsupported is the ErrUnsupported of a debate that needs something that this engine lacks.
type unsupported struct {
	missing []string // what the engine lacks, and where it is needed
}

func (u *unsupported) Error() string {
	return fmt.Sprintf("%s: %v", strings.Join(u.missing, "; "), ErrUnsupported)
}

func (u *unsupported) Unwrap() error { return ErrUnsupported }

// lackError returns an ErrUnsupported about what an engine lacks, or nil if the list is empty.
func lackError(list []protocol.Problem) error {
	if len(list) == 0 {
		return nil
	}
	u := &unsupported{}
	for _, p := range list {
		u.missing = append(u.missing, p.String())
	}
	return u
}

// missingIn returns what an engine lacks if err is an ErrUnsupported, otherwise nil.
func missingIn(err error) []string {
	if u, ok := errors.AsType[*unsupported](err); ok {
		return u.missing
	}
	if errors.Is(err, ErrUnsupported) {
		return []string{err.Error()}
	}
	return nil
}

// problemList collects the problems of a check.
type problemList struct{ problems []protocol.Problem }

func (l *problemList) add(field, format string, args ...any) {
	l.problems = append(l.problems, protocol.Problemf(field, format, args...))
}

// limits adds a problem for each invalid limit, and sets it to 0.
func (l *problemList) limits(is *Limits) {
	valid, found := is.Valid()
	*is = valid
	l.problems = append(l.problems, found...)
}

// same adds a problem if two values of a field differ.
func (l *problemList) same(field, problem string, a, b any) {
	if !reflect.DeepEqual(a, b) {
		l.add(field, "%s", problem)
	}
}

// problemsError returns a *Problems about a configuration, or nil if the list is empty.
func problemsError(list []protocol.Problem) error { return problemsOf("", list) }

// problemsOf returns a *Problems about the subject, or nil if the list is empty.
func problemsOf(subject string, list []protocol.Problem) error {
	if len(list) == 0 {
		return nil
	}
	return &Problems{List: list, Subject: subject}
}

// problemOf returns *Problems about the subject with one problem.
func problemOf(subject, field, format string, args ...any) error {
	return &Problems{List: []protocol.Problem{protocol.Problemf(field, format, args...)}, Subject: subject}
}

// panicFailure returns the failure for a panic outside of a step, which happened in a round and phase of a run.
func panicFailure(p *panics.Error, key transcript.Key) *Failure {
	e := &providers.Error{Kind: providers.Panic, Err: p}
	return &Failure{
		Key:         key,
		Kind:        e.Kind,
		At:          time.Now().UTC(),
		Message:     e.Error(),
		Stack:       p.Stack,
		Recoverable: true,
		Cause:       e,
	}
}

// catchFailure sets an error to the failure for a panic of a protocol or a hook in the function that defers it.
func catchFailure(err *error, key transcript.Key) {
	if v := recover(); v != nil {
		*err = panicFailure(panics.New(v), key)
	}
}

// failureOf returns the failure that an event reports, or nil if there is none.
func failureOf(ev Event) *Failure {
	switch ev := ev.(type) {
	case StateChanged:
		if ev.Question != nil {
			return ev.Question.Failure
		}
		return ev.Failure
	case Dropped:
		return ev.Failure
	}
	return nil
}

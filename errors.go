package debate

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/toolcall"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/transcript"
)

// errProtocol reports that a protocol returned an impossible step. A retry cannot help.
var errProtocol = errors.New("invalid protocol")

// errUnfinished reports that the goroutine of a drive or of a step ended before its work did.
var errUnfinished = errors.New("the goroutine ended early")

func (q *Question) actions() (names []string) {
	for _, c := range q.Choices {
		names = append(names, c.Action)
	}
	return names
}

// mustStop reports whether the debate must stop. The step can only succeed with another key, account, model or program,
// when the provider can be reached again, or after a long wait. Dropping the actor would hide that.
func (f *Failure) mustStop() bool {
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

// lackedBy returns what an engine lacks if err is an ErrUnsupported, otherwise nil.
func lackedBy(err error) []string {
	if u, ok := errors.AsType[*unsupported](err); ok {
		return u.missing
	}
	if errors.Is(err, ErrUnsupported) {
		return []string{err.Error()}
	}
	return nil
}

// Problems lists everything that is wrong with a configuration, a remark, an annotation or the edits of a fork, field by
// field.
type Problems struct {
	List []protocol.Problem `json:"list"`

	subject string // what the fields belong to; empty for a configuration
}

// Error returns one line for each problem.
func (p *Problems) Error() string {
	lines := make([]string, len(p.List))
	for i, x := range p.List {
		lines[i] = x.String()
	}
	return "check " + cmp.Or(p.subject, "configuration") + ": " + strings.Join(lines, "\n")
}

// problemList collects the problems of a check.
type problemList struct{ problems []protocol.Problem }

func (l *problemList) add(field, format string, args ...any) {
	l.problems = append(l.problems, protocol.Problemf(field, format, args...))
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
	return &Problems{List: list, subject: subject}
}

// problemOf returns *Problems about the subject with one problem.
func problemOf(subject, field, format string, args ...any) error {
	return &Problems{List: []protocol.Problem{protocol.Problemf(field, format, args...)}, subject: subject}
}

// Failure describes why a step failed after all attempts. It stops the debate in an error or drops the actor,
// depending on the policy.
type Failure struct {
	Key            transcript.Key       `json:"key"`  // the step
	Kind           providers.ErrorKind  `json:"kind"` // the kind of the last error
	Provider       string               `json:"provider,omitempty"`
	Model          string               `json:"model,omitempty"`
	Attempts       int                  `json:"attempts"`
	AttemptDetails []transcript.Attempt `json:"attempt_details,omitempty"` // in order, each with its usage
	Started        time.Time            `json:"started,omitzero"`          // start of the first attempt
	At             time.Time            `json:"at,omitzero"`               // end of the last attempt
	Message        string               `json:"message"`                   // text of the last error
	Stack          string               `json:"stack,omitempty"`           // where the program's code panicked, at most 8 kB; not in reports
	Recoverable    bool                 `json:"recoverable"`               // whether Retry is possible
	Unreachable    bool                 `json:"unreachable,omitempty"`     // the provider could not be reached: for as long as the time budget allowed or, if it has never answered, on the first call of Run
	OnlyReasoning  bool                 `json:"only_reasoning,omitempty"`  // the model reasoned and wrote no reply
	OutOfTime      bool                 `json:"out_of_time,omitempty"`     // the time budget was used up, so that the step could not try again
	RetryAfter     time.Duration        `json:"retry_after,omitempty"`     // the wait that the service asks for, if the debate has less time left

	cause error // nil if the failure was read from the store
}

// Error returns a message that names the step, the provider, the model and the cause.
func (f *Failure) Error() string {
	if f.Key.Actor == "" { // the panic of a protocol or a hook
		return fmt.Sprintf("plan round %d: %s", f.Key.Round, f.Message)
	}
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

// panicFailure returns the failure for a panic outside of a step, which happened in a round and phase of a run.
func panicFailure(p *panics.Error, key transcript.Key) *Failure {
	e := &providers.Error{Kind: providers.Panic, Err: p}
	return &Failure{Key: key, Kind: e.Kind, At: time.Now().UTC(), Message: e.Error(), Stack: p.Stack, Recoverable: true, cause: e}
}

// catchFailure sets an error to the failure for a panic of a protocol or a hook in the function that defers it.
func catchFailure(err *error, key transcript.Key) {
	if v := recover(); v != nil {
		*err = panicFailure(panics.New(v), key)
	}
}

func (f *Failure) usage() (u transcript.Usage) {
	for _, a := range f.AttemptDetails {
		u = u.Add(a.Usage)
	}
	return u
}

// Unwrap returns the cause, such as a *providers.Error, or nil if the failure was read from the store.
func (f *Failure) Unwrap() error { return f.cause }

// Hint returns advice on how to fix the failure.
func (f *Failure) Hint() string {
	return step.Hint(f.Key, &step.Failure{
		Err:      &providers.Error{Kind: f.Kind},
		Provider: f.Provider, Model: f.Model,
		Unreachable: f.Unreachable, OnlyReasoning: f.OnlyReasoning,
		RetryAfter: f.RetryAfter,
	})
}

// Question asks a person for a decision. The debate is paused until Debate.Decide answers it.
type Question struct {
	ID      string   `json:"id"` // unique in the debate; an argument for Decide
	Cause   string   `json:"cause"`
	Failure *Failure `json:"failure,omitempty"`
	Gate    string   `json:"gate,omitempty"` // the gate that asks, such as "round 2", "verdict" or "cost"; empty for a failure
	// Call is the call of a tool about which the person decides, and Step the step that makes it.
	Step    transcript.Key `json:"step,omitzero"`
	Call    *tool.Record   `json:"call,omitempty"`
	Choices []Choice       `json:"choices"`
}

// String returns what the person has to know: the cause, and below it the arguments of a call, whole and as indented JSON.
// Models wrote the arguments: escape them where you show them.
func (q *Question) String() string {
	if q.Call == nil {
		return q.Cause
	}
	return q.Cause + " with these arguments:\n" + toolcall.Readable(q.Call.Arguments)
}

// Choice is a possible answer to a question.
type Choice struct {
	Action      string `json:"action"` // the argument for Decide
	Label       string `json:"label"`
	Description string `json:"description"`
}

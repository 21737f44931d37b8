package debate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
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

// problems is nil where there is none.
func problems(list []protocol.Problem) error {
	if len(list) == 0 {
		return nil
	}
	return &Problems{List: list}
}

// Failure is why a step failed for good: what stops a debate in an error, or drops a participant.
type Failure struct {
	Key         transcript.Key       `json:"key"`  // of the step
	Kind        providers.Kind       `json:"kind"` // of the last error
	Provider    string               `json:"provider,omitempty"`
	Model       string               `json:"model,omitempty"`
	Attempts    int                  `json:"attempts"`
	Tried       []transcript.Attempt `json:"tried,omitempty"` // in order, with what each used
	Message     string               `json:"message"`         // the last error in words
	Recoverable bool                 `json:"recoverable"`

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

// used is what all attempts used.
func (f *Failure) used() (u transcript.Usage) {
	for _, a := range f.Tried {
		u = u.Add(a.Usage)
	}
	return u
}

// Unwrap is the cause, such as a *providers.Error; nil for a failure that was read from the store.
func (f *Failure) Unwrap() error { return f.cause }

package step

import (
	"errors"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/providers"
)

var (
	// ErrOutOfTime ends a step when the time budget of the debate is used up.
	ErrOutOfTime = errors.New("the time budget is used up")
	// ErrSuperseded ends a step that may no longer be committed, or that waits when it must not: it runs again later.
	ErrSuperseded = errors.New("the step was superseded")
	// ErrNextJob ends a step whose context ends too soon to wait for a rate limit or a provider.
	ErrNextJob = errors.New("waiting for a rate limit or a provider, the next job continues")

	// errHeld ends a step that waits when the debate is paused or the engine is closed.
	errHeld = fmt.Errorf("the debate was paused, or its engine closed, while the step waited: %w", ErrSuperseded)
	// errUnreachable ends a step when its provider could not be reached in the time that the debate had left, or on the first
	// call of a debate for which a person waits.
	errUnreachable = errors.New("the provider cannot be reached")
	// errLongWait ends a step whose service asks for a wait that is longer than the time that the debate has left.
	errLongWait = errors.New("the service asks for a wait that is longer than the debate may take")
	// errAskedAgain reports that a reply was invalid and that the request now asks for a correct one.
	errAskedAgain = errors.New("asking for the reply again")
	// errDefault reports that a reply was invalid again and that the debate continues with the default reply.
	errDefault = errors.New("the default reply is used")
)

// Doubtful is the error of a valid reply that the step doubts. The request now asks the model to reconsider it.
type Doubtful struct{ Doubts []string }

// Error says what is doubtful.
func (d *Doubtful) Error() string {
	return "the reply is doubtful: " + strings.Join(d.Doubts, "; ")
}

// A usedUp says that a reply did not begin before its token limit, which is the number.
type usedUp int

// Error says how many tokens were used up.
func (u usedUp) Error() string {
	return fmt.Sprintf("%d were used up before the reply began", int(u))
}

// Fatal reports whether a step whose last error has a kind can only succeed with another key, account, address, model or program.
// Continuing without the reply would hide that.
func Fatal(k providers.ErrorKind) bool {
	switch k {
	case providers.Authentication, providers.Billing, providers.InvalidRequest, providers.WrongAddress, providers.OutOfMemory, providers.Panic:
		return true
	default:
		return false
	}
}

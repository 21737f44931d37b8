package debatetool

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// Error is the error of a call. Its message tells a model what to do next.
type Error struct {
	ID       string             // the debate; empty if there is none
	Problems []protocol.Problem // what is wrong with the input, by field
	Again    bool               // whether the same call with ID may succeed
	Err      error              // the cause; nil if there are only problems

	internal bool
}

// Internal reports whether the call failed for a reason that the caller cannot know, such as a store that is not available.
// Log it: nobody else may look at it.
func (e *Error) Internal() bool { return e.internal }

// Error returns a message for the model: the cause, one line for each problem, and what to call next.
func (e *Error) Error() string {
	var lines []string
	if len(e.Problems) > 0 {
		lines = append(lines, "The call was refused. Correct these fields and call again:")
		for _, p := range e.Problems {
			lines = append(lines, "- "+forCaller(p.String()))
		}
	} else if e.Err != nil {
		lines = append(lines, forCaller(e.Err.Error())+".")
	}
	if e.Again {
		lines = append(lines, fmt.Sprintf("Call again with \"id\": %q and otherwise the same input. Nothing that was said is lost.", e.ID))
	}
	return strings.Join(lines, "\n")
}

// programAdvice matches advice for those who write the program around an engine.
var programAdvice = regexp.MustCompile(`, (or )?(add it to|set) Options\.\w+( to find them)?`)

// forCaller removes advice from a message that its reader cannot follow.
func forCaller(text string) string { return programAdvice.ReplaceAllString(text, "") }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// callAgain returns the sentence that tells a model to call debate with a position.
func callAgain(id string, after int64, purpose string) string {
	position := ""
	if after > 0 {
		position = fmt.Sprintf(`, "after": %d`, after)
	}
	return fmt.Sprintf(`Call debate with {"id": %q%s} to %s.`, id, position, purpose)
}

// refuse returns the error for an input with problems, or nil if there are none.
func refuse(problems ...protocol.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return &Error{Problems: problems}
}

// inputFields replaces fields of a configuration by those of [Input].
var inputFields = strings.NewReplacer("limits.max_rounds", "budget.rounds", "limits.running_time", "budget.minutes", "limits.tokens", "budget.tokens", "limits.cost", "budget.cost")

// explain returns the error of an engine as an *Error.
func explain(id string, err error) error {
	if err == nil {
		return nil
	}
	if _, done := errors.AsType[*Error](err); done {
		return err
	}
	e := &Error{ID: id, Err: err}
	wrong, invalid := errors.AsType[*debate.Problems](err)
	refused, early := errors.AsType[*fsm.Refused](err)
	_, damaged := errors.AsType[*store.Damaged](err)
	switch {
	case invalid:
		for _, p := range wrong.List {
			e.Problems = append(e.Problems, protocol.Problem{Field: inputFields.Replace(p.Field), Reason: p.Reason})
		}
	case early:
		e.Err = fmt.Errorf("the debate %q does not allow this now: %w", id, refused)
	case errors.Is(err, store.ErrNotFound):
		e.Problems = []protocol.Problem{protocol.Problemf("id", "there is no debate %q; use the id that an earlier call returned, or give a topic without an id", id)}
	case damaged, errors.Is(err, debate.ErrUnsupported), errors.Is(err, debate.ErrAnswered), errors.Is(err, debate.ErrNotAsked):
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e.Again, e.Err = id != "", fmt.Errorf("the call was interrupted: %w", err)
	default:
		e.Again, e.internal = id != "", true
	}
	return e
}

// advice says what the model or its user can do about a failure. [debate.Failure.Hint] is for those who write programs.
func advice(f *debate.Failure) string {
	const operator = " Only those who run this server can correct this."
	if f.Provider == "" && f.Kind != providers.Declined && f.Kind != providers.Panic {
		return "The server lacks something that the debate needs." + operator
	}
	switch f.Kind {
	case providers.Authentication:
		return "The service of the model refuses the server's key." + operator
	case providers.Billing:
		return "The service of the model does not serve the server's account, for example because its credit is used up." + operator
	case providers.InvalidRequest:
		return "The service refuses the request, for example because it has no such model." + operator
	case providers.WrongAddress:
		return "The server has a wrong address for the service of the model." + operator
	case providers.OutOfMemory:
		return "The machine of the model has too little memory." + operator
	case providers.Panic:
		return "The server has an internal error." + operator
	case providers.ContentFiltered:
		return "The service filters the text. Put the topic in other words, as a new debate."
	case providers.ContextOverflow:
		return "The text is too long for the model. Start a new debate with less background or fewer rounds."
	case providers.Declined:
		return f.Key.Actor + " has declined to reply. Another try asks again."
	case providers.Refused:
		return "The model declines to argue. Put the topic in other words, or choose another model, as a new debate."
	case providers.InvalidResponse, providers.Loop:
		return "The model gave no usable reply. Another try may give one."
	case providers.RateLimit, providers.Timeout, providers.Network, providers.ServerError:
	}
	return "The service of the model does not answer now. Try again later."
}

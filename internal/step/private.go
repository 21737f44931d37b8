package step

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// A step of an actor who reads a private document is private. Its turn and its usage are public. Whatever else a model or a
// service says may quote the document: reasoning, replies that fail, errors and warnings. None of it leaves the step. The
// prompt of the plan names the documents; the clients of its models put the texts in their place.

// errPrivate stands for the message of an error.
var errPrivate = errors.New("the message is left out, because the step reads a private document")

// leftOut stands for a message in a request.
const leftOut = "[left out, because the step reads a private document]"

// hide returns an error without what a service or a model said.
func hide(e *providers.Error) *providers.Error {
	if e == nil {
		return e
	}
	hidden := &providers.Error{
		Kind:       e.Kind,
		RetryAfter: e.RetryAfter,
		Final:      e.Final,
		Otherwise:  e.Otherwise,
		Err:        errPrivate,
	}
	hidden.Partial = providers.Response{
		Model:        e.Partial.Model,
		FinishReason: e.Partial.FinishReason,
		Usage:        e.Partial.Usage,
	}
	if p, ok := errors.AsType[*panics.Error](e); ok {
		hidden.Err = &panics.Error{
			Message: errPrivate.Error(),
			Stack:   p.Stack,
		}
	}
	for _, own := range []error{errDefault, errAskedAgain} {
		if errors.Is(e, own) {
			hidden.Err = errors.Join(own, hidden.Err)
		}
	}
	if _, ok := errors.AsType[usedUp](e); ok {
		hidden.Err = errors.Join(errors.New("the tokens were used up before the reply began"), hidden.Err)
	}
	return hidden
}

// HideError returns the error of a tool in a private step, or nil if there is none.
func HideError(err error) error {
	if p, ok := errors.AsType[*panics.Error](err); ok {
		return &panics.Error{
			Message: errPrivate.Error(),
			Stack:   p.Stack,
		}
	}
	if err != nil {
		return errPrivate
	}
	return nil
}

// privateCall is a call of a private step.
type privateCall struct {
	Call

	ctx   context.Context // of the step
	draft *draft
}

// Chunk shows nothing: what arrives may still turn out to be reasoning, or a reply that fails.
func (c *privateCall) Chunk(string) error { return c.Call.Chunk("") }

// End implements Call.
func (c *privateCall) End(a *transcript.Attempt, resp *providers.Response, err error) {
	if resp != nil {
		shown := providers.Response{
			Model:        resp.Model,
			FinishReason: resp.FinishReason,
			Usage:        resp.Usage,
		}
		if err == nil {
			shown.Text = c.draft.Text
		}
		resp = &shown
	}
	if _, hidden := errors.AsType[*journal.Failure](err); err != nil && !hidden &&
		err != context.Cause(c.ctx) { //nolint:errorlint // an error that wraps the cause may quote the service
		err = hide(providers.AsError(err))
	}
	c.Call.End(a, resp, err)
}

// Failed implements Call.
func (c *privateCall) Failed(e *providers.Error, wait time.Duration) error {
	return c.Call.Failed(hide(e), wait)
}

// shownRequest returns a request for the host: without the replies and the results that follow the prompt.
func shownRequest(q *query, request *providers.Request) *providers.Request {
	shown := *request
	shown.Messages = slices.Clone(request.Messages)
	for i := len(q.Messages) + len(q.Attachments); i < len(shown.Messages); i++ {
		shown.Messages[i] = providers.Message{
			Role: shown.Messages[i].Role,
			Text: leftOut,
		}
	}
	return &shown
}

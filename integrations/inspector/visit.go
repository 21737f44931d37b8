package inspector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/store"
)

// site is what all requests share.
type site struct {
	Options
	engine *debate.Engine
	api    http.Handler // of package debatehttp
	pages  cache
	recent handles
	lines  lines
}

var errReadOnly = &debatehttp.Problem{Title: "This inspector is read-only", Status: http.StatusForbidden, Detail: "its owner can set Options.Controls"}

// A visit is one request for a page.
type visit struct {
	*site
	w         http.ResponseWriter
	r         *http.Request // its context ends after storeTime
	whole     *http.Request // the request as it came
	principal string
	seat      string // the participant or judge for whom the visitor speaks; empty shows everything

	debate *debate.Debate // set by open
	status store.Status   // of the debate, as authorization sees it; a seat may not see all of it

	refused *debatehttp.Problem // why the form that this page answers was refused; nil if it was not
}

// authorize refuses changes unless Options.Controls is set, and then asks Options.Authorize.
func (s *site) authorize(ctx context.Context, a *debatehttp.Access) error {
	if a.Action.Changes() && !s.Controls {
		return errReadOnly
	}
	return s.Authorize(ctx, a)
}

// open opens the debate of the page, for the seat of the visitor. It returns an error if the visitor may not do this.
func (v *visit) open(action debatehttp.Action) (err error) {
	id := v.r.PathValue("id")
	v.debate, v.status, err = v.recent.open(v.r.Context(), v.engine, id)
	if err == nil {
		err = v.allow(&debatehttp.Access{Action: action, Debate: v.status, Seat: v.seat})
	}
	if errors.Is(err, store.ErrNotFound) { // the same text for debates that the visitor must not know of
		return notFound("There is no such debate", fmt.Sprintf("debate %q does not exist", id))
	}
	return err
}

// allow returns an error if the visitor may not do something.
func (v *visit) allow(a *debatehttp.Access) error {
	a.Principal, a.Host = v.principal, v.r.Host
	if a.Query != nil && a.Query.Labels == nil {
		a.Query.Labels = map[string]string{} // so that Authorize can add one
	}
	err := v.authorize(v.r.Context(), a)
	if _, told := errors.AsType[*debatehttp.Problem](err); err == nil || told || errors.Is(err, store.ErrNotFound) {
		return err
	}
	v.Logger.InfoContext(v.r.Context(), "refuse page", "action", string(a.Action), "debate", a.Debate.ID, "error", err)
	return &debatehttp.Problem{Title: "You may not do this", Status: http.StatusForbidden, Detail: fmt.Sprintf("the action %s is not allowed", a.Action)}
}

// number returns a parameter of the query that is not negative, or 0 if it is empty.
func (v *visit) number(name string) (int64, error) {
	text := v.r.URL.Query().Get(name)
	n, err := strconv.ParseUint(cmp.Or(text, "0"), 10, 63)
	if err != nil {
		return 0, &debatehttp.Problem{Title: "The address is wrong", Status: http.StatusBadRequest, Detail: fmt.Sprintf("%s is %q, want the number of an entry", name, text)}
	}
	return int64(n), nil //nolint:gosec // it has 63 bits
}

// problemOf returns what a visitor reads about an error.
func problemOf(err error) *debatehttp.Problem {
	if p, ok := errors.AsType[*debatehttp.Problem](err); ok {
		return p
	}
	if wrong, ok := errors.AsType[*debate.Problems](err); ok {
		return &debatehttp.Problem{Title: "The request is invalid", Status: http.StatusBadRequest, Detail: err.Error(), Problems: wrong.List}
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return notFound("There is no such debate", "it was deleted")
	case errors.Is(err, debate.ErrUnsupported):
		return &debatehttp.Problem{Title: "This server lacks something that the debate needs", Status: http.StatusNotImplemented, Detail: err.Error()}
	case unavailable(err):
		return &debatehttp.Problem{Title: "The store is not available", Status: http.StatusServiceUnavailable, Detail: "try again later"}
	case errors.Is(err, debate.ErrClosed):
		return &debatehttp.Problem{Title: "The server is stopping", Status: http.StatusServiceUnavailable}
	}
	if damaged, ok := errors.AsType[*store.Damaged](err); ok {
		return &debatehttp.Problem{
			Title: "The stored debate is damaged", Status: http.StatusInternalServerError,
			Detail: fmt.Sprintf("entry %d of debate %s is missing, damaged or forged", damaged.Seq, damaged.ID),
		}
	}
	return &debatehttp.Problem{Title: "The server failed", Status: http.StatusInternalServerError}
}

// unavailable reports whether the store cannot answer at the moment.
func unavailable(err error) bool {
	return errors.Is(err, store.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

func notFound(title, detail string) *debatehttp.Problem {
	return &debatehttp.Problem{Title: title, Status: http.StatusNotFound, Detail: detail}
}

// unauthenticated returns the problem for an error of Options.Principal.
func unauthenticated(err error) error {
	if _, ok := errors.AsType[*debatehttp.Problem](err); ok {
		return err
	}
	return &debatehttp.Problem{Title: "You are not signed in", Status: http.StatusUnauthorized, Detail: "the request does not tell who sends it, or not correctly"}
}

// invalid returns the problem with a field of a request.
func invalid(field, format string, args ...any) *debatehttp.Problem {
	return &debatehttp.Problem{Title: "The request is invalid", Status: http.StatusBadRequest, Detail: field + ": " + fmt.Sprintf(format, args...)}
}

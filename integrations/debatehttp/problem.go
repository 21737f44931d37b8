package debatehttp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/store"
)

// Problem is an error of a request, in the format of RFC 9457. Handlers answer with it, and [Client] returns it.
//
// errors.Is and errors.As find the engine's error in a Problem of a client: store.ErrNotFound, debate.ErrAnswered,
// debate.ErrNotAsked, debate.ErrClosed, debate.ErrUnsupported, *debate.Problems with all fields, and *fsm.Refused with the
// state and the possible methods.
//
// Options.Principal and Options.Authorize may return a *Problem, to choose what the client reads.
type Problem struct {
	Type   string `json:"type,omitempty"`   // URI of the kind of problem, see docs/reference/http.md; empty means about:blank
	Title  string `json:"title"`            // the kind of problem, in words
	Status int    `json:"status"`           // HTTP status code
	Detail string `json:"detail,omitempty"` // what is wrong with this request
	// Problems lists everything that is wrong with a configuration, a remark or another body, field by field.
	Problems []protocol.Problem `json:"problems,omitempty"`
	// State is the state of the debate, and Possible lists the methods of a debate that it allows, such as "Resume". They
	// are set if the state does not allow the request.
	State    fsm.State `json:"state,omitempty"`
	Possible []string  `json:"possible,omitempty"`
}

// Error returns the status, the title and the detail.
func (p *Problem) Error() string {
	text := fmt.Sprintf("%d %s", p.Status, p.Title)
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	return text
}

// Unwrap returns the engine's error, or nil if there is none.
func (p *Problem) Unwrap() error {
	switch {
	case p.Type == typeOf("invalid") && len(p.Problems) > 0:
		return &debate.Problems{List: p.Problems}
	case p.Type == typeOf("refused"):
		return &fsm.Refused{State: p.State, Methods: p.Possible}
	}
	for _, k := range kinds {
		if p.Type == typeOf(k.name) {
			return k.is
		}
	}
	return nil
}

// typeBase begins the address of each kind of problem. The name of the kind follows.
const typeBase = "https://github.com/elenchus-go/debate/blob/main/docs/reference/http.md#"

func typeOf(kind string) string { return typeBase + kind }

// A kind is a kind of problem. Its name is an anchor in docs/reference/http.md.
type kind struct {
	name   string
	status int
	title  string
	is     error // the errors of this kind, if one value stands for them
}

// kinds lists all kinds of problems. The order matters if an error wraps several of the values.
var kinds = []kind{
	{"invalid", http.StatusBadRequest, "The request is invalid", nil},
	{"unauthenticated", http.StatusUnauthorized, "You are not signed in", nil},
	{"forbidden", http.StatusForbidden, "You may not do this", nil},
	{"cross-origin", http.StatusForbidden, "Another site sent this request", nil},
	{"not-found", http.StatusNotFound, "There is no such debate", store.ErrNotFound},
	{"model-not-found", http.StatusNotFound, "There is no such model", nil},
	{"no-route", http.StatusNotFound, "There is no such address", nil},
	{"method-not-allowed", http.StatusMethodNotAllowed, "This address does not take this method", nil},
	{"answered", http.StatusConflict, "The step has another reply", debate.ErrAnswered},
	{"not-asked", http.StatusConflict, "The debate does not ask for this step", debate.ErrNotAsked},
	{"refused", http.StatusConflict, "The state of the debate does not allow this", nil},
	{"taken", http.StatusConflict, "Another debate has this id", debate.ErrTaken},
	{"conflict", http.StatusConflict, "Another change came first", nil},
	{"too-large", http.StatusRequestEntityTooLarge, "The body is too large", nil},
	{"key-reused", http.StatusUnprocessableEntity, "The idempotency key belongs to another request", nil},
	{"unsupported", http.StatusNotImplemented, "This server lacks something that the debate needs", debate.ErrUnsupported},
	{"unavailable", http.StatusServiceUnavailable, "The store is not available", store.ErrUnavailable},
	{"closed", http.StatusServiceUnavailable, "The server is stopping", debate.ErrClosed},
	{"stopped", http.StatusBadGateway, "The debate has no answer", nil},
	{"damaged", http.StatusInternalServerError, "The stored debate is damaged", nil},
	{"internal", http.StatusInternalServerError, "The server failed", nil},
}

// problem returns a problem of a kind.
func problem(name, format string, args ...any) *Problem {
	for _, k := range kinds {
		if k.name == name {
			return &Problem{Type: typeOf(name), Title: k.title, Status: k.status, Detail: fmt.Sprintf(format, args...)}
		}
	}
	return problem("internal", "")
}

// invalid returns a problem with one field of the request.
func invalid(field, format string, args ...any) *Problem {
	return invalidList([]protocol.Problem{protocol.Problemf(field, format, args...)})
}

// maxListed limits the wrong fields that a problem lists. More would make the answer much longer than the request.
const maxListed = 1000

func invalidList(list []protocol.Problem) *Problem {
	p := problem("invalid", "%s", list[0])
	if n := len(list); n > 1 {
		p.Detail = fmt.Sprintf("%s, and %d more", p.Detail, n-1)
	}
	p.Problems = list[:min(len(list), maxListed)]
	return p
}

// problemOf returns the problem that a client reads for an error of the engine. It hides the text of an error that is not
// the client's concern.
func problemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if wrong, ok := errors.AsType[*debate.Problems](err); ok && len(wrong.List) > 0 {
		p := invalidList(wrong.List)
		if len(wrong.List) == len(p.Problems) {
			p.Detail = err.Error()
		}
		return p
	}
	if refused, ok := errors.AsType[*fsm.Refused](err); ok {
		p := problem("refused", "%v", err)
		p.State, p.Possible = refused.State, refused.Methods
		return p
	}
	if _, ok := errors.AsType[*store.Conflict](err); ok {
		return problem("conflict", "%v", err)
	}
	if errors.Is(err, store.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) { // see storeTime
		return problem("unavailable", "try again later")
	}
	for _, k := range kinds {
		if k.is != nil && errors.Is(err, k.is) {
			return problem(k.name, "%v", err)
		}
	}
	if damaged, ok := errors.AsType[*store.Damaged](err); ok {
		return problem("damaged", "entry %d of debate %s is missing, damaged or forged", damaged.Seq, damaged.ID)
	}
	return problem("internal", "")
}

// retryAfter is the number of seconds after which clients may repeat a request that the server could not serve.
const retryAfter = "5"

// chatPath begins the paths of the OpenAI API.
const chatPath = "/v1/"

// writeFor answers a request with the problem, in the format of the OpenAI API if the request is for that.
func (p *Problem) writeFor(w http.ResponseWriter, r *http.Request) {
	p.Status = cmp.Or(p.Status, http.StatusInternalServerError)
	if p.Status == http.StatusUnauthorized && w.Header().Get("WWW-Authenticate") == "" {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if p.Status == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "" {
		w.Header().Set("Retry-After", retryAfter)
	}
	if !strings.HasPrefix(r.URL.Path, chatPath) {
		writeJSON(w, "application/problem+json", p.Status, p)
		return
	}
	if p.Type == typeOf("stopped") { // the answer to a retry is the same
		w.Header().Set("X-Should-Retry", "false")
	}
	writeJSON(w, "application/json", p.Status, openAIError(p))
}

// writeJSON answers a request with a value, which must encode to JSON.
func writeJSON(w http.ResponseWriter, contentType string, status int, v any) {
	b, err := json.Marshal(v) // with <, > and & escaped
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"title":"The server failed","status":500}`)
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // fails if the client has disconnected
}

// Errors in the format of the OpenAI API.
type (
	chatError struct {
		Error chatErrorBody `json:"error"`
	}
	chatErrorBody struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`  // invalid_request_error or server_error
		Param   *string `json:"param"` // the field that is wrong
		Code    string  `json:"code"`  // OpenAI's code, or the kind of problem if OpenAI has none for it
	}
)

// openAICodes are the codes of the OpenAI API for kinds of problems.
var openAICodes = map[string]string{
	"invalid": "invalid_value", "unauthenticated": "invalid_api_key", "model-not-found": "model_not_found", "no-route": "unknown_url",
	"method-not-allowed": "method_not_supported",
}

// openAIError returns a problem in the format of the OpenAI API.
func openAIError(p *Problem) chatError {
	kind := strings.TrimPrefix(p.Type, typeBase)
	e := chatErrorBody{Message: cmp.Or(p.Detail, p.Title), Type: "server_error", Code: cmp.Or(openAICodes[kind], kind)}
	if p.Status < http.StatusInternalServerError {
		e.Type = "invalid_request_error"
	}
	if len(p.Problems) > 0 {
		e.Param = &p.Problems[0].Field
	}
	return chatError{e}
}

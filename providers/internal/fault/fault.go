// Package fault reads the errors of model services: their kinds, their messages without keys, and how long to wait.
//
// The kind of an error is decided by one table of what services send, in rows.go. Add a row for a service whose errors are
// classified wrongly, and a case to testdata/errors.json of package servicetest.
package fault

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elenchus-go/debate/providers"
)

// maxErrorBody limits how much of an error response is read, in bytes.
const maxErrorBody = 64 << 10

// Read reads a response with an error status to a request of the given size in bytes.
func Read(resp *http.Response, sent int) *Fault {
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // a part is enough
	_ = resp.Body.Close()
	f := &Fault{Status: resp.StatusCode, Sent: sent, Redirect: resp.Header.Get("Location"), RequestID: RequestID(resp.Header)}
	now := clock(resp.Header)
	f.parse(raw, now)
	f.ReadHeader(resp.Header)
	f.resets = cmp.Or(resetHeaders(resp.Header, now), f.resets)
	return f
}

// ReadHeader reads the headers of the response with a fault, or of the stream that reports it: how long to wait, and whether the
// service says that a retry can help.
func (f *Fault) ReadHeader(h http.Header) {
	f.waits = cmp.Or(headerDelay(h, clock(h)), f.waits)
	switch strings.ToLower(strings.TrimSpace(h.Get("X-Should-Retry"))) {
	case "true":
		f.retry = canRetry
	case "false":
		f.retry = cannotRetry
	}
}

// RequestID returns the service's name of a request, from the headers of the response.
func RequestID(h http.Header) string {
	return cmp.Or(h.Get("X-Request-Id"), h.Get("Request-Id"), h.Get("Apim-Request-Id"))
}

// errorMarks are in every event that may report an error, so that other events are not decoded twice.
var errorMarks = [][]byte{[]byte(`"error`), []byte(`"base_resp"`)}

// InEvent returns the error in an event of a stream, or nil if the event has none.
func InEvent(data []byte) *Fault {
	if !bytes.Contains(data, errorMarks[0]) && !bytes.Contains(data, errorMarks[1]) {
		return nil
	}
	var e struct {
		Error     json.RawMessage   `json:"error"`
		Errors    json.RawMessage   `json:"errors"`     // sent by Cloudflare
		ErrorCode json.RawMessage   `json:"error_code"` // sent by FastChat and Baidu
		Type      json.RawMessage   `json:"type"`
		Object    json.RawMessage   `json:"object"`   // sent by vLLM
		Response  json.RawMessage   `json:"response"` // sent by OpenAI's Responses API, where it may quote the prompt
		Data      json.RawMessage   `json:"data"`     // sent by Z.ai
		Choices   []json.RawMessage `json:"choices"`  // sent by OpenRouter
		MiniMax   struct {
			Status int `json:"status_code"`
		} `json:"base_resp"`
	}
	var typed *json.UnmarshalTypeError
	if err := json.Unmarshal(data, &e); err != nil && (!errors.As(err, &typed) || typed.Field == "") {
		var list []json.RawMessage
		if json.Unmarshal(data, &list) != nil || len(list) == 0 {
			return nil
		}
		return InEvent(list[0])
	}
	const marked = `"error"`
	switch {
	case !isEmpty(e.Error), !isEmpty(e.Errors), !isEmpty(e.ErrorCode), string(e.Type) == marked, string(e.Object) == marked, e.MiniMax.Status != 0:
	case hasError(e.Response):
		data = errorOf(e.Response)
	case hasError(e.Data):
		data = e.Data
	case len(e.Choices) > 0 && hasError(e.Choices[0]):
		data = errorOf(e.Choices[0])
	default:
		data = errorBeside(data)
		if data == nil {
			return nil
		}
	}
	return InReply(data)
}

// errorBeside returns the error in a field that a service has added to the events of OpenAI, such as x_groq, or nil.
func errorBeside(data []byte) json.RawMessage {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(data, &fields) // the event is known to be an object
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if strings.HasPrefix(name, "x_") && hasError(fields[name]) {
			return errorOf(fields[name])
		}
	}
	return nil
}

// hasError reports whether an object has an error.
func hasError(raw json.RawMessage) bool { return !isEmpty(errorOf(raw)) }

func errorOf(raw json.RawMessage) json.RawMessage {
	var o struct{ Error json.RawMessage }
	_ = json.Unmarshal(raw, &o) // anything else has none
	return o.Error
}

// InReply returns the fault that an event reports. Some services use HTTP statuses as codes.
func InReply(data []byte) *Fault {
	f := &Fault{}
	f.parse(data, time.Now())
	for _, code := range f.codes {
		if status, _ := strconv.Atoi(code); status >= http.StatusBadRequest && status < 600 {
			f.Status = status
		}
	}
	return f
}

// HasMessage reports whether the service gives a reason.
func (f *Fault) HasMessage() bool { return f.message != "" }

// isEmpty reports whether a JSON value says that there is no error.
func isEmpty(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", `""`, "{}", "[]", "false", "0":
		return true
	}
	return false
}

// MayBeField reports whether the request may succeed without one of its optional fields.
func (f *Fault) MayBeField() bool {
	switch f.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusNotImplemented:
		return true
	}
	return false
}

// Error returns the fault as an error.
func (f *Fault) Error(secrets []string) *providers.Error {
	v := f.classify()
	if f.retry == canRetry && v.kind == providers.InvalidRequest {
		v.kind = providers.ServerError
	}
	var b strings.Builder
	if f.Status > 0 {
		fmt.Fprintf(&b, "call model: status %d: ", f.Status)
	} else {
		b.WriteString("read reply: the service reported an error: ")
	}
	b.WriteString(cut(redactText(f.text(), secrets), maxMessage))
	if v.hint != "" {
		b.WriteString(": " + v.hint)
	}
	if f.Redirect != "" && f.Status < http.StatusBadRequest {
		fmt.Fprintf(&b, ": the server redirects to %s: set Config.BaseURL to the address that does not redirect", redactText(RedactURL(f.Redirect), secrets))
	}
	if f.RequestID != "" {
		fmt.Fprintf(&b, " (request %s)", Excerpt(f.RequestID, secrets))
	}
	return &providers.Error{
		Kind: v.kind, Otherwise: v.otherwise,
		RetryAfter: f.delay(cmp.Or(v.otherwise, v.kind)),
		Final:      f.retry == cannotRetry,
		Err:        errors.New(b.String()),
	}
}

// delay returns the wait that the service asks for, if a retry after it makes sense.
func (f *Fault) delay(kind providers.ErrorKind) time.Duration {
	switch kind { //nolint:exhaustive // the others are not retried after a wait
	case providers.RateLimit:
		if f.isQuota() {
			return max(f.waits, f.resets)
		}
		return cmp.Or(f.waits, f.resets)
	case providers.ServerError, providers.Timeout:
		return f.waits
	}
	return 0
}

// Connection returns the error of a connection that failed. It returns errors of this package unchanged.
func Connection(err error, secrets []string) error {
	if _, known := errors.AsType[*providers.Error](err); known {
		return err
	}
	kind := providers.Network
	var broken net.Error
	if !NotConnected(err) && (errors.As(err, &broken) && broken.Timeout() || strings.Contains(err.Error(), "net/http: request canceled")) {
		kind = providers.Timeout // http.Client.Timeout expired
	}
	return &providers.Error{Kind: kind, Err: fmt.Errorf("call model: %w", RedactError(err, secrets))}
}

// NotConnected reports whether err says that no connection was made: the host is unknown, it refuses, or nothing answers.
// Such an error may be a timeout, but the service is not slow: it has not been reached.
func NotConnected(err error) bool {
	if _, unknown := errors.AsType[*net.DNSError](err); unknown {
		return true
	}
	for broken, ok := errors.AsType[*net.OpError](err); ok; broken, ok = errors.AsType[*net.OpError](broken.Err) {
		if broken.Op == "dial" || broken.Op == "proxyconnect" {
			return true
		}
	}
	return strings.Contains(err.Error(), "net/http: TLS handshake timeout")
}

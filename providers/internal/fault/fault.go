// Package fault reads the errors of model services: their kinds, their messages without keys, and how long to wait.
package fault

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/elenchus-go/debate/providers"
)

// maxErrorBody limits how much of an error response is read, in bytes.
const maxErrorBody = 64 << 10

// Read reads a response with an error status.
func Read(resp *http.Response) *Fault {
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // a part is enough
	_ = resp.Body.Close()
	f := &Fault{Status: resp.StatusCode, Redirect: resp.Header.Get("Location"), RequestID: RequestID(resp.Header)}
	f.parse(raw)
	f.RetryAfter = cmp.Or(retryAfterHeader(resp.Header, time.Now()), f.RetryAfter)
	return f
}

// RequestID returns the service's name of a request, from the headers of the response.
func RequestID(h http.Header) string {
	return cmp.Or(h.Get("X-Request-Id"), h.Get("Request-Id"), h.Get("Apim-Request-Id"))
}

// InEvent returns the error in an event of a stream, or nil if the event has none.
func InEvent(data []byte) *Fault {
	if !bytes.Contains(data, []byte(`"error"`)) {
		return nil
	}
	var e, inner struct{ Type, Error, Response json.RawMessage }
	if json.Unmarshal(data, &e) != nil {
		var list []json.RawMessage
		if json.Unmarshal(data, &list) != nil || len(list) == 0 || json.Unmarshal(list[0], &e) != nil {
			return nil
		}
	}
	_ = json.Unmarshal(e.Response, &inner) // sent by OpenAI's Responses API, where the response may quote the prompt
	switch {
	case !isEmpty(e.Error), string(e.Type) == `"error"`:
	case !isEmpty(inner.Error):
		data = inner.Error
	default:
		return nil
	}
	f := &Fault{}
	f.parse(data)
	if len(f.Codes) > 0 { // OpenRouter and Google use HTTP statuses as codes
		for _, code := range f.Codes {
			if status, _ := strconv.Atoi(code); status >= http.StatusBadRequest && status < 600 {
				f.Status = status
			}
		}
	}
	return f
}

// isEmpty reports whether a JSON value says that there is no error.
func isEmpty(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", `""`, "{}", "false":
		return true
	}
	return false
}

// parse reads the body of an error.
func (f *Fault) parse(raw []byte) {
	f.Body = string(raw)
	f.Message = errorMessage(raw, f.Status)
	collectCodes(raw, &f.Codes, maxNesting)
	f.RetryAfter = RetryAfter(f.Body)
}

// codeFields are the fields of an error that hold codes, the most specific ones first: those of Google's and Azure's
// details, then code, type and status.
var codeFields = []string{"quotaId", "reason", "code", "type", "status"}

// nestedFields are the fields of an error that hold an error or its details, innermost first.
var nestedFields = []string{"innererror", "details", "violations", "metadata", "error", "errors"}

// collectCodes collects the codes in the JSON of an error.
func collectCodes(raw json.RawMessage, codes *[]string, depth int) {
	raw = bytes.TrimSpace(raw)
	if depth == 0 || len(raw) == 0 {
		return
	}
	switch raw[0] {
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil {
			for _, item := range list {
				collectCodes(item, codes, depth-1)
			}
		}
	case '{':
		var o map[string]json.RawMessage
		if json.Unmarshal(raw, &o) != nil {
			return
		}
		for _, name := range nestedFields {
			collectCodes(o[name], codes, depth-1)
		}
		for _, name := range codeFields {
			if code := strings.ToLower(strings.Trim(string(o[name]), `"`)); code != "" && code != "null" && code != "error" && !strings.ContainsAny(code, "{[ ") {
				*codes = append(*codes, code)
			}
		}
	}
}

// MayBeField reports whether the request may succeed without one of its optional fields.
func (f *Fault) MayBeField() bool {
	switch f.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusNotImplemented:
		return true
	}
	return false
}

// Error returns the fault as an error. kinds maps the codes of the service, in lower case.
func (f *Fault) Error(kinds map[string]providers.ErrorKind, secrets []string) *providers.Error {
	var b strings.Builder
	if f.Status > 0 {
		fmt.Fprintf(&b, "call model: status %d: ", f.Status)
	} else {
		b.WriteString("read reply: the service reported an error: ")
	}
	b.WriteString(redactText(f.Message, secrets))
	if f.Redirect != "" && f.Status < http.StatusBadRequest {
		fmt.Fprintf(&b, ": the server redirects to %s: set Config.BaseURL to the address that does not redirect", redactText(RedactURL(f.Redirect), secrets))
	}
	if f.RequestID != "" {
		fmt.Fprintf(&b, " (request %s)", Excerpt(f.RequestID, secrets))
	}
	e := &providers.Error{Kind: f.Kind(kinds), Err: errors.New(b.String())}
	if e.Kind == providers.RateLimit || e.Kind == providers.ServerError || e.Kind == providers.Timeout {
		e.RetryAfter = f.RetryAfter
	}
	return e
}

// Connection returns the error of a connection that failed. It returns errors of this package unchanged.
func Connection(err error, secrets []string) error {
	if _, known := errors.AsType[*providers.Error](err); known {
		return err
	}
	kind := providers.Network
	var broken net.Error
	if errors.As(err, &broken) && broken.Timeout() || strings.Contains(err.Error(), "net/http: request canceled") {
		kind = providers.Timeout // http.Client.Timeout expired
	}
	return &providers.Error{Kind: kind, Err: fmt.Errorf("call model: %w", RedactError(err, secrets))}
}

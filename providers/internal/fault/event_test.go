package fault

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
)

// An event reports an error only where a service puts one.
func TestErrorsInEvents(t *testing.T) {
	for event, want := range map[string]bool{
		`{"error": "no"}`: true,
		`{"choices": [{"delta": {}, "finish_reason": "stop"}], "x_groq": {"error": "over capacity"}}`:         true,
		`{"choices": [{"delta": {}}], "x_relay": {"error": {"message": "lost"}}}`:                             true,
		`{"choices": [{"delta": {}, "error": {"code": 502}}]}`:                                                true,
		`{"response": {"error": {"code": "cyber_policy"}}}`:                                                   true,
		`{"choices": [{"delta": {"content": "an \"error\" is a mistake"}}]}`:                                  false,
		`{"choices": [{"delta": {}}], "x_groq": {"id": "req_1", "error": null, "usage": {"total": 9}}}`:       false,
		`{"choices": [{"delta": {}, "error": null}]}`:                                                         false,
		`{"choices": [{"delta": {"tool_calls": [{"function": {"arguments": "{\"error\": \"x\"}"}}]}}]}`:       false,
		`{"candidates": [{"content": {"parts": [{"functionCall": {"name": "log", "args": {"error": 1}}}]}}]}`: false,
		`{"type": "content_block_start", "content_block": {"type": "tool_use", "input": {"error": "x"}}}`:     false,
		`{"message": {"tool_calls": [{"function": {"arguments": {"error": "x"}}}]}}`:                          false,
		`{"x": {"error": "x"}}`: false,
		`"error"`:               false,
	} {
		require.Equal(t, want, InEvent([]byte(event)) != nil, event)
	}
}

// A service may say whether a retry helps, and how long to wait, in headers.
func TestHeadersOfErrors(t *testing.T) {
	const bad, busy, long = `{"error": {"message": "bad field"}}`, `{"error": {"message": "busy"}}`, `{"error": {"message": "prompt is too long"}}`
	for name, test := range map[string]struct {
		status int
		body   string
		header http.Header
		kind   providers.ErrorKind
		final  bool
		wait   time.Duration
	}{
		"nothing":                       {503, busy, http.Header{}, providers.ServerError, false, 0},
		"no retry":                      {503, busy, http.Header{"X-Should-Retry": {"false"}}, providers.ServerError, true, 0},
		"no retry after a limit":        {429, busy, http.Header{"X-Should-Retry": {"false"}, "Retry-After": {"9"}}, providers.RateLimit, true, 9 * time.Second},
		"no retry of a timeout":         {504, busy, http.Header{"X-Should-Retry": {" False "}}, providers.Timeout, true, 0},
		"a retry of a bad request":      {400, bad, http.Header{"X-Should-Retry": {"true"}}, providers.ServerError, false, 0},
		"a retry of a conflict":         {409, busy, http.Header{"X-Should-Retry": {"true"}, "Retry-After": {"3"}}, providers.ServerError, false, 3 * time.Second},
		"a retry of what is too long":   {400, long, http.Header{"X-Should-Retry": {"true"}}, providers.ContextOverflow, false, 0},
		"a retry with a wrong key":      {401, busy, http.Header{"X-Should-Retry": {"true"}}, providers.Authentication, false, 0},
		"a retry without credit":        {402, busy, http.Header{"X-Should-Retry": {"true"}}, providers.Billing, false, 0},
		"a word that nobody knows":      {503, busy, http.Header{"X-Should-Retry": {"maybe"}}, providers.ServerError, false, 0},
		"a bad request without headers": {400, bad, http.Header{}, providers.InvalidRequest, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := &Fault{Status: test.status}
			f.parse([]byte(test.body), time.Now())
			f.ReadHeader(test.header)
			e := f.Error(nil)
			require.Equal(t, test.kind, e.Kind)
			require.Equal(t, test.final, e.Final)
			require.Equal(t, test.wait, e.RetryAfter)
		})
	}
}

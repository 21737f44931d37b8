package wire_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/anthropic"
	"github.com/elenchus-go/debate/providers/googleai"
	"github.com/elenchus-go/debate/providers/ollama"
	"github.com/elenchus-go/debate/providers/openai"
	"github.com/elenchus-go/debate/transcript"
)

const key = "a-key-that-nobody-sees"

var errEnough = errors.New("ended by the caller")

// protocols lists the protocols of the services.
var protocols = []fakellm.Protocol{fakellm.OpenAI, fakellm.Responses, fakellm.Anthropic, fakellm.Google, fakellm.Ollama}

// service returns a provider of a service. extra is merged into its requests.
func service(t testing.TB, p fakellm.Protocol, client *http.Client, extra map[string]any) providers.Provider {
	t.Helper()
	var model providers.Provider
	var err error
	const url = "http://service"
	switch p {
	case fakellm.OpenAI, fakellm.DeepSeek, fakellm.Mistral:
		model, err = openai.New(openai.Config{
			Key: key, Model: "m", BaseURL: url + "/v1", HTTPClient: client, MaxTokensField: "max_completion_tokens", Extra: extra, StrictRounds: p == fakellm.Mistral,
		})
	case fakellm.Responses:
		model, err = openai.New(openai.Config{Key: key, Model: "m", BaseURL: url + "/v1", HTTPClient: client, API: "responses", Extra: extra})
	case fakellm.Anthropic:
		model, err = anthropic.New(anthropic.Config{Key: key, Model: "m", BaseURL: url, HTTPClient: client, Extra: extra})
	case fakellm.Google:
		model, err = googleai.New(googleai.Config{Key: key, Model: "m", BaseURL: url, HTTPClient: client, Extra: extra})
	case fakellm.Ollama:
		model, err = ollama.New(ollama.Config{Key: key, Model: "m", BaseURL: url, HTTPClient: client, Extra: extra})
	}
	require.NoError(t, err)
	return model
}

// each runs a test for each service in a synctest bubble, which fails if a call leaks a goroutine.
func each(t *testing.T, replies []fakellm.Reply, test func(*testing.T, providers.Provider, *fakellm.Server)) {
	t.Helper()
	for _, p := range protocols {
		t.Run(string(p), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := fakellm.Start(t, p, replies...)
				test(t, service(t, p, s.Client(t), nil), s)
			})
		})
	}
}

// both calls a provider without a callback and with one.
func both(t *testing.T, p providers.Provider, check func(res providers.Response, err error, heard string)) {
	t.Helper()
	res, err := p.Generate(calltest.Forever(t), calltest.Ask())
	check(res, err, "")
	var heard []string
	res, err = p.Generate(calltest.Forever(t), calltest.Listen(&heard))
	check(res, err, strings.Join(heard, ""))
}

var counted = transcript.Usage{Input: 100, Cached: 90, Output: 50, Reasoning: 40}

func TestKindsByStatus(t *testing.T) {
	forms := map[string]func(message string) string{
		"JSON": func(m string) string { return fmt.Sprintf(`{"error": {"message": %q, "type": "an_error"}}`, m) },
		"flat": func(m string) string { return fmt.Sprintf(`{"object": "error", "message": %q}`, m) },
		"list": func(m string) string { return fmt.Sprintf(`[{"error": {"code": 1, "message": %q}}]`, m) },
		"text": func(m string) string { return m },
		"HTML": func(m string) string {
			return "<html><head><title>x</title></head><body>\n<h1>" + m + "</h1></body></html>"
		},
	}
	for form, body := range forms {
		for status, test := range map[int]struct {
			message string
			kind    providers.ErrorKind
		}{
			301: {"Moved", providers.InvalidRequest},
			400: {"the messages are bad", providers.InvalidRequest},
			401: {"Incorrect key: " + key, providers.Authentication},
			402: {"pay", providers.Billing},
			403: {"Not for you", providers.Authentication},
			404: {"model m not found", providers.InvalidRequest},
			408: {"slow", providers.Timeout},
			413: {"large", providers.ContextOverflow},
			422: {"the messages are worse", providers.InvalidRequest},
			429: {"slow down", providers.RateLimit},
			500: {"boom", providers.ServerError},
			502: {"bad gateway", providers.ServerError},
			503: {"overloaded", providers.ServerError},
			504: {"slow", providers.Timeout},
			529: {"overloaded", providers.ServerError},
		} {
			t.Run(fmt.Sprint(status, " with ", form), func(t *testing.T) {
				reply := fakellm.Reply{Status: status, Body: body(test.message), Header: map[string]string{"Retry-After": "7"}}
				each(t, []fakellm.Reply{reply}, func(t *testing.T, p providers.Provider, s *fakellm.Server) {
					both(t, p, func(_ providers.Response, err error, _ string) {
						e := calltest.RequireKind(t, test.kind, err)
						waits := e.Kind == providers.RateLimit || e.Kind == providers.ServerError || e.Kind == providers.Timeout
						require.Equal(t, waits, e.RetryAfter == 7*time.Second)
						require.Contains(t, err.Error(), fmt.Sprintf("status %d: %s", status, strings.ReplaceAll(test.message, key, "[key]")))
						require.NotContains(t, err.Error(), "<")
						require.NotContains(t, err.Error(), key)
					})
					require.Len(t, calls(s), 2, "nothing is repeated")
				})
			})
		}
	}
}

func TestKindsByBody(t *testing.T) {
	for body, test := range map[string]struct {
		status int
		kind   providers.ErrorKind
	}{
		`{"error": {"message": "This model's maximum context length is 128000 tokens.", "code": "context_length_exceeded"}}`: {400, providers.ContextOverflow},
		`{"error": {"message": "prompt is too long: 212400 tokens > 200000 maximum"}}`:                                       {400, providers.ContextOverflow},
		`{"error": "the input length exceeds the context length"}`:                                                           {400, providers.ContextOverflow},
		`{"error": {"message": "You exceeded your current quota, please check your plan", "type": "insufficient_quota"}}`:    {429, providers.Billing},
		`{"error": {"message": "Your credit balance is too low to access the API"}}`:                                         {400, providers.Billing},
		`{"error": {"message": "Request too large on tokens per min (TPM): Limit 6000, Requested 9000"}}`:                    {413, providers.ContextOverflow},
		`{"error": {"message": "API key not valid"}}`:                                                                        {400, providers.Authentication},
		`{}`: {500, providers.ServerError},
		``:   {503, providers.ServerError},
	} {
		t.Run(body, func(t *testing.T) {
			each(t, []fakellm.Reply{{Status: test.status, Body: body + " "}}, func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
				both(t, p, func(_ providers.Response, err error, _ string) {
					_ = calltest.RequireKind(t, test.kind, err)
					require.NotEmpty(t, strings.TrimSpace(strings.SplitN(err.Error(), "status", 2)[1][5:]), "it has words")
				})
			})
		})
	}
}

func TestRetryAfter(t *testing.T) {
	for name, test := range map[string]struct {
		header map[string]string
		body   string
		want   time.Duration
	}{
		"in seconds":                      {map[string]string{"Retry-After": "20"}, "", 20 * time.Second},
		"in milliseconds":                 {map[string]string{"Retry-After": "1", "Retry-After-Ms": "250"}, "", 250 * time.Millisecond},
		"until a date":                    {map[string]string{"Retry-After": "Wed, 21 Oct 2026 07:28:30 GMT", "Date": "Wed, 21 Oct 2026 07:28:00 GMT"}, "", 30 * time.Second},
		"until a date that is gone":       {map[string]string{"Retry-After": "Wed, 21 Oct 1998 07:28:00 GMT"}, "", 0},
		"in words":                        {nil, `{"error": {"message": "Please try again in 1m26.4s."}}`, 86400 * time.Millisecond},
		"in a detail":                     {nil, `{"error": {"message": "wait", "details": [{"retryDelay": "21s"}]}}`, 21 * time.Second},
		"nobody says":                     {nil, "", 0},
		"a word that nobody understands":  {map[string]string{"Retry-After": "soon"}, "", 0},
		"a number below 0 is no time":     {map[string]string{"Retry-After": "-5"}, "", 0},
		"a number beyond all is a number": {map[string]string{"Retry-After": "1e300"}, "", 1e9 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, []fakellm.Reply{{Status: 429, Header: test.header, Body: test.body}}, func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
				both(t, p, func(_ providers.Response, err error, _ string) {
					require.Equal(t, test.want, calltest.RequireKind(t, providers.RateLimit, err).RetryAfter)
				})
			})
		})
	}
}

func TestIncompleteStreams(t *testing.T) {
	for name, test := range map[string]struct {
		reply fakellm.Reply
		kind  providers.ErrorKind
		words string
	}{
		"it just ends":              {fakellm.Reply{EndEarly: true}, providers.Network, "the stream ended before the reply was complete"},
		"it is reset":               {fakellm.Reply{Reset: true}, providers.Network, "unexpected EOF"},
		"it breaks off":             {fakellm.Reply{RawLines: []string{`data: {"choices": [{"del`}}, providers.Network, "the stream ended before the reply was complete"},
		"the service is overloaded": {fakellm.Reply{Error: "Overloaded"}, providers.ServerError, "Overloaded"},
		"the service is at a limit": {fakellm.Reply{Error: "rate_limit_error: try again in 7s"}, providers.RateLimit, "rate_limit_error"},
		"the prompt is too long":    {fakellm.Reply{Error: "prompt is too long"}, providers.ContextOverflow, "too long"},
		"a line is too long":        {fakellm.Reply{RawLines: []string{"data: " + strings.Repeat("x", 9<<20)}}, providers.InvalidResponse, "a line of the stream is longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			test.reply.Chunks = []string{"Be", "cause"}
			test.reply.Usage = counted
			each(t, []fakellm.Reply{test.reply}, func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
				var heard []string
				res, err := p.Generate(calltest.Forever(t), calltest.Listen(&heard))
				require.Zero(t, res)
				e := calltest.RequireKind(t, test.kind, err)
				require.Contains(t, err.Error(), test.words)
				require.Equal(t, "Because", strings.Join(heard, ""))
				require.Equal(t, "Because", e.Partial.Text)
				require.Equal(t, "m-1", e.Partial.Model)
				require.Equal(t, test.kind == providers.RateLimit, e.RetryAfter == 7*time.Second)
			})
		})
	}
}

func TestUsageOfACutStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakellm.Start(t, fakellm.Anthropic, fakellm.Reply{Chunks: []string{"Be"}, Usage: counted, EndEarly: true})
		var heard []string
		_, err := service(t, fakellm.Anthropic, s.Client(t), nil).Generate(calltest.Forever(t), calltest.Listen(&heard))
		require.Equal(t, transcript.Usage{Input: 100, Cached: 90, Output: 1}, calltest.RequireKind(t, providers.Network, err).Partial.Usage)
	})
}

func TestErrorsWithStatus200(t *testing.T) {
	for body, kind := range map[string]providers.ErrorKind{
		`{"error": {"message": "Provider returned error", "code": 502}}`:       providers.ServerError,
		`{"error": {"message": "Rate limit exceeded", "code": 429}}`:           providers.RateLimit,
		`{"error": {"message": "no", "code": "401"}}`:                          providers.Authentication,
		`{"error": {"message": "no", "type": "authentication_error"}}`:         providers.Authentication,
		`{"error": "model requires more system memory"}`:                       providers.OutOfMemory,
		`<html><body>Just a moment...</body></html>`:                           "",
		`{"id": "x", "object": "chat.completion", "choices": [], "usage": {}}`: "",
		``: "",
	} {
		t.Run(body, func(t *testing.T) {
			each(t, []fakellm.Reply{{RawLines: []string{body}}}, func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
				both(t, p, func(res providers.Response, err error, _ string) {
					require.Zero(t, res)
					e := providers.AsError(err)
					if kind != "" {
						require.Equal(t, kind, e.Kind, err.Error())
						return
					}
					require.Contains(t, []providers.ErrorKind{providers.InvalidResponse, providers.WrongAddress, providers.Network}, e.Kind, err.Error())
				})
			})
		})
	}
}

func TestConnectionResetAtOnce(t *testing.T) {
	each(t, []fakellm.Reply{{Reset: true}}, func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
		_, err := p.Generate(calltest.Forever(t), calltest.Ask())
		_ = calltest.RequireKind(t, providers.Network, err)
	})
}

func TestCompleteStreams(t *testing.T) {
	for name, lines := range map[string][]string{
		"[DONE] and no reason":             {`data: [DONE]`},
		"a reason and no [DONE]":           {`data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}`},
		"a reason, then a piece without":   {`data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}`, `data: {"choices": [{"delta": {}}]}`, `data: [DONE]`},
		"comments and other fields":        {`: ping`, `event: x`, `id: 7`, `retry: 7`, `data:`, `data: [DONE]`},
		"a null error is none":             {`data: {"error": null, "choices": [{"delta": {}, "finish_reason": "stop"}]}`},
		"fields of other types are passed": {`data: {"model": 7, "usage": "many", "choices": [{"delta": {}, "finish_reason": "stop"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := fakellm.Start(t, fakellm.OpenAI, fakellm.Reply{Chunks: []string{"Be", "cause."}, RawLines: lines})
				var heard []string
				res, err := service(t, fakellm.OpenAI, s.Client(t), nil).Generate(calltest.Forever(t), calltest.Listen(&heard))
				require.NoError(t, err)
				require.Equal(t, "Because.", res.Text)
			})
		})
	}
}

func TestRefusalText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakellm.Start(t, fakellm.OpenAI, fakellm.Reply{RawLines: []string{
			`data: {"choices": [{"delta": {"refusal": "I cannot."}}]}`, `data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}`, `data: [DONE]`,
		}})
		var heard []string
		_, err := service(t, fakellm.OpenAI, s.Client(t), nil).Generate(calltest.Forever(t), calltest.Listen(&heard))
		_ = calltest.RequireKind(t, providers.ContentFiltered, err)
	})
}

func TestMalformedEvents(t *testing.T) {
	for _, line := range []string{`data: {"choices": [}`, "data: pong"} {
		each(t, []fakellm.Reply{{Chunks: []string{"Be"}, RawLines: []string{line, `data: [DONE]`, `{"done": true}`}}},
			func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
				var heard []string
				_, err := p.Generate(calltest.Forever(t), calltest.Listen(&heard))
				require.Equal(t, "Be", calltest.RequireKind(t, providers.InvalidResponse, err).Partial.Text)
				require.ErrorContains(t, err, "invalid character")
			})
	}
}

// Servers of llama.cpp until September 2025 report errors within a stream in a field that server-sent events do not have.
// Source: https://github.com/ggml-org/llama.cpp/pull/16109
func TestErrorsInAFieldOfTheirOwn(t *testing.T) {
	const overflow = `error: {"code": 400, "message": "the request exceeds the available context size", "type": "invalid_request_error"}`
	for name, test := range map[string]struct {
		lines []string
		want  providers.ErrorKind
	}{
		"an error":       {[]string{overflow, "", "data: [DONE]", ""}, providers.ContextOverflow},
		"at the end":     {[]string{overflow}, providers.ContextOverflow},
		"a broken error": {[]string{overflow[:60]}, providers.Network},
	} {
		for _, chunks := range [][]string{nil, {"So "}} {
			t.Run(fmt.Sprint(name, " after ", len(chunks)), func(t *testing.T) {
				s := fakellm.Start(t, fakellm.OpenAI, fakellm.Reply{Chunks: chunks, RawLines: test.lines})
				_, err := service(t, fakellm.OpenAI, s.Client(t), nil).Generate(t.Context(), calltest.Listen(new([]string)))
				require.Equal(t, strings.Join(chunks, ""), calltest.RequireKind(t, test.want, err).Partial.Text)
			})
		}
	}
}

func TestNoGoroutineIsLeft(t *testing.T) {
	replies := []fakellm.Reply{{Chunks: []string{"Be", "cause"}, Hang: true}}
	for name, end := range map[string]func(cancel context.CancelFunc) error{
		"a cancellation":        func(cancel context.CancelFunc) error { cancel(); return nil },
		"a cancellation beside": func(cancel context.CancelFunc) error { go cancel(); return nil },
		"a refusal":             func(context.CancelFunc) error { return errEnough },
		"a panic":               func(context.CancelFunc) error { panic(errEnough) },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, replies, func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
				ctx, cancel := context.WithCancel(calltest.Forever(t))
				defer cancel()
				r := calltest.Ask()
				r.OnChunk = func(string) error { return end(cancel) }
				if name == "a panic" {
					require.Panics(t, func() { _, _ = p.Generate(ctx, r) })
					return
				}
				_, err := p.Generate(ctx, r)
				require.Error(t, err)
			})
		})
	}
}

func TestTimeoutOfTheHTTPClient(t *testing.T) {
	for _, chunks := range [][]string{nil, {"Be"}} {
		for _, p := range protocols {
			t.Run(fmt.Sprint(p, len(chunks)), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := fakellm.Start(t, p, fakellm.Reply{Chunks: chunks, Hang: true})
					client := s.Client(t)
					client.Timeout = time.Second
					both(t, service(t, p, client, nil), func(_ providers.Response, err error, _ string) {
						require.Equal(t, strings.Join(chunks, ""), calltest.RequireKind(t, providers.Timeout, err).Partial.Text)
					})
				})
			})
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	each(t, []fakellm.Reply{{Status: 307, Header: map[string]string{"Location": "http://elsewhere/v1"}}}, func(t *testing.T, p providers.Provider, s *fakellm.Server) {
		both(t, p, func(_ providers.Response, err error, _ string) {
			_ = calltest.RequireKind(t, providers.InvalidRequest, err)
		})
		require.Len(t, s.Requests(), 2)
	})
}

func TestErrorInSeveralLines(t *testing.T) {
	for _, p := range []fakellm.Protocol{fakellm.OpenAI, fakellm.Anthropic} {
		t.Run(string(p), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := fakellm.Start(t, p, fakellm.Reply{Status: 200, Body: "{\n  \"error\": {\n    \"message\": \"Rate limit exceeded\"\n  }\n}\n"})
				both(t, service(t, p, s.Client(t), nil), func(_ providers.Response, err error, _ string) {
					_ = calltest.RequireKind(t, providers.RateLimit, err)
				})
			})
		})
	}
}

// Gateways report the same count under several names. Some services count reasoning only in the total.
func TestUsageUnderSeveralNames(t *testing.T) {
	for usage, want := range map[string]transcript.Usage{
		`{"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150, "prompt_tokens_details": {"cached_tokens": 90},
			"input_tokens": 7, "output_tokens": 50, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 3}`: {Input: 100, Cached: 90, Written: 3, Output: 50},
		`{"prompt_tokens": 100, "completion_tokens": 50, "prompt_cache_hit_tokens": 90, "prompt_cache_miss_tokens": 10}`:              {Input: 100, Cached: 90, Output: 50},
		`{"prompt_tokens": 100, "completion_tokens": 50, "prompt_tokens_details": null, "cache_read_input_tokens": 90}`:               {Input: 100, Cached: 90, Output: 50},
		`{"input_tokens": 7, "output_tokens": 50, "cache_read_input_tokens": 90, "cache_creation_input_tokens": null}`:                {Input: 97, Cached: 90, Output: 50},
		`{"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150, "completion_tokens_details": {"reasoning_tokens": 30}}`: {Input: 100, Output: 50, Reasoning: 30},
		`{"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 180, "completion_tokens_details": {"reasoning_tokens": 30}}`: {Input: 100, Output: 80, Reasoning: 30},
		`{"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 180}`:                                                        {Input: 100, Output: 80, Reasoning: 30},
	} {
		t.Run(usage, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				piece := `{"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": ` + strings.Join(strings.Fields(usage), " ") + `}`
				s := fakellm.Start(t, fakellm.OpenAI, fakellm.Reply{Chunks: []string{"So."}, RawLines: []string{"data: " + piece, "data: [DONE]"}})
				var heard []string
				res, err := service(t, fakellm.OpenAI, s.Client(t), nil).Generate(calltest.Forever(t), calltest.Listen(&heard))
				require.NoError(t, err)
				require.Equal(t, want, res.Usage)
			})
		})
	}
}

// calls returns the requests to models. After an error of a missing model, a provider asks Ollama for those that it has.
func calls(s *fakellm.Server) []fakellm.Request {
	return slices.DeleteFunc(s.Requests(), func(r fakellm.Request) bool { return r.Path == "/api/tags" })
}

package langchain_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/langchain"
)

// coded is an error with the HTTPCode method of Google's errors.
type coded int

func (c coded) Error() string { return "googleapi: the request failed" }
func (c coded) HTTPCode() int { return int(c) }

// fail returns the provider's error for a model that streams the chunks and then returns err.
func fail(t *testing.T, err error, chunks ...string) *providers.Error {
	t.Helper()
	var heard []string
	res, err := langchain.New(says(chunks, err)).Generate(t.Context(), calltest.Listen(&heard))
	require.Zero(t, res)
	var e *providers.Error
	require.ErrorAs(t, err, &e)
	return e
}

func TestErrorsByTheirWords(t *testing.T) {
	const status = "API returned unexpected status code: "
	for kind, texts := range map[providers.ErrorKind][]string{
		providers.RateLimit: {
			status + "429",
			status + "429: too many tokens in your context window, please wait",
			"https response error StatusCode: 429, RequestID: 7, ThrottlingException: Too many tokens",
			"received error event: map[error:map[message:slow down type:rate_limit_error] type:error]",
			"rpc error: code = ResourceExhausted desc = Quota exceeded",
		},
		providers.ContextOverflow: {
			status + "400: This model's maximum context length is 128000 tokens. However, your messages resulted in 212400 tokens.",
			"anthropic: failed to create message: " + status + "400: prompt is too long: 212400 tokens > 200000 maximum",
			status + "400: input length and `max_tokens` exceed context limit: 199000 + 20000 > 200000",
			status + "400: the request exceeds the available context size",
			status + "400: Input tokens exceed the configured limit of 272000 tokens.",
			status + "500: context_length_exceeded",
			status + "413: Request exceeds the maximum size",
			status + "429: Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 212400.",
			status + "413: Request too large on tokens per minute (TPM): Limit 6000, Requested 9000",
			"googleapi: Error 400: The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
			"prompt too long; exceeded max context length by 401 tokens",
		},
		providers.Authentication: {
			status + "401: No auth credentials found", status + "403",
			"googleapi: Error 400: API key not valid. Please pass a valid API key.",
			"rpc error: code = Unauthenticated desc = no", "permission denied",
		},
		providers.Billing: {
			status + "402: Insufficient Balance", status + "429: Your credit balance is exhausted", "insufficient_quota",
		},
		providers.ContentFiltered: {
			status + "400: The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
		},
		providers.InvalidRequest: {
			status + "400: Unsupported value: 'temperature' does not support 0.429 with this model.",
			status + "404: The model `gpt-9` does not exist or you do not have access to it.",
			status + "422", "404 Not Found", "(HTTP Error 400) bad",
			"model 'nope' not found", `model "nope" not found, try pulling it first`, `"gemma" does not support tools`,
		},
		providers.Timeout: {
			status + "408", status + "504", "request timeout: API call exceeded deadline",
			"request timeout: network operation exceeded timeout", "timed out waiting for llama runner to start",
			"rpc error: code = DeadlineExceeded desc = slow",
		},
		providers.Network: {
			"network error: failed to reach API server", "request cancelled", "context canceled",
			"read tcp 127.0.0.1:7: connection reset by peer", "write: broken pipe",
		},
		providers.InvalidResponse: {
			"anthropic: failed to create message: no response", "empty response", "no content in generation response",
			"genai: blocked: candidate: FinishReasonSafety",
		},
		providers.ServerError: {
			status + "500: The server had an error", status + "529: Overloaded", status + "409", "502 Bad Gateway",
			"received error event: map[error:map[message:Overloaded type:overloaded_error] type:error]",
			"invalid character '<' looking for beginning of value", "boom: 429 400 401",
		},
	} {
		for _, text := range texts {
			t.Run(string(kind)+"/"+text, func(t *testing.T) {
				cause := errors.New(text)
				e := fail(t, cause)
				require.Equal(t, kind, e.Kind)
				require.ErrorIs(t, e, cause)
				require.EqualError(t, e, string(kind)+": call model: "+text)
			})
		}
	}
}

func TestErrorsByTheirTypes(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: errors.New("refused")}
	for name, test := range map[string]struct {
		err  error
		kind providers.ErrorKind
	}{
		"Google's status":           {fmt.Errorf("generate: %w", coded(503)), providers.ServerError},
		"Google's rate limit":       {coded(429), providers.RateLimit},
		"Google's without a status": {coded(-1), providers.ServerError},
		"the client's own deadline": {fmt.Errorf("send: %w", context.DeadlineExceeded), providers.Timeout},
		"a network timeout":         {&url.Error{Op: "Post", Err: context.DeadlineExceeded}, providers.Timeout},
		"a network failure":         {&url.Error{Op: "Post", Err: refused}, providers.Network},
		"a cut body":                {fmt.Errorf("read: %w", io.ErrUnexpectedEOF), providers.Network},
		"a closed connection":       {io.EOF, providers.Network},
		"langchaingo's rate limit":  {llms.NewError(llms.ErrCodeRateLimit, "x", "no"), providers.RateLimit},
		"langchaingo's token limit": {llms.NewError(llms.ErrCodeTokenLimit, "x", "no"), providers.ContextOverflow},
		"langchaingo's unknown one": {llms.NewError(llms.ErrCodeUnknown, "x", "too many requests"), providers.RateLimit},
		"a failure of known kind":   {fmt.Errorf("x: %w", &providers.Error{Kind: providers.RateLimit, Err: errBored}), providers.RateLimit},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.kind, fail(t, test.err).Kind)
		})
	}
}

func TestWhatHadComeIsKept(t *testing.T) {
	for name, err := range map[string]error{
		"a failure":                             errors.New("error reading streaming response: unexpected EOF"),
		"an empty response after chunks, a cut": errors.New("anthropic: failed to create message: no response"),
		"a failure of known kind":               &providers.Error{Kind: providers.Network, Err: io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			e := fail(t, err, "I was ", "say", "\xe2\x82")
			require.Equal(t, providers.Network, e.Kind)
			require.Equal(t, "I was say", e.Partial.Text)
		})
	}
}

func TestARateLimitMaySayHowLongToWait(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"Rate limit reached. Please try again in 20s.":         20 * time.Second,
		"Rate limit reached. Please try again in 1m26.4s. See": 86400 * time.Millisecond,
		"Rate limit reached. Please try again in 20ms.":        20 * time.Millisecond,
		"Rate limit reached. Please retry after 21 seconds.":   21 * time.Second,
		"Rate limit reached. Please retry after 1 second.":     time.Second,
		"Rate limit reached. Please try again in a while.":     0,
		"Rate limit reached.":                                  0,
		"The server had an error. Please try again in 20s.":    0,
	} {
		require.Equal(t, want, fail(t, errors.New(text)).RetryAfter, text)
	}
}

func TestKeysAreBlankedOut(t *testing.T) {
	for text, want := range map[string]string{
		"Incorrect API key provided: sk-proj-abcdefgh12345. Find yours":  "Incorrect API key provided: [key] Find yours",
		"invalid api_key=my-own-key-7":                                   "invalid api_key=[key]",
		`Post "https://host/v1?key=AIzaSyA1234567890&alt=json": refused`: `Post "https://host/v1?key=[key]&alt=json": refused`,
		"Authorization: Bearer abc123 is refused":                        "Authorization: Bearer [key] is refused",
		"gsk_1234567890 is unknown":                                      "[key] is unknown",
		"your API key: please send one":                                  "your API key: please send one",
		"the ask-me-anything-later model":                                "the ask-me-anything-later model",
	} {
		e := fail(t, errors.New(text))
		require.EqualError(t, e.Err, "call model: "+want)
	}
}

// A rule of the user decides before the rules of the provider. Keys are removed all the same.
func TestTheUsersRule(t *testing.T) {
	p := langchain.New(says(nil, errors.New("API returned unexpected status code: 400: the stars are wrong for sk-proj-abcdefgh12345")))
	p.ErrorKind = func(err error) providers.ErrorKind {
		if strings.Contains(err.Error(), "stars") {
			return providers.ServerError
		}
		return ""
	}
	_, err := p.Generate(t.Context(), calltest.Ask())
	e := calltest.RequireKind(t, providers.ServerError, err)
	require.EqualError(t, e.Err, "call model: API returned unexpected status code: 400: the stars are wrong for [key]")
}

// A large prompt that is refused in unknown words may be too long.
func TestUnknownWordsForALargePrompt(t *testing.T) {
	r := calltest.Ask()
	r.Messages[0].Text = strings.Repeat("Why? ", 2_000)
	_, err := langchain.New(says(nil, errors.New("API returned unexpected status code: 400: Prompt would need 9,100 of the 4,096 places"))).Generate(t.Context(), r)
	require.Equal(t, providers.InvalidRequest, calltest.RequireKind(t, providers.ContextOverflow, err).Otherwise)
}

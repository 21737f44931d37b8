package langchain_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/langchain"
)

const (
	half = `data: {"choices": [{"index": 0, "delta": {"content": "So half a "}}]}` + "\n\n" + `data: {"choices": [{"index": 0, "delta": {"content": "speech"}}]}` + "\n\n"
	stop = `data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "completion_tokens": 5}}` + "\n\ndata: [DONE]\n\n"
)

// An error within a stream is an error, although langchaingo drops it.
func TestErrorsWithinStreams(t *testing.T) {
	for name, test := range map[string]struct {
		body   string
		header http.Header
		kind   providers.ErrorKind // empty if there is none
		wait   time.Duration
	}{
		"no error":                  {half + stop, nil, "", 0},
		"a word in the text":        {strings.Replace(half, "speech", `an \"error\"`, 1) + stop, nil, "", 0},
		"before the end":            {half + `data: {"error": {"message": "The service failed", "code": 500}}` + "\n\n" + stop, nil, providers.ServerError, 0},
		"of a limit":                {half + `data: {"error": {"message": "Slow down", "code": 429}}` + "\n\n" + stop, http.Header{"Retry-After": {"20"}}, providers.RateLimit, 20 * time.Second},
		"beside the reason":         {half + `data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "x_groq": {"error": "over capacity"}}` + "\n\ndata: [DONE]\n\n", nil, providers.ServerError, 0},
		"in the choice":             {half + `data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "error": {"message": "lost", "code": 502}}]}` + "\n\n", nil, providers.ServerError, 0},
		"without an event":          {half + `{"error": {"message": "CUDA out of memory"}}` + "\n" + stop, nil, providers.OutOfMemory, 0},
		"of content":                {half + `data: {"error": {"message": "no", "code": "content_filter"}}` + "\n\n" + stop, nil, providers.ContentFiltered, 0},
		"without a space":           {half + `data:{"error":"the quota of this month is exhausted","code":429}` + "\n\n" + stop, nil, providers.Billing, 0},
		"with carriage returns":     {strings.ReplaceAll(half+`data: {"error": {"message": "it failed", "code": 500}}`+"\n\n"+stop, "\n", "\r\n"), nil, providers.ServerError, 0},
		"at the end of the body":    {half + `data: {"error": {"message": "The service failed", "code": 500}}`, nil, providers.ServerError, 0},
		"as the only event":         {`data: {"error": {"message": "The service failed", "code": 500}}` + "\n\n" + stop, nil, providers.ServerError, 0},
		"of an unknown service":     {half + `data: {"choices": [], "x_relay": {"error": {"message": "upstream lost"}}}` + "\n\n" + stop, nil, providers.ServerError, 0},
		"with a very long neighbor": {half + "data: {\"padding\": \"" + strings.Repeat("x", 60_000) + "\"}\n\n" + `data: {"error": {"message": "it failed", "code": 500}}` + "\n\n" + stop, nil, providers.ServerError, 0},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 7, 100, 1 << 20} {
				client := langchain.HTTPClient(&http.Client{Transport: calltest.RoundTrip(func(r *http.Request) (*http.Response, error) {
					return &http.Response{StatusCode: http.StatusOK, Header: test.header, Body: io.NopCloser(&slowReader{test.body, size}), Request: r}, nil
				})})
				model, err := openai.New(openai.WithToken("a-key-that-nobody-sees"), openai.WithModel("m"), openai.WithBaseURL("http://service/v1"), openai.WithHTTPClient(client))
				require.NoError(t, err)
				res, err := langchain.New(model).Generate(t.Context(), calltest.Listen(new([]string)))
				if test.kind == "" {
					require.NoError(t, err)
					require.NotEmpty(t, res.Text)
					continue
				}
				e := calltest.RequireKind(t, test.kind, err)
				require.Equal(t, test.wait, e.RetryAfter)
				require.Contains(t, "So half a speech", e.Partial.Text)
			}
		})
	}
}

// slowReader gives a few bytes at a time.
type slowReader struct {
	rest string
	size int
}

func (r *slowReader) Read(p []byte) (int, error) {
	if r.rest == "" {
		return 0, io.EOF
	}
	n := copy(p, r.rest[:min(r.size, len(r.rest))])
	r.rest = r.rest[n:]
	return n, nil
}

func TestHTTPClientIsLikeTheGivenOne(t *testing.T) {
	given := &http.Client{Timeout: time.Minute}
	require.Equal(t, time.Minute, langchain.HTTPClient(given).Timeout)
	require.Nil(t, given.Transport)
	require.NotNil(t, langchain.HTTPClient(nil).Transport)
}

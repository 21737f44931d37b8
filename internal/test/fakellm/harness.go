package fakellm

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/providertest"
	"github.com/elenchus-go/debate/transcript"
)

// ProviderFunc returns a function for providertest.Run. The function starts a service with the replies of a test, and
// calls provider with the URL of the service and a client for it.
func ProviderFunc(p Protocol, provider func(t *testing.T, url string, client *http.Client) providers.Provider) providertest.ProviderFunc {
	return func(t *testing.T, replies ...providertest.Reply) providers.Provider {
		t.Helper()
		played := make([]Reply, len(replies))
		for i, r := range replies {
			if p == Ollama && r.FinishReason == providers.ContentFilter {
				t.Skip("the protocol has no refusals")
			}
			played[i] = p.replyTo(r)
		}
		s := Start(t, p, played...)
		return provider(t, s.URL, s.Client(t))
	}
}

// statusCodes maps a kind of failure to the HTTP status that services send for it.
var statusCodes = map[providers.ErrorKind]int{
	providers.RateLimit: http.StatusTooManyRequests, providers.ServerError: http.StatusBadGateway, providers.Timeout: http.StatusGatewayTimeout,
	providers.ContextOverflow: http.StatusBadRequest, providers.Authentication: http.StatusUnauthorized, providers.InvalidRequest: http.StatusNotFound,
}

// finishReasons maps finish reasons to those of the protocols.
var finishReasons = map[Protocol]map[providers.FinishReason]string{
	OpenAI:    {providers.Length: "length", providers.ContentFilter: "content_filter", providers.ToolCalls: "tool_calls"},
	Mistral:   {providers.Length: "length", providers.ContentFilter: "content_filter", providers.ToolCalls: "tool_calls"},
	DeepSeek:  {providers.Length: "length", providers.ContentFilter: "content_filter", providers.ToolCalls: "tool_calls"},
	Responses: {providers.Length: "max_output_tokens", providers.ContentFilter: "content_filter"},
	Anthropic: {providers.Length: "max_tokens", providers.ContentFilter: "refusal", providers.ToolCalls: "tool_use"},
	Google:    {providers.Length: "MAX_TOKENS", providers.ContentFilter: "SAFETY", providers.ToolCalls: "STOP"},
	Ollama:    {providers.Length: "length", providers.ToolCalls: "stop"},
}

// FinishReason returns a finish reason in the protocol's form, or an empty string if it is that of a complete reply.
func (p Protocol) FinishReason(reason providers.FinishReason) string { return finishReasons[p][reason] }

// errorCodes maps kinds of failures to the types of errors within streams. Ollama's errors have no type.
var errorCodes = map[Protocol]map[providers.ErrorKind]string{
	OpenAI:    {providers.RateLimit: "rate_limit_exceeded", providers.ServerError: "server_error", providers.ContextOverflow: "context_length_exceeded"},
	Mistral:   {providers.RateLimit: "rate_limit_exceeded", providers.ServerError: "server_error", providers.ContextOverflow: "context_length_exceeded"},
	DeepSeek:  {providers.RateLimit: "rate_limit_exceeded", providers.ServerError: "server_error", providers.ContextOverflow: "context_length_exceeded"},
	Responses: {providers.RateLimit: "rate_limit_exceeded", providers.ServerError: "server_error", providers.ContextOverflow: "context_length_exceeded"},
	Anthropic: {providers.RateLimit: "rate_limit_error", providers.ServerError: "overloaded_error"},
	Google:    {providers.RateLimit: "RESOURCE_EXHAUSTED", providers.ServerError: "UNAVAILABLE"},
}

// errorWords maps kinds of failures to the messages of errors within streams.
var errorWords = map[providers.ErrorKind]string{
	providers.RateLimit: "too many requests", providers.ServerError: "the model stopped", providers.ContextOverflow: overflowWords,
}

const overflowWords = "prompt is too long: 212400 tokens > 200000 maximum"

// longLine is the number of bytes of a long line.
const longLine = 5 << 18

// replyTo converts a reply of the suite to a reply of the service.
func (p Protocol) replyTo(r providertest.Reply) Reply {
	reply := Reply{
		Chunks: r.Chunks, Usage: r.Usage, NoUsage: r.Usage == transcript.Usage{}, Hang: r.Hang, Arrived: r.Arrived,
		Reasoning: r.Reasoning, ToolCalls: r.ToolCalls, FinishReason: p.FinishReason(r.FinishReason),
		Trickle: r.Fault == providertest.Trickle, Gzip: r.Fault == providertest.Gzip, Reset: r.Fault == providertest.Cut,
	}
	switch {
	case r.Fault == providertest.LongLine:
		reply.Padding = longLine
	case r.Fault == providertest.Split:
		reply.Chunks, reply.RawChunks = nil, splitText(strings.Join(r.Chunks, ""))
	case r.Fault == providertest.ErrorEvent:
		reply.Error, reply.ErrorCode = errorWords[r.Fail], errorCodes[p][r.Fail]
	case r.Fault != "":
	case r.Fail == providers.Network:
		reply.EndEarly = true
	case r.Fail != "":
		p.refuse(&reply, r)
	}
	return reply
}

// refuse makes the service refuse the call.
func (p Protocol) refuse(reply *Reply, r providertest.Reply) {
	reply.Status = statusCodes[r.Fail]
	if r.Fail == providers.ContextOverflow {
		reply.Body = (&Server{protocol: p}).errorBody(overflowWords)
	}
	const date = "Wed, 21 Oct 2026 07:28:00 GMT"
	switch r.RetryForm {
	case providertest.RetrySeconds:
		reply.Header = map[string]string{"Retry-After": fmt.Sprint(r.RetryAfter.Seconds())}
	case providertest.RetryDate:
		now, _ := http.ParseTime(date)
		reply.Header = map[string]string{"Date": date, "Retry-After": now.Add(r.RetryAfter).Format(http.TimeFormat)}
	case providertest.RetryWords:
		reply.Body = (&Server{protocol: p}).errorBody(fmt.Sprintf("Rate limit reached. Please try again in %v.", r.RetryAfter))
	}
}

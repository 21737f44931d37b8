package acp_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/providertest"
	"github.com/elenchus-go/debate/transcript"
)

func TestContract(t *testing.T) {
	providertest.Run(t, func(t *testing.T, replies ...providertest.Reply) providers.Provider {
		for _, r := range replies {
			skipUnplayable(t, r)
		}
		c := behaving(t, "plays")
		c.Env = []string{"REPLIES=" + serveReplies(t, replies)}
		return open(t, c)
	})
}

// skipUnplayable skips a test with a reply that no agent can send.
func skipUnplayable(t *testing.T, r providertest.Reply) {
	switch {
	case r.Fault != "" && r.Fault != providertest.ErrorEvent && r.Fault != providertest.Cut:
		t.Skip("lines of JSON are not disturbed like a stream of HTTP")
	case r.ToolCalls != nil:
		t.Skip("an agent has tools of its own")
	case r.Hang && r.Chunks != nil, r.Fault == providertest.ErrorEvent, strings.HasSuffix(t.Name(), "/Stream"),
		strings.HasSuffix(t.Name(), "/OnChunkError"):
		t.Skip("the begin of a message is held until it is known to be the last one; see TestLongMessagesStream")
	case r.RetryForm == providertest.RetrySeconds, r.RetryForm == providertest.RetryDate:
		t.Skip("an agent sends no headers")
	}
	for _, text := range r.Chunks {
		if !utf8.ValidString(text) {
			t.Skip("lines of JSON have whole characters")
		}
	}
}

// errorTexts are errors as agents write them.
var errorTexts = map[providers.ErrorKind]string{
	providers.RateLimit:       "exceeded retry limit, last status: 429 Too Many Requests",
	providers.ServerError:     "unexpected status 529 <unknown status code>: Overloaded",
	providers.Timeout:         "error, status code: 504",
	providers.ContextOverflow: "prompt is too long: 212400 tokens > 200000 maximum",
	providers.Authentication:  "Invalid API key · Please run /login",
	providers.InvalidRequest:  "unexpected status 404 Not Found: the model does not exist",
	providers.Billing:         "Your credit balance is too low",
	providers.ContentFiltered: "the request was blocked by the content policy",
}

// toPlay returns what the agent does to send a reply.
func toPlay(r providertest.Reply) played {
	p := played{Chunks: r.Chunks, Reasoning: r.Reasoning, Hang: r.Hang}
	switch {
	case r.RetryAfter > 0:
		p.Error = fmt.Sprintf("error, status code: 429, message: Please try again in %v.", r.RetryAfter)
	case r.Fail == providers.Network:
		p.Broken = true
	case r.Fail != "":
		p.Error = cmp.Or(errorTexts[r.Fail], string(r.Fail))
	}
	reasons := map[providers.FinishReason]string{
		"": "end_turn", providers.Stop: "end_turn", providers.Length: "max_tokens",
		providers.WindowFull: "max_turn_requests", providers.ContentFilter: "refusal",
	}
	p.End = map[string]any{"stopReason": reasons[r.FinishReason]}
	if u := r.Usage; u != (transcript.Usage{}) {
		p.End["usage"] = map[string]any{
			"inputTokens": u.Input - u.Cached, "cachedReadTokens": u.Cached, "outputTokens": u.Output,
			"thoughtTokens": u.Reasoning, "totalTokens": u.Input + u.Output,
		}
	}
	return p
}

package fakellm

import (
	"net/http"
	"testing"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/providertest"
)

// ProviderFunc returns a function for providertest.Run. The function starts a service with the replies of a test, and
// calls provider with the URL of the service and a client for it.
func ProviderFunc(p Protocol, provider func(t *testing.T, url string, client *http.Client) providers.Provider) providertest.ProviderFunc {
	return func(t *testing.T, replies ...providertest.Reply) providers.Provider {
		t.Helper()
		played := make([]Reply, len(replies))
		for i, r := range replies {
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

// replyTo converts a reply of the suite to a reply of the service.
func (p Protocol) replyTo(r providertest.Reply) Reply {
	reply := Reply{Chunks: r.Chunks, Usage: r.Usage, Hang: r.Hang}
	switch {
	case r.Fail == providers.Network:
		reply.EndEarly = true
	case r.Fail != "":
		reply.Status = statusCodes[r.Fail]
	case r.FinishReason == providers.Length && p == Anthropic:
		reply.FinishReason = "max_tokens"
	case r.FinishReason == providers.Length && p == Google:
		reply.FinishReason = "MAX_TOKENS"
	case r.FinishReason == providers.Length:
		reply.FinishReason = "length"
	}
	if r.Fail == providers.ContextOverflow {
		reply.Body = (&Server{protocol: p}).errorBody("prompt is too long: 212400 tokens > 200000 maximum")
	}
	return reply
}

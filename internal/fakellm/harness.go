package fakellm

import (
	"net/http"
	"testing"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/providertest"
)

// Harness has a provider, that make makes of an address and a client, stand the suite of all providers.
func Harness(p Protocol, provider func(t *testing.T, url string, client *http.Client) providers.Provider) providertest.Harness {
	return func(t *testing.T, replies ...providertest.Reply) providers.Provider {
		t.Helper()
		played := make([]Reply, len(replies))
		for i, r := range replies {
			played[i] = p.play(r)
		}
		s := Start(t, p, played...)
		return provider(t, s.URL, s.Client(t))
	}
}

// statuses are how services fail.
var statuses = map[providers.Kind]int{
	providers.RateLimit: http.StatusTooManyRequests, providers.API: http.StatusBadGateway, providers.Timeout: http.StatusGatewayTimeout,
	providers.ContextOverflow: http.StatusBadRequest, providers.Authentication: http.StatusUnauthorized, providers.Validation: http.StatusNotFound,
}

// play is what the service does for the suite.
func (p Protocol) play(r providertest.Reply) Reply {
	reply := Reply{Chunks: r.Chunks, Usage: r.Usage, Hang: r.Hang}
	switch {
	case r.Fail == providers.Network:
		reply.Cut = true
	case r.Fail != "":
		reply.Status = statuses[r.Fail]
	case r.Finish == providers.Length && p == Anthropic:
		reply.Finish = "max_tokens"
	case r.Finish == providers.Length && p == Google:
		reply.Finish = "MAX_TOKENS"
	case r.Finish == providers.Length:
		reply.Finish = "length"
	}
	if r.Fail == providers.ContextOverflow {
		reply.Body = (&Server{protocol: p}).failure("prompt is too long: 212400 tokens > 200000 maximum")
	}
	return reply
}

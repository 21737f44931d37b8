package middleware_test

import (
	"strings"
	"testing"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/middleware"
	"github.com/elenchus-go/debate/providers/providertest"
	"github.com/elenchus-go/debate/providers/scripted"
)

func TestAWrappedProviderKeepsTheContract(t *testing.T) {
	each(t, func(t *testing.T, m middleware.Middleware) {
		providertest.Run(t, func(t *testing.T, replies ...providertest.Reply) providers.Provider {
			p := &scripted.Provider{}
			for _, r := range replies {
				if !r.Plain() {
					t.Skip("a scripted provider has no stream that could be disturbed")
				}
				reply := scripted.Reply{Text: strings.Join(r.Chunks, ""), Chunks: len(r.Chunks), FinishReason: r.FinishReason, Usage: r.Usage, Hang: r.Hang}
				if r.Fail != "" {
					reply.Err = &providers.Error{Kind: r.Fail, Err: errEnough}
				}
				p.Replies = append(p.Replies, reply)
			}
			return m(p)
		})
	})
}

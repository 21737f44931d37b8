package providertest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/providertest"
	"github.com/elenchus-go/debate/providers/scripted"
)

func TestContract(t *testing.T) {
	providertest.Run(t, func(t *testing.T, replies ...providertest.Reply) providers.Provider {
		p := &scripted.Provider{}
		for _, r := range replies {
			reply := scripted.Reply{Text: strings.Join(r.Chunks, ""), Chunks: len(r.Chunks), Finish: r.Finish, Usage: r.Usage, Hang: r.Hang}
			if r.Fail != "" {
				reply.Err = &providers.Error{Kind: r.Fail, Err: errors.New("it does not work")}
			}
			p.Replies = append(p.Replies, reply)
		}
		return p
	})
}

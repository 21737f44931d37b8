package providertest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/providertest"
	"github.com/elenchus-go/debate/providers/scripted"
)

// play makes a provider that gives the suite's replies. A test of a real provider starts a local server instead, which
// sends the replies in the service's own protocol.
func play(_ *testing.T, replies ...providertest.Reply) providers.Provider {
	p := &scripted.Provider{}
	for _, r := range replies {
		reply := scripted.Reply{Text: strings.Join(r.Chunks, ""), Chunks: len(r.Chunks), FinishReason: r.FinishReason, Usage: r.Usage, Hang: r.Hang}
		if r.Fail != "" {
			reply.Err = &providers.Error{Kind: r.Fail, Err: errors.New("it does not work")}
		}
		p.Replies = append(p.Replies, reply)
	}
	return p
}

// In a test file, Run goes into a test function:
//
//	func TestContract(t *testing.T) { providertest.Run(t, play) }
func Example() {
	_ = func(t *testing.T) { providertest.Run(t, play) }
	// Output:
}

package providertest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/providertest"
	"github.com/elenchus-go/debate/providers/scripted"
)

// play returns a provider that sends the suite's replies. To test a real provider, start a local server instead that
// sends the replies in the service's protocol.
func play(t *testing.T, replies ...providertest.Reply) providers.Provider {
	p := &scripted.Provider{}
	for _, r := range replies {
		if !r.Plain() {
			t.Skip("a scripted provider has no stream that could be disturbed")
		}
		reply := scripted.Reply{Text: strings.Join(r.Chunks, ""), Chunks: len(r.Chunks), FinishReason: r.FinishReason, Usage: r.Usage, Hang: r.Hang}
		if r.Fail != "" {
			reply.Err = &providers.Error{Kind: r.Fail, Err: errors.New("the service failed")}
		}
		p.Replies = append(p.Replies, reply)
	}
	return p
}

// Call Run from a test function:
//
//	func TestContract(t *testing.T) { providertest.Run(t, play) }
func Example() {
	_ = func(t *testing.T) { providertest.Run(t, play) }
	// Output:
}

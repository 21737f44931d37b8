// Package providertest tests whether a provider keeps the contract of package providers. Run it over your own provider:
//
//	func TestContract(t *testing.T) {
//		providertest.Run(t, func(t *testing.T, replies ...providertest.Reply) providers.Provider {
//			server := startServer(t, replies) // a local server that speaks the service's protocol
//			return myprovider.New(server.URL)
//		})
//	}
//
// The suite fails if goroutines are left behind. Tests that run at the same time must not start any.
package providertest

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// Reply is what the service does with one call.
type Reply struct {
	// Chunks are the text, in the pieces in which the service streams it.
	Chunks []string
	// Fail is the kind of failure that ends the call after the chunks. Empty: the reply comes to its end. After chunks
	// it is always [providers.Network]: the stream is cut.
	Fail providers.ErrorKind
	// Hang has the service say nothing more after the chunks, until the client leaves.
	Hang bool
	// FinishReason is why the model stops. Empty means [providers.Stop].
	FinishReason providers.FinishReason
	// Usage is what the service counts.
	Usage transcript.Usage
}

// text is the whole text.
func (r Reply) text() string { return strings.Join(r.Chunks, "") }

// ProviderFunc makes a provider whose service gives the replies, one to each call in the order in which they arrive. It may
// skip a test whose replies its service cannot give.
type ProviderFunc func(t *testing.T, replies ...Reply) providers.Provider

// sampleReply is a reply in chunks of characters of several lengths.
var sampleReply = Reply{
	Chunks: []string{"Be", "cause ", "it is — “so”", ", 因为 ", "🦉", "."},
	Usage:  transcript.Usage{Input: 100, Cached: 90, Output: 50, Reasoning: 40},
}

// sampleRequest is a request in every role.
func sampleRequest() providers.Request {
	warm := 0.5
	return providers.Request{
		Messages: []providers.Message{
			{Role: providers.System, Text: "Argue."},
			{Role: providers.User, Text: "Why?"},
			{Role: providers.Assistant, Text: "So."},
			{Role: providers.User, Text: "Why so?"},
			{Role: providers.User, Text: "Really?"},
		},
		Temperature: &warm, MaxTokens: 600,
	}
}

// chunkRecorder is what OnChunk was given.
type chunkRecorder struct{ chunks []string }

func (e *chunkRecorder) text() string { return strings.Join(e.chunks, "") }

// request is a request whose chunks are heard, and answered by then if that is given.
func (e *chunkRecorder) request(then func(n int) error) providers.Request {
	r := sampleRequest()
	r.OnChunk = func(text string) error {
		e.chunks = append(e.chunks, text)
		if then != nil {
			return then(len(e.chunks))
		}
		return nil
	}
	return r
}

// requireKind requires a typed failure and an empty response.
func requireKind(t *testing.T, kind providers.ErrorKind, res providers.Response, err error) *providers.Error {
	t.Helper()
	require.Error(t, err)
	require.Zero(t, res, "the response of a failed call is empty")
	e, ok := errors.AsType[*providers.Error](err)
	require.True(t, ok, "%T is no *providers.Error: %v", err, err)
	require.Equal(t, kind, e.Kind, err.Error())
	return e
}

// requireReply requires a response to be all of the reply.
func requireReply(t *testing.T, r Reply, res providers.Response) {
	t.Helper()
	require.Equal(t, r.text(), res.Text)
	finish := r.FinishReason
	if finish == "" {
		finish = providers.Stop
	}
	if res.FinishReason != "" || finish != providers.Stop {
		require.Equal(t, finish, res.FinishReason)
	}
	if res.Usage != (transcript.Usage{}) && !res.Usage.Estimated {
		require.Equal(t, r.Usage.Input, res.Usage.Input, "cached tokens are input too")
		require.Equal(t, r.Usage.Output, res.Usage.Output, "reasoning is output too")
		require.Contains(t, []int{0, r.Usage.Cached}, res.Usage.Cached)
		require.Contains(t, []int{0, r.Usage.Reasoning}, res.Usage.Reasoning)
	}
}

// requireChunks requires each chunk to be some whole characters.
func requireChunks(t *testing.T, chunks []string) {
	t.Helper()
	for _, chunk := range chunks {
		require.NotEmpty(t, chunk)
		require.True(t, utf8.ValidString(chunk), "%q is cut within a character", chunk)
	}
}

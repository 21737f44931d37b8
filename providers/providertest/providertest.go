// Package providertest tests that a provider satisfies the contract of package providers. Use it to test your own
// provider:
//
//	func TestContract(t *testing.T) {
//		providertest.Run(t, func(t *testing.T, replies ...providertest.Reply) providers.Provider {
//			server := startServer(t, replies) // a local server that speaks the service's protocol
//			return myprovider.New(server.URL)
//		})
//	}
//
// The suite fails if a test leaks goroutines. Do not run other tests that start goroutines at the same time.
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

// Reply describes how the service responds to one call.
type Reply struct {
	// Chunks is the text, in the pieces in which the service streams it. A piece may end inside a character; send its
	// bytes as they are, even if the protocol does not allow it.
	Chunks []string
	// Fail is the kind of failure that ends the call after the chunks. It is empty if the reply is complete. With
	// chunks, it is always [providers.Network], which means that the stream breaks off.
	Fail providers.ErrorKind
	// Hang makes the service send nothing after the chunks until the client disconnects.
	Hang bool
	// FinishReason is the finish reason. Empty means [providers.Stop].
	FinishReason providers.FinishReason
	// Usage is the usage that the service reports.
	Usage transcript.Usage
}

// text returns the whole text.
func (r Reply) text() string { return strings.Join(r.Chunks, "") }

// ProviderFunc returns a provider whose service sends the given replies, one for each call, in the order in which the
// calls arrive. It may skip a test if its service cannot send the replies.
type ProviderFunc func(t *testing.T, replies ...Reply) providers.Provider

// sampleReply is a reply whose chunks contain characters of different lengths.
var sampleReply = Reply{
	Chunks: []string{"Be", "cause ", "it is — “so”", ", 因为 ", "🦉", "."},
	Usage:  transcript.Usage{Input: 100, Cached: 90, Output: 50, Reasoning: 40},
}

// sampleRequest returns a request with messages of every role.
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

// chunkRecorder records the chunks passed to OnChunk.
type chunkRecorder struct{ chunks []string }

func (e *chunkRecorder) text() string { return strings.Join(e.chunks, "") }

// request returns a request whose OnChunk records each chunk. If then is not nil, OnChunk returns the result of then for
// the number of chunks so far.
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

// requireKind requires an empty response and a *providers.Error of the given kind, which it returns.
func requireKind(t *testing.T, kind providers.ErrorKind, res providers.Response, err error) *providers.Error {
	t.Helper()
	require.Error(t, err)
	require.Zero(t, res, "the response of a failed call is empty")
	e, ok := errors.AsType[*providers.Error](err)
	require.True(t, ok, "%T is not a *providers.Error: %v", err, err)
	require.Equal(t, kind, e.Kind, err.Error())
	return e
}

// requireReply requires a response to match the complete reply.
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
		require.Equal(t, r.Usage.Input, res.Usage.Input, "input includes cached tokens")
		require.Equal(t, r.Usage.Output, res.Usage.Output, "output includes reasoning")
		require.Contains(t, []int{0, r.Usage.Cached}, res.Usage.Cached)
		require.Contains(t, []int{0, r.Usage.Reasoning}, res.Usage.Reasoning)
	}
}

// requireChunks requires each chunk to consist of whole characters, and none to be empty.
func requireChunks(t *testing.T, chunks []string) {
	t.Helper()
	for _, chunk := range chunks {
		require.NotEmpty(t, chunk)
		require.True(t, utf8.ValidString(chunk), "chunk %q is cut inside a character", chunk)
	}
}

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
	"time"
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
	// Usage is the usage that the service reports. If it is zero, the service reports none.
	Usage transcript.Usage

	// Reasoning is what the model reasons before it writes the chunks.
	Reasoning string
	// ToolCalls are the tool calls that follow the chunks.
	ToolCalls []providers.ToolCall
	// RetryAfter is the delay that the service asks for when it refuses the call with Fail, in the form of RetryForm.
	RetryAfter time.Duration
	RetryForm  RetryForm
	// Fault is a disturbance of the stream.
	Fault Fault
	// Arrived, if set, is called when the service has received the call, before it sends anything.
	Arrived func()
}

// RetryForm is a form in which services ask for a delay.
type RetryForm string

// The forms of a delay.
const (
	RetrySeconds RetryForm = "seconds" // in a header, in seconds
	RetryDate    RetryForm = "date"    // in a header, as a date
	RetryWords   RetryForm = "words"   // in the text of the error, such as "Please try again in 7s."
)

// Fault is a disturbance of a stream.
type Fault string

// The faults.
const (
	ErrorEvent Fault = "error event"      // the service reports Fail within the stream, after the chunks
	Cut        Fault = "cut"              // the connection is cut after the chunks
	Trickle    Fault = "trickle"          // each byte arrives by itself
	Split      Fault = "split characters" // the events cut the text inside of characters
	Gzip       Fault = "gzip"             // the stream is compressed
	LongLine   Fault = "long line"        // an event has more than a megabyte
)

// Plain reports whether a reply needs no more than complete text, usage, a failure and hanging. A [ProviderFunc] that
// plays only plain replies skips the test of another reply.
func (r Reply) Plain() bool {
	return r.Reasoning == "" && r.ToolCalls == nil && r.RetryAfter == 0 && r.Fault == "" && r.Arrived == nil && r.FinishReason != providers.ContentFilter
}

// text returns the whole text.
func (r Reply) text() string { return strings.Join(r.Chunks, "") }

// ProviderFunc returns a provider whose service sends the given replies, one for each call, in the order in which the
// calls arrive. It may skip a test if its service cannot send the replies.
type ProviderFunc func(t *testing.T, replies ...Reply) providers.Provider

var errCaller = errors.New("ended by the caller")

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
	switch {
	case res.Usage.Estimated:
	case r.Usage == transcript.Usage{}:
		require.Zero(t, res.Usage, "the service reports no usage")
	default:
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

package providertest

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
)

// Run runs the suite against providers that h returns. It runs each test as a subtest of t.
func Run(t *testing.T, h ProviderFunc) {
	for name, test := range map[string]func(*testing.T, ProviderFunc){
		"Stream":             testStream,
		"SplitCharacters":    testSplitCharacters,
		"IncompleteText":     testIncompleteText,
		"WholeReply":         testWholeReply,
		"Schema":             testSchema,
		"Settings":           testSettings,
		"Attachments":        testAttachments,
		"TokenLimit":         testTokenCap,
		"CutStream":          testCutStream,
		"ErrorKinds":         testErrorKinds,
		"CancelAtAnyChunk":   testCancel,
		"CanceledBeforeCall": testEndedContext,
		"Deadline":           testDeadline,
		"OnChunkError":       testCallbackError,
		"OnChunkPanic":       testCallbackPanic,
		"ConcurrentCalls":    testConcurrency,
		"RequestUnchanged":   testRequestUnchanged,
		"CallAfterFailure":   testCallAfterFailure,
		"CanceledCheck":      testCheck,
		"CanceledOnArrival":  testCancelOnArrival,
		"CanceledWithMore":   testCancelWithMore,
		"RetryAfter":         testRetryAfter,
		"ErrorEvent":         testErrorEvent,
		"CutConnection":      testCutConnection,
		"DisturbedStream":    testDisturbedStream,
		"NoUsage":            testNoUsage,
		"Reasoning":          testReasoning,
		"Refusal":            testRefusal,
		"ToolRounds":         testToolRounds,
		"ForeignRounds":      testForeignRounds,
		"MalformedArguments": testMalformedArguments,
		"IncompleteRounds":   testIncompleteRounds,
		"ToolChoice":         testToolChoice,
		"SchemaWithTools":    testSchemaWithTools,
		"UnexpectedToolCall": testUnexpectedToolCall,
	} {
		before := runtime.NumGoroutine()
		t.Run(name, func(t *testing.T) { test(t, h) })
		requireNoLeak(t, before, name)
	}
}

// requireNoLeak waits until at most as many goroutines run as before a test, and fails after a minute. Unlike
// require.Eventually, it starts no goroutines itself.
func requireNoLeak(t *testing.T, before int, test string) {
	t.Helper()
	patience := time.NewTimer(time.Minute)
	defer patience.Stop()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for runtime.NumGoroutine() > before {
		select {
		case <-again.C:
		case <-patience.C:
			stacks := make([]byte, 64<<10)
			require.Fail(t, "goroutines leaked in "+test, "%s", stacks[:runtime.Stack(stacks, true)])
		}
	}
}

func testStream(t *testing.T, h ProviderFunc) {
	p := h(t, sampleReply)
	var e chunkRecorder
	res, err := p.Generate(t.Context(), e.request(nil))
	require.NoError(t, err)
	requireReply(t, sampleReply, res)
	requireChunks(t, e.chunks)
	require.Equal(t, res.Text, e.text(), "the chunks form the text")
	require.Greater(t, len(e.chunks), 1)
}

func testSplitCharacters(t *testing.T, h ProviderFunc) {
	whole := sampleReply.text()
	for size := 1; size <= 3; size++ {
		split := Reply{Usage: sampleReply.Usage}
		for rest := whole; rest != ""; rest = rest[min(size, len(rest)):] {
			split.Chunks = append(split.Chunks, rest[:min(size, len(rest))])
		}
		var e chunkRecorder
		res, err := h(t, split).Generate(t.Context(), e.request(nil))
		require.NoError(t, err)
		requireReply(t, split, res)
		requireChunks(t, e.chunks)
		require.Equal(t, whole, e.text())
	}
}

// testIncompleteText ends a reply inside a character. The provider may drop the character or replace its bytes.
func testIncompleteText(t *testing.T, h ProviderFunc) {
	for _, fail := range []providers.ErrorKind{"", providers.Network} {
		reply := Reply{Chunks: []string{"So it", " is \xf0\x9f"}, Fail: fail, Usage: sampleReply.Usage}
		var e chunkRecorder
		res, err := h(t, reply).Generate(t.Context(), e.request(nil))
		if fail == "" {
			require.NoError(t, err)
			require.Equal(t, e.text(), string([]rune(res.Text)), "the chunks form the text")
		} else {
			_ = requireKind(t, fail, res, err)
		}
		requireChunks(t, e.chunks)
		require.Equal(t, "So it is ", strings.TrimRight(e.text(), "\ufffd"))
	}
}

func testWholeReply(t *testing.T, h ProviderFunc) {
	res, err := h(t, sampleReply).Generate(t.Context(), sampleRequest())
	require.NoError(t, err)
	requireReply(t, sampleReply, res)
}

func testSchema(t *testing.T, h ProviderFunc) {
	reply := Reply{Chunks: []string{`{"score"`, `: 7, "why":`, ` "so"}`}, Usage: sampleReply.Usage}
	p := h(t, reply, reply)
	var e chunkRecorder
	for _, r := range []providers.Request{sampleRequest(), e.request(nil)} {
		r.SchemaName = "assessment/1"
		r.Schema = json.RawMessage(`{"type": "object", "properties": {"why": {"type": "string", "maxLength": 40}, "score": {"type": "number"}},
			"required": ["why", "score"], "additionalProperties": false}`)
		res, err := p.Generate(t.Context(), r)
		require.NoError(t, err)
		require.JSONEq(t, reply.text(), res.Text)
	}
	require.JSONEq(t, reply.text(), e.text())
}

func testTokenCap(t *testing.T, h ProviderFunc) {
	reply := Reply{Chunks: []string{"I was", " say"}, FinishReason: providers.Length, Usage: sampleReply.Usage}
	p := h(t, reply, reply)
	var e chunkRecorder
	for _, r := range []providers.Request{sampleRequest(), e.request(nil)} {
		r.MaxTokens = reply.Usage.Output
		res, err := p.Generate(t.Context(), r)
		require.NoError(t, err)
		requireReply(t, reply, res)
	}
}

func testCutStream(t *testing.T, h ProviderFunc) {
	for n := 1; n <= len(sampleReply.Chunks); n++ {
		reply := Reply{Chunks: sampleReply.Chunks[:n], Fail: providers.Network}
		var e chunkRecorder
		res, err := h(t, reply).Generate(t.Context(), e.request(nil))
		failed := requireKind(t, providers.Network, res, err)
		require.Equal(t, reply.text(), e.text())
		require.Equal(t, reply.text(), failed.Partial.Text)
	}
}

func testErrorKinds(t *testing.T, h ProviderFunc) {
	for _, kind := range []providers.ErrorKind{
		providers.RateLimit, providers.ServerError, providers.Timeout, providers.ContextOverflow, providers.Authentication, providers.InvalidRequest,
	} {
		t.Run(string(kind), func(t *testing.T) {
			p := h(t, Reply{Fail: kind}, Reply{Fail: kind})
			var e chunkRecorder
			for _, r := range []providers.Request{sampleRequest(), e.request(nil)} {
				res, err := p.Generate(t.Context(), r)
				require.Empty(t, requireKind(t, kind, res, err).Partial.Text)
				require.NotEqual(t, string(kind), err.Error(), "the error has a cause")
			}
			require.Empty(t, e.chunks)
		})
	}
}

func testCancel(t *testing.T, h ProviderFunc) {
	for at := range sampleReply.Chunks {
		for name, end := range map[string]func(context.CancelFunc){
			"inside the callback":  func(cancel context.CancelFunc) { cancel() },
			"on another goroutine": func(cancel context.CancelFunc) { go cancel() },
		} {
			t.Run(fmt.Sprintf("%s of chunk %d", name, at+1), func(t *testing.T) {
				p := h(t, Reply{Chunks: sampleReply.Chunks[:at+1], Hang: true})
				ctx, cancel := context.WithCancelCause(t.Context())
				var e chunkRecorder
				heard := ""
				res, err := p.Generate(ctx, e.request(func(n int) error {
					heard = e.text()
					if n == at+1 {
						end(func() { cancel(errCaller) })
					}
					return nil
				}))
				failed := requireKind(t, providers.ServerError, res, err)
				require.ErrorIs(t, err, errCaller)
				require.Equal(t, heard, e.text())
				require.Equal(t, e.text(), failed.Partial.Text)
			})
		}
	}
}

func testEndedContext(t *testing.T, h ProviderFunc) {
	p := h(t, sampleReply)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errCaller)
	var e chunkRecorder
	res, err := p.Generate(ctx, e.request(nil))
	_ = requireKind(t, providers.ServerError, res, err)
	require.ErrorIs(t, err, errCaller)
	require.Empty(t, e.chunks)
	res, err = p.Generate(t.Context(), sampleRequest())
	require.NoError(t, err)
	requireReply(t, sampleReply, res)
}

func testDeadline(t *testing.T, h ProviderFunc) {
	for n := range 2 {
		p := h(t, Reply{Chunks: sampleReply.Chunks[:n], Hang: true}, Reply{Chunks: sampleReply.Chunks[:n], Hang: true})
		var e chunkRecorder
		for _, r := range []providers.Request{sampleRequest(), e.request(nil)} {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			res, err := p.Generate(ctx, r)
			cancel()
			_ = requireKind(t, providers.Timeout, res, err)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
	}
}

func testCallbackError(t *testing.T, h ProviderFunc) {
	for at := range sampleReply.Chunks {
		var e chunkRecorder
		res, err := h(t, sampleReply).Generate(t.Context(), e.request(func(n int) error {
			if n == at+1 {
				return errCaller
			}
			return nil
		}))
		require.Zero(t, res)
		if len(e.chunks) <= at { // the provider merged chunks
			require.Fail(t, "the reply did not arrive in the chunks that the service sent", "%d of %d", len(e.chunks), len(sampleReply.Chunks))
		}
		require.Equal(t, errCaller, err, "the callback's error is returned unchanged")
		require.Len(t, e.chunks, at+1, "no chunk follows the error")
	}
}

func testCallbackPanic(t *testing.T, h ProviderFunc) {
	p := h(t, sampleReply, sampleReply)
	var e chunkRecorder
	require.PanicsWithValue(t, errCaller, func() {
		_, _ = p.Generate(t.Context(), e.request(func(int) error { panic(errCaller) }))
	})
	require.Len(t, e.chunks, 1)
	res, err := p.Generate(t.Context(), sampleRequest())
	require.NoError(t, err)
	requireReply(t, sampleReply, res)
}

func testConcurrency(t *testing.T, h ProviderFunc) {
	const calls = 16
	replies := make([]Reply, calls)
	want := map[string]bool{}
	for i := range replies {
		word := fmt.Sprint("reply ", i)
		replies[i] = Reply{Chunks: []string{word, ",", " again ", word, "."}, Usage: sampleReply.Usage}
		want[replies[i].text()] = true
	}
	p := h(t, replies...)
	got := make([]string, calls)
	ears := make([]chunkRecorder, calls)
	errs := make([]error, calls)
	var group sync.WaitGroup
	for i := range calls {
		group.Go(func() {
			res, err := p.Generate(t.Context(), ears[i].request(nil))
			got[i], errs[i] = res.Text, err
		})
	}
	group.Wait()
	for i, text := range got {
		require.NoError(t, errs[i])
		require.True(t, want[text], "%q is not a reply, or was returned twice", text)
		delete(want, text)
		require.Equal(t, text, ears[i].text())
	}
}

func testRequestUnchanged(t *testing.T, h ProviderFunc) {
	r := sampleRequest()
	_, err := h(t, sampleReply).Generate(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, sampleRequest(), r)
}

func testCallAfterFailure(t *testing.T, h ProviderFunc) {
	p := h(t, Reply{Fail: providers.ServerError}, sampleReply)
	_, err := p.Generate(t.Context(), sampleRequest())
	require.Error(t, err)
	var e chunkRecorder
	res, err := p.Generate(t.Context(), e.request(nil))
	require.NoError(t, err)
	requireReply(t, sampleReply, res)
	require.Equal(t, res.Text, e.text())
}

func testCheck(t *testing.T, h ProviderFunc) {
	p, ok := h(t, sampleReply).(providers.Checker)
	if !ok {
		t.Skip("the provider has no Check")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Check(ctx, ""); err != nil {
		kind := providers.AsError(err).Kind
		require.NotContains(t, []providers.ErrorKind{providers.Authentication, providers.InvalidRequest}, kind, "a canceled check is not a refusal")
	}
}

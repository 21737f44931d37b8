package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
)

var errBored = errors.New("the reader is bored")

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	for name, test := range map[string]func(*testing.T, Harness){
		"AReplyStreams":                            streams,
		"AReplyComesWithoutAStream":                whole,
		"AReplyFollowsASchema":                     structured,
		"AReplyThatIsCutAtTheCapIsMarked":          capped,
		"ACutStreamIsAFailureWithWhatCame":         cut,
		"AFailureHasItsKind":                       kinds,
		"AnEndedContextEndsTheCallAtAnyChunk":      canceled,
		"AnEndedContextCallsNoModel":               ended,
		"ADeadlineEndsACallThatHangs":              late,
		"AnErrorOfOnChunkEndsTheCallAndIsReturned": refused,
		"APanicOfOnChunkPassesThroughToTheCaller":  panics,
		"ManyCallsAtOnceDoNotMix":                  concurrent,
		"ARequestIsLeftAsItWas":                    untouched,
		"ACallAfterAFailureIsAsGoodAsTheFirst":     again,
		"ACheckThatIsCanceledRefusesNothing":       checks,
	} {
		before := runtime.NumGoroutine()
		t.Run(name, func(t *testing.T) { test(t, h) })
		requireNoMore(t, before, name)
	}
}

// requireNoMore waits until no more goroutines run than before a test. It starts none itself, unlike require.Eventually.
func requireNoMore(t *testing.T, before int, test string) {
	t.Helper()
	patience := time.NewTimer(10 * time.Second)
	defer patience.Stop()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for runtime.NumGoroutine() > before {
		select {
		case <-again.C:
		case <-patience.C:
			stacks := make([]byte, 64<<10)
			require.Fail(t, "goroutines stay behind after "+test, "%s", stacks[:runtime.Stack(stacks, true)])
		}
	}
}

func streams(t *testing.T, h Harness) {
	p := h(t, speech)
	var e ear
	res, err := p.Generate(t.Context(), e.listen(nil))
	require.NoError(t, err)
	requireReply(t, speech, res)
	requireChunks(t, e.chunks)
	require.Equal(t, res.Text, e.text(), "the chunks make up the text")
	require.Greater(t, len(e.chunks), 1)
}

func whole(t *testing.T, h Harness) {
	res, err := h(t, speech).Generate(t.Context(), ask())
	require.NoError(t, err)
	requireReply(t, speech, res)
}

func structured(t *testing.T, h Harness) {
	reply := Reply{Chunks: []string{`{"score"`, `: 7, "why":`, ` "so"}`}, Usage: speech.Usage}
	p := h(t, reply, reply)
	var e ear
	for _, r := range []providers.Request{ask(), e.listen(nil)} {
		r.Reply = "assessment/1"
		r.Schema = json.RawMessage(`{"type": "object", "properties": {"why": {"type": "string", "maxLength": 40}, "score": {"type": "number"}},
			"required": ["why", "score"], "additionalProperties": false}`)
		res, err := p.Generate(t.Context(), r)
		require.NoError(t, err)
		require.JSONEq(t, reply.text(), res.Text)
	}
	require.JSONEq(t, reply.text(), e.text())
}

func capped(t *testing.T, h Harness) {
	reply := Reply{Chunks: []string{"I was", " say"}, Finish: providers.Length, Usage: speech.Usage}
	p := h(t, reply, reply)
	var e ear
	for _, r := range []providers.Request{ask(), e.listen(nil)} {
		r.MaxTokens = reply.Usage.Output
		res, err := p.Generate(t.Context(), r)
		require.NoError(t, err)
		requireReply(t, reply, res)
	}
}

func cut(t *testing.T, h Harness) {
	for n := 1; n <= len(speech.Chunks); n++ {
		reply := Reply{Chunks: speech.Chunks[:n], Fail: providers.Network}
		var e ear
		res, err := h(t, reply).Generate(t.Context(), e.listen(nil))
		failed := requireKind(t, providers.Network, res, err)
		require.Equal(t, reply.text(), e.text())
		require.Equal(t, reply.text(), failed.Partial.Text)
	}
}

func kinds(t *testing.T, h Harness) {
	for _, kind := range []providers.Kind{
		providers.RateLimit, providers.API, providers.Timeout, providers.ContextOverflow, providers.Authentication, providers.Validation,
	} {
		t.Run(string(kind), func(t *testing.T) {
			p := h(t, Reply{Fail: kind}, Reply{Fail: kind})
			var e ear
			for _, r := range []providers.Request{ask(), e.listen(nil)} {
				res, err := p.Generate(t.Context(), r)
				require.Empty(t, requireKind(t, kind, res, err).Partial.Text)
				require.NotEqual(t, string(kind), err.Error(), "it has words")
			}
			require.Empty(t, e.chunks)
		})
	}
}

func canceled(t *testing.T, h Harness) {
	for at := range speech.Chunks {
		for name, end := range map[string]func(context.CancelFunc){
			"within the callback": func(cancel context.CancelFunc) { cancel() },
			"beside it":           func(cancel context.CancelFunc) { go cancel() },
		} {
			t.Run(fmt.Sprintf("%s of chunk %d", name, at+1), func(t *testing.T) {
				p := h(t, Reply{Chunks: speech.Chunks[:at+1], Hang: true})
				ctx, cancel := context.WithCancelCause(t.Context())
				var e ear
				heard := ""
				res, err := p.Generate(ctx, e.listen(func(n int) error {
					if heard = e.text(); n == at+1 {
						end(func() { cancel(errBored) })
					}
					return nil
				}))
				failed := requireKind(t, providers.API, res, err)
				require.ErrorIs(t, err, errBored)
				require.Equal(t, heard, e.text())
				require.Equal(t, e.text(), failed.Partial.Text)
			})
		}
	}
}

func ended(t *testing.T, h Harness) {
	p := h(t, speech)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errBored)
	var e ear
	res, err := p.Generate(ctx, e.listen(nil))
	_ = requireKind(t, providers.API, res, err)
	require.ErrorIs(t, err, errBored)
	require.Empty(t, e.chunks)
	res, err = p.Generate(t.Context(), ask())
	require.NoError(t, err)
	requireReply(t, speech, res)
}

func late(t *testing.T, h Harness) {
	for n := range 2 {
		p := h(t, Reply{Chunks: speech.Chunks[:n], Hang: true}, Reply{Chunks: speech.Chunks[:n], Hang: true})
		var e ear
		for _, r := range []providers.Request{ask(), e.listen(nil)} {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			res, err := p.Generate(ctx, r)
			cancel()
			_ = requireKind(t, providers.Timeout, res, err)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
	}
}

func refused(t *testing.T, h Harness) {
	for at := range speech.Chunks {
		var e ear
		res, err := h(t, speech).Generate(t.Context(), e.listen(func(n int) error {
			if n == at+1 {
				return errBored
			}
			return nil
		}))
		require.Zero(t, res)
		if len(e.chunks) <= at { // it came in fewer pieces
			require.Fail(t, "the reply did not stream in its pieces", "%d of %d", len(e.chunks), len(speech.Chunks))
		}
		require.Equal(t, errBored, err, "the error itself")
		require.Len(t, e.chunks, at+1, "no chunk follows")
	}
}

func panics(t *testing.T, h Harness) {
	p := h(t, speech, speech)
	var e ear
	require.PanicsWithValue(t, errBored, func() {
		_, _ = p.Generate(t.Context(), e.listen(func(int) error { panic(errBored) }))
	})
	require.Len(t, e.chunks, 1)
	res, err := p.Generate(t.Context(), ask())
	require.NoError(t, err)
	requireReply(t, speech, res)
}

func concurrent(t *testing.T, h Harness) {
	const calls = 16
	replies := make([]Reply, calls)
	want := map[string]bool{}
	for i := range replies {
		word := fmt.Sprint("reply ", i)
		replies[i] = Reply{Chunks: []string{word, ",", " again ", word, "."}, Usage: speech.Usage}
		want[replies[i].text()] = true
	}
	p := h(t, replies...)
	got := make([]string, calls)
	ears := make([]ear, calls)
	errs := make([]error, calls)
	var group sync.WaitGroup
	for i := range calls {
		group.Go(func() {
			res, err := p.Generate(t.Context(), ears[i].listen(nil))
			got[i], errs[i] = res.Text, err
		})
	}
	group.Wait()
	for i, text := range got {
		require.NoError(t, errs[i])
		require.True(t, want[text], "%q is no reply, or was given twice", text)
		delete(want, text)
		require.Equal(t, text, ears[i].text())
	}
}

func untouched(t *testing.T, h Harness) {
	r := ask()
	_, err := h(t, speech).Generate(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, ask(), r)
}

func again(t *testing.T, h Harness) {
	p := h(t, Reply{Fail: providers.API}, speech)
	_, err := p.Generate(t.Context(), ask())
	require.Error(t, err)
	var e ear
	res, err := p.Generate(t.Context(), e.listen(nil))
	require.NoError(t, err)
	requireReply(t, speech, res)
	require.Equal(t, res.Text, e.text())
}

func checks(t *testing.T, h Harness) {
	p, ok := h(t, speech).(providers.Checker)
	if !ok {
		t.Skip("the provider has no Check")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Check(ctx, ""); err != nil {
		kind := providers.AsError(err).Kind
		require.NotContains(t, []providers.Kind{providers.Authentication, providers.Validation}, kind, "an ended context is no refusal")
	}
}

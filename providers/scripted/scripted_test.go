package scripted_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

var (
	_ providers.Provider = (*scripted.Provider)(nil)
	_ providers.Checker  = (*scripted.Provider)(nil)

	errBored = errors.New("ended by the caller")
)

// ask returns a request with one user message.
func ask(text string) providers.Request {
	return providers.Request{Model: "m", Messages: []providers.Message{{Role: providers.User, Text: text}}}
}

// listen returns a request that appends its chunks to heard.
func listen(heard *[]string) providers.Request {
	r := ask("Why?")
	r.OnChunk = func(text string) error {
		*heard = append(*heard, text)
		return nil
	}
	return r
}

func TestRepliesComeInOrderThenFromTheFunction(t *testing.T) {
	p := scripted.Text("one", "two")
	p.Func = func(r providers.Request) scripted.Reply {
		return scripted.Reply{Text: "echo " + r.Messages[0].Text}
	}
	for _, want := range []string{"one", "two", "echo 3", "echo 4"} {
		res := calltest.Generate(t, p, ask(want[len(want)-1:]))
		require.Equal(t, want, res.Text)
	}
}

func TestAnExhaustedScriptNamesTheCall(t *testing.T) {
	p := scripted.Text("one", "two")
	for range 2 {
		calltest.Generate(t, p, ask("?"))
	}
	res, err := p.Generate(t.Context(), ask("?"))
	require.EqualError(t, err, "invalid_request: scripted: call 3: no reply left; the script has 2")
	require.Equal(t, providers.InvalidRequest, providers.AsError(err).Kind)
	require.Zero(t, res)
	require.Len(t, p.Calls(), 3)
}

func TestResponse(t *testing.T) {
	usage := transcript.Usage{Input: 100, Cached: 90, Output: 7}
	for name, test := range map[string]struct {
		reply scripted.Reply
		want  providers.Response
	}{
		"defaults": {
			scripted.Reply{Text: "Because."},
			providers.Response{
				Text: "Because.", FinishReason: providers.Stop, Model: "m",
				Usage: transcript.Usage{Input: 3, Output: 2, Estimated: true},
			},
		},
		"as scripted": {
			scripted.Reply{Text: "Bec", FinishReason: providers.Length, Usage: usage},
			providers.Response{Text: "Bec", FinishReason: providers.Length, Model: "m", Usage: usage},
		},
		"silent": {
			scripted.Reply{},
			providers.Response{FinishReason: providers.Stop, Model: "m", Usage: transcript.Usage{Input: 3, Estimated: true}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &scripted.Provider{Replies: []scripted.Reply{test.reply}}
			res := calltest.Generate(t, p, ask("Why is it?"))
			require.Equal(t, test.want, res)
		})
	}
}

func TestChunks(t *testing.T) {
	for name, test := range map[string]struct {
		text   string
		chunks int
		want   []string
	}{
		"default":                {"abc", 0, []string{"abc"}},
		"equal length":           {"abcdef", 3, []string{"ab", "cd", "ef"}},
		"almost equal length":    {"abcdefg", 3, []string{"ab", "cd", "efg"}},
		"never empty":            {"abc", 9, []string{"a", "b", "c"}},
		"empty text":             {"", 3, nil},
		"cut between characters": {"äöü", 2, []string{"äö", "ü"}},
		"long characters":        {"€€", 6, []string{"€", "€"}},
		"negative number":        {"abc", -1, []string{"abc"}},
	} {
		t.Run(name, func(t *testing.T) {
			var heard []string
			p := &scripted.Provider{Replies: []scripted.Reply{{Text: test.text, Chunks: test.chunks}}}
			calltest.Generate(t, p, listen(&heard))
			require.Equal(t, test.want, heard)
		})
	}
}

func TestChunksAreAboutEqualAndWhole(t *testing.T) {
	text := strings.Repeat("Die Straße führt über 3 Brücken — nach Süden. ", 20)
	for n := 1; n < len(text); n += 7 {
		var heard []string
		p := &scripted.Provider{Replies: []scripted.Reply{{Text: text, Chunks: n}}}
		calltest.Generate(t, p, listen(&heard))
		require.Equal(t, text, strings.Join(heard, ""))
		for _, chunk := range heard {
			require.True(t, utf8.ValidString(chunk))
			require.InDelta(t, len(text)/n, len(chunk), utf8.UTFMax)
		}
	}
}

func TestLatencyIsSpreadOverTheChunks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var at []time.Duration
		r := ask("Why?")
		r.OnChunk = func(string) error {
			at = append(at, time.Since(began))
			return nil
		}
		p := &scripted.Provider{Replies: []scripted.Reply{{Text: "abc", Chunks: 3, Latency: 10 * time.Nanosecond}}}
		calltest.Generate(t, p, r)
		require.Equal(t, []time.Duration{3, 6, 10}, at)
	})
}

func TestLatencyPassesWithoutChunksToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		p := &scripted.Provider{Replies: []scripted.Reply{{Latency: time.Minute, Err: errBored}}}
		_, err := p.Generate(t.Context(), ask("Why?"))
		require.ErrorIs(t, err, errBored)
		require.Equal(t, time.Minute, time.Since(began))
	})
}

func TestErrEndsTheCallAfterTheText(t *testing.T) {
	cut := &providers.Error{Kind: providers.Network, RetryAfter: time.Second, Err: errBored}
	usage := transcript.Usage{Output: 2}
	var heard []string
	p := &scripted.Provider{Replies: []scripted.Reply{{Text: "I was say", Chunks: 3, Err: cut, Usage: usage}}}
	res, err := p.Generate(t.Context(), listen(&heard))
	require.Zero(t, res)
	require.Equal(t, []string{"I w", "as ", "say"}, heard)
	require.Equal(t, &providers.Error{
		Kind: providers.Network, RetryAfter: time.Second, Err: errBored,
		Partial: providers.Response{Text: "I was say", Model: "m", Usage: usage},
	}, err)
	require.Zero(t, cut.Partial, "the script's own error is left alone")
}

func TestErrOfNoKindIsReturnedAsItIs(t *testing.T) {
	wrapped := fmt.Errorf("read reply: %w", &providers.Error{Kind: providers.Network})
	for _, want := range []error{errBored, wrapped} {
		p := &scripted.Provider{Replies: []scripted.Reply{{Text: "I was say", Err: want}}}
		_, err := p.Generate(t.Context(), ask("Why?"))
		require.Equal(t, want, err)
	}
}

func TestAnErrorOfTheCallbackEndsTheCall(t *testing.T) {
	var heard int
	r := ask("Why?")
	r.OnChunk = func(string) error {
		heard++
		if heard == 2 {
			return errBored
		}
		return nil
	}
	p := &scripted.Provider{Replies: []scripted.Reply{{Text: "abcdef", Chunks: 3, Err: context.Canceled}}}
	res, err := p.Generate(t.Context(), r)
	require.Equal(t, errBored, err)
	require.Zero(t, res)
	require.Equal(t, 2, heard)
}

func TestTheEndOfTheContextEndsTheCall(t *testing.T) {
	type finish = func(context.CancelCauseFunc)
	cancel := func(stop context.CancelCauseFunc) { stop(errBored) }
	for name, test := range map[string]struct {
		latency time.Duration
		inChunk finish // called in the second chunk
		during  finish // called after 25 seconds; a chunk takes 10
		kind    providers.ErrorKind
		cause   error
	}{
		"in a chunk":     {0, cancel, nil, providers.ServerError, errBored},
		"during latency": {time.Minute, nil, cancel, providers.ServerError, errBored},
		"deadline":       {time.Minute, nil, nil, providers.Timeout, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 28*time.Second)
				defer cancel()
				ctx, stop := context.WithCancelCause(ctx)
				defer stop(nil)
				var heard []string
				r := ask("Why?")
				r.OnChunk = func(text string) error {
					heard = append(heard, text)
					if len(heard) == 2 && test.inChunk != nil {
						test.inChunk(stop)
					}
					return nil
				}
				if test.during != nil {
					time.AfterFunc(25*time.Second, func() { test.during(stop) })
				}
				p := &scripted.Provider{Replies: []scripted.Reply{{Text: "abcdef", Chunks: 6, Latency: test.latency}}}
				res, err := p.Generate(ctx, r)
				require.Zero(t, res)
				require.ErrorIs(t, err, test.cause)
				require.Equal(t, test.kind, providers.AsError(err).Kind)
				require.Equal(t, providers.Response{Text: "ab", Model: "m"}, providers.AsError(err).Partial)
				require.Equal(t, []string{"a", "b"}, heard)
			})
		})
	}
}

func TestACallThatHasEndedBeforeItBeganTakesNoReply(t *testing.T) {
	p := scripted.Text("one")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.Generate(ctx, ask("Why?"))
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, p.Calls())
	res := calltest.Generate(t, p, ask("Why?"))
	require.Equal(t, "one", res.Text)
}

func TestACancelInTheLastChunkStillEndsTheCall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := ask("Why?")
	r.OnChunk = func(string) error { cancel(); return nil }
	_, err := scripted.Text("all of it").Generate(ctx, r)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "all of it", providers.AsError(err).Partial.Text)
}

func TestCallsAreWhatItWasAsked(t *testing.T) {
	var heard []string
	p := scripted.Text("one", "two")
	for _, r := range []providers.Request{ask("first"), listen(&heard)} {
		calltest.Generate(t, p, r)
	}
	require.Equal(t, []providers.Request{ask("first"), ask("Why?")}, p.Calls(), "in order, without callbacks")
	p.Calls()[0].Model = "changed"
	require.Equal(t, "m", p.Calls()[0].Model)
}

func TestForgetKeepsNoCalls(t *testing.T) {
	p := scripted.Text("one", "two")
	p.DiscardCalls = true
	for _, want := range []string{"one", "two"} {
		res := calltest.Generate(t, p, ask("Why?"))
		require.Equal(t, want, res.Text)
	}
	require.Empty(t, p.Calls())
}

func TestCallsAtTheSameTimeShareTheScript(t *testing.T) {
	const n = 50
	p := &scripted.Provider{Func: func(r providers.Request) scripted.Reply { return scripted.Reply{Text: r.Messages[0].Text} }}
	for i := range n {
		p.Replies = append(p.Replies, scripted.Reply{Text: fmt.Sprint(i)})
	}
	var mu sync.Mutex
	seen := map[string]int{}
	var wg sync.WaitGroup
	for range 2 * n {
		wg.Go(func() {
			res, err := p.Generate(t.Context(), ask("computed"))
			p.Calls()
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				seen[res.Text]++
			}
		})
	}
	wg.Wait()
	require.Len(t, seen, n+1, "each reply once, and the computed one")
	require.Equal(t, n, seen["computed"])
	require.Len(t, p.Calls(), 2*n)
}

func TestCheck(t *testing.T) {
	for name, test := range map[string]struct {
		models []string
		model  string
		want   string
	}{
		"any":     {nil, "m", ""},
		"known":   {[]string{"m", "n"}, "n", ""},
		"default": {[]string{"m", "n"}, "", ""},
		"unknown": {[]string{"m", "n"}, "x", `invalid_request: scripted: unknown model "x", want one of m, n`},
	} {
		t.Run(name, func(t *testing.T) {
			err := (&scripted.Provider{Models: test.models}).Check(t.Context(), test.model)
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, test.want)
		})
	}
}

func TestAReplyWithoutLatencyAllocatesNothing(t *testing.T) {
	p := &scripted.Provider{DiscardCalls: true, Func: func(providers.Request) scripted.Reply {
		return scripted.Reply{Text: "The city belongs to those who walk.", Chunks: 7}
	}}
	ctx, r := t.Context(), ask("Why?")
	r.OnChunk = func(string) error { return nil }
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = p.Generate(ctx, r) }))
}

func BenchmarkGenerate(b *testing.B) {
	p := &scripted.Provider{DiscardCalls: true, Func: func(providers.Request) scripted.Reply {
		return scripted.Reply{Text: "The city belongs to those who walk.", Chunks: 7}
	}}
	ctx, r := b.Context(), ask("Why?")
	r.OnChunk = func(string) error { return nil }
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Generate(ctx, r); err != nil {
			b.Fatal(err)
		}
	}
}

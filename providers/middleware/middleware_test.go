package middleware_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/middleware"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// A model is a provider without optional interfaces.
type model func(context.Context, providers.Request) (providers.Response, error)

func (m model) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	return m(ctx, r)
}

// all holds every kind of middleware, with settings that let every call pass.
func all() map[string]middleware.Middleware {
	return map[string]middleware.Middleware{
		"rate limit":     middleware.RateLimit(middleware.PerMinute{Requests: 1000, Tokens: 100_000}),
		"no rate limit":  middleware.RateLimit(middleware.PerMinute{}),
		"timeout":        middleware.Timeout(middleware.Timeouts{}),
		"no timeout":     middleware.Timeout(middleware.Timeouts{Call: -1, Chunk: -1}),
		"concurrency":    middleware.Concurrency(2),
		"no concurrency": middleware.Concurrency(0),
		"meter":          new(middleware.Meter).Measure,
	}
}

// each runs a test for each kind of middleware, and for all of them together. The test creates the middleware, because
// a channel belongs to the synctest bubble in which it was created.
func each(t *testing.T, test func(*testing.T, middleware.Middleware)) {
	for name := range all() {
		t.Run(name, func(t *testing.T) {
			test(t, func(p providers.Provider) providers.Provider { return all()[name](p) })
		})
	}
	t.Run("all together", func(t *testing.T) {
		test(t, func(p providers.Provider) providers.Provider {
			return middleware.Wrap(p, slices.Collect(maps.Values(all()))...)
		})
	})
}

func ask(text string) providers.Request {
	return providers.Request{Messages: []providers.Message{{Role: providers.User, Text: text}}}
}

// request asks the model m and streams its reply.
func request(m string) providers.Request {
	r := ask("Why?")
	r.Model = m
	r.OnChunk = func(string) error { return nil }
	return r
}

// fails returns one failure for each kind.
func fails(kinds ...providers.ErrorKind) (replies []scripted.Reply) {
	for _, kind := range kinds {
		replies = append(replies, scripted.Reply{Err: &providers.Error{Kind: kind, Err: errors.New("as told")}})
	}
	return replies
}

func TestWrapPutsTheFirstOutermost(t *testing.T) {
	mark := func(name string) middleware.Middleware {
		return func(p providers.Provider) providers.Provider {
			return model(func(ctx context.Context, r providers.Request) (providers.Response, error) {
				res, err := p.Generate(ctx, r)
				res.Text = name + "(" + res.Text + ")"
				return res, err
			})
		}
	}
	res := calltest.Generate(t, middleware.Wrap(scripted.Text("x"), mark("a"), mark("b"), mark("c")), ask("?"))
	require.Equal(t, "a(b(c(x)))", res.Text)

	p := scripted.Text("x")
	require.Same(t, p, middleware.Wrap(p))
}

func TestACallPassesThrough(t *testing.T) {
	each(t, func(t *testing.T, m middleware.Middleware) {
		inner := &scripted.Provider{Replies: []scripted.Reply{{Text: "Because.", Chunks: 3, FinishReason: providers.Length}}}
		r := ask("Why?")
		r.Model, r.MaxTokens = "gpt-x", 50
		var heard strings.Builder
		r.OnChunk = func(text string) error {
			heard.WriteString(text)
			return nil
		}
		res := calltest.Generate(t, m(inner), r)
		require.Equal(t, providers.Response{
			Text: "Because.", Model: "gpt-x", FinishReason: providers.Length, Usage: transcript.Usage{Input: 1, Output: 2, Estimated: true},
		}, res)
		require.Equal(t, "Because.", heard.String())

		r.OnChunk = nil
		require.Equal(t, []providers.Request{r}, inner.Calls())
	})
}

func TestACallThatDoesNotStreamIsNotMadeToStream(t *testing.T) {
	each(t, func(t *testing.T, m middleware.Middleware) {
		calltest.Generate(t, m(model(func(_ context.Context, r providers.Request) (providers.Response, error) {
			require.Nil(t, r.OnChunk)
			return providers.Response{}, nil
		})), ask("Why?"))
	})
}

func TestAnErrorPassesThrough(t *testing.T) {
	each(t, func(t *testing.T, m middleware.Middleware) {
		inner := &scripted.Provider{Replies: []scripted.Reply{{Text: "Bec", Err: &providers.Error{Kind: providers.RateLimit, RetryAfter: time.Hour}}}}
		r := ask("Why?")
		r.Model = "gpt-x"
		_, err := m(inner).Generate(t.Context(), r)
		want := &providers.Error{Kind: providers.RateLimit, RetryAfter: time.Hour, Partial: providers.Response{Text: "Bec", Model: "gpt-x"}}
		require.Equal(t, want, err)
	})
}

var errEnough = errors.New("enough")

func TestTheErrorOfOnChunkIsReturned(t *testing.T) {
	each(t, func(t *testing.T, m middleware.Middleware) {
		r := ask("Why?")
		r.OnChunk = func(string) error { return errEnough }
		_, err := m(scripted.Text("Because.")).Generate(t.Context(), r)
		require.Equal(t, errEnough, err)
	})
}

func TestAPanicInOnChunkPassesThroughAndLeavesNothingLocked(t *testing.T) {
	each(t, func(t *testing.T, m middleware.Middleware) {
		synctest.Test(t, func(t *testing.T) {
			inner := &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: "Because."} }}
			p := m(inner)
			r := ask("Why?")
			r.OnChunk = func(string) error { panic("over") }
			for range 3 {
				require.PanicsWithValue(t, "over", func() { _, _ = p.Generate(t.Context(), r) })
			}
			calltest.Generate(t, p, ask("Why?"))
		})
	})
}

func TestAnEndedContextGivesItsCause(t *testing.T) {
	each(t, func(t *testing.T, m middleware.Middleware) {
		for name, reply := range map[string]scripted.Reply{"before": {Text: "Because."}, "within": {Text: "Because.", Latency: time.Hour, Chunks: 2}} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancelCause(t.Context())
					if name == "before" {
						cancel(errEnough)
					}
					time.AfterFunc(time.Minute, func() { cancel(errEnough) })
					_, err := m(&scripted.Provider{Replies: []scripted.Reply{reply}}).Generate(ctx, ask("Why?"))
					require.ErrorIs(t, err, errEnough)
					require.Equal(t, providers.ServerError, providers.AsError(err).Kind)
				})
			})
		}
	})
}

func TestCheckAsksTheWrappedProviderWhereThatCan(t *testing.T) {
	each(t, func(t *testing.T, m middleware.Middleware) {
		c, ok := m(&scripted.Provider{Models: []string{"gpt-x"}}).(providers.Checker)
		require.True(t, ok)
		require.NoError(t, c.Check(t.Context(), "gpt-x"))
		require.ErrorContains(t, c.Check(t.Context(), "gpt-y"), "unknown model")

		c, ok = m(model(nil)).(providers.Checker)
		if ok {
			require.NoError(t, c.Check(t.Context(), "gpt-y"))
		}
	})
}

type person struct{ providers.Provider }

func (person) IsPerson() bool { return true }

func TestAWrappedPersonIsAPerson(t *testing.T) {
	each(t, func(t *testing.T, m middleware.Middleware) {
		for want, p := range map[bool]providers.Provider{true: person{model(nil)}, false: model(nil)} {
			h, ok := m(p).(providers.Person)
			require.Equal(t, want, ok && h.IsPerson())
		}
	})
}

// limited refuses a seed.
type limited struct{ providers.Provider }

func (limited) Window(model string) int { return map[string]int{"": 4096, "b": 2048, "c": 8192}[model] }

func (limited) Unsupported(r providers.Request) map[string]string {
	if r.Seed == nil {
		return nil
	}
	return map[string]string{"seed": r.Model + " has none"}
}

func TestWhatAProviderDoesNotSupportIsPassedOn(t *testing.T) {
	seed := int64(7)
	r := providers.Request{Model: "gpt-x", Seed: &seed}
	each(t, func(t *testing.T, m middleware.Middleware) {
		require.Equal(t, map[string]string{"seed": "gpt-x has none"}, m(limited{model(nil)}).(providers.Limited).Unsupported(r))
		require.Empty(t, m(limited{model(nil)}).(providers.Limited).Unsupported(providers.Request{}))
		if l, ok := m(model(nil)).(providers.Limited); ok {
			require.Empty(t, l.Unsupported(r))
		}
	})
}

// A provider that does not say what it reads is given no attachments.
func TestAttachmentsNeedAProviderThatSaysWhatItReads(t *testing.T) {
	picture := &providers.Attachment{Name: "a.png", MediaType: "image/png", Data: []byte("1")}
	r := providers.Request{Messages: []providers.Message{{Role: providers.User, Parts: []providers.Part{{Attachment: picture}}}}}
	each(t, func(t *testing.T, m middleware.Middleware) {
		require.Empty(t, m(&scripted.Provider{}).(providers.Limited).Unsupported(r))
		if l, ok := m(model(nil)).(providers.Limited); ok {
			require.Equal(t, map[string]string{"attachments": "the provider does not say what it reads, implement providers.Limited"}, l.Unsupported(r))
		}
	})
}

func TestTheWindowIsPassedOn(t *testing.T) {
	each(t, func(t *testing.T, m middleware.Middleware) {
		require.Equal(t, 4096, m(limited{model(nil)}).(providers.Windowed).Window(""))
		require.Equal(t, 2048, m(limited{model(nil)}).(providers.Windowed).Window("b"))
		if w, ok := m(model(nil)).(providers.Windowed); ok {
			require.Zero(t, w.Window("b"), "it is not known")
		}
	})
}

func TestManyCallsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, m middleware.Middleware) {
		synctest.Test(t, func(t *testing.T) {
			p := m(&scripted.Provider{Func: func(providers.Request) scripted.Reply {
				return scripted.Reply{Text: "Because.", Chunks: 4, Latency: time.Second}
			}})
			var wg sync.WaitGroup
			for range 50 {
				wg.Go(func() {
					r := ask("Why?")
					r.OnChunk = func(string) error { return nil }
					_, err := p.Generate(t.Context(), r)
					if err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
		})
	})
}

// Middleware costs time per call, not per chunk.
func TestAChunkAllocatesNothing(t *testing.T) {
	each(t, func(t *testing.T, m middleware.Middleware) {
		chunks := 0
		p := m(model(func(_ context.Context, r providers.Request) (providers.Response, error) {
			for range chunks {
				if err := r.OnChunk("word "); err != nil {
					return providers.Response{}, err
				}
			}
			return providers.Response{Usage: transcript.Usage{Input: 1, Output: 1}}, nil
		}))
		r := ask("Why?")
		r.OnChunk = func(string) error { return nil }
		count := func(n int) float64 {
			chunks = n
			return testing.AllocsPerRun(20, func() { _, _ = p.Generate(t.Context(), r) })
		}
		require.InDelta(t, count(1), count(1000), 1)
	})
}

func BenchmarkCall(b *testing.B) {
	inner := model(func(_ context.Context, r providers.Request) (providers.Response, error) {
		for range 100 {
			if err := r.OnChunk("word "); err != nil {
				return providers.Response{}, err
			}
		}
		return providers.Response{Usage: transcript.Usage{Input: 1, Output: 1}}, nil
	})
	kinds := all()
	kinds["none"] = func(p providers.Provider) providers.Provider { return p }
	kinds["rate limit"] = middleware.RateLimit(middleware.PerMinute{Requests: 1e12, Tokens: 1e15})
	for name, m := range kinds {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			p := m(inner)
			r := ask(strings.Repeat("Why are there cars in cities? ", 300)) // 9 KB
			r.OnChunk = func(string) error { return nil }
			b.ReportAllocs()
			for b.Loop() {
				_, _ = p.Generate(b.Context(), r)
			}
		})
	}
}

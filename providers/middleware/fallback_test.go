package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/calltest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/middleware"
	"github.com/elenchus-go/debate/providers/scripted"
)

func fails(kinds ...providers.ErrorKind) (replies []scripted.Reply) {
	for _, kind := range kinds {
		replies = append(replies, scripted.Reply{Err: &providers.Error{Kind: kind, Err: errors.New("as told")}})
	}
	return replies
}

func request(m string) providers.Request {
	r := ask("Why?")
	r.Model = m
	r.OnChunk = func(string) error { return nil }
	return r
}

func models(p *scripted.Provider) (names []string) {
	for _, c := range p.Calls() {
		names = append(names, c.Model)
	}
	return names
}

func TestTheNextOneIsTriedByTheKindOfTheFailure(t *testing.T) {
	for kind, next := range map[providers.ErrorKind]bool{
		providers.Network: true, providers.RateLimit: true, providers.ServerError: true, providers.Timeout: true,
		providers.ContextOverflow: true, providers.ContentFiltered: true, providers.Authentication: true, providers.Billing: true,
		providers.OutOfMemory: true, providers.InvalidRequest: false, providers.InvalidResponse: false,
	} {
		t.Run(string(kind), func(t *testing.T) {
			first, second := &scripted.Provider{Replies: fails(kind)}, scripted.Text("Because.")
			p := middleware.Fallback(middleware.Fallbacks{Alternatives: []middleware.Alternative{{Provider: second, Model: "b"}}})(first)
			res, err := p.Generate(t.Context(), request("a"))
			if !next {
				require.EqualError(t, err, string(kind)+": as told")
				require.Empty(t, second.Calls())
				return
			}
			require.NoError(t, err)
			require.Equal(t, "Because.", res.Text)
			require.Equal(t, "b", res.Model)
			require.Equal(t, []string{"a"}, models(first))
			require.Equal(t, []string{"b"}, models(second))
		})
	}
}

func TestTheKindsThatLeadOnAreTheUsersToChoose(t *testing.T) {
	for kind, next := range map[providers.ErrorKind]bool{providers.InvalidRequest: true, providers.Network: false} {
		first := &scripted.Provider{Replies: append(fails(kind), scripted.Reply{Text: "Because."})}
		p := middleware.Fallback(middleware.Fallbacks{
			Alternatives: []middleware.Alternative{{Model: "b"}}, On: []providers.ErrorKind{providers.InvalidRequest}, // of the wrapped provider
		})(first)
		_, err := p.Generate(t.Context(), request("a"))
		require.Equal(t, next, err == nil)
		require.Equal(t, next, len(first.Calls()) == 2)
	}
}

func TestTheResponseNamesTheModelThatAnswered(t *testing.T) {
	names := func(name string) providers.Provider {
		return model(func(context.Context, providers.Request) (providers.Response, error) {
			return providers.Response{Text: "Because.", Model: name}, nil
		})
	}
	for _, test := range []struct{ told, asked, want string }{
		{"b-2026-01-31", "b", "b-2026-01-31"}, {"", "b", "b"}, {"own", "", "own"}, {"", "", ""},
	} {
		p := middleware.Fallback(middleware.Fallbacks{Alternatives: []middleware.Alternative{{names(test.told), test.asked}}})(&scripted.Provider{Replies: fails(providers.ServerError)})
		res := calltest.Generate(t, p, request("a"))
		require.Equal(t, test.want, res.Model)
	}
}

func TestTextThatWasStreamedIsNotFollowedByAnothersButByAnotherAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := &scripted.Provider{Replies: []scripted.Reply{
			{Text: "Bec", Err: &providers.Error{Kind: providers.Network}}, {Text: "Because."},
		}}
		second := scripted.Text("So it is.")
		p := middleware.Fallback(middleware.Fallbacks{Alternatives: []middleware.Alternative{{second, "b"}}})(first)

		_, err := p.Generate(t.Context(), request("a"))
		require.Equal(t, &providers.Error{Kind: providers.Network, Partial: providers.Response{Text: "Bec", Model: "a"}}, err)
		require.Empty(t, second.Calls())

		res := calltest.Generate(t, p, request("a"))
		require.Equal(t, "So it is.", res.Text)

		time.Sleep(time.Minute)
		res = calltest.Generate(t, p, request("a"))
		require.Equal(t, "Because.", res.Text)
	})
}

func TestTextThatNobodyHasHeardIsFollowedByAnothers(t *testing.T) {
	first := &scripted.Provider{Replies: []scripted.Reply{{Text: "Bec", Err: &providers.Error{Kind: providers.Network}}}}
	r := request("a")
	r.OnChunk = nil
	res := calltest.Generate(t, middleware.Fallback(middleware.Fallbacks{Alternatives: []middleware.Alternative{{scripted.Text("So it is."), "b"}}})(first), r)
	require.Equal(t, "So it is.", res.Text)
}

func TestOneThatFailedRestsWhileOthersAreLeft(t *testing.T) {
	for name, test := range map[string]struct {
		rest  time.Duration
		err   *providers.Error
		after time.Duration // until the model is tried first again
	}{
		"default":            {0, &providers.Error{Kind: providers.ServerError}, time.Minute},
		"configured":         {time.Hour, &providers.Error{Kind: providers.ServerError}, time.Hour},
		"longer RetryAfter":  {0, &providers.Error{Kind: providers.RateLimit, RetryAfter: 5 * time.Minute}, 5 * time.Minute},
		"shorter RetryAfter": {0, &providers.Error{Kind: providers.RateLimit, RetryAfter: time.Second}, time.Minute},
		"disabled":           {-1, &providers.Error{Kind: providers.ServerError}, 0},
		"context overflow":   {0, &providers.Error{Kind: providers.ContextOverflow}, 0},
		"filtered content":   {0, &providers.Error{Kind: providers.ContentFiltered}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := &scripted.Provider{
					Replies: []scripted.Reply{{Err: test.err}},
					Func:    func(providers.Request) scripted.Reply { return scripted.Reply{Text: "Because."} },
				}
				second := &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: "So it is."} }}
				p := middleware.Fallback(middleware.Fallbacks{Cooldown: test.rest, Alternatives: []middleware.Alternative{{second, "b"}}})(first)
				says := func(model string) string {
					res := calltest.Generate(t, p, request(model))
					return res.Text
				}
				require.Equal(t, "So it is.", says("a"))
				require.Equal(t, "Because.", says("another model"))
				if test.after > 0 {
					time.Sleep(test.after - 1)
					require.Equal(t, "So it is.", says("a"))
					time.Sleep(time.Nanosecond)
				}
				require.Equal(t, "Because.", says("a"))
			})
		})
	}
}

func TestThoseThatRestAreTriedLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := &scripted.Provider{Replies: append(fails(providers.Network), scripted.Reply{Text: "Because."})}
		second := &scripted.Provider{Replies: append(scripted.Text("So it is.").Replies, fails(providers.Network)...)}
		p := middleware.Fallback(middleware.Fallbacks{Alternatives: []middleware.Alternative{{second, "b"}}})(first)
		for _, want := range []string{"So it is.", "Because."} {
			res := calltest.Generate(t, p, request("a"))
			require.Equal(t, want, res.Text)
		}
	})
}

func TestWhereAllFailTheErrorIsThatWhichMayPass(t *testing.T) {
	for name, test := range map[string]struct {
		kinds []providers.ErrorKind
		kind  providers.ErrorKind
		text  string
	}{
		"one":                       {[]providers.ErrorKind{"authentication"}, "authentication", "authentication: as told"},
		"first transient":           {[]providers.ErrorKind{"authentication", "network", "timeout"}, "network", `network: call 3 models: "a": authentication: as told; "b": network: as told; "c": timeout: as told`},
		"none transient":            {[]providers.ErrorKind{"context_overflow", "authentication"}, "context_overflow", `context_overflow: call 2 models: "a": context_overflow: as told; "b": authentication: as told`},
		"stops at a kind not in On": {[]providers.ErrorKind{"network", "invalid_response", "network"}, "network", `network: call 2 models: "a": network: as told; "b": invalid_response: as told`},
	} {
		t.Run(name, func(t *testing.T) {
			f := middleware.Fallbacks{}
			for i, kind := range test.kinds[1:] {
				f.Alternatives = append(f.Alternatives, middleware.Alternative{&scripted.Provider{Replies: fails(kind)}, string(rune('b' + i))})
			}
			_, err := middleware.Fallback(f)(&scripted.Provider{Replies: fails(test.kinds[0])}).Generate(t.Context(), request("a"))
			require.EqualError(t, err, test.text)
			require.Equal(t, test.kind, providers.AsError(err).Kind)
		})
	}
}

func TestACallThatTheCallerEndsIsNoFailure(t *testing.T) {
	second := scripted.Text("So it is.", "So it is.")
	for name, end := range map[string]func(*providers.Request, context.CancelFunc) error{
		"by its context": func(r *providers.Request, cancel context.CancelFunc) error {
			r.OnChunk = nil
			cancel()
			return context.Canceled
		},
		"by OnChunk": func(r *providers.Request, _ context.CancelFunc) error {
			r.OnChunk = func(string) error { return errEnough }
			return errEnough
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := request("a")
			want := end(&r, cancel)
			first := scripted.Text("Because.", "Because.")
			p := middleware.Fallback(middleware.Fallbacks{Alternatives: []middleware.Alternative{{second, "b"}}})(first)
			_, err := p.Generate(ctx, r)
			require.ErrorIs(t, err, want)
			require.Empty(t, second.Calls())

			res := calltest.Generate(t, p, request("a"))
			require.Equal(t, "a", res.Model, "it does not rest")
		})
	}
}

func TestAProviderOfAnyTypeCanBeAnAlternative(t *testing.T) {
	p := middleware.Fallback(middleware.Fallbacks{Alternatives: []middleware.Alternative{{model(func(context.Context, providers.Request) (providers.Response, error) {
		return providers.Response{}, fmt.Errorf("plain")
	}), "b"}}})(&scripted.Provider{Replies: fails(providers.ServerError)})
	_, err := p.Generate(t.Context(), request("a"))
	require.EqualError(t, err, `server_error: call 2 models: "a": server_error: as told; "b": server_error: plain`)
}

func TestCheckAsksAboutAllAlternatives(t *testing.T) {
	p := middleware.Fallback(middleware.Fallbacks{Alternatives: []middleware.Alternative{
		{model(nil), "any"}, {nil, "b"}, {&scripted.Provider{Models: []string{"c"}}, "x"},
	}})(&scripted.Provider{Models: []string{"a", "b"}}).(providers.Checker)
	require.ErrorContains(t, p.Check(t.Context(), "x"), `invalid_request: scripted: unknown model "x"`)
	err := p.Check(t.Context(), "a")
	require.ErrorContains(t, err, `check alternative 3: invalid_request: scripted: unknown model "x"`)
	require.Equal(t, providers.InvalidRequest, providers.AsError(err).Kind)
}

// A guess stays a guess when all models have failed.
func TestFallbackKeepsAGuess(t *testing.T) {
	guess := &scripted.Provider{Replies: []scripted.Reply{{Err: &providers.Error{Kind: providers.ContextOverflow, Otherwise: providers.InvalidRequest, Err: errors.New("beyond me")}}}}
	p := middleware.Fallback(middleware.Fallbacks{Alternatives: []middleware.Alternative{{Provider: guess}}})(guess)
	_, err := p.Generate(t.Context(), request(""))
	require.Equal(t, providers.InvalidRequest, providers.AsError(err).Otherwise)
}

// unsaid is a provider that does not say what it reads.
type unsaid struct{ providers.Provider }

func TestFallbackAnswersForTheAttachmentsOfAllModels(t *testing.T) {
	shown := []providers.Message{{Role: providers.User, Parts: []providers.Part{{Attachment: &providers.Attachment{Name: "a.png", MediaType: "image/png", Data: []byte("1")}}}}}
	reads := &scripted.Provider{}
	for want, alternative := range map[string]providers.Provider{
		"": reads,
		"alternative 1: the provider does not say what it reads, implement providers.Limited": unsaid{reads},
	} {
		p := middleware.Wrap(reads, middleware.Fallback(middleware.Fallbacks{Alternatives: []middleware.Alternative{{Provider: alternative}}}))
		l := middleware.Wrap(p, middleware.Concurrency(1)).(providers.Limited)
		require.Equal(t, want, l.Unsupported(providers.Request{Messages: shown})["attachments"])
		require.Empty(t, l.Unsupported(providers.Request{}))
	}
}

// toolless is a provider whose models with a name call no tools.
type toolless struct{ providers.Provider }

func (toolless) Unsupported(r providers.Request) map[string]string {
	if len(r.Tools) == 0 || r.Model == "" {
		return nil
	}
	return map[string]string{"tools": "model " + r.Model + " calls none"}
}

func TestFallbackAnswersForTheToolsOfAllModels(t *testing.T) {
	calls := &scripted.Provider{}
	for want, alternative := range map[string]middleware.Alternative{
		"":                                  {Provider: toolless{calls}},
		"alternative 1: model b calls none": {Provider: toolless{calls}, Model: "b"},
	} {
		p := middleware.Wrap(calls, middleware.Concurrency(1), middleware.Fallback(middleware.Fallbacks{Alternatives: []middleware.Alternative{alternative}}))
		require.Equal(t, want, p.(providers.Limited).Unsupported(providers.Request{Tools: []providers.Tool{{Name: "today"}}})["tools"])
		require.Empty(t, p.(providers.Limited).Unsupported(providers.Request{}))
	}
}

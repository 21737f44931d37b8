package middleware_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/middleware"
	"github.com/elenchus-go/debate/transcript"
)

// clock is a provider that records when calls began. Each call takes the same time.
type clock struct {
	start time.Time
	took  time.Duration
	uses  int // tokens reported for each call; 0 for no report

	mu    sync.Mutex
	began []time.Duration
	names []string
	at    int // the calls that run now
	most  int // the most calls that ran at the same time
}

func (c *clock) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	c.mu.Lock()
	c.began = append(c.began, time.Since(c.start))
	c.names = append(c.names, r.Model)
	c.at++
	c.most = max(c.most, c.at)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.at--
		c.mu.Unlock()
	}()
	select {
	case <-time.After(c.took):
		return providers.Response{Usage: transcript.Usage{Output: c.uses}}, nil
	case <-ctx.Done():
		return providers.Response{}, providers.ContextError(ctx, providers.Response{})
	}
}

func seconds(n ...float64) (d []time.Duration) {
	for _, n := range n {
		d = append(d, time.Duration(n*float64(time.Second)))
	}
	return d
}

// queue starts calls in order, without waiting for each other, and waits for all of them.
func queue(t *testing.T, p providers.Provider, calls ...providers.Request) {
	var wg sync.WaitGroup
	for _, r := range calls {
		wg.Go(func() {
			if _, err := p.Generate(t.Context(), r); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
	}
	wg.Wait()
}

func TestRequestsBeginAsFastAsTheLimitAllows(t *testing.T) {
	for name, test := range map[string]struct {
		limits middleware.PerMinute
		want   []time.Duration
	}{
		"none":              {middleware.PerMinute{}, seconds(0, 0, 0, 0, 0)},
		"burst of a minute": {middleware.PerMinute{Requests: 3}, seconds(0, 0, 0, 20, 40)},
		"burst of two":      {middleware.PerMinute{Requests: 60, Burst: 2 * time.Second}, seconds(0, 0, 1, 2, 3)},
		"no burst":          {middleware.PerMinute{Requests: 30, Burst: time.Nanosecond}, seconds(0, 2, 4, 6, 8)},
		"odd number":        {middleware.PerMinute{Requests: 7, Burst: time.Second}, []time.Duration{0, 8571428571, 17142857143, 25714285714, 34285714286}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &clock{start: time.Now(), took: time.Hour}
				queue(t, middleware.RateLimit(test.limits)(c), make([]providers.Request, 5)...)
				require.Equal(t, test.want, c.began)
			})
		})
	}
}

func TestTokensAreTakenBeforeACallAndSettledAfterIt(t *testing.T) {
	calls := func(tokens ...int) (calls []providers.Request) {
		for _, n := range tokens {
			calls = append(calls, providers.Request{MaxTokens: n})
		}
		return calls
	}
	limit := middleware.PerMinute{Tokens: 600, MaxWait: time.Hour} // 10 a second
	for name, test := range map[string]struct {
		took  time.Duration
		uses  int
		calls []providers.Request
		want  []time.Duration
	}{
		"estimate is exact":                      {5 * time.Second, 300, calls(300, 300, 300, 300), seconds(0, 0, 30, 60)},
		"fewer tokens, next call starts earlier": {5 * time.Second, 100, calls(300, 300, 300, 300), seconds(0, 0, 5, 10)},
		"more tokens, next call starts later":    {5 * time.Second, 400, calls(300, 300, 300, 300), seconds(0, 0, 50, 90)},
		"fewer tokens, no call waiting":          {0, 100, calls(600, 500, 400), seconds(0, 0, 0)},
		"more than the bucket holds":             {time.Hour, 900, calls(900, 10, 600), seconds(0, 31, 91)},
		"many times the bucket":                  {time.Hour, 6000, calls(6000, 0), seconds(0, 540)},
		"first come first served":                {time.Hour, 600, calls(600, 600, 1), seconds(0, 60, 60.1)},
		"no limit and no prompt":                 {time.Hour, 0, calls(0, 0, 0), seconds(0, 0, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &clock{start: time.Now(), took: test.took, uses: test.uses}
				queue(t, middleware.RateLimit(limit)(c), test.calls...)
				require.Equal(t, test.want, c.began)
			})
		})
	}
}

func TestBothLimitsHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clock{start: time.Now(), took: time.Hour, uses: 10}
		r := providers.Request{MaxTokens: 10}
		p := middleware.RateLimit(middleware.PerMinute{Requests: 60, Tokens: 120, Burst: 10 * time.Second})(c)
		queue(t, p, r, r, r, providers.Request{}, r) // 20 tokens at once, then 2 a second; 10 calls at once
		require.Equal(t, seconds(0, 0, 5, 5, 10), c.began)
	})
}

func TestACallIsCountedAsWhatIsKnownOfIt(t *testing.T) {
	prompt := ask("Why are there cars in cities?")
	estimate := window.Estimate(prompt.Messages[0].Text)
	prompt.MaxTokens = 600 - estimate // the whole bucket
	for name, test := range map[string]struct {
		res  providers.Response
		err  error
		used int
	}{
		"reported":               {providers.Response{Usage: transcript.Usage{Input: 100, Output: 200, Cached: 90, Reasoning: 90}}, nil, 300},
		"not reported":           {providers.Response{Text: "1234567890"}, nil, estimate + window.Estimate("1234567890")},
		"failed, reported":       {providers.Response{}, &providers.Error{Kind: providers.Network, Partial: providers.Response{Usage: transcript.Usage{Input: 100}}}, 100},
		"failed after some text": {providers.Response{}, &providers.Error{Kind: providers.Network, Partial: providers.Response{Text: "1234567890"}}, estimate + window.Estimate("1234567890")},
		"failed":                 {providers.Response{}, errors.New("boom"), estimate},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := middleware.RateLimit(middleware.PerMinute{Tokens: 600})(model(func(context.Context, providers.Request) (providers.Response, error) {
					return test.res, test.err
				}))
				_, _ = p.Generate(t.Context(), prompt)
				began := time.Now()
				_, _ = p.Generate(t.Context(), prompt)
				require.Equal(t, time.Duration(test.used)*100*time.Millisecond, time.Since(began).Round(time.Millisecond))
			})
		})
	}
}

func TestAWaitBeyondPatienceIsRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clock{start: time.Now()}
		p := middleware.RateLimit(middleware.PerMinute{Requests: 1, MaxWait: 59 * time.Second})(c)
		calltest.Generate(t, p, providers.Request{})
		_, err := p.Generate(t.Context(), providers.Request{})
		require.Equal(t, providers.RateLimit, providers.AsError(err).Kind)
		require.Equal(t, time.Minute, providers.AsError(err).RetryAfter)
		require.Len(t, c.began, 1)
	})
}

func TestAWaitBeyondTheDeadlineIsRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clock{start: time.Now()}
		p := middleware.RateLimit(middleware.PerMinute{Requests: 6, Burst: time.Second})(c) // every 10 s
		try := func(within time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			_, err := p.Generate(ctx, providers.Request{})
			return err
		}
		require.NoError(t, try(time.Second))

		began := time.Now()
		err := try(10 * time.Second)
		require.Zero(t, time.Since(began))
		require.EqualError(t, err, "rate_limit: wait for the rate limit: 10s is longer than the call may wait")
		require.Equal(t, 10*time.Second, providers.AsError(err).RetryAfter)

		go func() { _ = try(11 * time.Second) }() // waits, and counts as a call ahead of the next one
		synctest.Wait()
		require.Equal(t, 20*time.Second, providers.AsError(try(11*time.Second)).RetryAfter)
		require.NoError(t, try(21*time.Second))
		require.Equal(t, seconds(0, 10, 20), c.began)
	})
}

func TestTheFirstOfTheQueueIsRefusedWhereItTurnsOutThatTheWaitIsTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clock{start: time.Now(), took: time.Second, uses: 1200}
		p := middleware.RateLimit(middleware.PerMinute{Tokens: 600})(c)
		go func() { _, _ = p.Generate(t.Context(), providers.Request{MaxTokens: 600}) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
		defer cancel()
		_, err := p.Generate(ctx, providers.Request{MaxTokens: 300}) // 30 s, but the first call used twice what it took
		require.Equal(t, providers.RateLimit, providers.AsError(err).Kind)
		require.Equal(t, 60*time.Second, providers.AsError(err).RetryAfter)
		require.Equal(t, 30*time.Second, time.Since(c.start))
	})
}

func TestACallThatGivesUpItsPlaceTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clock{start: time.Now(), took: time.Hour}
		p := middleware.RateLimit(middleware.PerMinute{Requests: 60, Burst: time.Nanosecond})(c)
		ctx, cancel := context.WithCancelCause(t.Context())
		var wg sync.WaitGroup
		for i := range 5 {
			wg.Go(func() {
				if i == 1 || i == 2 { // the first call in the queue and the next one
					_, err := p.Generate(ctx, providers.Request{})
					if !errors.Is(err, errEnough) {
						t.Error(err)
					}
				} else if _, err := p.Generate(t.Context(), providers.Request{}); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		time.Sleep(500 * time.Millisecond)
		cancel(errEnough)
		wg.Wait()
		require.Equal(t, seconds(0, 1, 2), c.began)
	})
}

func TestProvidersOfOneMiddlewareShareItsLimit(t *testing.T) {
	for name, make := range map[string]func() middleware.Middleware{
		"rate limit":  func() middleware.Middleware { return middleware.RateLimit(middleware.PerMinute{Requests: 2}) },
		"concurrency": func() middleware.Middleware { return middleware.Concurrency(2) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := make()
				c := &clock{start: time.Now(), took: 30 * time.Second}
				a, b := m(c), m(c)
				var wg sync.WaitGroup
				for _, p := range []providers.Provider{a, b, a} {
					wg.Go(func() { _, _ = p.Generate(t.Context(), providers.Request{}) })
					synctest.Wait()
				}
				wg.Wait()
				require.Equal(t, seconds(0, 0, 30), c.began)
			})
		})
	}
}

func TestAtMostSoManyCallsAtOnceFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clock{start: time.Now(), took: 10 * time.Second}
		calls := make([]providers.Request, 7)
		for i := range calls {
			calls[i].Model = string(rune('a' + i))
		}
		queue(t, middleware.Concurrency(3)(c), calls...)
		require.Equal(t, 3, c.most)
		require.Equal(t, seconds(0, 0, 0, 10, 10, 10, 20), c.began)
		require.ElementsMatch(t, []string{"d", "e", "f"}, c.names[3:6])
		require.Equal(t, "g", c.names[6])
	})
}

func TestAnEndedContextLeavesTheQueueForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clock{start: time.Now(), took: time.Hour}
		p := middleware.Concurrency(1)(c)
		go func() { _, _ = p.Generate(t.Context(), providers.Request{}) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.Generate(ctx, providers.Request{})
		require.Equal(t, providers.Timeout, providers.AsError(err).Kind)
		require.Equal(t, time.Second, time.Since(c.start))

		calltest.Generate(t, p, providers.Request{})
		require.Equal(t, seconds(0, 3600), c.began)
	})
}

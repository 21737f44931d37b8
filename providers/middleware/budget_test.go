package middleware_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/middleware"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/transcript"
)

// promptOf returns a request whose reply may have 100 tokens.
func promptOf(text string) providers.Request {
	return providers.Request{Model: "m", MaxTokens: 100, Messages: []providers.Message{{Role: providers.User, Text: text}}}
}

// spender takes a minute for each call, uses its whole limit, and counts the tokens in progress.
func spender(calls *atomic.Int64) providers.Provider {
	return debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
		calls.Add(1)
		time.Sleep(time.Minute)
		return providers.Response{Text: "Yes.", Usage: transcript.Usage{Input: window.Estimate(r.Messages[0].Text), Output: r.MaxTokens}}, nil
	})
}

func TestABudgetIsNeverExceededByConcurrentCalls(t *testing.T) {
	for name, b := range map[string]*middleware.Budget{
		"tokens": {Tokens: 1000},
		"cost":   {Cost: 0.001, Prices: price.Prices{"m": {Input: 1, Output: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls, refused atomic.Int64
				p, other := b.Limit(spender(&calls)), b.Limit(spender(&calls))
				var wg sync.WaitGroup
				for i := range 50 {
					wg.Go(func() {
						model := []providers.Provider{p, other}[i%2]
						if _, err := model.Generate(t.Context(), promptOf("Why is that?")); err != nil {
							require.Equal(t, providers.Billing, providers.AsError(err).Kind)
							require.ErrorContains(t, err, "raise the limit of Budget")
							refused.Add(1)
						}
					})
				}
				wg.Wait()
				require.EqualValues(t, 9, calls.Load())
				require.EqualValues(t, 41, refused.Load())
				u := b.Used()
				require.LessOrEqual(t, u.Input+u.Output, 1000)
				require.LessOrEqual(t, u.Cost, 0.001)
			})
		})
	}
}

func TestABudgetSettlesWhatCallsUse(t *testing.T) {
	b := &middleware.Budget{Tokens: 250}
	fails := b.Limit(debatetest.ProviderFunc(func(context.Context, providers.Request) (providers.Response, error) {
		return providers.Response{}, &providers.Error{Kind: providers.Network, Err: errors.New("down")}
	}))
	for range 10 {
		_, err := fails.Generate(t.Context(), promptOf("Why?"))
		require.Equal(t, providers.Network, providers.AsError(err).Kind, "a call without usage gives its reservation back")
	}
	panics := b.Limit(debatetest.ProviderFunc(func(context.Context, providers.Request) (providers.Response, error) { panic("no") }))
	require.Panics(t, func() { _, _ = panics.Generate(t.Context(), promptOf("Why?")) })
	require.Positive(t, b.Used().Output, "nobody knows what it has used")
	long := b.Limit(debatetest.ProviderFunc(func(context.Context, providers.Request) (providers.Response, error) {
		return providers.Response{Text: "Yes.", Usage: transcript.Usage{Input: 50, Output: 1}}, nil
	}))
	_, err := long.Generate(t.Context(), promptOf("Why?"))
	require.NoError(t, err)
	_, err = long.Generate(t.Context(), promptOf("Why?"))
	require.Equal(t, providers.Billing, providers.AsError(err).Kind, "the service counts more tokens than estimated")
}

func TestACallThatWaitsForABudgetCanBeCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		b := &middleware.Budget{Tokens: 150}
		p := b.Limit(spender(&calls))
		go func() { _, _ = p.Generate(t.Context(), promptOf("Why?")) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.Generate(ctx, promptOf("Why?"))
		require.Error(t, err)
		require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
		require.EqualValues(t, 1, calls.Load())
		time.Sleep(2 * time.Minute)
	})
}

func TestABudgetInMoneyNeedsPrices(t *testing.T) {
	b := &middleware.Budget{Cost: 1}
	_, err := b.Limit(spender(new(atomic.Int64))).Generate(t.Context(), promptOf("Why?"))
	require.ErrorContains(t, err, `"m" has no price, add it to Budget.Prices`)
}

// A debate whose budget is used up stops with the error, and continues with a larger one.
func TestADebateStopsAtASharedBudget(t *testing.T) {
	b := &middleware.Budget{Tokens: 12_000}
	model := b.Limit(&debatetest.DigestModel{Names: []string{"A", "B"}})
	c := debatetest.PairConfig(nil)
	c.Limits = debate.Limits{MinRounds: 5, MaxRounds: 5, StepTokens: 1000, JudgeTokens: 1000}
	d := debatetest.New(t, c, debate.Options{Providers: map[string]providers.Provider{"m": model, "j": model}})
	_, err := debatetest.Run(t, d)
	require.ErrorContains(t, err, "raise the limit of Budget")
	require.Equal(t, fsm.Error, debatetest.Result(t, d).State)
	b.Tokens = 0
	require.NoError(t, d.Retry(t.Context()))
	debatetest.Finish(t, d)
	require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
}

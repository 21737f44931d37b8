package middleware_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/middleware"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

func TestAMeterCountsCallsErrorsTokensTimeAndMoneyByModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &middleware.Meter{Prices: price.Prices{"a": {Input: 2, Cached: 0.5, Output: 8}, "free": {}}}
		usage := transcript.Usage{Input: 3000, Cached: 1000, Output: 500, Reasoning: 100}
		p := m.Measure(&scripted.Provider{Replies: []scripted.Reply{
			{Text: "Because.", Usage: usage, Latency: 2 * time.Second},
			{Text: "Bec", Usage: usage, Latency: time.Second, Err: &providers.Error{Kind: providers.Network}},
			{Err: &providers.Error{Kind: providers.Network}},
			{Err: errors.New("boom")},
			{Text: "Because.", Usage: usage},
			{Text: "Because.", Usage: usage},
		}})
		for _, name := range []string{"a-2026-01-31", "a-2026-01-31", "a-2026-01-31", "a-2026-01-31", "free", "other"} {
			r := ask("Why?")
			r.Model = name
			_, _ = p.Generate(t.Context(), r)
		}
		got := debatetest.Encode(t, m.Metrics())
		require.JSONEq(t, `{
			"total": {
				"calls": 6, "errors": {"network": 2, "server_error": 1}, "duration": 3000000000, "cost": null, "unpriced": 1,
				"usage": {"input": 12000, "cached": 4000, "output": 2000, "reasoning": 400}
			},
			"models": {
				"a-2026-01-31": {
					"calls": 4, "errors": {"network": 2, "server_error": 1}, "duration": 3000000000, "cost": 0.017,
					"usage": {"input": 6000, "cached": 2000, "output": 1000, "reasoning": 200}
				},
				"free": {"calls": 1, "duration": 0, "cost": 0, "usage": {"input": 3000, "cached": 1000, "output": 500, "reasoning": 100}},
				"other": {"calls": 1, "duration": 0, "cost": null, "unpriced": 1, "usage": {"input": 3000, "cached": 1000, "output": 500, "reasoning": 100}}
			}
		}`, got)
	})
}

func TestAMeterThatHasCountedNothing(t *testing.T) {
	got := debatetest.Encode(t, new(middleware.Meter).Metrics())
	require.JSONEq(t, `{"total": {"calls": 0, "usage": {"input": 0, "output": 0}, "duration": 0, "cost": 0}, "models": {}}`, got)
}

func TestTextWithoutAReportIsEstimated(t *testing.T) {
	m := &middleware.Meter{Prices: price.Prices{"a": {Input: 1e6}}}
	for _, err := range []error{nil, &providers.Error{Kind: providers.Network, Partial: providers.Response{Text: "Because."}}} {
		_, _ = m.Measure(model(func(context.Context, providers.Request) (providers.Response, error) {
			return providers.Response{Text: "Because."}, err
		})).Generate(t.Context(), request("a"))
	}
	s := m.Metrics()
	in, out := window.Estimate("Why?"), window.Estimate("Because.")
	require.Equal(t, transcript.Usage{Input: 2 * in, Output: 2 * out, Estimated: true}, s.Total.Usage)
	require.InDelta(t, float64(2*in), *s.Total.Cost, 1e-9)
}

func TestAMeterCountsUnderTheNameOfTheModelThatAnswered(t *testing.T) {
	m := &middleware.Meter{Prices: price.Prices{"asked": {Input: 1}}}
	told := providers.Response{Model: "told", Usage: transcript.Usage{Input: 1}}
	for _, test := range []struct {
		res providers.Response
		err error
	}{{told, nil}, {providers.Response{}, &providers.Error{Kind: providers.ServerError, Partial: told}}} {
		_, _ = m.Measure(model(func(context.Context, providers.Request) (providers.Response, error) { return test.res, test.err })).Generate(t.Context(), request("asked"))
	}
	s := m.Metrics()
	require.Len(t, s.Models, 1)
	require.Equal(t, 2, s.Models["told"].Calls)
	require.Nil(t, s.Models["told"].Cost, "the price of another model is not its own")
}

func TestACallThatTheCallerEndedIsNoError(t *testing.T) {
	m := &middleware.Meter{}
	p := m.Measure(scripted.Text("Because."))
	r := request("a")
	r.OnChunk = func(string) error { return errEnough }
	_, _ = p.Generate(t.Context(), r)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = p.Generate(ctx, request("a"))
	require.Equal(t, 2, m.Metrics().Total.Calls)
	require.Equal(t, 2, m.Metrics().Total.Canceled)
	require.Empty(t, m.Metrics().Total.Errors)
}

func TestASnapshotSharesNothingWithTheMeter(t *testing.T) {
	m := &middleware.Meter{Prices: price.Prices{"a": {Input: 1e6}}}
	p := m.Measure(&scripted.Provider{Replies: append(fails(providers.ServerError, providers.ServerError), scripted.Reply{Text: "x", Usage: transcript.Usage{Input: 7}})})
	_, _ = p.Generate(t.Context(), request("a"))
	s := m.Metrics()
	for range 2 {
		_, _ = p.Generate(t.Context(), request("a"))
	}
	require.Equal(t, 1, s.Models["a"].Errors[providers.ServerError])
	require.Equal(t, 1, s.Total.Errors[providers.ServerError])
	require.Zero(t, *s.Models["a"].Cost)
	require.InDelta(t, 7, *m.Metrics().Models["a"].Cost, 1e-9)
}

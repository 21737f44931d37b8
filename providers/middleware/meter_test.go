package middleware_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/context/window"
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
		got, err := json.Marshal(m.Snapshot())
		require.NoError(t, err)
		require.JSONEq(t, `{
			"total": {
				"calls": 6, "errors": {"network": 2, "api_error": 1}, "time": 3000000000, "money": null, "unpriced": 1,
				"usage": {"input": 12000, "cached": 4000, "output": 2000, "reasoning": 400}
			},
			"models": {
				"a-2026-01-31": {
					"calls": 4, "errors": {"network": 2, "api_error": 1}, "time": 3000000000, "money": 0.017,
					"usage": {"input": 6000, "cached": 2000, "output": 1000, "reasoning": 200}
				},
				"free": {"calls": 1, "time": 0, "money": 0, "usage": {"input": 3000, "cached": 1000, "output": 500, "reasoning": 100}},
				"other": {"calls": 1, "time": 0, "money": null, "unpriced": 1, "usage": {"input": 3000, "cached": 1000, "output": 500, "reasoning": 100}}
			}
		}`, string(got))
	})
}

func TestAMeterThatHasCountedNothing(t *testing.T) {
	got, err := json.Marshal(new(middleware.Meter).Snapshot())
	require.NoError(t, err)
	require.JSONEq(t, `{"total": {"calls": 0, "usage": {"input": 0, "output": 0}, "time": 0, "money": 0}, "models": {}}`, string(got))
}

func TestTextWithoutAReportIsEstimated(t *testing.T) {
	m := &middleware.Meter{Prices: price.Prices{"a": {Input: 1e6}}}
	for _, err := range []error{nil, &providers.Error{Kind: providers.Network, Partial: providers.Response{Text: "Because."}}} {
		_, _ = m.Measure(model(func(context.Context, providers.Request) (providers.Response, error) {
			return providers.Response{Text: "Because."}, err
		})).Generate(t.Context(), request("a"))
	}
	s := m.Snapshot()
	in, out := window.Estimate("Why?"), window.Estimate("Because.")
	require.Equal(t, transcript.Usage{Input: 2 * in, Output: 2 * out, Estimated: true}, s.Total.Usage)
	require.InDelta(t, float64(2*in), *s.Total.Money, 1e-9)
}

func TestAMeterCountsUnderTheNameOfTheModelThatAnswered(t *testing.T) {
	m := &middleware.Meter{Prices: price.Prices{"asked": {Input: 1}}}
	told := providers.Response{Model: "told", Usage: transcript.Usage{Input: 1}}
	for _, test := range []struct {
		res providers.Response
		err error
	}{{told, nil}, {providers.Response{}, &providers.Error{Kind: providers.API, Partial: told}}} {
		_, _ = m.Measure(model(func(context.Context, providers.Request) (providers.Response, error) { return test.res, test.err })).Generate(t.Context(), request("asked"))
	}
	s := m.Snapshot()
	require.Len(t, s.Models, 1)
	require.Equal(t, 2, s.Models["told"].Calls)
	require.Nil(t, s.Models["told"].Money, "the price of another model is not its own")
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
	require.Equal(t, 2, m.Snapshot().Total.Calls)
	require.Equal(t, 2, m.Snapshot().Total.Ended)
	require.Empty(t, m.Snapshot().Total.Errors)
}

func TestASnapshotSharesNothingWithTheMeter(t *testing.T) {
	m := &middleware.Meter{Prices: price.Prices{"a": {Input: 1e6}}}
	p := m.Measure(&scripted.Provider{Replies: append(fails(providers.API, providers.API), scripted.Reply{Text: "x", Usage: transcript.Usage{Input: 7}})})
	_, _ = p.Generate(t.Context(), request("a"))
	s := m.Snapshot()
	for range 2 {
		_, _ = p.Generate(t.Context(), request("a"))
	}
	require.Equal(t, 1, s.Models["a"].Errors[providers.API])
	require.Equal(t, 1, s.Total.Errors[providers.API])
	require.Zero(t, *s.Models["a"].Money)
	require.InDelta(t, 7, *m.Snapshot().Models["a"].Money, 1e-9)
}

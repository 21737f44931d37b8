package enginetest

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
)

// estimate returns the estimate of a debate whose model must not be called.
func estimate(t *testing.T, c debate.Config) debate.Estimate {
	t.Helper()
	uncalled := debatetest.ProviderFunc(func(context.Context, providers.Request) (providers.Response, error) {
		t.Error("a model was called")
		return providers.Response{}, &providers.Error{Kind: providers.ServerError}
	})
	d := debatetest.New(t, c, debate.Options{Providers: map[string]providers.Provider{"m": uncalled}})
	e, err := d.Estimate(t.Context())
	require.NoError(t, err)
	return e
}

// A debate whose model replies at its limit uses no more than the worst case. The seats are those that are called.
func TestNoDebateUsesMoreThanItsEstimate(t *testing.T) {
	sample := NewSample(t, 1)
	for name, cfg := range budgetConfigs() {
		if cfg.History.UsesSummaries() || !sample.Tries("preset") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			cfg.Limits.StepTokens, cfg.Limits.JudgeTokens = 1000, 1000
			cfg.Prices = price.Prices{"": {Input: 2, Written: 2.5, Output: 8}}
			e := estimate(t, cfg)
			calls := new(atomic.Int64)
			greedy := greedyModel(cfg)
			counted := debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
				calls.Add(1)
				return greedy.Generate(ctx, r)
			})
			d := debatetest.New(t, cfg, debate.Options{Providers: map[string]providers.Provider{"m": counted}})
			r := debatetest.RunResult(t, d)
			require.Equal(t, fsm.Completed, r.State)
			failed := 0
			used := r.Total.Usage
			for _, turn := range r.Turns {
				for _, a := range turn.Attempts {
					if a.ErrorKind != "" {
						failed++
						used.Input -= a.Usage.Input
						used.Output -= a.Usage.Output
						used.Cost -= a.Usage.Cost
					}
				}
			}
			require.LessOrEqual(t, int(calls.Load())-failed, e.Worst.Calls)
			require.LessOrEqual(t, used.Input, e.Worst.Input)
			require.LessOrEqual(t, used.Output, e.Worst.Output)
			require.LessOrEqual(t, used.Cost, e.Worst.Cost+1e-9)
			require.LessOrEqual(t, e.Likely.Cost, e.Worst.Cost)
			var seats, called []string
			for _, s := range e.Seats {
				seats = append(seats, s.Name)
			}
			for _, turn := range r.Turns {
				if turn.Usage.Output > 0 {
					called = append(called, turn.Actor)
				}
			}
			require.Subset(t, seats, called)
		})
	}
}

func TestAnEstimateOfAShortDebate(t *testing.T) {
	c := presetConfig(panel.Protocol{}, 2, "Ada", "Bo")
	c.Judges = c.Judges[:1]
	c.Participants[0].Model, c.Judges[0].Model = "small", "large"
	c.Prices = price.Prices{"small": {Input: 1, Output: 2}, "large": {Input: 10, Output: 20}}
	e := estimate(t, c)
	require.Equal(t, []string{"m"}, e.Unpriced, "the default model of Bo has no price")
	require.Equal(t, 7, e.Likely.Calls, "two rounds of two speeches and an assessment, and a verdict")
	require.Equal(t, 7*400, e.Likely.Output)
	require.Len(t, e.Seats, 3)
	ada := e.Seats[0]
	bo := e.Seats[1]
	jo := e.Seats[2]
	require.Equal(t, []string{"Ada", "Bo", "J"}, []string{ada.Name, bo.Name, jo.Name})
	require.Equal(t, "large", jo.Model)
	require.Equal(t, 3, jo.Likely.Calls)
	require.InDelta(t, (float64(jo.Likely.Input)*10+1200*20)/1e6, jo.Likely.Cost, 1e-9)
	require.Zero(t, bo.Likely.Cost)
	require.InDelta(t, ada.Likely.Cost+jo.Likely.Cost, e.Likely.Cost, 1e-9)
	require.Greater(t, jo.Prompt, ada.Prompt)

	c.Background = strings.Repeat("It is known. ", 1000)
	require.Greater(t, estimate(t, c).Seats[0].Prompt, ada.Prompt+2000)
	c.Limits.Cost = e.Worst.Cost / 2
	c.Prices["m"], c.Participants[1].Model = price.Price{Input: 1, Output: 1}, "m"
	c.Background = ""
	require.InDelta(t, c.Limits.Cost, estimate(t, c).Worst.Cost, 1e-9, "a budget ends the debate before")
}

// A debate of very many rounds is estimated at once.
func TestAnEstimateOfManyRounds(t *testing.T) {
	c := presetConfig(panel.Protocol{}, 10_000, "Ada", "Bo")
	c.Judges = c.Judges[:1]
	require.Equal(t, 30_001, estimate(t, c).Likely.Calls)
}

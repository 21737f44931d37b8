package influence_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval/influence"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// The report says what samples wait for that need a person.
func TestSamplesThatWaitForADecision(t *testing.T) {
	for _, continued := range []bool{true, false} {
		o, _, _, _ := discussed(t, func(c *debate.Config) { c.OnFailure, c.OnJudgeFailure = debate.Ask, debate.Ask })
		m := o.Providers["m"]
		o.Providers = map[string]providers.Provider{"m": debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
			if s, _ := debate.StepFrom(ctx); s.Debate != "cars" {
				return providers.Response{}, &providers.Error{Kind: providers.InvalidRequest, Err: errors.New("no such model")}
			}
			return m.Generate(ctx, r)
		})}
		p := debatetest.Call(t, influence.Analysis{ID: "cars", Continued: continued, Samples: 1, Largest: 10}.Run, o)
		require.Contains(t, p.Incomplete, " samples are missing; debates with the label influence=cars wait for a decision: ")
		require.Contains(t, p.Incomplete, "no such model")
	}
}

// Debates that go on are refused if all models have temperature 0: samples would repeat one another.
func TestColdDebatesDoNotGoOn(t *testing.T) {
	cold := func(list []debate.Participant) {
		for i := range list {
			list[i].Temperature = new(0.)
		}
	}
	o, _, _, cfg := discussed(t, func(c *debate.Config) {
		cold(c.Participants)
		cold(c.Judges)
		c.Participants = append(c.Participants, debate.Participant{Name: "D", Model: "x", Disabled: true})
	})
	_, err := influence.Analysis{ID: "cars", Continued: true}.Plan(t.Context(), o)
	require.ErrorContains(t, err, "all models have temperature 0, so samples would repeat one another")
	cfg.Judges[0].Temperature = new(1.)
	debatetest.Call(t, influence.Analysis{ID: "cars", Continued: true, Judges: cfg.Judges}.Plan, o)
	o, _, _, _ = discussed(t, func(c *debate.Config) { cold(c.Judges) })
	debatetest.Call(t, influence.Analysis{ID: "cars", Continued: true}.Plan, o)
}

// Two seats are offered together only if others remain, and in a debate that goes on only if two others do.
func TestPairsOfSeatsAreOffered(t *testing.T) {
	three, _, _, _ := discussed(t, func(*debate.Config) {})
	four, _, _, _ := discussed(t, func(c *debate.Config) {
		c.Participants = append(c.Participants, debate.Participant{Name: "D", Position: "d", Model: "x"})
	})
	two, _ := decided(t, trial())
	for _, x := range []struct {
		options            debate.Options
		continued, offered bool
	}{{two, false, false}, {three, false, true}, {three, true, false}, {four, true, true}} {
		p := debatetest.Call(t, influence.Analysis{ID: "cars", Seats: true, Samples: 1, Continued: x.continued}.Run, x.options)
		require.Equal(t, x.offered, strings.Contains(strings.Join(p.Summary, " "), "ask for the two largest together"), "%+v", p.Summary)
	}
}

// held runs a debate with the id cars to its end. It returns the options and the engine, and a count of the calls.
func held(t *testing.T, cfg debate.Config) (debate.Options, *debate.Engine, *atomic.Int64) {
	t.Helper()
	calls := new(atomic.Int64)
	cfg.ID = "cars"
	m := &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		calls.Add(1)
		return scripted.Reply{Text: enginetest.PresetReply(cfg, r)}
	}}
	o := debate.Options{Store: store.Memory(), Providers: map[string]providers.Provider{"m": m}}
	e := debatetest.Engine(t, o)
	d := debatetest.Create(t, e, cfg)
	debatetest.Finish(t, d)
	return o, e, calls
}

// The calls of debates of all presets are announced: exactly as many are made if all items are sampled at once.
func TestCallsOfAllPresetsAreAnnounced(t *testing.T) {
	analyzed := 0
	for name, cfg := range enginetest.PresetConfigs() {
		t.Run(name, func(t *testing.T) {
			o, _, calls := held(t, cfg)
			for _, a := range []influence.Analysis{{Largest: 100}, {Largest: 100, Continued: true}, {Seats: true, Continued: true}} {
				a.ID, a.Samples = "cars", 1
				plan, err := a.Plan(t.Context(), o)
				if err != nil { // such as that its judges give no scores
					continue
				}
				analyzed++
				calls.Store(0)
				p := debatetest.Call(t, a.Run, o)
				require.Empty(t, p.Incomplete)
				require.Empty(t, p.Failures)
				if a.Continued && cfg.History.Manager != "" { // without a turn, less is summarized
					require.LessOrEqual(t, int(calls.Load()), plan.Calls)
				} else {
					require.EqualValues(t, plan.Calls, calls.Load())
				}
			}
		})
	}
	require.Greater(t, analyzed, 20)
}

// A sample in which a default stands in for a judge does not count. A debate that defaults decided is refused.
func TestDefaultsDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // failed calls are tried again after a wait
		refused := &providers.Error{Kind: providers.ContentFiltered, Err: errors.New("refused")}
		c := trial()
		o, _ := decided(t, c)
		fails := func(id string) bool { return id[len(id)-1] < '5' }
		c.fail = func(s debate.Step, _ providers.Request) error {
			if s.Key.Actor == "K" && fails(s.Debate) {
				return refused
			}
			return nil
		}
		p := debatetest.Call(t, influence.Analysis{ID: "cars", Largest: 10, Samples: 6}.Run, o)
		failed := 0
		for _, s := range samples(t, o) {
			if fails(s.ID) {
				failed++
			}
		}
		require.Positive(t, failed)
		require.Contains(t, p.Failures[0], ": K gave no valid reply")
		counted := p.Effects[0].Whole
		for _, e := range p.Effects {
			counted += e.Samples
		}
		require.Equal(t, 66-failed, counted)

		c = trial()
		c.fail = func(s debate.Step, _ providers.Request) error {
			if s.Key.Actor == "J" || s.Key.Actor == "K" {
				return refused
			}
			return nil
		}
		o, _ = decided(t, c)
		_, err := influence.Analysis{ID: "cars"}.Plan(t.Context(), o)
		require.ErrorContains(t, err, "its judges gave no valid reply")
	})
}

// A debate in which too many participants failed has a verdict too, and its samples have the same course.
func TestTheQuorumWasLost(t *testing.T) {
	c := trial()
	c.fail = func(s debate.Step, _ providers.Request) error {
		if s.Key.Actor == "Bo" && s.Key.Round == 2 {
			return &providers.Error{Kind: providers.ContentFiltered, Err: errors.New("refused")}
		}
		return nil
	}
	o, parent := decided(t, c)
	require.Equal(t, transcript.QuorumLost, parent.Ending.Outcome)
	p := debatetest.Call(t, influence.Analysis{ID: "cars", Samples: 6}.Run, o)
	require.Empty(t, p.Failures)
	for _, e := range p.Effects {
		require.Equal(t, 6, e.Samples)
	}
}

// With a limit of cost, only the calls of the judges need prices: what participants cost in the debate is not of the samples.
func TestPricesOfParticipantsAreNotNeeded(t *testing.T) {
	c := trial()
	o, parent := decided(t, c, func(cfg *debate.Config) { cfg.Prices = price.Prices{"y": {Input: 1, Output: 1}} })
	require.True(t, parent.Total.Usage.Unpriced)
	p := debatetest.Call(t, influence.Analysis{ID: "cars", MaxCost: 1}.Run, o)
	require.Empty(t, p.Incomplete)
	require.InDelta(t, p.Plan.Cost, p.Cost, 1e-9)
}

// Judges without a temperature get that of the protocol. If it is 0, they are refused, unless they reason: then the service chooses.
func TestJudgesGetTheTemperatureOfTheProtocol(t *testing.T) {
	for preset, cold := range map[string]bool{"oversight": true, "panel": false} {
		cfg := enginetest.PresetConfigs()[preset]
		o, _, _ := held(t, cfg)
		a := influence.Analysis{ID: "cars", Judges: slices.Clone(cfg.Judges)}
		for i := range a.Judges {
			a.Judges[i].Temperature = nil
		}
		_, err := a.Plan(t.Context(), o)
		if cold {
			require.ErrorContains(t, err, "the judges have temperature 0")
			for i := range a.Judges {
				a.Judges[i].Reasoning = "low"
			}
			_, err = a.Plan(t.Context(), o)
		}
		require.NoError(t, err)
	}
}

// Samples by which items may have been chosen are not those of an analysis of these items.
func TestChosenItemsHaveSamplesOfTheirOwn(t *testing.T) {
	c := trial()
	o, _ := decided(t, c)
	p := debatetest.Call(t, influence.Analysis{ID: "cars"}.Run, o)
	before := len(samples(t, o))
	chosen := influence.Analysis{ID: "cars", Pairs: true}
	for _, e := range p.Effects[:2] {
		chosen.Items.Turns = append(chosen.Items.Turns, e.Items[0].Keys...)
	}
	debatetest.Call(t, chosen.Run, o)
	require.Len(t, samples(t, o), before+3*20+2*20)
}

// What the debate used for a participant who then dropped out is not of the samples.
func TestTheUsageOfDropsIsNotOfTheSamples(t *testing.T) {
	var calls atomic.Int64 // of samples
	o, _, d, _ := discussed(t, func(*debate.Config) {})
	m := o.Providers["m"]
	o.Providers = map[string]providers.Provider{"m": debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		if s, _ := debate.StepFrom(ctx); s.Debate != "again" {
			calls.Add(1)
		} else if s.Key.Actor == "C" && s.Key.Round == 2 {
			return providers.Response{FinishReason: providers.Stop, Usage: transcript.Usage{Input: 5000, Output: 10}}, nil
		}
		return m.Generate(ctx, r)
	})}
	e := debatetest.Engine(t, o)
	again := debatetest.Fork(t, e, d.ID(), 4, debate.Edits{ID: "again"})
	debatetest.Finish(t, again)
	r := debatetest.Result(t, again)
	require.Greater(t, r.Total.Usage.Input, 5000)
	require.Equal(t, "dropped", r.Participants[2].State)
	a := influence.Analysis{ID: "again", Samples: 2, Largest: 10}
	ran := debatetest.Call(t, a.Run, o)
	require.EqualValues(t, 110*calls.Load(), ran.Tokens)
	require.Equal(t, ran.Tokens, debatetest.Call(t, a.Report, o).Tokens)
}

// A sample that a limit of the debate ends earlier does not count, because its judges have not read the same.
func TestSamplesThatALimitCutsShort(t *testing.T) {
	o, _, _, _ := discussed(t, func(c *debate.Config) { c.Limits.Tokens = 100_000 })
	m := o.Providers["m"]
	o.Providers = map[string]providers.Provider{"m": debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		x, err := m.Generate(ctx, r)
		if s, _ := debate.StepFrom(ctx); s.Debate != "cars" && err == nil {
			x.Usage.Input = 60_000
		}
		return x, err
	})}
	p := debatetest.Call(t, influence.Analysis{ID: "cars", Samples: 1, Largest: 10}.Run, o)
	require.Contains(t, p.Failures[0], "it ended in round 2 with token_budget: a limit of the debate left no room for these judges")
	require.Zero(t, p.Effects[0].Samples)
}

// Samples in one order alone tell a change, and no interval. The first samples of a plan are not those that cannot show a change.
func TestFewSamples(t *testing.T) {
	c := &court{luck: .1, weights: map[string][]weight{"Ada": plain(2, 0), "Bo": plain(0, 0)}}
	o, parent := decided(t, c)
	p := debatetest.Call(t, influence.Analysis{ID: "cars", Samples: 1, Items: debate.Omission{Turns: []transcript.Key{parent.Turns[0].Key}}}.Run, o)
	require.Equal(t, 2, p.Effects[0].Score.N)
	require.False(t, p.Effects[0].Score.Known())
	require.InDelta(t, -2, p.Effects[0].Score.Value, .3)
	p = debatetest.Call(t, influence.Analysis{ID: "cars", Samples: 4, MaxTokens: 3000, Concurrency: 1}.Run, o)
	require.Contains(t, p.Incomplete, "the limit of tokens, 3000, is reached")
	require.NotContains(t, strings.Join(p.Summary, " "), "cannot show whether")
	p = debatetest.Call(t, influence.Analysis{ID: "cars", Samples: 4}.Run, o)
	require.Equal(t, 5, p.Enough)
	require.Contains(t, strings.Join(p.Summary, " "), "These 4 samples cannot show whether the winner changes: that takes 5 or more.")
}

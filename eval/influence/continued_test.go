package influence_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval/influence"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// For each turn, the debate goes on without it and with it. The changes are in the order of the planted weights, and the calls are
// those that were announced.
func TestDebatesGoOnWithoutATurn(t *testing.T) {
	c := trial()
	o, parent := decided(t, c)
	a := influence.Analysis{ID: "cars", Continued: true, Largest: 10, Samples: 6}
	plan := debatetest.Call(t, a.Plan, o)
	// After the first of ten turns, nine turns and two judgments follow; after the last one, two judgments: 2 × (11 + … + 2) calls.
	require.True(t, strings.HasPrefix(plan.String(), "6 samples × 130 calls (10 items, without and with each) = 780 calls, about "), plan.String())
	p := debatetest.Call(t, a.Run, o)
	calls, repeated := c.total()
	require.Equal(t, []int{plan.Calls, 0}, []int{calls, repeated})
	require.Equal(t, plan.Tokens, p.Tokens)
	require.InDelta(t, plan.Cost, p.Cost, 1e-9)
	require.True(t, p.Continued)

	var changes []float64
	for _, e := range p.Effects {
		require.Equal(t, []int{6, 6}, []int{e.Samples, e.Whole})
		if said := e.Items[0]; said.Speaker == "Ada" {
			changes = append(changes, e.Score.Value)
		}
	}
	require.InDeltaSlice(t, []float64{0, -2, 0, -1.2, 0}, changes, .5)
	require.Contains(t, strings.Join(p.Summary, " "), "If the debate goes on without turn 12 of Ada (round 2), ")

	e := debatetest.Engine(t, o)
	silent := 0
	for _, s := range samples(t, o) {
		d := debatetest.Open(t, e, s.ID)
		r := debatetest.Result(t, d)
		require.Equal(t, parent.ID, r.Parent.ID)
		require.Nil(t, r.Rejudged)
		require.Len(t, r.Turns, len(parent.Turns))
		for _, turn := range r.Turns {
			if turn.Kind == transcript.Silence {
				silent++
			}
		}
	}
	require.Equal(t, 60, silent)

	again := debatetest.Call(t, a.Run, o)
	require.Equal(t, p, again)
	total, _ := c.total()
	require.Equal(t, calls, total, "nothing is asked twice")
	d := debatetest.Open(t, e, "cars")
	marks := influence.Marks(debatetest.Result(t, d).Annotations)
	require.Contains(t, marks[p.Effects[2].Items[0].Keys[0].String()], " if the debate goes on without it, the lead in points of Ada changes by ")
	var page bytes.Buffer
	require.NoError(t, p.Markdown(&page))
	require.Contains(t, page.String(), "against samples in which the debate goes on with it")
	require.NotContains(t, page.String(), "whole debate")

	judges := debatetest.Call(t, influence.Analysis{ID: "cars", Largest: 10, Samples: 6}.Run, o)
	require.Equal(t, 6*11*2, judges.Plan.Calls)
	require.False(t, judges.Continued)
	require.Len(t, samples(t, o), 120+66, "samples of one kind are not taken for the other")
}

// The calls of a stage whose items are not known yet are at most those that were announced.
func TestTheLargestTurnsGoOn(t *testing.T) {
	c := trial()
	o, _ := decided(t, c)
	a := influence.Analysis{ID: "cars", Continued: true, Samples: 8, Pairs: true}
	plan := debatetest.Call(t, a.Plan, o)
	// The three earliest and the two earliest together: 2 × (11 + 10 + 9) + 11 + 10.
	require.Contains(t, plan.String(), ", then 8 samples × 81 calls (4 items, without and with each) = 648 calls: 1,298 calls in all")
	p := debatetest.Call(t, a.Run, o)
	calls, _ := c.total()
	require.LessOrEqual(t, calls, plan.Calls)
	require.Greater(t, calls, plan.Calls/2)
	require.NotNil(t, p.Pair)
	require.InDelta(t, -3.2, p.Pair.Score.Value, .7)
}

// A killed run repeats at most the calls that were in flight.
func TestDebatesThatGoOnSurviveAKill(t *testing.T) {
	c := trial()
	o, _ := decided(t, c)
	const concurrency = 3
	killed := 0
	for _, at := range []int{5, 100, 300, 500} {
		ctx, kill := context.WithCancel(t.Context())
		c.mu.Lock()
		c.after = func(n int) {
			if n >= at+killed {
				kill()
			}
		}
		c.mu.Unlock()
		_, err := influence.Analysis{ID: "cars", Continued: true, Largest: 10, Samples: 4, Concurrency: concurrency}.Run(ctx, o)
		require.ErrorIs(t, err, context.Canceled)
		killed += 2 * concurrency
		kill()
	}
	c.mu.Lock()
	c.after = nil
	c.mu.Unlock()
	p := debatetest.Call(t, influence.Analysis{ID: "cars", Continued: true, Largest: 10, Samples: 4}.Run, o)
	calls, repeated := c.total()
	require.Equal(t, p.Plan.Calls, calls-repeated)
	require.LessOrEqual(t, repeated, killed)
}

// Seats are silent from their first turn on, if three participants speak. The same seed would give the same reply, so each sample
// has its own.
func TestDebatesGoOnWithoutASeat(t *testing.T) {
	cfg := enginetest.PresetConfigs()["panel"]
	cfg.Protocol = panel.Protocol{ByScores: true, Format: panel.RoundLimited}
	cfg.Limits.MinRounds, cfg.Limits.MaxRounds = 2, 2
	cfg.Participants[0].Seed = new(int64(7))
	o, e, calls := held(t, cfg)
	calls.Store(0)
	a := influence.Analysis{ID: "cars", Continued: true, Seats: true, Samples: 3}
	plan := debatetest.Call(t, a.Plan, o)
	p := debatetest.Call(t, a.Run, o)
	require.EqualValues(t, plan.Calls, calls.Load())
	require.Len(t, p.Effects, 3)
	seeds := map[int64]bool{}
	for _, s := range samples(t, o) {
		d := debatetest.Open(t, e, s.ID)
		var last debate.Config
		for moment, err := range d.Replay(t.Context()) {
			require.NoError(t, err)
			if ev, ok := moment.Event.(debate.ConfigChanged); ok {
				last, err = e.ParseConfig(ev.Config)
				require.NoError(t, err)
			}
		}
		require.False(t, seeds[*last.Participants[0].Seed])
		seeds[*last.Participants[0].Seed] = true
		silent := map[string]int{}
		for _, turn := range debatetest.Result(t, d).Turns {
			if turn.Kind == transcript.Silence {
				silent[turn.Actor]++
			}
		}
		if !strings.HasPrefix(s.Labels["influence_item"], "debate with ") {
			require.Equal(t, map[string]int{s.Labels["influence_item"]: 2}, silent)
		} else {
			require.Empty(t, silent)
		}
	}
	require.Len(t, seeds, 18)
}

// discussed runs a debate of a panel that decides by scores, of three participants with the model x and judges with the model y.
func discussed(t *testing.T, change func(*debate.Config)) (debate.Options, *debate.Engine, *debate.Debate, debate.Config) {
	t.Helper()
	cfg := enginetest.PresetConfigs()["panel"]
	cfg.ID, cfg.Protocol = "cars", panel.Protocol{ByScores: true, Format: panel.RoundLimited}
	cfg.Limits.MinRounds, cfg.Limits.MaxRounds = 2, 2
	cfg.Prices = price.Prices{"x": {Input: 1, Output: 1}, "y": {Input: 2, Output: 2}}
	for i := range cfg.Participants {
		cfg.Participants[i].Model = "x"
	}
	for i := range cfg.Judges {
		cfg.Judges[i].Model = "y"
	}
	change(&cfg)
	m := &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		return scripted.Reply{Text: enginetest.PresetReply(cfg, r), Usage: transcript.Usage{Input: 100, Output: 10}}
	}}
	o := debate.Options{Store: store.Memory(), Providers: map[string]providers.Provider{"m": m}}
	e := debatetest.Engine(t, o)
	d := debatetest.Create(t, e, cfg)
	for { // a gate opens
		debatetest.Finish(t, d)
		q := debatetest.Result(t, d).Question
		if q == nil {
			break
		}
		require.NoError(t, d.Decide(t.Context(), q.ID, "approve"))
	}
	require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
	return o, e, d, cfg
}

// Debates go on with the last configuration of the debate, although they begin before it was edited.
func TestDebatesGoOnWithTheLastConfiguration(t *testing.T) {
	o, e, _, cfg := discussed(t, func(*debate.Config) {})
	cfg.Topic = "Ban bikes?"
	d := debatetest.Fork(t, e, "cars", 12, debate.Edits{ID: "edited", Config: &cfg})
	debatetest.Finish(t, d)
	debatetest.Call(t, influence.Analysis{ID: "edited", Continued: true, Samples: 1, Largest: 10}.Run, o)
	count := 0
	for _, s := range debatetest.List(t, o.Store, store.Query{Labels: map[string]string{"influence": "edited"}}) {
		require.Equal(t, "Ban bikes?", s.Topic)
		count++
	}
	require.Equal(t, 12, count)
}

// Gates of the debate are open for samples that go on. Judges alone are not asked if samples would wait.
func TestGatesAreOpen(t *testing.T) {
	for name, change := range map[string]func(*debate.Config){
		"rounds":  func(c *debate.Config) { c.AskBeforeRounds = true },
		"verdict": func(c *debate.Config) { c.AskBeforeVerdict = true },
		"cost":    func(c *debate.Config) { c.AskAboveCost = 1e-9 },
	} {
		t.Run(name, func(t *testing.T) {
			o, _, _, _ := discussed(t, change)
			p := debatetest.Call(t, influence.Analysis{ID: "cars", Continued: true, Samples: 1, Largest: 10}.Run, o)
			require.Empty(t, p.Incomplete)
			p, err := influence.Analysis{ID: "cars", Samples: 1, Largest: 10}.Run(t.Context(), o)
			if name == "rounds" {
				require.NoError(t, err)
				require.Empty(t, p.Incomplete)
			} else {
				require.ErrorContains(t, err, "each sample would wait")
			}
		})
	}
}

// New judges and their prices leave the participants' prices alone.
func TestPricesOfDebatesThatGoOn(t *testing.T) {
	o, _, _, cfg := discussed(t, func(*debate.Config) {})
	judges := slices.Clone(cfg.Judges)
	for i := range judges {
		judges[i].Model = "z"
	}
	a := influence.Analysis{ID: "cars", Continued: true, Samples: 1, Largest: 10, Judges: judges, Prices: price.Prices{"z": {Input: 3, Output: 3}}, MaxCost: 100}
	plan := debatetest.Call(t, a.Plan, o)
	p := debatetest.Call(t, a.Run, o)
	require.Equal(t, plan.Tokens, p.Tokens)
	require.InDelta(t, plan.Cost, p.Cost, 1e-9)

	free, _, _, _ := discussed(t, func(c *debate.Config) { c.Prices["x"] = price.Price{} })
	_, err := influence.Analysis{ID: "cars", Continued: true, Samples: 1, Largest: 10, MaxCost: 100}.Plan(t.Context(), free)
	require.NoError(t, err, "a price of 0 is known")
}

// What the debate has used before a sample goes on does not count, also if calls failed.
func TestTheUsageOfFailedCallsIsNotOfTheSamples(t *testing.T) {
	failed := false
	o, _, d, _ := discussed(t, func(c *debate.Config) { c.OnFailure = debate.Ask })
	m := o.Providers["m"]
	o.Providers = map[string]providers.Provider{"m": debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		if s, _ := debate.StepFrom(ctx); s.Debate == "again" && s.Key.Actor == "C" && !failed {
			failed = true
			return providers.Response{FinishReason: providers.Stop, Usage: transcript.Usage{Input: 5000, Output: 10}}, nil
		}
		return m.Generate(ctx, r)
	})}
	e := debatetest.Engine(t, o)
	again := debatetest.Fork(t, e, d.ID(), 4, debate.Edits{ID: "again"})
	debatetest.Finish(t, again)
	require.True(t, failed)
	if q := debatetest.Result(t, again).Question; q != nil {
		require.NoError(t, again.Decide(t.Context(), q.ID, "retry"))
		debatetest.Finish(t, again)
	}
	for _, continued := range []bool{true, false} {
		a := influence.Analysis{ID: "again", Continued: continued, Samples: 1, Largest: 10}
		ran := debatetest.Call(t, a.Run, o)
		stored, err := a.Report(t.Context(), o)
		require.NoError(t, err)
		require.Equal(t, ran.Tokens, stored.Tokens)
	}
}

// What cannot go on is refused with the reason.
func TestDebatesThatCannotGoOn(t *testing.T) {
	c := trial()
	o, _ := decided(t, c)
	three, _, _, _ := discussed(t, func(*debate.Config) {})
	_, err := influence.Analysis{ID: "cars", Continued: true, Seats: true, Pairs: true}.Plan(t.Context(), three)
	require.ErrorContains(t, err, "it has 3 participants who speak, and without two of them it cannot go on")
	_, err = influence.Analysis{ID: "cars", Continued: true, Seats: true}.Plan(t.Context(), o)
	require.ErrorContains(t, err, "it has 2 participants who speak")
	e := debatetest.Engine(t, o)
	d, err := e.Rejudge(t.Context(), "cars", debate.Rejudge{ID: "again"})
	require.NoError(t, err)
	debatetest.Finish(t, d)
	_, err = influence.Analysis{ID: "again", Continued: true}.Plan(t.Context(), o)
	require.ErrorContains(t, err, "analyze its parent, cars")

	for says, change := range map[string]func(*debate.Config){
		"B is a person":  func(c *debate.Config) { c.Participants[1] = debate.Participant{Name: "B", Human: true} },
		"on which the p": func(c *debate.Config) { *c = enginetest.PresetConfigs()["vote"] },
	} {
		cfg := enginetest.PresetConfigs()["panel"]
		cfg.Protocol = panel.Protocol{}
		cfg.Judges = cfg.Judges[:1]
		cfg.Limits.MaxRounds = 1
		change(&cfg)
		m := &scripted.Provider{Func: func(r providers.Request) scripted.Reply { return scripted.Reply{Text: enginetest.PresetReply(cfg, r)} }}
		o := debate.Options{Store: store.Memory(), Providers: map[string]providers.Provider{"m": m}}
		e := debatetest.Engine(t, o)
		d := debatetest.Create(t, e, cfg)
		debatetest.Finish(t, d)
		if slices.ContainsFunc(cfg.Participants, func(p debate.Participant) bool { return p.Human }) {
			waiting := debatetest.Waiting(t, d)
			require.NoError(t, d.Answer(t.Context(), waiting[0].Key, "Trams are quieter.", ""))
			debatetest.Finish(t, d)
		}
		_, err := influence.Analysis{ID: cfg.ID, Continued: true}.Plan(t.Context(), o)
		require.ErrorContains(t, err, says)
	}
}

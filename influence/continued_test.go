package influence_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/influence"
	"github.com/elenchus-go/debate/internal/debatetest"
	"github.com/elenchus-go/debate/internal/enginetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
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
	plan, err := a.Plan(t.Context(), o)
	require.NoError(t, err)
	// After the first of ten turns, nine turns and two judgments follow; after the last one, two judgments: 2 × (11 + … + 2) calls.
	require.True(t, strings.HasPrefix(plan.String(), "6 samples of 10 items, each without and with it × 130 calls = 780 calls, about "), plan.String())
	p, err := a.Run(t.Context(), o)
	require.NoError(t, err)
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

	e, err := debate.NewEngine(o)
	require.NoError(t, err)
	silent := 0
	for _, s := range samples(t, o) {
		d, err := e.Open(t.Context(), s.ID)
		require.NoError(t, err)
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

	again, err := a.Run(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, p, again)
	total, _ := c.total()
	require.Equal(t, calls, total, "nothing is asked twice")
	d, err := e.Open(t.Context(), "cars")
	require.NoError(t, err)
	marks := influence.Marks(debatetest.Result(t, d).Annotations)
	require.Contains(t, marks[p.Effects[2].Items[0].Keys[0].String()], " if the debate goes on without it, the lead in points of Ada changes by ")
	var page bytes.Buffer
	require.NoError(t, p.Markdown(&page))
	require.Contains(t, page.String(), "against samples in which the debate goes on with it")
	require.NotContains(t, page.String(), "whole debate")

	judges, err := influence.Analysis{ID: "cars", Largest: 10, Samples: 6}.Run(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, 6*11*2, judges.Plan.Calls)
	require.False(t, judges.Continued)
	require.Len(t, samples(t, o), 120+66, "samples of one kind are not taken for the other")
}

// The calls of a stage whose items are not known yet are at most those that were announced.
func TestTheLargestTurnsGoOn(t *testing.T) {
	c := trial()
	o, _ := decided(t, c)
	a := influence.Analysis{ID: "cars", Continued: true, Samples: 8, Pairs: true}
	plan, err := a.Plan(t.Context(), o)
	require.NoError(t, err)
	// The three earliest and the two earliest together: 2 × (11 + 10 + 9) + 11 + 10.
	require.Contains(t, plan.String(), ", then 8 samples of 4 items, each without and with it × 81 calls = 648 calls: 1,298 calls in all")
	p, err := a.Run(t.Context(), o)
	require.NoError(t, err)
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
	p, err := influence.Analysis{ID: "cars", Continued: true, Largest: 10, Samples: 4}.Run(t.Context(), o)
	require.NoError(t, err)
	calls, repeated := c.total()
	require.Equal(t, p.Plan.Calls, calls-repeated)
	require.LessOrEqual(t, repeated, killed)
}

// Seats are silent from their first turn on, if three participants speak. The same seed would give the same reply, so each sample
// has its own.
func TestDebatesGoOnWithoutASeat(t *testing.T) {
	cfg := enginetest.PresetConfigs()["panel"]
	cfg.ID, cfg.Protocol = "cars", panel.Protocol{ByScores: true, Format: panel.RoundLimited}
	cfg.Limits.MinRounds, cfg.Limits.MaxRounds = 2, 2
	cfg.Participants[0].Seed = new(int64(7))
	var calls atomic.Int64
	m := &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		calls.Add(1)
		return scripted.Reply{Text: enginetest.PresetReply(cfg, r)}
	}}
	o := debate.Options{Store: store.Memory(), Providers: map[string]providers.Provider{"m": m}}
	e, err := debate.NewEngine(o)
	require.NoError(t, err)
	d, err := e.Create(t.Context(), cfg)
	require.NoError(t, err)
	_, err = debatetest.Run(t, d)
	require.NoError(t, err)
	calls.Store(0)
	a := influence.Analysis{ID: "cars", Continued: true, Seats: true, Samples: 3}
	plan, err := a.Plan(t.Context(), o)
	require.NoError(t, err)
	p, err := a.Run(t.Context(), o)
	require.NoError(t, err)
	require.EqualValues(t, plan.Calls, calls.Load())
	require.Len(t, p.Effects, 3)
	seeds := map[int64]bool{}
	for _, s := range samples(t, o) {
		d, err := e.Open(t.Context(), s.ID)
		require.NoError(t, err)
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

// What cannot go on is refused with the reason.
func TestDebatesThatCannotGoOn(t *testing.T) {
	c := trial()
	o, _ := decided(t, c)
	_, err := influence.Analysis{ID: "cars", Continued: true, Seats: true}.Plan(t.Context(), o)
	require.ErrorContains(t, err, "it has 2 participants")
	e, err := debate.NewEngine(o)
	require.NoError(t, err)
	d, err := e.Rejudge(t.Context(), "cars", debate.Rejudge{ID: "again"})
	require.NoError(t, err)
	_, err = debatetest.Run(t, d)
	require.NoError(t, err)
	_, err = influence.Analysis{ID: "again", Continued: true}.Plan(t.Context(), o)
	require.ErrorContains(t, err, "analyze its parent, cars")

	for says, change := range map[string]func(*debate.Config){
		"B is a person":  func(c *debate.Config) { c.Participants[1] = debate.Participant{Name: "B", Human: true} },
		"on which the p": func(c *debate.Config) { *c = enginetest.PresetConfigs()["vote"] },
	} {
		cfg := enginetest.PresetConfigs()["panel"]
		cfg.Protocol, cfg.Judges, cfg.Limits.MaxRounds = panel.Protocol{}, cfg.Judges[:1], 1
		change(&cfg)
		m := &scripted.Provider{Func: func(r providers.Request) scripted.Reply { return scripted.Reply{Text: enginetest.PresetReply(cfg, r)} }}
		o := debate.Options{Store: store.Memory(), Providers: map[string]providers.Provider{"m": m}}
		e, err := debate.NewEngine(o)
		require.NoError(t, err)
		d, err := e.Create(t.Context(), cfg)
		require.NoError(t, err)
		_, err = debatetest.Run(t, d)
		require.NoError(t, err)
		if slices.ContainsFunc(cfg.Participants, func(p debate.Participant) bool { return p.Human }) {
			waiting, err := d.Waiting(t.Context())
			require.NoError(t, err)
			require.NoError(t, d.Answer(t.Context(), waiting[0].Key, "Trams are quieter.", ""))
			_, err = debatetest.Run(t, d)
			require.NoError(t, err)
		}
		_, err = influence.Analysis{ID: cfg.ID, Continued: true}.Plan(t.Context(), o)
		require.ErrorContains(t, err, says)
	}
}

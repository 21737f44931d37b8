package influence_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval/influence"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/transcript"
)

// trial returns a court in which three turns of Ada decide, and a fourth one less.
func trial() *court {
	return &court{luck: .3, lean: .4, weights: map[string][]weight{"Ada": plain(0, 2, 0, 1.2, 0), "Bo": plain(0, 0, .9, 0, 0)}}
}

// The items whose planted weights are largest are sampled again, and the changes are in the order of the weights. The
// calls counts those that were announced.
func TestPlantedTurnsAreFound(t *testing.T) {
	c := trial()
	o, parent := decided(t, c)
	a := influence.Analysis{ID: "cars"}
	plan := debatetest.Call(t, a.Plan, o)
	require.Equal(t, "(10 items + 1) × 5 samples × 2 calls = 110 calls, then (3 items + 1) × 20 samples × 2 calls = 160 calls: 270 calls in all, about 29,700 tokens, cost about 0.0297", plan.String())
	calls, _ := c.total()
	require.Zero(t, calls, "a plan asks nobody")

	p := debatetest.Call(t, a.Run, o)
	calls, repeated := c.total()
	require.Equal(t, []int{plan.Calls, 0}, []int{calls, repeated})
	require.Equal(t, plan.Tokens, p.Tokens)
	require.InDelta(t, plan.Cost, p.Cost, 1e-9)

	require.Equal(t, "Ada", p.Winner)
	require.Equal(t, []string{"turn 12 of Ada (round 2)", "turn 22 of Ada (round 4)", "turn 18 of Bo (round 3)"}, named(p))
	var fresh []float64
	for _, e := range p.Effects {
		require.Equal(t, 5+15*btoi(e.Fresh), e.Samples)
		if e.Fresh {
			fresh = append(fresh, e.Score.Value)
			require.True(t, e.Score.Known() && e.Share.Known())
		} else {
			require.False(t, e.Shown())
			require.False(t, e.Share.Known(), "5 samples cannot show a turn of the winner")
		}
	}
	require.InDeltaSlice(t, []float64{-2, .9, -1.2}, fresh, .3)
	require.Len(t, p.Effects, 10)
	require.Len(t, samples(t, o), 11*5+4*20)
	swapped := 0
	e := debatetest.Engine(t, o)
	for _, s := range samples(t, o) {
		require.NotContains(t, s.Labels, "eval", "a sample is no run of an evaluation")
		d := debatetest.Open(t, e, s.ID)
		r := debatetest.Result(t, d)
		require.Equal(t, parent.ID, r.Parent.ID)
		if r.Rejudged.Swap {
			swapped++
		}
	}
	require.Equal(t, 11*2+4*10, swapped, "both orders in turn")

	again := debatetest.Call(t, a.Run, o)
	require.Equal(t, p, again, "nothing is asked twice")
	d := debatetest.Open(t, e, "cars")
	r := debatetest.Result(t, d)
	marks := influence.Marks(r.Annotations)
	require.Len(t, marks, 10)
	require.Regexp(t, `^−████████ without it, the lead in points of Ada changes by -\d\.\d\d \[-\d\.\d\d, -\d\.\d\d\]$`, marks[p.Effects[2].Items[0].Keys[0].String()])
	stored, err := a.Report(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, p, stored)
	total, _ := c.total()
	require.Equal(t, calls, total)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// With all items at once, there are no first samples.
func TestAllItemsAtOnce(t *testing.T) {
	c := trial()
	o, _ := decided(t, c)
	a := influence.Analysis{ID: "cars", Largest: 10, Samples: 8}
	plan := debatetest.Call(t, a.Plan, o)
	require.True(t, strings.HasPrefix(plan.String(), "(10 items + 1) × 8 samples × 2 calls = 176 calls, about"), plan.String())
	p := debatetest.Call(t, a.Run, o)
	calls, _ := c.total()
	require.Equal(t, 176, calls)
	require.Equal(t, 20, p.Intervals)
	require.Equal(t, 6, p.Enough)
	for _, e := range p.Effects {
		require.True(t, e.Share.Known() && e.Score.Known() && !e.Fresh)
	}
}

// Below the number of samples at which even a complete turn of the winner would show, there is no interval of it.
func TestTooFewSamplesForTheWinner(t *testing.T) {
	c := trial()
	o, parent := decided(t, c)
	items := debate.Omission{}
	for _, turn := range parent.Turns {
		if turn.Actor == "Ada" && turn.Round <= 2 {
			items.Turns = append(items.Turns, turn.Key)
		}
	}
	p := debatetest.Call(t, influence.Analysis{ID: "cars", Items: items, Samples: 4}.Run, o)
	require.Len(t, p.Effects, 2)
	require.Contains(t, strings.Join(p.Summary, " "), "These 4 samples cannot show whether the winner changes: that takes 5 or more.")
	for _, e := range p.Effects {
		require.False(t, e.Share.Known())
		require.True(t, e.Score.Known())
	}
	var b bytes.Buffer
	require.NoError(t, p.Markdown(&b))
	require.Contains(t, b.String(), "The intervals are only about these judges")
	require.Contains(t, b.String(), "cannot show")
}

// Two turns with the same argument have no effect alone. Together they have.
func TestPairs(t *testing.T) {
	c := &court{luck: .1, weights: map[string][]weight{"Ada": {{"a", 2}, {"a", 2}, {"b", .4}}, "Bo": plain(0, 0, .3)}}
	o, _ := decided(t, c)
	a := influence.Analysis{ID: "cars"}
	alone := debatetest.Call(t, a.Run, o)
	require.Contains(t, strings.Join(alone.Summary, " "),
		"Two turns with the same argument each have no effect alone: ask for the two largest together.")

	c.weights = map[string][]weight{"Ada": {{"a", 2}, {"a", 2}, {"b", 0}}, "Bo": plain(0, 0, 0)}
	c.luck = 0.02
	o, parent := decided(t, c)
	var items debate.Omission
	for _, turn := range parent.Turns {
		if turn.Actor == "Ada" && turn.Kind == transcript.Speech && turn.Round <= 2 {
			items.Turns = append(items.Turns, turn.Key)
		}
	}
	a = influence.Analysis{ID: "cars", Items: items, Pairs: true, Samples: 8}
	plan := debatetest.Call(t, a.Plan, o)
	require.Contains(t, plan.String(), "(2 items + 1) × 8 samples × 2 calls = 48 calls, then (1 item + 1) × 8 samples × 2 calls = 32 calls: 80 calls in all")
	p := debatetest.Call(t, a.Run, o)
	calls, _ := c.total()
	require.Equal(t, 80, calls)
	require.NotNil(t, p.Pair)
	for _, e := range p.Effects {
		require.InDelta(t, 0, e.Score.Value, .1)
		require.False(t, e.Shown())
	}
	require.InDelta(t, -2, p.Pair.Score.Value, .1)
	require.True(t, p.Pair.Shown())
	require.Contains(t, strings.Join(p.Summary, " "), " and turn ")
}

// Whole seats are left out too.
func TestSeats(t *testing.T) {
	c := trial()
	o, _ := decided(t, c)
	p := debatetest.Call(t, influence.Analysis{ID: "cars", Seats: true, Samples: 10}.Run, o)
	calls, _ := c.total()
	require.Equal(t, 3*10*2, calls)
	require.Len(t, p.Effects, 2)
	require.Equal(t, "Ada", p.Effects[0].Name)
	require.InDelta(t, -3.2, p.Effects[0].Score.Value, .3)
	require.Negative(t, p.Effects[0].Share.High)
	require.InDelta(t, .9, p.Effects[1].Score.Value, .3)
}

// A run that was killed repeats at most the calls that were in flight.
func TestAKilledAnalysisGoesOn(t *testing.T) {
	c := trial()
	o, _ := decided(t, c)
	whole := trial()
	other, _ := decided(t, whole)
	want := debatetest.Call(t, influence.Analysis{ID: "cars"}.Run, other)
	const concurrency = 3
	killed := 0
	for _, at := range []int{1, 40, 100, 115, 200} {
		ctx, kill := context.WithCancel(t.Context())
		c.mu.Lock()
		c.after = func(n int) {
			if n >= at+killed {
				kill()
			}
		}
		c.mu.Unlock()
		_, err := influence.Analysis{ID: "cars", Concurrency: concurrency}.Run(ctx, o)
		require.ErrorIs(t, err, context.Canceled)
		killed += 2 * concurrency // both judges of each sample are called at once
		kill()
	}
	c.mu.Lock()
	c.after = nil
	c.mu.Unlock()
	p := debatetest.Call(t, influence.Analysis{ID: "cars", Concurrency: concurrency}.Run, o)
	calls, repeated := c.total()
	require.Equal(t, p.Plan.Calls, calls-repeated)
	require.LessOrEqual(t, repeated, killed)
	require.Equal(t, want.Effects, p.Effects)
}

// At the limit of cost no further sample begins. A higher one goes on.
func TestTheLimitOfCost(t *testing.T) {
	c := trial()
	o, _ := decided(t, c)
	one := influence.Analysis{ID: "cars", Concurrency: 1, MaxCost: .01}
	p := debatetest.Call(t, one.Run, o)
	require.Contains(t, p.Incomplete, "the limit of cost, 0.01, is reached")
	calls, _ := c.total()
	require.InDelta(t, 92, calls, 2, "0.00011 for each call")
	require.InDelta(t, .01, p.Cost, 3e-4)
	one.MaxCost = 1
	p = debatetest.Call(t, one.Run, o)
	require.Empty(t, p.Incomplete)
	total, repeated := c.total()
	require.Equal(t, p.Plan.Calls, total)
	require.Zero(t, repeated)
}

// What cannot be analyzed is refused with the reason, before the first call.
func TestRefusals(t *testing.T) {
	c := trial()
	o, parent := decided(t, c)
	refused := func(a influence.Analysis, says string) {
		t.Helper()
		a.ID = "cars"
		_, err := a.Run(t.Context(), o)
		require.ErrorContains(t, err, says)
		_, err = a.Plan(t.Context(), o)
		require.ErrorContains(t, err, says)
	}
	refused(influence.Analysis{Samples: -1}, "samples: -1")
	refused(influence.Analysis{Largest: -1}, "largest: -1")
	refused(influence.Analysis{Seats: true, Items: debate.Omission{Turns: []transcript.Key{parent.Turns[0].Key}}}, "give seats")
	refused(influence.Analysis{Items: debate.Omission{Seats: []string{"Ada"}}}, "set Seats")
	refused(influence.Analysis{Items: debate.Omission{Documents: []string{"a.md"}}}, "use turns or seats")
	refused(influence.Analysis{Seats: true, Items: debate.Omission{Seats: []string{"Ada", "Cy"}}}, "not all seats")
	refused(influence.Analysis{Items: debate.Omission{Turns: []transcript.Key{{Run: 1, Round: 9, Phase: "respond", Actor: "Ada"}}}}, "is no turn of a participant")
	refused(influence.Analysis{Judges: []debate.Participant{{Name: "J", Model: "y"}}}, "it has 2")
	cold := 0.
	refused(influence.Analysis{Judges: []debate.Participant{{Name: "J", Model: "y", Temperature: &cold}, {Name: "K", Model: "y", Temperature: &cold}}}, "would repeat one another")
	refused(influence.Analysis{Judges: []debate.Participant{{Name: "J", Model: "y"}, {Name: "K", Human: true}}}, "K is a person")
	refused(influence.Analysis{MaxCost: 1, Judges: []debate.Participant{{Name: "J", Model: "z"}, {Name: "K", Model: "z"}}}, "the cost is not known")
	calls, _ := c.total()
	require.Zero(t, calls)

	free := influence.Analysis{ID: "cars", MaxCost: 1, Prices: price.Prices{"z": {}}, Judges: []debate.Participant{{Name: "J", Model: "z"}, {Name: "K", Model: "z"}}}
	_, err := free.Plan(t.Context(), o)
	require.NoError(t, err, "a price of 0 is known")
	_, err = influence.Analysis{ID: "none"}.Run(t.Context(), o)
	require.ErrorContains(t, err, "analyze debate none")

	e := debatetest.Engine(t, o)
	cfg := debate.Config{ID: "open", Topic: "Why?", Participants: []debate.Participant{{Name: "Ada", Model: "x"}, {Name: "Bo", Model: "x"}}, Judges: []debate.Participant{{Name: "J", Model: "y"}}}
	debatetest.Create(t, e, cfg)
	_, err = influence.Analysis{ID: "open"}.Run(t.Context(), o)
	require.ErrorContains(t, err, "it is configuring: wait until it has ended")
}

// Samples that fail do not count, and the report says so.
func TestFailedSamples(t *testing.T) {
	c := trial()
	o, _ := decided(t, c)
	c.fail = func(_ debate.Step, r providers.Request) error {
		if strings.Contains(fmt.Sprint(r.Messages), "worth 1.2 points") {
			return nil
		}
		return &providers.Error{Kind: providers.InvalidRequest, Err: errors.New("no such model")}
	}
	p := debatetest.Call(t, influence.Analysis{ID: "cars", Largest: 10, Samples: 6}.Run, o)
	require.Len(t, p.Failures, 6)
	require.Contains(t, p.Failures[0], "no such model")
	for _, e := range p.Effects {
		if e.Samples == 0 {
			require.False(t, e.Shown())
			require.Equal(t, 4, e.Items[0].Round)
		}
	}
	var b bytes.Buffer
	require.NoError(t, p.HTML(&b))
	require.Contains(t, b.String(), "Some samples failed")
}

// The report survives JSON.
func TestReportAsJSON(t *testing.T) {
	c := trial()
	o, _ := decided(t, c)
	p := debatetest.Call(t, influence.Analysis{ID: "cars", Largest: 10, Samples: 6}.Run, o)
	raw, err := json.Marshal(p)
	require.NoError(t, err)
	var again influence.Report
	require.NoError(t, json.Unmarshal(raw, &again))
	require.JSONEq(t, string(raw), debatetest.Encode(t, again))
}

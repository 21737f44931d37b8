package influence_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/influence"
	"github.com/elenchus-go/debate/internal/debatetest"
	"github.com/elenchus-go/debate/internal/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
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
	o, _, _, cfg := discussed(t, func(c *debate.Config) { cold(c.Participants); cold(c.Judges) })
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
		require.Equal(t, x.offered, strings.Contains(strings.Join(p.Summary, " "), "--pairs"), "%+v", p.Summary)
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

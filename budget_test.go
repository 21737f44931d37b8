package debate_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// maximalModel uses all tokens it may in each reply, counts its prompts as the engine does, and never ends a debate
// as a judge.
type maximalModel struct {
	twice bool // each reply is the second: the first is empty
	names func(r providers.Request) []string
	last  *bool
}

func (f maximalModel) Generate(_ context.Context, r providers.Request) (providers.Response, error) {
	usage := transcript.Usage{Output: r.MaxTokens}
	for _, m := range r.Messages {
		usage.Input += window.Estimate(m.Text)
	}
	usage.Written = usage.Input
	if f.twice {
		*f.last = !*f.last
		if *f.last {
			return providers.Response{Usage: usage}, nil
		}
	}
	e := debatetest.DigestModel{Names: f.names(r)}
	text := e.Say(3, r) // continue the debate
	if r.SchemaName == "" {
		text = strings.Repeat("four", r.MaxTokens)
		for window.Estimate(text) > r.MaxTokens {
			text = text[4:]
		}
	}
	return providers.Response{Text: text, FinishReason: providers.Stop, Usage: usage}, nil
}

// configOfSize returns a debate with the given numbers of participants and judges, all on provider "m".
func configOfSize(participants, judges int) debate.Config {
	cfg := debate.Config{ID: "d", Topic: "Ban cars?"}
	for i := range participants {
		cfg.Participants = append(cfg.Participants, debate.Participant{Name: string(rune('A' + i)), Provider: "m", Model: "x"})
	}
	for i := range judges {
		cfg.Judges = append(cfg.Judges, debate.Participant{Name: fmt.Sprint("J", i), Provider: "m", Model: "x"})
	}
	return cfg
}

// participantNames returns the names of all participants of a debate.
func participantNames(c debate.Config) func(providers.Request) []string {
	return func(providers.Request) (names []string) {
		for _, p := range c.Participants {
			names = append(names, p.Name)
		}
		return names
	}
}

// No debate exceeds its budget with models that use their whole token limit in each reply. If a budget ends the
// debate, there is a verdict. No phase begins that could use more than the remaining budget.
func TestBudgetsAreNeverExceeded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := configOfSize(rapid.IntRange(2, 4).Draw(rt, "participants"), rapid.IntRange(1, 3).Draw(rt, "judges"))
		cfg.Protocol = panel.Protocol{
			Format: rapid.SampledFrom([]panel.Format{
				panel.FreeForm,
				panel.StructuredRounds,
				panel.RoundLimited,
				panel.ConvergenceSeeking,
			}).Draw(rt, "format"),
			Mode:     rapid.SampledFrom([]panel.Mode{panel.Sequential, panel.Simultaneous}).Draw(rt, "mode"),
			Personas: rapid.SampledFrom([]panel.PersonaStyle{"", panel.Binary}).Draw(rt, "personas"),
		}
		cfg.Background = strings.Repeat("It is known that. ", rapid.IntRange(0, 1500).Draw(rt, "background"))
		cfg.Participants[0].Instructions = strings.Repeat("Be kind. ", rapid.IntRange(0, 1500).Draw(rt, "instructions"))
		l := debate.Limits{
			MaxRounds: rapid.IntRange(2, 8).Draw(rt, "rounds"), StepTokens: rapid.IntRange(20, 400).Draw(rt, "step"),
			JudgeTokens: rapid.IntRange(20, 400).Draw(rt, "judge"),
		}
		cfg.Prices = price.Prices{"x": {Input: 2e6, Written: 2.5e6, Output: 8e6}, "": {Input: 1e6}}
		switch rapid.SampledFrom([]string{"output", "tokens", "cost"}).Draw(rt, "budget") {
		case "output":
			least := len(cfg.Participants)*l.StepTokens + 2*len(cfg.Judges)*l.JudgeTokens // a verdict may be asked for again
			l.OutputTokens = least + rapid.IntRange(0, 20*least).Draw(rt, "tokens")
		case "tokens":
			l.Tokens = rapid.IntRange(1, 400_000).Draw(rt, "tokens")
		case "cost":
			l.Cost = float64(rapid.IntRange(1, 1_000_000).Draw(rt, "cost"))
		}
		cfg.PersonaAssigner, cfg.Limits = debate.Participant{Provider: "m", Model: "x"}, l

		d, err := debate.New(
			t.Context(),
			cfg,
			debate.Options{Providers: map[string]providers.Provider{"m": maximalModel{names: participantNames(cfg)}}},
		)
		if err != nil { // a budget that is too small for the first phase is rejected
			require.ErrorContains(rt, err, "too small for the first phase")
			return
		}
		events, used := []debate.Event(nil), transcript.Usage{}
		for ev, err := range d.Run(t.Context()) {
			require.NoError(rt, err)
			events = append(events, ev)
		}
		for _, ev := range events {
			switch ev := ev.(type) {
			case debate.TurnDone:
				used = used.Add(ev.Turn.Usage)
			case debate.PhaseStarted:
				if ev.Stage != transcript.Conclusion && l.OutputTokens > 0 {
					reply := l.JudgeTokens
					if ev.Stage == transcript.Speech {
						reply = l.StepTokens
					}
					require.LessOrEqual(rt, used.Output+ev.Steps*reply+len(cfg.Judges)*l.JudgeTokens, l.OutputTokens)
				}
			}
		}
		res := debatetest.Result(t, d)
		require.Equal(rt, fsm.Completed, res.State)
		require.Equal(rt, used, res.Total.Usage)
		if l.OutputTokens > 0 {
			require.LessOrEqual(rt, used.Output, l.OutputTokens)
		}
		if l.Tokens > 0 {
			require.LessOrEqual(rt, used.Input+used.Output, l.Tokens)
		}
		if l.Cost > 0 {
			require.LessOrEqual(rt, used.Cost, l.Cost)
		}
		spoken := slices.ContainsFunc(res.Turns, func(t transcript.Turn) bool { return t.Kind == transcript.Speech })
		require.Equal(rt, spoken, res.Verdict != nil)
		require.Contains(rt, []transcript.Outcome{transcript.RoundLimit, transcript.TokenBudget, transcript.CostBudget}, res.Ending.Outcome)
	})
}

// Each budget: what ends the debate, after how many turns, and with which evidence.
func TestEachBudgetEndsADebateWithAVerdict(t *testing.T) {
	for name, tt := range map[string]struct {
		limits   debate.Limits
		outcome  transcript.Outcome
		evidence string
		turns    int // two speeches and an assessment for each round, and the verdict
	}{
		"output tokens": { // a reply uses 100, a round 300, and two speeches with two verdicts 400
			debate.Limits{OutputTokens: 899, StepTokens: 100, JudgeTokens: 100},
			transcript.TokenBudget, "600 of 899 output tokens are used, and up to 400 more are needed for the next phase and the conclusion", 7,
		},
		"all tokens": {
			debate.Limits{Tokens: 40_000, StepTokens: 100, JudgeTokens: 100},
			transcript.TokenBudget, "of 40000 tokens are used, and up to", 0,
		},
		"money": {
			debate.Limits{Cost: 0.04, StepTokens: 100, JudgeTokens: 100},
			transcript.CostBudget, "of 0.0400 are spent, and up to", 0,
		},
		"time": { // 61 seconds a call, so that no call times out; 2 of 10 minutes are reserved
			debate.Limits{RunningTime: 10 * time.Minute},
			transcript.TimeBudget, "the time budget for rounds was used up during a call", 8,
		},
		"time, without the delay between rounds": {
			debate.Limits{RunningTime: 10 * time.Minute, RoundDelay: 5 * time.Minute},
			transcript.TimeBudget, "the time budget for rounds was used up during a call", 8,
		},
		"a round's time, in a speech": {
			debate.Limits{RoundTime: 2 * time.Minute},
			transcript.TimeBudget, "the time budget for rounds was used up during a call", 2,
		},
		"a round's time, in an assessment": {
			debate.Limits{RoundTime: 3 * time.Minute},
			transcript.TimeBudget, "the time budget for rounds was used up during a call", 3,
		},
		"each round has its own time": {
			debate.Limits{RoundTime: 184 * time.Second, MaxRounds: 4},
			transcript.RoundLimit, "4 rounds were held", 13,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := configOfSize(2, 1)
				cfg.Limits, cfg.Prices = tt.limits, price.Prices{"x": {Input: 1, Output: 1}}
				if cfg.Limits.MaxRounds == 0 {
					cfg.Limits.MaxRounds = 50
				}
				model := maximalModel{names: participantNames(cfg)}
				slowly := debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
					if err := sleepContext(ctx, 61*time.Second); err != nil {
						return providers.Response{}, providers.ContextError(ctx, providers.Response{})
					}
					return model.Generate(ctx, r)
				})
				d := debatetest.New(t, cfg, debate.Options{Providers: map[string]providers.Provider{"m": slowly}})
				events := debatetest.Finish(t, d)
				res := debatetest.Result(t, d)
				require.Equal(t, tt.outcome, res.Ending.Outcome)
				require.Contains(t, res.Ending.Evidence, tt.evidence)
				require.NotNil(t, res.Verdict)
				require.Empty(t, droppedNames(events))
				if tt.turns > 0 {
					require.Len(t, res.Turns, tt.turns)
				}
				if l := tt.limits; l.RunningTime > 0 {
					require.LessOrEqual(t, res.RunningTime, l.RunningTime)
				}
			})
		})
	}
}

func TestAPauseIsNoPartOfARoundsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPanelDebate(t, 2, func(c *debate.Config, o *debate.Options) {
			c.Limits.RoundTime, o.Providers["m"] = time.Minute, slowModel()
		})
		for ev, err := range d.Run(t.Context()) {
			require.NoError(t, err)
			if done, ok := ev.(debate.TurnDone); ok && done.Turn.Key.String() == "1/2/respond/A/" {
				require.NoError(t, d.Pause(t.Context()))
			}
		}
		time.Sleep(time.Hour)
		require.NoError(t, d.Resume(t.Context()))
		debatetest.Finish(t, d)
		require.Equal(t, transcript.JudgeDecided, debatetest.Result(t, d).Ending.Outcome)
		require.Equal(t, 40*time.Second, debatetest.Result(t, d).RunningTime)
	})
}

func TestWhatFailedAttemptsUseCountsForTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := modelFailingFirst(3, providers.Network, transcript.Usage{Output: 100})
		d := newPanelDebate(t, 9, func(c *debate.Config, o *debate.Options) {
			c.Limits = debate.Limits{OutputTokens: 999, StepTokens: 100, JudgeTokens: 100}
			o.Providers = providersOf(modelAtTokenCapAfter(3, model), modelAtTokenCap(scriptedJudge(t, 9)))
		})
		require.NoError(t, d.Start(t.Context())) // Run would not wait for a provider that has never answered
		for _, err := range d.Watch(t.Context(), 0) {
			require.NoError(t, err)
		}
		res := debatetest.Result(t, d)
		require.Equal(t, transcript.TokenBudget, res.Ending.Outcome)
		require.Contains(t, res.Ending.Evidence, "600 of 999 output tokens are used, and up to 400 more are needed")
		require.Equal(t, 400, res.Turns[0].Usage.Output)
		require.Len(t, res.Assessments, 1, "without the failures there was room for two rounds")
	})
}

// modelAtTokenCapAfter returns a model that uses its whole token limit after the given number of calls.
func modelAtTokenCapAfter(n int, p *scripted.Provider) providers.Provider {
	return debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		if len(p.Calls()) < n {
			return p.Generate(ctx, r)
		}
		return modelAtTokenCap(p).Generate(ctx, r)
	})
}

// A debate with default limits completes all its rounds, even if each reply has its maximum length and the first
// attempt of each step fails.
func TestDefaultLimitsAreNotHitByArithmetic(t *testing.T) {
	for _, format := range []panel.Format{"", panel.FreeForm, panel.StructuredRounds, panel.RoundLimited, panel.ConvergenceSeeking} {
		for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
			for participants := 2; participants <= 4; participants++ {
				for judges := 1; judges <= 3; judges += 2 {
					for _, limits := range []debate.Limits{{}, {MaxRounds: 2}, {MinRounds: 9}} {
						name := fmt.Sprintf(
							"%s, %s, %d participants, %d judges, %d rounds",
							format,
							mode,
							participants,
							judges,
							max(limits.MaxRounds, limits.MinRounds),
						)
						t.Run(name, func(t *testing.T) {
							cfg := configOfSize(participants, judges)
							cfg.Protocol, cfg.Limits = panel.Protocol{Format: format, Mode: mode, Personas: panel.Binary}, limits
							d := debatetest.New(
								t,
								cfg,
								debate.Options{Providers: map[string]providers.Provider{"m": maximalModel{names: participantNames(cfg)}}},
							)
							debatetest.Finish(t, d)
							requireAllRounds(t, d, max(limits.MaxRounds, limits.MinRounds))
						})
					}
				}
			}
		}
	}
}

func TestDefaultLimitsHaveRoomForASecondAttemptOfEachReply(t *testing.T) {
	for _, format := range []panel.Format{panel.FreeForm, panel.StructuredRounds, panel.RoundLimited, panel.ConvergenceSeeking} {
		t.Run(string(format), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := configOfSize(3, 1)
				cfg.Protocol = panel.Protocol{Format: format, Personas: panel.Binary}
				model := maximalModel{names: participantNames(cfg), twice: true, last: new(bool)}
				d := debatetest.New(t, cfg, debate.Options{Providers: map[string]providers.Provider{"m": model}})
				debatetest.Finish(t, d)
				requireAllRounds(t, d, 5)
				for _, turn := range debatetest.Result(t, d).Turns {
					require.Len(t, turn.Attempts, 2)
				}
			})
		})
	}
}

// requireAllRounds checks that a debate has completed all its rounds. 0 means the default number.
func requireAllRounds(t *testing.T, d *debate.Debate, rounds int) {
	t.Helper()
	if rounds == 0 {
		rounds = 5
	}
	res := debatetest.Result(t, d)
	require.Equal(t, transcript.RoundLimit, res.Ending.Outcome, res.Ending.Evidence)
	require.Equal(t, rounds, res.Ending.Round)
	require.NotNil(t, res.Verdict)
}

// A debate ends in the same way if its process dies after any turn and another process continues it hours later.
func TestACrashDoesNotChangeWhatABudgetDecides(t *testing.T) {
	both, sequential := []panel.Mode{panel.Sequential, panel.Simultaneous}, []panel.Mode{panel.Sequential}
	for name, tt := range map[string]struct {
		limits debate.Limits
		modes  []panel.Mode // a canceled call is repeated; a parallel phase then takes longer than without a crash
	}{
		"output tokens":  {debate.Limits{OutputTokens: 1300, StepTokens: 100, JudgeTokens: 100, MaxRounds: 9}, both},
		"all tokens":     {debate.Limits{Tokens: 40_000, StepTokens: 100, JudgeTokens: 100, MaxRounds: 9}, both},
		"money":          {debate.Limits{Cost: 0.04, StepTokens: 100, JudgeTokens: 100, MaxRounds: 9}, both},
		"time":           {debate.Limits{RunningTime: 10 * time.Minute, MaxRounds: 9}, sequential},
		"a round's time": {debate.Limits{RoundTime: 2 * time.Minute, MaxRounds: 9}, sequential},
	} {
		for _, mode := range tt.modes {
			t.Run(name+", "+string(mode), func(t *testing.T) {
				want := endingWithCrashes(t, tt.limits, mode, 0)
				require.NotContains(t, want, string(transcript.RoundLimit))
				for _, every := range []int{1, 2, 3} {
					require.Equal(t, want, endingWithCrashes(t, tt.limits, mode, every), "a crash after every %d. turn", every)
				}
			})
		}
	}
}

// endingWithCrashes returns how a debate with limits ends, and after which turns, if its process dies after the given
// number of turns each time. If every is 0, it never dies.
func endingWithCrashes(t *testing.T, limits debate.Limits, mode panel.Mode, every int) (text string) {
	synctest.Test(t, func(t *testing.T) {
		cfg := configOfSize(2, 1)
		cfg.Protocol = panel.Protocol{Mode: mode}
		cfg.Limits = limits
		cfg.Prices = price.Prices{"x": {Input: 1, Output: 1}}
		model := maximalModel{names: participantNames(cfg)}
		opts := debate.Options{Store: store.Memory(), Providers: map[string]providers.Provider{
			"m": debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
				if err := sleepContext(ctx, 61*time.Second); err != nil {
					return providers.Response{}, providers.ContextError(ctx, providers.Response{})
				}
				return model.Generate(ctx, r)
			}),
		}}
		debatetest.New(t, cfg, opts)
		for lives := 0; ; lives++ {
			require.Less(t, lives, 200)
			e := debatetest.Engine(t, opts)
			d := debatetest.Open(t, e, "d")
			turns := 0
			for ev, err := range d.Run(t.Context()) {
				require.NoError(t, err)
				if _, turn := ev.(debate.TurnDone); turn {
					turns++
					if turns == every {
						break
					}
				}
			}
			if res := debatetest.Result(t, d); res.State == fsm.Completed {
				text = fmt.Sprint(res.Ending, debatetest.TurnKeys(res), res.Total.Usage)
				return
			}
			time.Sleep(3 * time.Hour)
		}
	})
	return text
}

// The price of the model that answered applies: a fallback or an alias may differ from the requested model.
func TestACallIsPricedAsWhatAnswered(t *testing.T) {
	used := transcript.Usage{Input: 1000, Output: 1000}
	prices := price.Prices{"cheap": {Input: 1, Output: 1}, "dear": {Input: 100, Output: 100}}
	for name, tt := range map[string]struct {
		asked, answered string
		cost            float64
		unpriced        bool
	}{
		"by another model":               {"cheap", "dear", 0.2, false},
		"by a cheaper model":             {"dear", "cheap", 0.002, false},
		"by a version of it":             {"cheap", "cheap-2026-01-31", 0.002, false},
		"by one without a price":         {"cheap", "strange", 0.002, false},
		"by one that is not named":       {"dear", "", 0.2, false},
		"where the asked one has none":   {"strange", "dear", 0.2, false},
		"where neither has one":          {"strange", "weird", 0, true},
		"where no model is named at all": {"", "", 0, true},
	} {
		for _, failing := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", failing), func(t *testing.T) {
				d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
					c.Prices = prices
					c.Participants[0].Model = tt.asked
					c.OnOverflow = debate.Degrade
					c.Participants = append(c.Participants, debate.Participant{Name: "C", Provider: "c"})
					c.Participants[0].Provider, c.Participants[2].Provider = "c", "m"
					o.Providers["j"] = scriptedJudgeOfAll(t, 1)
					o.Providers["c"] = debatetest.ProviderFunc(func(context.Context, providers.Request) (providers.Response, error) {
						resp := providers.Response{Text: "Hi.", Model: tt.answered, Usage: used}
						if failing {
							down := errorOfKind(providers.ContextOverflow, 0)
							down.Partial = resp
							down.Partial.Text = ""
							return providers.Response{}, down
						}
						return resp, nil
					})
				})
				debatetest.Finish(t, d)
				want := used
				want.Cost, want.Unpriced = tt.cost, tt.unpriced
				require.Equal(t, want, debatetest.Result(t, d).Sides["for"].Usage)
			})
		}
	}
}

// A substitute's replies are not longer than the judge's may be, except for reasoning, because budgets assume that.
func TestSubstitutesKeepToTheJudgesCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var caps []string
		noted := func(name string, p providers.Provider) providers.Provider {
			return debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
				caps = append(caps, fmt.Sprint(name, " ", r.MaxTokens))
				return modelAtTokenCap(p).Generate(ctx, r)
			})
		}
		d := newPanelDebate(t, 9, func(c *debate.Config, o *debate.Options) {
			c.Limits, c.OnOverflow = debate.Limits{OutputTokens: 1050, StepTokens: 100}, debate.Degrade
			c.Judges[0].MaxTokens = 100
			c.Substitutes = []debate.Participant{{Provider: "less", MaxTokens: 30}, {Provider: "more", MaxTokens: 4000}}
			o.Providers["m"] = modelAtTokenCap(talkingModel())
			o.Providers["j"] = noted("j", unavailableModel(providers.ContextOverflow))
			o.Providers["less"] = noted("less", unavailableModel(providers.ContextOverflow))
			o.Providers["more"] = noted("more", scriptedJudgeOfAll(t, 9))
		})
		res := debatetest.RunResult(t, d)
		require.Equal(t, []string{"j 100", "less 30", "more 100"}, caps[:3])
		require.Equal(t, transcript.TokenBudget, res.Ending.Outcome)
		require.LessOrEqual(t, res.Total.Usage.Output, 1050)
		require.Len(t, res.Turns, 9, "two rounds, the speeches of a third and the verdict")
	})
}

// If a substitute is more expensive than the judge, the cost budget must suffice for the substitute.
func TestTheDearestSubstituteCountsForTheBudgetOfMoney(t *testing.T) {
	for name, tt := range map[string]struct {
		cost    float64
		dear    float64 // price of each output token
		turns   int     // 0 if the configuration is rejected
		outcome transcript.Outcome
	}{
		"no room for a verdict": {199, 1, 0, ""},
		"room for some rounds":  {550, 1, 3*3 + 3, transcript.CostBudget}, // none for an assessment and the verdict in round 4
		"room for all":          {550, 0.1, 9*3 + 1, transcript.RoundLimit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := debatetest.PairConfig(nil)
				cfg.Limits = debate.Limits{Cost: tt.cost, StepTokens: 100, JudgeTokens: 100, MaxRounds: 9}
				cfg.Prices = price.Prices{"": {}, "cheap": {}, "dear": {Output: tt.dear * 1e6}}
				cfg.Judges[0].Model = "cheap"
				cfg.Substitutes = []debate.Participant{{Provider: "j", Model: "cheap"}, {Provider: "s", Model: "dear"}, {Provider: "s", Model: "cheap"}}
				opts := debate.Options{Providers: providersOf(modelAtTokenCap(talkingModel()), unavailableModel(providers.ServerError))}
				opts.Providers["s"] = modelAtTokenCap(scriptedJudgeOfAll(t, 99))
				d, err := debate.New(t.Context(), cfg, opts)
				if tt.turns == 0 {
					require.Equal(t, []string{"limits.cost"}, problemFields(t, err))
					return
				}
				require.NoError(t, err)
				res := debatetest.RunResult(t, d)
				require.Equal(t, tt.outcome, res.Ending.Outcome, res.Ending.Evidence)
				require.LessOrEqual(t, res.Total.Usage.Cost, tt.cost)
				require.NotNil(t, res.Verdict)
				require.Len(t, res.Turns, tt.turns)
			})
		})
	}
}

// The steps of one actor run one after the other. Together they keep to the remaining time of the debate.
func TestManyStepsOfOneActorKeepToTheTimeBudget(t *testing.T) {
	for name, limited := range map[string]bool{"each takes a while": false, "a rate limit in between": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
					c.Protocol, c.Participants = debatetest.Mesh{}, nil
					c.Limits = debate.Limits{RunningTime: 10 * time.Minute, MaxRounds: 1}
					for _, name := range []string{"A", "B", "C", "D", "E"} {
						c.Participants = append(c.Participants, debate.Participant{Name: name, Provider: "m"})
					}
					o.Providers["j"] = scriptedJudgeOfAll(t, 1)
					o.Providers["m"] = debatetest.ProviderFunc(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
						if limited && time.Since(began) >= 230*time.Second {
							return providers.Response{}, errorOfKind(providers.RateLimit, 0)
						}
						if err := sleepContext(ctx, 230*time.Second); err != nil {
							return providers.Response{}, providers.ContextError(ctx, providers.Response{})
						}
						return providers.Response{Text: "I say."}, nil
					})
				})
				events := debatetest.Finish(t, d)
				res := debatetest.Result(t, d)
				require.Equal(t, transcript.TimeBudget, res.Ending.Outcome)
				require.Empty(t, droppedNames(events))
				require.LessOrEqual(t, time.Since(began), 10*time.Minute)
				require.LessOrEqual(t, res.RunningTime, time.Since(began))
				spoken := 5 // proposals, then one critique each
				if !limited {
					spoken += 5
				}
				require.Len(t, res.Turns, spoken+1, "and the verdict")
			})
		})
	}
}

// lastFailure returns the last transition with a failure.
func lastFailure(events []debate.Event) (last debate.StateChanged) {
	for _, ev := range events {
		if s, ok := ev.(debate.StateChanged); ok && (s.Failure != nil || s.Question != nil || len(s.OtherFailures) > 0) {
			last = s
		}
	}
	return last
}

// The usage of failed attempts counts however their step ends, even if another step has failed first.
func TestWhatFailedAttemptsUsedIsCountedHoweverTheirStepEnds(t *testing.T) {
	usage := transcript.Usage{Input: 10, Output: 500}
	failed := func(kind providers.ErrorKind, text string) *providers.Error {
		return &providers.Error{Kind: kind, Err: errors.New("down"), Partial: providers.Response{Text: text, Usage: usage}}
	}
	always := func(kind providers.ErrorKind, text string) providers.Provider {
		return debatetest.ProviderFunc(func(context.Context, providers.Request) (providers.Response, error) {
			return providers.Response{}, failed(kind, text)
		})
	}
	hangs := func(first error) providers.Provider { // hangs after a first failure
		calls := 0
		return debatetest.ProviderFunc(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
			calls++
			if calls%2 == 1 {
				return providers.Response{}, first
			}
			<-ctx.Done()
			return providers.Response{}, providers.ContextError(ctx, providers.Response{Usage: usage})
		})
	}
	type config = func(*debate.Config)
	none := func(*debate.Config) {}
	short := func(c *debate.Config) { c.Limits.RunningTime, c.Limits.StepTimeout = 5*time.Minute, time.Hour }
	ask := func(c *debate.Config) { c.OnFailure, c.OnJudgeFailure = debate.Ask, debate.Ask }
	hangsOffline := func() providers.Provider { return hangs(failed(providers.Network, "")) }
	hangsRefused := func() providers.Provider { return hangs(failed(providers.Authentication, "")) }
	fails := func() providers.Provider { return always(providers.ServerError, "") }
	breaksOff := func() providers.Provider { return always(providers.ServerError, "So far") }
	isRefused := func() providers.Provider { return always(providers.Authentication, "") }
	for name, tt := range map[string]struct {
		failing string // who fails, in round 2 if the debate gets that far
		model   func() providers.Provider
		change  config
		outcome transcript.Outcome
		state   fsm.State
		lost    int // other failures in the transition
	}{
		"the time is over":                  {"C", hangsOffline, short, transcript.TimeBudget, fsm.Completed, 0},
		"the time of all is over":           {"ABCD", hangsOffline, short, transcript.TimeBudget, fsm.Completed, 3},
		"one has failed by then":            {"AB", hangsRefused, short, "", fsm.Error, 1},
		"the quorum is lost":                {"BCD", fails, none, transcript.QuorumLost, fsm.Completed, 0},
		"the quorum is lost by all":         {"ABCD", fails, none, transcript.QuorumLost, fsm.Completed, 1},
		"one is dropped":                    {"B", fails, none, transcript.JudgeDecided, fsm.Completed, 0},
		"two are dropped":                   {"BD", fails, none, transcript.JudgeDecided, fsm.Completed, 0},
		"a part is kept":                    {"BD", breaksOff, none, transcript.JudgeDecided, fsm.Completed, 0},
		"a key is refused":                  {"B", isRefused, none, "", fsm.Error, 0},
		"all keys are refused":              {"ABCD", isRefused, none, "", fsm.Error, 3},
		"a person is asked about one":       {"B", fails, ask, "", fsm.Paused, 0},
		"a person is asked about all":       {"ABCD", breaksOff, ask, "", fsm.Paused, 3},
		"the judge's reply is a default":    {"J", fails, none, transcript.JudgeDecided, fsm.Completed, 0},
		"both judges' replies are defaults": {"JK", fails, none, transcript.RoundLimit, fsm.Completed, 0},
		"a person is asked about a judge":   {"JK", fails, ask, "", fsm.Paused, 1},
		"a judge is dropped": {
			"J", fails,
			func(c *debate.Config) { c.OnJudgeFailure = debate.DropJudge }, transcript.JudgeDecided, fsm.Completed, 0,
		},
		"both judges are dropped": {
			"JK", fails,
			func(c *debate.Config) { c.OnJudgeFailure = debate.DropJudge }, transcript.RoundLimit, fsm.Completed, 0,
		},
		"the debate ends without its judges": {
			"JK", fails,
			func(c *debate.Config) { c.OnJudgeFailure = debate.End }, transcript.QuorumLost, fsm.Completed, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var used debatetest.UsageMeter
				var mu sync.Mutex
				calls := map[string]int{}
				d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
					c.Protocol = panel.Protocol{Mode: panel.Simultaneous}
					c.Participants = nil
					c.Judges = nil
					c.Limits.MaxRounds = 3
					for _, name := range []string{"A", "B", "C", "D", "J", "K"} {
						p := debate.Participant{Name: name, Provider: name}
						well := talkingModel()
						bad := providers.Provider(nil)
						c.Participants = append(c.Participants, p)
						if name >= "J" {
							c.Participants, well = c.Participants[:4], scriptedJudgeOfAll(t, 2)
							c.Judges = append(c.Judges, p)
						}
						if strings.Contains(tt.failing, name) {
							bad = tt.model()
						}
						o.Providers[name] = used.Wrap(debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
							mu.Lock()
							calls[name]++
							first := calls[name] == 1
							mu.Unlock()
							if bad == nil || first {
								return well.Generate(ctx, r)
							}
							return bad.Generate(ctx, r)
						}))
					}
					tt.change(c)
				})
				events, err := debatetest.Run(t, d)
				res := debatetest.Result(t, d)
				require.Equal(t, tt.state, res.State, err)
				require.Equal(t, tt.outcome, res.Ending.Outcome, res.Ending.Evidence)
				require.Len(t, lastFailure(storedEvents(t, d)).OtherFailures, tt.lost)
				used.Check(t, d, d.OpenWithProvider(t, talkingModel()))
				for _, s := range res.Participants {
					errs := 0
					for _, ev := range events {
						if f, ok := ev.(debate.TurnFailed); ok && f.Key.Actor == s.Name {
							errs++
						}
					}
					require.Equal(t, calls[s.Name], s.Attempts, s.Name)
					if res.Ending.Outcome != transcript.TimeBudget { // a call that the time budget ends reports no failure
						require.Len(t, s.Errors, errs, s.Name)
					}
				}
			})
		})
	}
}

// An actor with several steps in a phase may fail in each of them.
func TestWhatEachStepOfADroppedActorUsedIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var used debatetest.UsageMeter
		said := false
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Protocol, c.Participants = debatetest.Mesh{}, nil
			for _, name := range []string{"A", "B", "C", "D"} {
				c.Participants = append(c.Participants, debate.Participant{Name: name, Provider: name})
				o.Providers[name] = used.Wrap(talkingModel())
			}
			o.Providers["A"] = used.Wrap(debatetest.ProviderFunc(func(context.Context, providers.Request) (providers.Response, error) {
				if !said {
					said = true
					return providers.Response{Text: "I propose.", Usage: transcript.Usage{Input: 10, Output: 5}}, nil
				}
				down := errorOfKind(providers.ContextOverflow, 0)
				down.Partial.Usage = transcript.Usage{Input: 10, Output: 5}
				return providers.Response{}, down
			}))
			o.Providers["j"] = used.Wrap(scriptedJudgeOfAll(t, 1))
		})
		events := debatetest.Finish(t, d)
		require.Equal(t, []string{"A"}, droppedNames(events))
		used.Check(t, d, d.OpenWithProvider(t, talkingModel()))
	})
}

// modelAtTokenCap is a model whose replies use as many output tokens as allowed.
func modelAtTokenCap(p providers.Provider) providers.Provider {
	return debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		resp, err := p.Generate(ctx, r)
		resp.Usage = transcript.Usage{Input: 1, Output: r.MaxTokens}
		return resp, err
	})
}

func TestATokenBudgetHoldsForAllStepsOfAPhase(t *testing.T) {
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			d := newPanelDebate(t, 9, func(c *debate.Config, o *debate.Options) {
				c.Protocol = panel.Protocol{Mode: mode}
				c.Limits = debate.Limits{StepTokens: 100, JudgeTokens: 100, OutputTokens: 550}
				o.Providers = providersOf(modelAtTokenCap(talkingModel()), modelAtTokenCap(scriptedJudge(t, 9)))
			})
			res := debatetest.RunResult(t, d)
			require.Equal(t, transcript.TokenBudget, res.Ending.Outcome)
			require.Equal(t, 400, res.Total.Usage.Output, "a round of 300 and the verdict: a second round could take 700")
			require.NotNil(t, res.Verdict)
		})
	}
}

func TestWhatFailedCallsUseIsCountedOnce(t *testing.T) {
	cost := transcript.Usage{Input: 1000, Output: 900}
	decide := func(actions ...string) func(*testing.T, *debate.Debate) {
		return func(t *testing.T, d *debate.Debate) {
			for _, action := range actions {
				requireUsed(t, d, cost)
				require.NoError(t, d.Decide(t.Context(), debatetest.Result(t, d).Question.ID, action))
				debatetest.Finish(t, d)
			}
		}
	}
	for name, tt := range map[string]struct {
		policy debate.FailurePolicy
		kind   providers.ErrorKind
		fails  int // number of calls
		then   func(*testing.T, *debate.Debate)
	}{
		"dropped":                 {debate.Degrade, providers.ContextOverflow, 1, nil},
		"asked, then dropped":     {debate.Ask, providers.ContextOverflow, 1, decide("drop")},
		"asked, then tried again": {debate.Ask, providers.ContextOverflow, 1, decide("retry")},
		"asked, then ended":       {debate.Ask, providers.ContextOverflow, 1, decide("end")},
		"in error": {debate.Degrade, providers.Authentication, 1, func(t *testing.T, d *debate.Debate) {
			requireUsed(t, d, cost)
			require.NoError(t, d.Retry(t.Context()))
			debatetest.Finish(t, d)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
				c.Participants = append(c.Participants, debate.Participant{Name: "C", Side: "third", Provider: "c"})
				c.OnFailure, c.OnOverflow = tt.policy, debate.Degrade
				o.Providers["c"] = modelFailingFirst(tt.fails, tt.kind, cost)
				o.Providers["j"] = &debatetest.DigestModel{Names: []string{"A", "B"}}
				c.Limits.MaxRounds = 1
			})
			_, _ = debatetest.Run(t, d)
			if tt.then != nil {
				tt.then(t, d)
			}
			require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
			requireUsed(t, d, cost)
		})
	}
}

// requireUsed checks that a debate whose participant C failed in round 1 has the usage of its turns plus the given
// usage.
func requireUsed(t *testing.T, d *debate.Debate, more transcript.Usage) {
	t.Helper()
	all, third := more, more
	res := debatetest.Result(t, d)
	for _, turn := range res.Turns {
		all = all.Add(turn.Usage)
		if turn.Actor == "C" {
			third = third.Add(turn.Usage)
		}
	}
	require.Equal(t, all, res.Total.Usage)
	require.Equal(t, all, res.Rounds[1].Usage)
	require.Equal(t, third, res.Sides["third"].Usage)
	require.Equal(t, all, debatetest.Status(t, d).Usage)
}

func TestTryingAgainEndsWithTheBudget(t *testing.T) {
	model := modelFailingFirst(99, providers.ContextOverflow, transcript.Usage{Output: 900})
	d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
		c.OnFailure, o.Providers["m"] = debate.Ask, model
		c.Limits = debate.Limits{OutputTokens: 3600, StepTokens: 900, JudgeTokens: 900}
	})
	for range 10 {
		_, _ = debatetest.Run(t, d) // it fails at last
		if debatetest.Result(t, d).Question == nil {
			break
		}
		require.NoError(t, d.Decide(t.Context(), debatetest.Result(t, d).Question.ID, "retry"))
	}
	res := debatetest.Result(t, d)
	require.Equal(t, fsm.Error, res.State, "nobody has spoken")
	require.Contains(t, res.Failure.Message, "1800 of 3600 output tokens are used")
	for check, err := range d.VerifyEntries(t.Context()) {
		require.NoError(t, err)
		require.NotEqual(t, debate.EntryWrong, check.Verdict, check.Reason)
	}
	require.Equal(t, 1800, res.Total.Usage.Output)
	require.Len(t, model.Calls(), 2, "a third call of 900 would leave no room for a verdict of 900")
}

func TestAConclusionHasItsTimeAfterABreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jury := scriptedJudge(t, 1)
		slowly := debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
			if debatetest.AsksFor(r, "verdict") && sleepContext(ctx, time.Minute) != nil {
				return providers.Response{}, context.Cause(ctx)
			}
			return jury.Generate(ctx, r)
		})
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Limits = debate.Limits{RunningTime: 10 * time.Minute, StepTimeout: 10 * time.Minute}
			o.Providers["j"] = slowly
		})
		runUntilTurn(t, d, transcript.Conclusion)
		time.Sleep(time.Hour)
		debatetest.Finish(t, d)
		require.NotNil(t, debatetest.Result(t, d).Verdict)
	})
}

func TestASlowViewerUsesUpNoTimeBudget(t *testing.T) {
	for name, looks := range map[string]func(debate.Event) bool{
		"at phases": func(ev debate.Event) bool { _, ok := ev.(debate.PhaseStarted); return ok },
		"at turns":  func(ev debate.Event) bool { _, ok := ev.(debate.TurnDone); return ok },
		"at chunks": func(ev debate.Event) bool { _, ok := ev.(debate.Chunk); return ok },
		"at all":    func(debate.Event) bool { return true },
	} {
		for mode, speaking := range map[panel.Mode]time.Duration{panel.Sequential: time.Minute, panel.Simultaneous: 30 * time.Second} {
			runWithSlowViewer(t, name+", "+string(mode), mode, looks, speaking)
		}
	}
}

// runWithSlowViewer watches a debate of three rounds and takes two minutes for each event that looks selects.
func runWithSlowViewer(t *testing.T, name string, mode panel.Mode, looks func(debate.Event) bool, speaking time.Duration) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newPanelDebate(t, 9, func(c *debate.Config, o *debate.Options) {
				c.Protocol = panel.Protocol{Format: panel.RoundLimited, Mode: mode}
				c.Limits = debate.Limits{RunningTime: 10 * time.Minute, MaxRounds: 3}
				o.Providers["m"] = slowModel()
			})
			for ev, err := range d.Run(t.Context()) {
				require.NoError(t, err)
				if looks(ev) {
					time.Sleep(2 * time.Minute)
				}
			}
			res := debatetest.Result(t, d)
			require.Equal(t, transcript.RoundLimit, res.Ending.Outcome, res.Ending.Evidence)
			require.NotNil(t, res.Verdict)
			require.InDelta(t, speaking, res.RunningTime, float64(30*time.Second), "speeches of 10 seconds")
		})
	})
}

func TestRemarksTakeNoRunningTimeAway(t *testing.T) {
	for _, mode := range panelModes {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newPanelDebate(t, 2, func(c *debate.Config, o *debate.Options) {
					c.Protocol, o.Providers["m"] = panel.Protocol{Mode: mode}, slowModel()
				})
				ctx, leave := context.WithCancel(t.Context())
				go func() {
					for sleepContext(ctx, 3*time.Second) == nil {
						assert.NoError(t, d.Inject(t.Context(), debate.Remark{From: "Guest", Text: "And then?"}))
					}
				}()
				running, passed := measureRunning(t, d)
				leave()
				require.Equal(t, passed, running)
				require.Equal(t, "Guest", debatetest.Result(t, d).Turns[0].Actor)
			})
		})
	}
}

func TestBudgetsEndADebateWithRoomForTheVerdict(t *testing.T) {
	t.Run("tokens", func(t *testing.T) {
		long := strings.Repeat("word ", 300) // about 100 tokens in scripted's count of 4 bytes a token
		d := newPanelDebate(t, 99, func(c *debate.Config, o *debate.Options) {
			c.Limits = debate.Limits{OutputTokens: 3000, StepTokens: 400, JudgeTokens: 400, MaxRounds: 9}
			o.Providers["m"] = &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: long} }}
		})
		res := debatetest.RunResult(t, d)
		require.Equal(t, transcript.TokenBudget, res.Ending.Outcome)
		require.Contains(t, res.Ending.Evidence, "of 3000 output tokens")
		require.NotNil(t, res.Verdict)
		require.LessOrEqual(t, res.Total.Usage.Output, 3000)
		require.Greater(t, res.Total.Usage.Output, 3000-3*400-400, "it stopped no earlier than it had to")
	})
	t.Run("time between rounds", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newPanelDebate(t, 99, func(c *debate.Config, o *debate.Options) {
				c.Limits = debate.Limits{RunningTime: 10 * time.Minute, MaxRounds: 100, RoundDelay: 62 * time.Second}
				o.Providers["m"] = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
					return scripted.Reply{Text: "slow", Latency: 49 * time.Second} // no call ends at the time limit
				}}
			})
			res := debatetest.RunResult(t, d)
			require.Equal(t, transcript.TimeBudget, res.Ending.Outcome)
			require.Equal(t, 5, res.Ending.Round, "a fifth, 2 minutes, is kept: 8 minutes are 4 rounds and a speech, and the delay does not count")
			require.Len(t, res.Assessments, 4)
			require.NotNil(t, res.Verdict)
			require.Equal(t, 8*time.Minute, res.RunningTime)
		})
	})
	t.Run("time during a call", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newPanelDebate(t, 99, func(c *debate.Config, o *debate.Options) {
				c.Limits = debate.Limits{RunningTime: 10 * time.Minute, StepTimeout: time.Hour}
				o.Providers["m"] = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
					return scripted.Reply{Text: "slow", Latency: 5 * time.Minute}
				}}
			})
			res := debatetest.RunResult(t, d)
			require.Equal(t, transcript.TimeBudget, res.Ending.Outcome)
			require.Len(t, res.Turns, 2, "one speech, and the verdict on it")
			require.Equal(t, 8*time.Minute, res.RunningTime)
		})
	})
}

// The token budget counts the delimiters around each statement.
func TestDelimitersCountInTheTokenBudget(t *testing.T) {
	const delimiters = 30 // see judge.Pseudonyms.QuoteTokens
	needed, turns := map[int]int{}, []transcript.Turn{}
	for tokens := 20_000; len(needed) < 3; tokens += 1_000 {
		c := debatetest.PairConfig(panel.Protocol{Format: panel.RoundLimited})
		c.Limits = debate.Limits{MaxRounds: 9, Tokens: tokens, StepTokens: 300, JudgeTokens: 300}
		m := &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: "Yes."} }}
		d, err := debate.New(t.Context(), c, debate.Options{Providers: providersOf(m, scriptedJudge(t, 9))})
		if err != nil { // too little for the first phase
			continue
		}
		res := debatetest.RunResult(t, d)
		require.Equal(t, transcript.TokenBudget, res.Ending.Outcome, tokens)
		var used, limit, more int
		_, err = fmt.Sscanf(res.Ending.Evidence, "%d of %d tokens are used, and up to %d more", &used, &limit, &more)
		require.NoError(t, err)
		if slices.ContainsFunc(res.Turns, func(t transcript.Turn) bool { return t.Kind == transcript.Speech && t.Round == res.Ending.Round }) {
			continue // the debate ended before an assessment
		}
		needed[res.Ending.Round], turns = more, res.Turns
	}
	round := slices.Sorted(maps.Keys(needed))[0]
	added := 0 // by the turns of a round to each prompt
	for _, turn := range turns {
		if turn.Round == round && turn.Kind == transcript.Speech {
			added += turn.Tokens + delimiters
		}
	}
	const prompts = 4 // two speeches and the verdict, which may be asked for again
	require.Equal(t, prompts*added, needed[round+1]-needed[round])
}

// A service may write a whole prompt to its cache, at a higher price.
func TestABudgetHasRoomForCacheWrites(t *testing.T) {
	for written, fits := range map[float64]bool{0: true, 1: true, 100: false} {
		cfg := configOfSize(2, 1)
		cfg.Limits.Cost, cfg.Prices = 0.1, price.Prices{"x": {Input: 1, Written: written, Output: 1}}
		_, err := debate.New(
			t.Context(),
			cfg,
			debate.Options{Providers: map[string]providers.Provider{"m": maximalModel{names: participantNames(cfg)}}},
		)
		if fits {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, "too small for the first phase")
		}
	}
}

package debate_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// filler says as much as it may in each reply, counts its prompts as the engine does, and as a judge never ends a debate.
type filler struct {
	twice bool // each reply is the second: the first is empty
	names func(r providers.Request) []string
	last  *bool
}

func (f filler) Generate(_ context.Context, r providers.Request) (providers.Response, error) {
	usage := transcript.Usage{Output: r.MaxTokens}
	for _, m := range r.Messages {
		usage.Input += window.Estimate(m.Text)
	}
	if f.twice {
		if *f.last = !*f.last; *f.last {
			return providers.Response{Usage: usage}, nil
		}
	}
	e := echo{names: f.names(r)}
	text := e.say(3, r) // goes on
	if r.Reply == "" {
		text = strings.Repeat("four", r.MaxTokens)
		for window.Estimate(text) > r.MaxTokens {
			text = text[4:]
		}
	}
	return providers.Response{Text: text, Finish: providers.Stop, Usage: usage}, nil
}

// among is a debate of so many participants and judges by one model, "m".
func among(participants, judges int) debate.Config {
	cfg := debate.Config{ID: "d", Topic: "Ban cars?"}
	for i := range participants {
		cfg.Participants = append(cfg.Participants, debate.Participant{Name: string(rune('A' + i)), Provider: "m", Model: "x"})
	}
	for i := range judges {
		cfg.Judges = append(cfg.Judges, debate.Participant{Name: fmt.Sprint("J", i), Provider: "m", Model: "x"})
	}
	return cfg
}

// everybody are the names of all participants of a debate.
func everybody(c debate.Config) func(providers.Request) []string {
	return func(providers.Request) (names []string) {
		for _, p := range c.Participants {
			names = append(names, p.Name)
		}
		return names
	}
}

// A budget is never exceeded, whatever a debate is like, by models that use their whole cap each time; where it ends one
// there is a verdict on what was said; and no phase begins that could use more than there is.
func TestBudgetsAreNeverExceeded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := among(rapid.IntRange(2, 4).Draw(rt, "participants"), rapid.IntRange(1, 3).Draw(rt, "judges"))
		cfg.Protocol = panel.Protocol{
			Format:   rapid.SampledFrom([]panel.Format{panel.FreeForm, panel.StructuredRounds, panel.RoundLimited, panel.ConvergenceSeeking}).Draw(rt, "format"),
			Mode:     rapid.SampledFrom([]panel.Mode{panel.Sequential, panel.Simultaneous}).Draw(rt, "mode"),
			Personas: rapid.SampledFrom([]panel.Style{"", panel.Binary}).Draw(rt, "personas"),
		}
		cfg.Background = strings.Repeat("It is known that. ", rapid.IntRange(0, 1500).Draw(rt, "background"))
		cfg.Participants[0].Instructions = strings.Repeat("Be kind. ", rapid.IntRange(0, 1500).Draw(rt, "instructions"))
		l := debate.Limits{
			MaxRounds: rapid.IntRange(2, 8).Draw(rt, "rounds"), StepTokens: rapid.IntRange(20, 400).Draw(rt, "step"),
			JudgeTokens: rapid.IntRange(20, 400).Draw(rt, "judge"),
		}
		cfg.Prices = price.Prices{"x": {Input: 2e6, Output: 8e6}, "": {Input: 1e6}}
		switch rapid.SampledFrom([]string{"output", "tokens", "cost"}).Draw(rt, "budget") {
		case "output":
			least := len(cfg.Participants)*l.StepTokens + len(cfg.Judges)*l.JudgeTokens
			l.OutputTokens = least + rapid.IntRange(0, 20*least).Draw(rt, "tokens")
		case "tokens":
			l.Tokens = rapid.IntRange(1, 400_000).Draw(rt, "tokens")
		case "cost":
			l.Cost = float64(rapid.IntRange(1, 1_000_000).Draw(rt, "cost"))
		}
		cfg.Casting, cfg.Limits = debate.Participant{Provider: "m", Model: "x"}, l

		d, err := debate.New(t.Context(), cfg, debate.Options{Providers: map[string]providers.Provider{"m": filler{names: everybody(cfg)}}})
		if err != nil { // a budget with which nobody could speak is refused at once
			require.ErrorContains(rt, err, "nobody could speak")
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
		res := result(t, d)
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

// The budgets one by one: what ends the debate, after which turns, and what is said of it.
func TestEachBudgetEndsADebateWithAVerdict(t *testing.T) {
	for name, tt := range map[string]struct {
		limits   debate.Limits
		outcome  transcript.Outcome
		evidence string
		turns    int // of two speeches and an assessment a round, and the verdict
	}{
		"output tokens": { // a reply uses 100: a round 300, and two speeches with the verdict as much
			debate.Limits{OutputTokens: 799, StepTokens: 100, JudgeTokens: 100},
			transcript.TokenBudget, "600 of 799 output tokens are used, and up to 300 more are needed for the next phase and the conclusion", 7,
		},
		"all tokens": {
			debate.Limits{Tokens: 40_000, StepTokens: 100, JudgeTokens: 100},
			transcript.TokenBudget, "of 40000 tokens are used, and up to", 0,
		},
		"money": {
			debate.Limits{Cost: 0.04, StepTokens: 100, JudgeTokens: 100},
			transcript.CostBudget, "of 0.0400 are spent, and up to", 0,
		},
		"time": { // 61 seconds a call, which none ends with the time of; 2 of 10 minutes are kept
			debate.Limits{Time: 10 * time.Minute},
			transcript.TimeBudget, "the time for rounds was over during a call", 8,
		},
		"time, between rounds": {
			debate.Limits{Time: 10 * time.Minute, RoundDelay: 5 * time.Minute},
			transcript.TimeBudget, "8m3s of 10m0s have passed, and the rest is kept for the conclusion", 4,
		},
		"a round's time, in a speech": {
			debate.Limits{Round: 2 * time.Minute},
			transcript.TimeBudget, "the time for rounds was over during a call", 2,
		},
		"a round's time, in an assessment": {
			debate.Limits{Round: 3 * time.Minute},
			transcript.TimeBudget, "the time for rounds was over during a call", 3,
		},
		"each round has its own time": {
			debate.Limits{Round: 184 * time.Second, MaxRounds: 4},
			transcript.RoundLimit, "4 rounds were held", 13,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := among(2, 1)
				cfg.Limits, cfg.Prices = tt.limits, price.Prices{"x": {Input: 1, Output: 1}}
				if cfg.Limits.MaxRounds == 0 {
					cfg.Limits.MaxRounds = 50
				}
				model := filler{names: everybody(cfg)}
				slowly := generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
					if err := wait(ctx, 61*time.Second); err != nil {
						return providers.Response{}, providers.Ended(ctx, providers.Response{})
					}
					return model.Generate(ctx, r)
				})
				d, err := debate.New(t.Context(), cfg, debate.Options{Providers: map[string]providers.Provider{"m": slowly}})
				require.NoError(t, err)
				events, err := run(t, d)
				require.NoError(t, err)
				res := result(t, d)
				require.Equal(t, tt.outcome, res.Ending.Outcome)
				require.Contains(t, res.Ending.Evidence, tt.evidence)
				require.NotNil(t, res.Verdict)
				require.Empty(t, dropouts(events))
				if tt.turns > 0 {
					require.Len(t, res.Turns, tt.turns)
				}
				if l := tt.limits; l.Time > 0 {
					require.LessOrEqual(t, res.Running, l.Time)
				}
			})
		})
	}
}

func TestAPauseIsNoPartOfARoundsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := panelOf(t, 2, func(c *debate.Config, o *debate.Options) {
			c.Limits.Round, o.Providers["m"] = time.Minute, slow()
		})
		for ev, err := range d.Run(t.Context()) {
			require.NoError(t, err)
			if done, ok := ev.(debate.TurnDone); ok && done.Turn.Key.String() == "1/2/respond/A/" {
				require.NoError(t, d.Pause(t.Context()))
			}
		}
		time.Sleep(time.Hour)
		require.NoError(t, d.Resume(t.Context()))
		_, err := run(t, d)
		require.NoError(t, err)
		require.Equal(t, transcript.JudgeDecided, result(t, d).Ending.Outcome)
		require.Equal(t, 40*time.Second, result(t, d).Running)
	})
}

func TestWhatFailedAttemptsUseCountsForTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := faulty(3, providers.Network, transcript.Usage{Output: 100})
		d := panelOf(t, 9, func(c *debate.Config, o *debate.Options) {
			c.Limits = debate.Limits{OutputTokens: 899, StepTokens: 100, JudgeTokens: 100}
			o.Providers = models(costingAfter(3, model), costing(court(t, 9)))
		})
		_, err := run(t, d)
		require.NoError(t, err)
		res := result(t, d)
		require.Equal(t, transcript.TokenBudget, res.Ending.Outcome)
		require.Contains(t, res.Ending.Evidence, "600 of 899 output tokens are used, and up to 300 more are needed")
		require.Equal(t, 400, res.Turns[0].Usage.Output)
		require.Len(t, res.Assessments, 1, "without the failures there was room for two rounds")
	})
}

// costingAfter is a model that uses its whole cap after so many calls.
func costingAfter(n int, p *scripted.Provider) providers.Provider {
	return generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		if len(p.Calls()) < n {
			return p.Generate(ctx, r)
		}
		return costing(p).Generate(ctx, r)
	})
}

// A debate with default limits holds all its rounds, also where each reply is as long as it may be and the first try of
// each was in vain.
func TestDefaultLimitsAreNotHitByArithmetic(t *testing.T) {
	for _, format := range []panel.Format{"", panel.FreeForm, panel.StructuredRounds, panel.RoundLimited, panel.ConvergenceSeeking} {
		for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
			for participants := 2; participants <= 4; participants++ {
				for judges := 1; judges <= 3; judges += 2 {
					for _, limits := range []debate.Limits{{}, {MaxRounds: 2}, {MinRounds: 9}} {
						name := fmt.Sprintf("%s, %s, %d participants, %d judges, %d rounds", format, mode, participants, judges, max(limits.MaxRounds, limits.MinRounds))
						t.Run(name, func(t *testing.T) {
							cfg := among(participants, judges)
							cfg.Protocol, cfg.Limits = panel.Protocol{Format: format, Mode: mode, Personas: panel.Binary}, limits
							d, err := debate.New(t.Context(), cfg, debate.Options{Providers: map[string]providers.Provider{"m": filler{names: everybody(cfg)}}})
							require.NoError(t, err)
							_, err = run(t, d)
							require.NoError(t, err)
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
				cfg := among(3, 1)
				cfg.Protocol = panel.Protocol{Format: format, Personas: panel.Binary}
				model := filler{names: everybody(cfg), twice: true, last: new(bool)}
				d, err := debate.New(t.Context(), cfg, debate.Options{Providers: map[string]providers.Provider{"m": model}})
				require.NoError(t, err)
				_, err = run(t, d)
				require.NoError(t, err)
				requireAllRounds(t, d, 5)
				for _, turn := range result(t, d).Turns {
					require.Len(t, turn.Attempts, 2)
				}
			})
		})
	}
}

// requireAllRounds checks that a debate has held all its rounds; 0: the default.
func requireAllRounds(t *testing.T, d *debate.Debate, rounds int) {
	t.Helper()
	if rounds == 0 {
		rounds = 5
	}
	res := result(t, d)
	require.Equal(t, transcript.RoundLimit, res.Ending.Outcome, res.Ending.Evidence)
	require.Equal(t, rounds, res.Ending.Round)
	require.NotNil(t, res.Verdict)
}

// A process that dies after any turn, and another that goes on hours later, decide as one that lives.
func TestACrashDoesNotChangeWhatABudgetDecides(t *testing.T) {
	both, sequential := []panel.Mode{panel.Sequential, panel.Simultaneous}, []panel.Mode{panel.Sequential}
	for name, tt := range map[string]struct {
		limits debate.Limits
		modes  []panel.Mode // a call that was cut is made again, which takes its time: at once with others, more than before
	}{
		"output tokens":  {debate.Limits{OutputTokens: 1300, StepTokens: 100, JudgeTokens: 100, MaxRounds: 9}, both},
		"all tokens":     {debate.Limits{Tokens: 40_000, StepTokens: 100, JudgeTokens: 100, MaxRounds: 9}, both},
		"money":          {debate.Limits{Cost: 0.04, StepTokens: 100, JudgeTokens: 100, MaxRounds: 9}, both},
		"time":           {debate.Limits{Time: 10 * time.Minute, MaxRounds: 9}, sequential},
		"a round's time": {debate.Limits{Round: 2 * time.Minute, MaxRounds: 9}, sequential},
	} {
		for _, mode := range tt.modes {
			t.Run(name+", "+string(mode), func(t *testing.T) {
				want := decided(t, tt.limits, mode, 0)
				require.NotContains(t, want, string(transcript.RoundLimit))
				for _, every := range []int{1, 2, 3} {
					require.Equal(t, want, decided(t, tt.limits, mode, every), "a crash after every %d. turn", every)
				}
			})
		}
	}
}

// decided is how a debate with limits ends, and after what, where its process dies after so many turns each time; 0: never.
func decided(t *testing.T, limits debate.Limits, mode panel.Mode, every int) (text string) {
	synctest.Test(t, func(t *testing.T) {
		cfg := among(2, 1)
		cfg.Protocol, cfg.Limits, cfg.Prices = panel.Protocol{Mode: mode}, limits, price.Prices{"x": {Input: 1, Output: 1}}
		model := filler{names: everybody(cfg)}
		opts := debate.Options{Store: store.Memory(), Providers: map[string]providers.Provider{
			"m": generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
				if err := wait(ctx, 61*time.Second); err != nil {
					return providers.Response{}, providers.Ended(ctx, providers.Response{})
				}
				return model.Generate(ctx, r)
			}),
		}}
		_, err := debate.New(t.Context(), cfg, opts)
		require.NoError(t, err)
		for lives := 0; ; lives++ {
			require.Less(t, lives, 200)
			e, err := debate.NewEngine(opts)
			require.NoError(t, err)
			d, err := e.Open(t.Context(), "d")
			require.NoError(t, err)
			turns := 0
			for ev, err := range d.Run(t.Context()) {
				require.NoError(t, err)
				if _, turn := ev.(debate.TurnDone); turn {
					if turns++; turns == every {
						break
					}
				}
			}
			if res := result(t, d); res.State == fsm.Completed {
				text = fmt.Sprint(res.Ending, keys(res), res.Total.Usage)
				return
			}
			time.Sleep(3 * time.Hour)
		}
	})
	return text
}

// The model that answered decides on the price, as a fallback or an alias may be another than the one that was asked for.
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
				d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
					c.Prices, c.Participants[0].Model, c.OnOverflow = prices, tt.asked, debate.Degrade
					c.Participants = append(c.Participants, debate.Participant{Name: "C", Provider: "c"})
					c.Participants[0].Provider, c.Participants[2].Provider = "c", "m"
					o.Providers["j"] = anyJudge(t, 1)
					o.Providers["c"] = generate(func(context.Context, providers.Request) (providers.Response, error) {
						resp := providers.Response{Text: "Hi.", Model: tt.answered, Usage: used}
						if failing {
							down := failsWith(providers.ContextOverflow, 0)
							down.Partial = resp
							down.Partial.Text = ""
							return providers.Response{}, down
						}
						return resp, nil
					})
				})
				_, err := run(t, d)
				require.NoError(t, err)
				want := used
				want.Cost, want.Unpriced = tt.cost, tt.unpriced
				require.Equal(t, want, result(t, d).Sides["for"].Usage)
			})
		}
	}
}

// A substitute says no more than the judge might: budgets count on it.
func TestSubstitutesKeepToTheJudgesCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var caps []string
		noted := func(name string, p providers.Provider) providers.Provider {
			return generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
				caps = append(caps, fmt.Sprint(name, " ", r.MaxTokens))
				return costing(p).Generate(ctx, r)
			})
		}
		d := panelOf(t, 9, func(c *debate.Config, o *debate.Options) {
			c.Limits, c.OnOverflow = debate.Limits{OutputTokens: 950, StepTokens: 100}, debate.Degrade
			c.Judges[0].MaxTokens = 100
			c.Substitutes = []debate.Participant{{Provider: "less", MaxTokens: 30}, {Provider: "more", MaxTokens: 4000}}
			o.Providers["m"] = costing(chatter())
			o.Providers["j"] = noted("j", dead(providers.ContextOverflow))
			o.Providers["less"], o.Providers["more"] = noted("less", dead(providers.ContextOverflow)), noted("more", anyJudge(t, 9))
		})
		_, err := run(t, d)
		require.NoError(t, err)
		res := result(t, d)
		require.Equal(t, []string{"j 100", "less 30", "more 100"}, caps[:3])
		require.Equal(t, transcript.TokenBudget, res.Ending.Outcome)
		require.LessOrEqual(t, res.Total.Usage.Output, 950)
		require.Len(t, res.Turns, 9, "two rounds, the speeches of a third and the verdict")
	})
}

// Where a substitute is dearer than the judge, its price is what the budget of money has to have room for.
func TestTheDearestSubstituteCountsForTheBudgetOfMoney(t *testing.T) {
	for name, tt := range map[string]struct {
		cost    float64
		dear    float64 // for each token of output
		turns   int     // 0: it is refused
		outcome transcript.Outcome
	}{
		"no room for a verdict": {99, 1, 0, ""},
		"room for some rounds":  {450, 1, 3*3 + 3, transcript.CostBudget}, // an assessment and the verdict have none in the fourth
		"room for all":          {450, 0.1, 9*3 + 1, transcript.RoundLimit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := pair(nil)
				cfg.Limits = debate.Limits{Cost: tt.cost, StepTokens: 100, JudgeTokens: 100, MaxRounds: 9}
				cfg.Prices = price.Prices{"": {}, "cheap": {}, "dear": {Output: tt.dear * 1e6}}
				cfg.Judges[0].Model = "cheap"
				cfg.Substitutes = []debate.Participant{{Provider: "j", Model: "cheap"}, {Provider: "s", Model: "dear"}, {Provider: "s", Model: "cheap"}}
				opts := debate.Options{Providers: models(costing(chatter()), dead(providers.API))}
				opts.Providers["s"] = costing(anyJudge(t, 99))
				d, err := debate.New(t.Context(), cfg, opts)
				if tt.turns == 0 {
					require.Equal(t, []string{"limits.cost"}, fields(t, err))
					return
				}
				require.NoError(t, err)
				_, err = run(t, d)
				require.NoError(t, err)
				res := result(t, d)
				require.Equal(t, tt.outcome, res.Ending.Outcome, res.Ending.Evidence)
				require.LessOrEqual(t, res.Total.Usage.Cost, tt.cost)
				require.NotNil(t, res.Verdict)
				require.Len(t, res.Turns, tt.turns)
			})
		})
	}
}

func TestABudgetWithWhichNobodyCouldSpeakIsRefused(t *testing.T) {
	var needed int
	for _, tt := range []struct {
		name   string
		change func(*debate.Limits)
		field  string // empty: it is enough
	}{
		{"a token", func(l *debate.Limits) { l.Tokens = 1 }, "limits.tokens"},
		{"one less than is needed", func(l *debate.Limits) { l.Tokens = needed - 1 }, "limits.tokens"},
		{"what is needed", func(l *debate.Limits) { l.Tokens = needed }, ""},
		{"a token of output", func(l *debate.Limits) { l.OutputTokens = 1 }, "limits.output_tokens"},
		{"one less than the replies", func(l *debate.Limits) { l.OutputTokens = 299 }, "limits.output_tokens"},
		{"the replies", func(l *debate.Limits) { l.OutputTokens = 300 }, ""},
		{"too little money", func(l *debate.Limits) { l.Cost = 300 - 1 }, "limits.cost"},
		{"the money for the replies", func(l *debate.Limits) { l.Cost = 300 }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := pair(nil)
			cfg.Limits = debate.Limits{StepTokens: 100, JudgeTokens: 100}
			cfg.Prices = price.Prices{"": {Output: 1e6}}
			tt.change(&cfg.Limits)
			d, err := debate.New(t.Context(), cfg, debate.Options{Providers: models(chatter(), court(t, 1))})
			if tt.field != "" {
				require.Equal(t, []string{tt.field}, fields(t, err))
				if cfg.Limits.Tokens == 1 {
					at := strings.Index(err.Error(), "up to ")
					_, err := fmt.Sscanf(err.Error()[at:], "up to %d more", &needed)
					require.NoError(t, err)
				}
				return
			}
			require.NoError(t, err)
			_, err = run(t, d)
			require.NoError(t, err)
			require.NotEmpty(t, result(t, d).Turns)
		})
	}
}

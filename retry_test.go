package debate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// retryWaits returns the waits that were announced after failed attempts, in order.
func retryWaits(events []debate.Event) (list []time.Duration) {
	for _, ev := range events {
		if f, ok := ev.(debate.TurnFailed); ok {
			list = append(list, f.RetryIn)
		}
	}
	return list
}

func TestRetriesAreConfiguredByKind(t *testing.T) {
	for kind := range hintsByKind {
		for _, n := range []int{0, 1, 4} {
			t.Run(fmt.Sprint(kind, " ", n), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					model := &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Err: errorOfKind(kind, 0)} }}
					d := newDebateWithModel(t, model, func(c *debate.Config, _ *debate.Options) { c.Retries = map[providers.ErrorKind]int{kind: n} })
					events, err := debatetest.Run(t, d)
					var failure *debate.Failure
					require.ErrorAs(t, err, &failure)
					calls := n + 1
					require.False(t, failure.Unreachable, "a number of retries says how long a step waits for its provider")
					require.Equal(t, calls, failure.Attempts)
					require.Len(t, model.Calls(), calls)
					require.Len(t, retryWaits(events), calls)
				})
			})
		}
	}
}

// If no retries are configured for invalid replies, the model is not asked again with the violations.
func TestNoRetriesOfInvalidRepliesMeansNoAskingAgain(t *testing.T) {
	jury := scripted.Text("I cannot say.", "Nor now.")
	d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
		c.Limits.MaxRounds, o.Providers["j"] = 1, jury
		c.Retries = map[providers.ErrorKind]int{providers.InvalidResponse: 0}
	})
	debatetest.Finish(t, d)
	require.Len(t, jury.Calls(), 2, "the assessment and the verdict, each once")
	for _, turn := range []transcript.Turn{debatetest.Result(t, d).Assessments[0], *debatetest.Result(t, d).Verdict} {
		require.Equal(t, []transcript.Flag{transcript.Defaulted}, turn.Flags)
		require.Len(t, turn.Attempts, 1)
	}
}

func TestNoWaitIsBegunThatOutlastsTheStepOrTheBudget(t *testing.T) {
	for name, tt := range map[string]struct {
		limits debate.Limits
		after  time.Duration
		calls  int
	}{
		"shorter than the step":     {debate.Limits{StepTimeout: 10 * time.Minute}, 10*time.Minute - time.Second, 2},
		"as long as the step":       {debate.Limits{StepTimeout: 10 * time.Minute}, 10 * time.Minute, 1},
		"shorter than the budget":   {debate.Limits{StepTimeout: time.Hour, RunningTime: 10 * time.Minute}, 8*time.Minute - time.Second, 2},
		"as long as the budget":     {debate.Limits{StepTimeout: time.Hour, RunningTime: 10 * time.Minute}, 8 * time.Minute, 1},
		"shorter than the round":    {debate.Limits{RoundTime: 3 * time.Minute}, 3*time.Minute - time.Second, 2},
		"as long as the round":      {debate.Limits{RoundTime: 3 * time.Minute}, 3 * time.Minute, 1},
		"long, and the step longer": {debate.Limits{StepTimeout: 3 * time.Hour, RunningTime: 10 * time.Hour}, 2 * time.Hour, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := &scripted.Provider{Replies: []scripted.Reply{{Err: errorOfKind(providers.ServerError, tt.after)}, {Text: "At last."}}}
				d := newDebateWithModel(t, model, func(c *debate.Config, _ *debate.Options) { c.Limits = tt.limits })
				began := time.Now()
				_, err := debatetest.Run(t, d)
				require.Len(t, model.Calls(), tt.calls)
				if tt.calls == 1 {
					require.ErrorContains(t, err, "server_error: down")
					require.Zero(t, time.Since(began))
					return
				}
				require.NoError(t, err)
				require.Equal(t, "At last.", debatetest.Result(t, d).Turns[0].Text)
				require.Equal(t, tt.after, time.Since(began))
			})
		})
	}
}

func TestEveryAttemptStandsInTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spend := []transcript.Usage{{Input: 100, Output: 1}, {Input: 100, Cached: 90, Output: 20, Reasoning: 5}, {Input: 100, Output: 300}}
		model := &scripted.Provider{Replies: []scripted.Reply{
			{Err: errorOfKind(providers.Network, 0), Usage: spend[0], Latency: 2 * time.Second},
			{Text: "Half of it", Err: errorOfKind(providers.ServerError, 0), Usage: spend[1], Latency: 3 * time.Second},
			{Text: "All of it", FinishReason: providers.Length, Usage: spend[2], Latency: 5 * time.Second},
		}}
		d := newDebateWithModel(t, model, func(c *debate.Config, _ *debate.Options) { c.Participants[0].Model = "gpt-9" })
		debatetest.Finish(t, d)
		turn := debatetest.Result(t, d).Turns[0]
		for i := range turn.Attempts {
			require.Positive(t, turn.Attempts[i].PromptTokens)
			require.NotEmpty(t, turn.Attempts[i].Hash)
			turn.Attempts[i].PromptTokens, turn.Attempts[i].Hash = 0, ""
		}
		end := turn.Started.UTC()
		for i := range turn.Attempts {
			a := &turn.Attempts[i]
			require.Equal(t, i > 0, a.Waited > 0, "only a retry has waited")
			require.Equal(t, end.Add(a.Waited), a.Began)
			require.Equal(t, i > 0, a.FirstChunk > 0, "the first attempt has no text")
			end = a.Began.Add(a.Duration)
			a.Began, a.Waited, a.FirstChunk = time.Time{}, 0, 0
		}
		require.Equal(t, turn.Ended.UTC(), end)
		require.Equal(t, []transcript.Attempt{
			{Provider: "m", Model: "gpt-9", ErrorKind: "network", ErrorMessage: "network: down", Next: transcript.NextRetried, Usage: spend[0], Duration: 2 * time.Second},
			{Provider: "m", Model: "gpt-9", ErrorKind: "server_error", ErrorMessage: "server_error: down", Next: transcript.NextRetried, Usage: spend[1], Duration: 3 * time.Second},
			{Provider: "m", Model: "gpt-9", FinishReason: "length", Usage: spend[2], Duration: 5 * time.Second},
		}, turn.Attempts)
		require.Equal(t, transcript.Usage{Input: 300, Cached: 90, Output: 321, Reasoning: 5}, turn.Usage)
		require.Equal(t, turn.Usage, debatetest.Result(t, d).Sides["for"].Usage)
		require.Equal(t, "All of it", turn.Text)
		require.Equal(t, []transcript.Flag{transcript.Truncated}, turn.Flags)
		require.Equal(t, 3, debatetest.Result(t, d).Participants[0].Attempts)
		require.Equal(t, []string{"network: down", "server_error: down"}, debatetest.Result(t, d).Participants[0].Errors)
	})
}

// When a step's time is over, that is not an error of the model's service, whatever the provider returns.
func TestAnAttemptThatTookTooLongStandsAsATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &scripted.Provider{Func: func(providers.Request) scripted.Reply {
			return scripted.Reply{Text: "Too late.", Latency: time.Hour}
		}}
		d := newDebateWithModel(t, model, nil)
		_, err := debatetest.Run(t, d)
		var failure *debate.Failure
		require.ErrorAs(t, err, &failure)
		require.Len(t, failure.AttemptDetails, 1)
		require.Equal(t, "timeout", failure.AttemptDetails[0].ErrorKind)
		require.Equal(t, failure.Message, failure.AttemptDetails[0].ErrorMessage)
	})
}

func TestANewAttemptBeginsAnewForThoseWhoFollow(t *testing.T) {
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := &scripted.Provider{Replies: []scripted.Reply{
					{Text: "half a", Chunks: 2, Err: errorOfKind(providers.Network, 0)},
					{Err: errorOfKind(providers.Network, 0)},
					{Text: "a whole statement", Chunks: 2},
				}}
				d := newDebateWithModel(t, model, func(c *debate.Config, _ *debate.Options) { c.Protocol = panel.Protocol{Mode: mode} })
				events := debatetest.Finish(t, d)
				var told []string
				for _, ev := range events {
					switch ev := ev.(type) {
					case debate.TurnStarted:
						if ev.Key.Actor == "A" {
							told = append(told, fmt.Sprint("attempt ", ev.Number))
						}
					case debate.Chunk:
						if ev.Key.Actor == "A" {
							told = append(told, fmt.Sprint(ev.Number, " at ", ev.Offset, ": ", ev.Text))
						}
					case debate.TurnFailed:
						told = append(told, fmt.Sprint(ev.Number, " failed, ", ev.Message))
					case debate.TurnDone:
						if ev.Turn.Actor == "A" {
							told = append(told, ev.Turn.Text)
						}
					}
				}
				require.Equal(t, []string{
					"attempt 1", "1 at 0: hal", "1 at 3: f a", "1 failed, network: down", "attempt 2", "2 failed, network: down",
					"attempt 3", "3 at 0: a whole ", "3 at 8: statement", "a whole statement",
				}, told)
			})
		})
	}
}

// After a wait for a rate limit, a step may make all its attempts again.
func TestAStepsCallsCountAnewAfterARateLimit(t *testing.T) {
	for failures, attempts := range map[int]int{0: 13, 3: 16, 4: 16} {
		t.Run(fmt.Sprint(failures), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := talkingModel()
				for i := range 12 + failures {
					kind := providers.RateLimit
					if i >= 12 {
						kind = providers.ServerError
					}
					model.Replies = append(model.Replies, scripted.Reply{Err: errorOfKind(kind, 0)})
				}
				d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
					c.Limits.StepAttempts, o.Providers["m"] = 4, model
					c.Retries = map[providers.ErrorKind]int{providers.RateLimit: 0, providers.ServerError: 9}
				})
				_, err := debatetest.Run(t, d)
				if failures == 4 {
					require.ErrorContains(t, err, fmt.Sprintf("(%d attempts): server_error: down", attempts))
					return
				}
				require.NoError(t, err)
				require.Len(t, debatetest.Result(t, d).Turns[0].Attempts, attempts)
			})
		})
	}
}

func TestAJudgeIsAskedAgainInStricterWords(t *testing.T) {
	jury := &scripted.Provider{
		Replies: []scripted.Reply{{Text: `{"participants": [], "quality": 5, "should_continue": true}`}},
		Func:    scriptedJudge(t, 1).Func,
	}
	d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["j"] = jury })
	events := debatetest.Finish(t, d)
	turn := debatetest.Result(t, d).Assessments[0]
	require.Equal(t, []transcript.Flag{transcript.Reasked}, turn.Flags)
	require.Equal(t, []string{"j invalid_response", "j"}, attemptSummaries(turn.Attempts))
	first, second := jury.Calls()[0].Messages, jury.Calls()[1].Messages
	require.Equal(t, first, second[:len(first)])
	require.Len(t, second, len(first)+2)
	require.Equal(t, providers.Assistant, second[len(first)].Role)
	require.Contains(t, second[len(first)+1].Text, `"Debater A" has no assessment`)
	require.Contains(t, second[len(first)+1].Text, `"Debater B" has no assessment`)
	require.Equal(t, []time.Duration{0}, retryWaits(events), "without a wait")
	require.Empty(t, warningTexts(events))
}

// rateLimitedModel is a model with a rate limit that lasts for a time.
func rateLimitedModel(p providers.Provider, until time.Duration, after time.Duration) providers.Provider {
	began := time.Now()
	return debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		if time.Since(began) < until {
			return providers.Response{}, errorOfKind(providers.RateLimit, after)
		}
		return p.Generate(ctx, r)
	})
}

func TestARateLimitOfEverybodyIsSatOut(t *testing.T) {
	for name, tt := range map[string]struct {
		lasts, after time.Duration // after: wait that the service asks for
		limits       debate.Limits
		failure      string // empty if the debate goes on
	}{
		"shorter than a step":                    {2 * time.Minute, 0, debate.Limits{}, ""},
		"longer than a step":                     {30 * time.Minute, 0, debate.Limits{}, ""},
		"longer, and the service says how long":  {30 * time.Minute, 30 * time.Minute, debate.Limits{}, ""},
		"with steps shorter than the least wait": {10 * time.Minute, 0, debate.Limits{StepTimeout: 20 * time.Second}, ""},
		"longer than the budget":                 {3 * time.Hour, 0, debate.Limits{}, "rate_limit: the time budget is used up: down"},
		"longer, and the service says so":        {3 * time.Hour, 3 * time.Hour, debate.Limits{}, "rate_limit: the service asks to wait for 3h0m0s, and the debate has less time left: down"},
		"longer than the round may take":         {30 * time.Minute, 0, debate.Limits{RoundTime: 10 * time.Minute}, "rate_limit: the time budget is used up: down"},
	} {
		for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
			t.Run(name+", "+string(mode), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					began := time.Now()
					d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
						c.Protocol, c.Limits = panel.Protocol{Mode: mode}, tt.limits
						o.Providers["m"] = rateLimitedModel(talkingModel(), tt.lasts, tt.after)
					})
					events, err := debatetest.Run(t, d)
					res, took := debatetest.Result(t, d), time.Since(began)
					require.Empty(t, droppedNames(events))
					if tt.failure != "" { // nothing was said
						require.Error(t, err)
						require.Equal(t, fsm.Error, res.State)
						require.Equal(t, tt.failure, res.Failure.Message)
						require.Equal(t, tt.after > 0, res.Failure.RetryAfter > 0)
						require.Empty(t, res.Turns)
						require.LessOrEqual(t, took, time.Hour)
						require.True(t, tt.after == 0 || took < time.Second, "a wait that is known to be too long is not begun")
						return
					}
					require.NoError(t, err)
					require.Equal(t, fsm.Completed, res.State)
					require.Equal(t, transcript.JudgeDecided, res.Ending.Outcome, res.Ending.Evidence)
					require.Len(t, res.Turns, 4)
					require.GreaterOrEqual(t, took, tt.lasts)
					require.Less(t, took, tt.lasts+6*time.Minute)
					require.Equal(t, "rate_limited", res.Participants[0].State)
				})
			})
		}
	}
}

func TestARateLimitInALaterRoundEndsWithAVerdictWhereTheTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model, n := talkingModel(), 0
		began := time.Now()
		d := newPanelDebate(t, 9, func(_ *debate.Config, o *debate.Options) {
			o.Providers["m"] = debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
				if n++; n > 3 {
					return providers.Response{}, errorOfKind(providers.RateLimit, 0)
				}
				return model.Generate(ctx, r)
			})
		})
		res := debatetest.RunResult(t, d)
		require.Equal(t, transcript.TimeBudget, res.Ending.Outcome)
		require.Equal(t, []string{"1/1/respond/A/", "1/1/respond/B/", "1/1/assess/J/", "1/2/respond/A/", "1/2/verdict/J/"}, debatetest.TurnKeys(res))
		require.LessOrEqual(t, time.Since(began), time.Hour)
		require.GreaterOrEqual(t, time.Since(began), 50*time.Minute)
	})
}

// After a wait for a rate limit, a call has no more time than the budget allows.
func TestACallAfterARateLimitKeepsToTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Limits = debate.Limits{RunningTime: 20 * time.Minute, StepTimeout: 10 * time.Minute}
			o.Providers["m"] = rateLimitedModel(&scripted.Provider{Func: func(providers.Request) scripted.Reply {
				return scripted.Reply{Text: "So far", Chunks: 2, Latency: time.Hour}
			}}, 14*time.Minute, 0)
		})
		_, err := debatetest.Run(t, d)
		require.ErrorContains(t, err, "timeout: the time budget is used up")
		require.Equal(t, 16*time.Minute, time.Since(began), "a fifth is kept for the conclusion")
	})
}

func TestARateLimitOfOneProviderDoesNotWaitBeyondTheStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Participants = append(c.Participants, debate.Participant{Name: "C", Provider: "c"})
			o.Providers["c"], o.Providers["j"] = rateLimitedModel(talkingModel(), time.Hour, 0), scriptedJudgeOfAll(t, 1)
		})
		events := debatetest.Finish(t, d)
		require.Equal(t, []string{"C"}, droppedNames(events))
		require.Equal(t, transcript.JudgeDecided, debatetest.Result(t, d).Ending.Outcome)
		require.Less(t, time.Since(began), 5*time.Minute)
		require.Len(t, retryWaits(events), 6)
	})
}

func TestRateLimitsOfAllProvidersAreSatOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		late := func(p providers.Provider) providers.Provider { // refuses its first call, and all calls for half an hour from the fifth minute on
			return debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
				if since := time.Since(began); since > 5*time.Minute && since < 35*time.Minute || since < time.Second {
					return providers.Response{}, errorOfKind(providers.RateLimit, 0)
				}
				return p.Generate(ctx, r)
			})
		}
		d := newPanelDebate(t, 2, func(c *debate.Config, o *debate.Options) {
			c.Participants[1].Provider, c.Limits.RoundDelay = "other", 6*time.Minute
			c.Protocol = panel.Protocol{Mode: panel.Simultaneous} // so that both had to wait for their last turn
			o.Providers["m"], o.Providers["other"] = late(talkingModel()), late(talkingModel())
		})
		events := debatetest.Finish(t, d)
		require.Empty(t, droppedNames(events))
		require.Equal(t, transcript.JudgeDecided, debatetest.Result(t, d).Ending.Outcome)
		require.Len(t, debatetest.Result(t, d).Turns, 7)
		require.Greater(t, time.Since(began), 35*time.Minute)
	})
}

// A wait for a rate limit counts as running time, whatever the step timeout is.
func TestRateLimitsOfManyStepsKeepToTheBudgetTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, next := time.Now(), time.Now().Add(20*time.Minute)
		d := newPanelDebate(t, 9, func(c *debate.Config, o *debate.Options) {
			c.Limits.MaxRounds, o.Providers["j"] = 9, scriptedJudgeOfAll(t, 9)
			o.Providers["m"] = debatetest.ProviderFunc(func(context.Context, providers.Request) (providers.Response, error) {
				if time.Now().Before(next) {
					return providers.Response{}, errorOfKind(providers.RateLimit, 0)
				}
				next = time.Now().Add(20 * time.Minute)
				return providers.Response{Text: "One statement each twenty minutes."}, nil
			})
		})
		debatetest.Finish(t, d)
		require.Equal(t, transcript.TimeBudget, debatetest.Result(t, d).Ending.Outcome)
		require.LessOrEqual(t, time.Since(began), time.Hour)
		require.GreaterOrEqual(t, debatetest.Result(t, d).RunningTime, 40*time.Minute)
		require.Len(t, debatetest.Result(t, d).Turns, 4, "two speeches, assessed, and the verdict")
	})
}

// A worker's job has its own time limit. If a rate limit of all participants lasts longer, each job notes it in the
// journal, where its time counts, and the next job continues.
func TestAJobHandsARateLimitOfEverybodyOn(t *testing.T) {
	for name, tt := range map[string]struct {
		lasts   time.Duration
		outcome transcript.Outcome
	}{
		"shorter than the budget": {30 * time.Minute, transcript.JudgeDecided},
		"longer than the budget":  {3 * time.Hour, ""}, // nothing was said
	} {
		for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
			t.Run(name+", "+string(mode), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					began, jobs := time.Now(), 0
					d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
						c.Protocol = panel.Protocol{Mode: mode}
						c.Participants = append(c.Participants, debate.Participant{Name: "C", Provider: "m"})
						o.Providers["m"], o.Providers["j"] = rateLimitedModel(talkingModel(), tt.lasts, 0), scriptedJudgeOfAll(t, 1)
					})
					for more := true; more; {
						require.Less(t, time.Since(began), 4*time.Hour)
						before := debatetest.Result(t, d)
						ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
						var err error
						more, err = d.RunOnce(ctx)
						cancel()
						if more = more || err != nil; err == nil {
							continue
						}
						jobs++
						if debatetest.Status(t, d).State == fsm.Error {
							require.ErrorContains(t, err, "rate_limit: the time budget is used up: down")
							break
						}
						require.ErrorContains(t, err, "waiting for a rate limit")
						after := debatetest.Result(t, d)
						require.Equal(t, before.State, after.State)
						require.Greater(t, after.RunningTime, before.RunningTime)
						require.Regexp(t, `^{"actor":"[ABC]","phase":"respond","provider":"m"}$`, string(after.Annotations["rate_limit"]))
					}
					res := debatetest.Result(t, d)
					require.Greater(t, jobs, 5)
					require.Empty(t, droppedNames(storedEvents(t, d)))
					require.Equal(t, tt.outcome, res.Ending.Outcome, res.Ending.Evidence)
					if tt.outcome == "" {
						require.Equal(t, fsm.Error, res.State)
						require.Empty(t, res.Turns)
						require.LessOrEqual(t, time.Since(began), time.Hour)
						require.GreaterOrEqual(t, res.RunningTime, 45*time.Minute)
						return
					}
					require.Len(t, res.Turns, 5)
					require.GreaterOrEqual(t, res.RunningTime, tt.lasts)
				})
			})
		}
	}
}

// If one call of a job has used up the time budget, the job ends the debate, although another call would wait.
func TestNoJobFollowsOneThatEndsTheDebate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Protocol, c.Participants[0].Model = panel.Protocol{Mode: panel.Simultaneous}, "a"
			o.Providers["m"] = debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
				if r.Model == "a" {
					return providers.Response{}, errorOfKind(providers.RateLimit, 24*time.Hour) // longer than the budget
				}
				return providers.Response{}, errorOfKind(providers.RateLimit, 10*time.Minute) // longer than a job
			})
		})
		more, err := true, error(nil)
		for n := 0; more && err == nil; n++ {
			require.Less(t, n, 10)
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			more, err = d.RunOnce(ctx)
			cancel()
		}
		require.ErrorContains(t, err, "the service asks to wait for 24h0m0s, and the debate has less time left")
		res := debatetest.Result(t, d)
		require.Equal(t, fsm.Error, res.State)
		require.Equal(t, 24*time.Hour, res.Failure.RetryAfter)
		require.Empty(t, res.Annotations)
	})
}

// If a step waits for a rate limit and then fails for another reason, its time counts as running time, whatever the
// outcome.
func TestAFailureAfterARateLimitCountsItsWholeTime(t *testing.T) {
	for name, tt := range map[string]struct {
		failing string // who fails
		policy  debate.FailurePolicy
		state   fsm.State
	}{
		"dropped":       {"C", debate.Degrade, fsm.Completed},
		"in error":      {"ABC", debate.Degrade, fsm.Error},
		"asked about":   {"A", debate.Ask, fsm.Paused},
		"with another":  {"ABC", debate.Ask, fsm.Paused},
		"nobody at all": {"", debate.Degrade, fsm.Completed},
	} {
		for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
			t.Run(name+", "+string(mode), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					began, model := time.Now(), talkingModel()
					d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
						c.Protocol, c.OnFailure = panel.Protocol{Mode: mode}, tt.policy
						c.Participants = append(c.Participants, debate.Participant{Name: "C", Provider: "m"})
						o.Providers["j"] = scriptedJudgeOfAll(t, 1)
						o.Providers["m"] = debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
							if time.Since(began) < 30*time.Minute {
								return providers.Response{}, errorOfKind(providers.RateLimit, 0)
							}
							if strings.Contains(tt.failing, r.Messages[0].Text[len("You are "):][:1]) {
								return providers.Response{}, errorOfKind(providers.ServerError, 0)
							}
							return model.Generate(ctx, r)
						})
					})
					events, err := debatetest.Run(t, d)
					res := debatetest.Result(t, d)
					require.Equal(t, tt.state, res.State, err)
					require.GreaterOrEqual(t, res.RunningTime, 30*time.Minute)
					require.LessOrEqual(t, res.RunningTime, time.Since(began))
					require.Equal(t, res.RunningTime, debatetest.Result(t, d.OpenWithProvider(t, talkingModel())).RunningTime)
					for _, ev := range events {
						if ev, ok := ev.(debate.Dropped); ok && mode == panel.Simultaneous {
							require.Equal(t, began.UTC(), ev.Failure.Started)
							require.GreaterOrEqual(t, ev.Failure.At.Sub(began), 30*time.Minute)
						}
					}
				})
			})
		}
	}
}

// Other failed steps count too: B waited, while A failed at once.
func TestARateLimitBesideAnotherFailureCountsItsWholeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Protocol = panel.Protocol{Mode: panel.Simultaneous}
			o.Providers["m"] = debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
				if strings.HasPrefix(r.Messages[0].Text, "You are B") && time.Since(began) < 30*time.Minute {
					return providers.Response{}, errorOfKind(providers.RateLimit, 0)
				}
				return providers.Response{}, errorOfKind(providers.InvalidRequest, 0)
			})
		})
		_, err := debatetest.Run(t, d)
		require.ErrorContains(t, err, "respond of A")
		require.GreaterOrEqual(t, debatetest.Result(t, d).RunningTime, 30*time.Minute)
	})
}

// Other failed steps of a participant who is dropped count too: one of A's waited, while the first failed at once.
func TestARateLimitOfADroppedParticipantCountsItsWholeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var began time.Time // the first call that meets the limit
		model := talkingModel()
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Protocol = debatetest.Mesh{}
			c.Participants = append(c.Participants, debate.Participant{Name: "C", Provider: "m"})
			o.Providers["j"] = scriptedJudgeOfAll(t, 1)
			o.Providers["m"] = debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
				step, _ := debate.StepFrom(ctx)
				if step.Key.Phase != "critique" || step.Key.Actor != "A" {
					return model.Generate(ctx, r)
				}
				if step.Key.Target == "C" {
					if began.IsZero() {
						began = time.Now()
					}
					if time.Since(began) < 30*time.Minute {
						return providers.Response{}, errorOfKind(providers.RateLimit, 0)
					}
				}
				return providers.Response{}, errorOfKind(providers.ServerError, 0)
			})
		})
		var dropped debate.Dropped
		for _, ev := range debatetest.Finish(t, d) {
			if ev, ok := ev.(debate.Dropped); ok {
				dropped = ev
			}
		}
		require.Equal(t, "B", dropped.Failure.Key.Target)
		require.Len(t, dropped.OtherFailures, 1)
		require.GreaterOrEqual(t, debatetest.Result(t, d).RunningTime, 30*time.Minute)
	})
}

func TestAStepThatSatOutARateLimitCountsWhole(t *testing.T) {
	for _, mode := range panelModes {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, m := time.Now(), talkingModel()
				d := newPanelDebate(t, 2, func(c *debate.Config, o *debate.Options) {
					c.Protocol = panel.Protocol{Mode: mode}
					o.Providers["m"] = debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
						if time.Since(began) < 40*time.Minute { // eight times the step timeout
							return providers.Response{}, &providers.Error{Kind: providers.RateLimit, Err: errors.New("slow down")}
						}
						return m.Generate(ctx, r)
					})
				})
				running, passed := measureRunning(t, d)
				require.InDelta(t, passed, running, float64(time.Millisecond))
				require.Greater(t, running, 40*time.Minute-time.Second)
			})
		})
	}
}

func TestANewAttemptVoidsWhatWasSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &scripted.Provider{Replies: []scripted.Reply{
			{Text: "half a", Chunks: 2, Err: &providers.Error{Kind: providers.Network, Err: errors.New("reset")}},
			{Text: "a whole statement", Chunks: 2},
			{Text: "the other side"},
		}}
		d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["m"] = model })
		events := debatetest.Finish(t, d)
		said := map[int]string{}
		for _, ev := range events {
			if c, ok := ev.(debate.Chunk); ok && c.Key.Actor == "A" {
				require.Equal(t, len(said[c.Number]), c.Offset)
				said[c.Number] += c.Text
			}
		}
		require.Equal(t, map[int]string{1: "half a", 2: "a whole statement"}, said)
		turn := debatetest.Result(t, d).Turns[0]
		require.Equal(t, "a whole statement", turn.Text)
		require.Len(t, turn.Attempts, 2)
		require.Equal(t, "network", turn.Attempts[0].ErrorKind)
		require.Equal(t, turn.Attempts[0].Usage.Add(turn.Attempts[1].Usage), turn.Usage, "the spend of all attempts")
	})
}

// A request for a valid reply shows the model what was wrong.
func TestAReaskBearsTheFindings(t *testing.T) {
	jury := &scripted.Provider{Replies: []scripted.Reply{
		{Text: `{"should_continue": "yes", "quality": 60}`}, {Text: assessmentReply(t, false, "A", "B")}, {Text: verdictReply},
	}}
	d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["j"] = jury })
	debatetest.Finish(t, d)
	asked := jury.Calls()[1].Messages
	require.Equal(t, providers.Assistant, asked[len(asked)-2].Role)
	last := asked[len(asked)-1].Text
	for _, want := range []string{"/quality", "/should_continue", "participants"} {
		require.Contains(t, last, want)
	}
	turn := debatetest.Result(t, d).Assessments[0]
	require.Equal(t, []transcript.Flag{transcript.Reasked}, turn.Flags)
	require.Equal(t, "invalid_response", turn.Attempts[0].ErrorKind)
	require.Len(t, turn.Attempts, 2)
}

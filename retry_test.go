package debate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// allKinds are the kinds of failures, with what a hint about each tells a person to do.
var allKinds = map[providers.Kind]string{
	providers.Network:         "check its address and the network",
	providers.RateLimit:       "raise its limits",
	providers.API:             "Retry may help",
	providers.Timeout:         "raise Limits.StepTimeout",
	providers.ContextOverflow: "lower the Window",
	providers.Authentication:  "Options.Providers",
	providers.Validation:      "see whether it has a model",
	providers.InvalidResponse: "keeps to a format",
}

// troubledPair is a debate whose first speaker, alone on its provider "m", is played by a model.
func troubledPair(t testing.TB, m providers.Provider, change func(*debate.Config, *debate.Options)) *debate.Debate {
	t.Helper()
	return panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
		c.Participants[1].Provider, c.OnOverflow = "other", debate.Degrade
		o.Providers["m"], o.Providers["other"] = m, chatter()
		if change != nil {
			change(c, o)
		}
	})
}

// failsWith is an error of a kind.
func failsWith(kind providers.Kind, after time.Duration) *providers.Error {
	return &providers.Error{Kind: kind, RetryAfter: after, Err: errors.New("down")}
}

// pausesAfter are the waits that were told of after failed attempts, by the number of the attempt from 0.
func pausesAfter(events []debate.Event) (list []time.Duration) {
	for _, ev := range events {
		if f, ok := ev.(debate.TurnFailed); ok {
			list = append(list, f.Again)
		}
	}
	return list
}

func TestRetriesAreConfiguredByKind(t *testing.T) {
	for kind := range allKinds {
		for _, n := range []int{0, 1, 4} {
			t.Run(fmt.Sprint(kind, " ", n), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					model := &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Err: failsWith(kind, 0)} }}
					d := troubledPair(t, model, func(c *debate.Config, _ *debate.Options) { c.Retries = map[providers.Kind]int{kind: n} })
					events, err := run(t, d)
					var failure *debate.Failure
					require.ErrorAs(t, err, &failure)
					require.Equal(t, n+1, failure.Attempts)
					require.Len(t, model.Calls(), n+1)
					require.Len(t, pausesAfter(events), n+1)
				})
			})
		}
	}
}

func TestRetriesOfOneKindLeaveOthersAsTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Err: failsWith(providers.API, 0)} }}
		d := troubledPair(t, model, func(c *debate.Config, _ *debate.Options) {
			c.Retries = map[providers.Kind]int{providers.Network: 0, providers.Authentication: 3}
		})
		_, err := run(t, d)
		require.ErrorContains(t, err, "(3 attempts)")
	})
}

// What is configured to be asked for never again is not asked for again with the findings either.
func TestNoRetriesOfInvalidRepliesMeansNoAskingAgain(t *testing.T) {
	jury := scripted.Text("I cannot say.", "Nor now.")
	d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
		c.Limits.MaxRounds, o.Providers["j"] = 1, jury
		c.Retries = map[providers.Kind]int{providers.InvalidResponse: 0}
	})
	_, err := run(t, d)
	require.NoError(t, err)
	require.Len(t, jury.Calls(), 2, "the assessment and the verdict, each once")
	for _, turn := range []transcript.Turn{result(t, d).Assessments[0], *result(t, d).Verdict} {
		require.Equal(t, []transcript.Flag{transcript.Fallback}, turn.Flags)
		require.Len(t, turn.Attempts, 1)
	}
}

func TestRetriesThatMeanNothingAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		retries map[providers.Kind]int
		reason  string // empty: they are fine
	}{
		"none":               {nil, ""},
		"zero":               {map[providers.Kind]int{providers.Network: 0}, ""},
		"of every kind":      {map[providers.Kind]int{providers.Network: 1, providers.Validation: 2, providers.API: 9}, ""},
		"a negative number":  {map[providers.Kind]int{providers.Network: -1}, `network: -1`},
		"an unknown kind":    {map[providers.Kind]int{"weather": 1}, `weather: 1`},
		"a kind in capitals": {map[providers.Kind]int{"Network": 1}, `"network"`},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := pair(nil)
			cfg.Retries = tt.retries
			_, created := debate.New(t.Context(), cfg, debate.Options{Providers: models(chatter(), court(t, 1))})
			edited := panelOf(t, 1, nil).Edit(t.Context(), cfg)
			if tt.reason == "" {
				require.NoError(t, created)
				require.NoError(t, edited)
				e, err := debate.NewEngine(debate.Options{})
				require.NoError(t, err)
				back, err := e.ParseConfig([]byte(encode(t, cfg)))
				require.NoError(t, err)
				require.Equal(t, cfg.Retries, back.Retries)
				return
			}
			for _, err := range []error{created, edited} {
				var problems *debate.Problems
				require.ErrorAs(t, err, &problems)
				require.Len(t, problems.List, 1)
				require.Equal(t, "retries", problems.List[0].Field)
				require.Contains(t, problems.List[0].Reason, tt.reason)
			}
		})
	}
}

func TestWaitsKeepTheirBounds(t *testing.T) {
	for name, tt := range map[string]struct {
		after       time.Duration // that the service asks for
		least, most []time.Duration
	}{
		"as the engine draws them": {
			0,
			[]time.Duration{1, 1, 1, 1, 1, 1, 1, 1, 1},
			[]time.Duration{2, 4, 8, 16, 32, 60, 60, 60, 60},
		},
		"never before the service says": {
			20,
			[]time.Duration{20, 20, 20, 20, 20, 20, 20, 20, 20},
			[]time.Duration{20, 20, 20, 20, 32, 60, 60, 60, 60},
		},
		"nor where it asks for more than a minute": {
			90,
			[]time.Duration{90, 90, 90, 90, 90, 90, 90, 90, 90},
			[]time.Duration{90, 90, 90, 90, 90, 90, 90, 90, 90},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var smallest, largest [9]time.Duration
			for n := range 40 {
				list := drawnWaits(t, tt.after*time.Second)
				require.Len(t, list, 9)
				for i, w := range list {
					require.GreaterOrEqual(t, w, tt.least[i]*time.Second, "wait %d", i)
					require.LessOrEqual(t, w, tt.most[i]*time.Second, "wait %d", i)
					if n == 0 {
						smallest[i] = w
					}
					smallest[i], largest[i] = min(smallest[i], w), max(largest[i], w)
				}
			}
			for i := range 9 { // a draw from the whole range misses one half of it forty times once in 2^40
				mid := (tt.least[i] + tt.most[i]) * time.Second / 2
				if tt.after == 0 {
					require.Less(t, smallest[i], mid, "wait %d", i)
				}
				require.GreaterOrEqual(t, largest[i], mid, "wait %d", i)
			}
		})
	}
}

// drawnWaits are the waits of a step that fails ten times: as they were told of, and as they were.
func drawnWaits(t *testing.T, after time.Duration) (list []time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		model := &scripted.Provider{Func: func(providers.Request) scripted.Reply {
			at = append(at, time.Now())
			return scripted.Reply{Err: failsWith(providers.Network, after)}
		}}
		d := troubledPair(t, model, func(c *debate.Config, _ *debate.Options) {
			c.Retries = map[providers.Kind]int{providers.Network: 99}
			c.Limits.StepTimeout, c.Limits.Time = time.Hour, 10*time.Hour
		})
		events, err := run(t, d)
		require.Error(t, err)
		told := pausesAfter(events)
		require.Len(t, told, 10, "as many calls as Limits.StepCalls")
		require.Negative(t, told[9])
		for i := range 9 {
			list = append(list, at[i+1].Sub(at[i]))
		}
		require.Equal(t, told[:9], list)
	})
	return list
}

func TestEachKindHasWaitsOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &scripted.Provider{}
		for range 3 {
			model.Replies = append(model.Replies, scripted.Reply{Err: failsWith(providers.Network, 0)}, scripted.Reply{Err: failsWith(providers.API, 0)})
		}
		events, err := run(t, troubledPair(t, model, nil))
		require.ErrorContains(t, err, "(6 attempts)", "the third of the kind that has two retries")
		for i, most := range []time.Duration{2, 2, 4, 4, 8} {
			require.LessOrEqual(t, pausesAfter(events)[i], most*time.Second)
		}
	})
}

func TestAStepMakesNoMoreCallsThanItMay(t *testing.T) {
	network := scripted.Reply{Err: failsWith(providers.Network, 0)}
	for name, tt := range map[string]struct {
		calls int
		say   scripted.Reply // of the judge and its substitutes
		want  string         // which models are called
	}{
		"retries":                     {3, network, "j j j "},
		"retries and substitutes":     {6, network, "j j j j s s "},
		"enough for all":              {14, network, "j j j j s s s s u u u u "},
		"no call beside the first":    {1, network, "j "},
		"a reply is not asked again":  {1, scripted.Reply{Text: "What?"}, "j "},
		"a reply is asked again once": {5, scripted.Reply{Text: "What?"}, "j j s s u "},
		"a prompt is not made shorter again": {
			3, scripted.Reply{Err: failsWith(providers.ContextOverflow, 0)}, "j j s ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				called := ""
				say := func(name string) providers.Provider {
					return &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
						if asked(r, "verdict") {
							return scripted.Reply{Text: verdict}
						}
						called += name + " "
						return tt.say
					}}
				}
				d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
					c.Limits.MaxRounds, c.Limits.StepCalls = 1, tt.calls
					c.Limits.StepTimeout, c.Limits.Time = time.Hour, 10*time.Hour
					c.Substitutes = []debate.Participant{{Provider: "s"}, {Provider: "u"}}
					o.Providers["j"], o.Providers["s"], o.Providers["u"] = say("j"), say("s"), say("u")
				})
				_, err := run(t, d)
				require.NoError(t, err)
				require.Equal(t, tt.want, called)
				require.Contains(t, result(t, d).Assessments[0].Flags, transcript.Fallback)
			})
		})
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
		"shorter than the budget":   {debate.Limits{StepTimeout: time.Hour, Time: 10 * time.Minute}, 8*time.Minute - time.Second, 2},
		"as long as the budget":     {debate.Limits{StepTimeout: time.Hour, Time: 10 * time.Minute}, 8 * time.Minute, 1},
		"shorter than the round":    {debate.Limits{Round: 3 * time.Minute}, 3*time.Minute - time.Second, 2},
		"as long as the round":      {debate.Limits{Round: 3 * time.Minute}, 3 * time.Minute, 1},
		"long, and the step longer": {debate.Limits{StepTimeout: 3 * time.Hour, Time: 10 * time.Hour}, 2 * time.Hour, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := &scripted.Provider{Replies: []scripted.Reply{{Err: failsWith(providers.API, tt.after)}, {Text: "At last."}}}
				d := troubledPair(t, model, func(c *debate.Config, _ *debate.Options) { c.Limits = tt.limits })
				began := time.Now()
				_, err := run(t, d)
				require.Len(t, model.Calls(), tt.calls)
				if tt.calls == 1 {
					require.ErrorContains(t, err, "api_error: down")
					require.Zero(t, time.Since(began))
					return
				}
				require.NoError(t, err)
				require.Equal(t, "At last.", result(t, d).Turns[0].Text)
				require.Equal(t, tt.after, time.Since(began))
			})
		})
	}
}

func TestEveryAttemptStandsInTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spend := []transcript.Usage{{Input: 100, Output: 1}, {Input: 100, Cached: 90, Output: 20, Reasoning: 5}, {Input: 100, Output: 300}}
		model := &scripted.Provider{Replies: []scripted.Reply{
			{Err: failsWith(providers.Network, 0), Usage: spend[0], Latency: 2 * time.Second},
			{Text: "Half of it", Err: failsWith(providers.API, 0), Usage: spend[1], Latency: 3 * time.Second},
			{Text: "All of it", Finish: providers.Length, Usage: spend[2], Latency: 5 * time.Second},
		}}
		d := troubledPair(t, model, func(c *debate.Config, _ *debate.Options) { c.Participants[0].Model = "gpt-9" })
		_, err := run(t, d)
		require.NoError(t, err)
		turn := result(t, d).Turns[0]
		for i := range turn.Attempts {
			require.Positive(t, turn.Attempts[i].Prompt)
			turn.Attempts[i].Prompt = 0
		}
		require.Equal(t, []transcript.Attempt{
			{Provider: "m", Model: "gpt-9", Error: "network", Message: "network: down", Usage: spend[0], Took: 2 * time.Second},
			{Provider: "m", Model: "gpt-9", Error: "api_error", Message: "api_error: down", Usage: spend[1], Took: 3 * time.Second},
			{Provider: "m", Model: "gpt-9", Finish: "length", Usage: spend[2], Took: 5 * time.Second},
		}, turn.Attempts)
		require.Equal(t, transcript.Usage{Input: 300, Cached: 90, Output: 321, Reasoning: 5}, turn.Usage)
		require.Equal(t, turn.Usage, result(t, d).Sides["for"].Usage)
		require.Equal(t, "All of it", turn.Text)
		require.Equal(t, []transcript.Flag{transcript.Truncated}, turn.Flags)
		require.Equal(t, 3, result(t, d).Participants[0].Attempts)
		require.Equal(t, []string{"network: down", "api_error: down"}, result(t, d).Participants[0].Errors)
	})
}

// A step's own time is no error of its model's service, whatever the provider makes of it.
func TestAnAttemptThatTookTooLongStandsAsATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &scripted.Provider{Func: func(providers.Request) scripted.Reply {
			return scripted.Reply{Text: "Too late.", Latency: time.Hour}
		}}
		d := troubledPair(t, model, nil)
		_, err := run(t, d)
		var failure *debate.Failure
		require.ErrorAs(t, err, &failure)
		require.Len(t, failure.Tried, 1)
		require.Equal(t, "timeout", failure.Tried[0].Error)
		require.Equal(t, failure.Message, failure.Tried[0].Message)
	})
}

func TestANewAttemptBeginsAnewForThoseWhoFollow(t *testing.T) {
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := &scripted.Provider{Replies: []scripted.Reply{
					{Text: "half a", Chunks: 2, Err: failsWith(providers.Network, 0)},
					{Err: failsWith(providers.Network, 0)},
					{Text: "a whole statement", Chunks: 2},
				}}
				d := troubledPair(t, model, func(c *debate.Config, _ *debate.Options) { c.Protocol = panel.Protocol{Mode: mode} })
				events, err := run(t, d)
				require.NoError(t, err)
				var told []string
				for _, ev := range events {
					switch ev := ev.(type) {
					case debate.TurnStarted:
						if ev.Key.Actor == "A" {
							told = append(told, fmt.Sprint("attempt ", ev.N))
						}
					case debate.Chunk:
						if ev.Key.Actor == "A" {
							told = append(told, fmt.Sprint(ev.N, " at ", ev.Offset, ": ", ev.Text))
						}
					case debate.TurnFailed:
						told = append(told, fmt.Sprint(ev.N, " failed, ", ev.Message))
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

// A failure says everything that a person needs, in the process and when it is read from the store.
func TestAFailureSaysEverything(t *testing.T) {
	for kind, advice := range allKinds {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cause := failsWith(kind, time.Second)
				model := &scripted.Provider{Func: func(providers.Request) scripted.Reply {
					return scripted.Reply{Err: cause, Latency: time.Second, Usage: transcript.Usage{Input: 7}}
				}}
				d := troubledPair(t, model, func(c *debate.Config, _ *debate.Options) { c.Participants[0].Model = "gpt-9" })
				_, err := run(t, d)
				var failure *debate.Failure
				require.ErrorAs(t, err, &failure)
				var inner *providers.Error
				require.ErrorAs(t, err, &inner)
				require.Equal(t, kind, inner.Kind)
				require.Equal(t, time.Second, inner.RetryAfter)
				require.ErrorIs(t, err, cause.Err)

				require.Equal(t, transcript.Key{Run: 1, Round: 1, Phase: "respond", Actor: "A"}, failure.Key)
				require.Equal(t, []any{kind, "m", "gpt-9", string(kind) + ": down", true}, []any{
					failure.Kind, failure.Provider, failure.Model, failure.Message, failure.Recoverable,
				})
				require.Equal(t, time.Now().UTC(), failure.At)
				require.Len(t, failure.Tried, failure.Attempts)
				for _, a := range failure.Tried {
					require.Equal(t, transcript.Attempt{
						Provider: "m", Model: "gpt-9", Error: string(kind), Message: failure.Message, Usage: transcript.Usage{Input: 7}, Took: time.Second, Prompt: a.Prompt,
					}, a)
				}
				require.Contains(t, failure.Hint(), advice)

				var back debate.Failure
				require.NoError(t, json.Unmarshal([]byte(encode(t, failure)), &back))
				require.Equal(t, encode(t, failure), encode(t, back))
				require.Equal(t, failure.Error(), back.Error())
				require.Equal(t, failure.Hint(), back.Hint())
				require.NotErrorAs(t, &back, &inner, "its cause is in this process alone")
				require.Equal(t, encode(t, failure), encode(t, result(t, d.In(t, chatter())).Failure), "another engine reads the same")
			})
		})
	}
}

func TestHintsNameWhatTheyAreAbout(t *testing.T) {
	for kind, advice := range allKinds {
		f := debate.Failure{Key: transcript.Key{Actor: "Ada"}, Kind: kind, Provider: "acme", Model: "gpt-9"}
		hint := f.Hint()
		require.Contains(t, hint, advice, kind)
		switch kind {
		case providers.Authentication, providers.Network, providers.RateLimit, providers.API:
			require.Contains(t, hint, "provider acme", kind)
		case providers.Validation:
			require.Contains(t, hint, "provider acme")
			require.Contains(t, hint, `model "gpt-9"`)
		case providers.Timeout, providers.InvalidResponse:
			require.Contains(t, hint, `model "gpt-9"`, kind)
		case providers.ContextOverflow:
			require.Contains(t, hint, `model "gpt-9"`)
			require.Contains(t, hint, "Ada")
		}
	}
	require.NotEmpty(t, (&debate.Failure{Kind: "weather"}).Hint(), "also about what a newer version wrote")
}

func TestAHintSaysWhereAnEngineLacksSomething(t *testing.T) {
	opts := debate.Options{Store: store.Memory(), Providers: models(chatter(), court(t, 1))}
	d, err := debate.New(t.Context(), pair(nil), opts)
	require.NoError(t, err)
	breakAt(t, d, transcript.Assessment)
	e, err := debate.NewEngine(debate.Options{Store: opts.Store, Providers: map[string]providers.Provider{"m": chatter()}})
	require.NoError(t, err)
	other, err := e.Open(t.Context(), "d")
	require.NoError(t, err)
	_, err = run(t, other)
	require.EqualError(t, err, `run step assess of J in round 1: "j" is unknown, the providers are m`)
	var failure *debate.Failure
	require.ErrorAs(t, err, &failure)
	require.Equal(t, "step assess of J cannot be run: give Options what the message names, or Edit the debate, then Retry", failure.Hint())
	require.NoError(t, d.Retry(t.Context()))
	_, err = run(t, d)
	require.NoError(t, err)
	require.Len(t, result(t, d).Turns, 4)
}

func TestAModelThatDoesNotExistIsAFailureThatOneCanMend(t *testing.T) {
	model := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		if r.Model != "gpt-8" {
			return scripted.Reply{Err: &providers.Error{Kind: providers.Validation, Err: errors.New("no such model")}}
		}
		return scripted.Reply{Text: "Here I am."}
	}}
	var cfg debate.Config
	d := troubledPair(t, model, func(c *debate.Config, _ *debate.Options) {
		c.Participants[0].Model = "gpt-9"
		cfg = *c
	})
	_, err := run(t, d)
	var failure *debate.Failure
	require.ErrorAs(t, err, &failure)
	require.Contains(t, failure.Hint(), `"gpt-9"`)
	require.NoError(t, d.Retry(t.Context()))
	cfg.Participants[0].Model = "gpt-8"
	require.NoError(t, d.Edit(t.Context(), cfg))
	_, err = run(t, d)
	require.NoError(t, err)
	require.Equal(t, fsm.Completed, result(t, d).State)
}

// A rate limit that was sat out takes no calls away from the step: what fails after it is counted from there.
func TestAStepsCallsCountAnewAfterARateLimit(t *testing.T) {
	for failures, attempts := range map[int]int{0: 13, 3: 16, 4: 16} {
		t.Run(fmt.Sprint(failures), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := chatter()
				for i := range 12 + failures {
					kind := providers.RateLimit
					if i >= 12 {
						kind = providers.Network
					}
					model.Replies = append(model.Replies, scripted.Reply{Err: failsWith(kind, 0)})
				}
				d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
					c.Limits.StepCalls, o.Providers["m"] = 4, model
					c.Retries = map[providers.Kind]int{providers.RateLimit: 0, providers.Network: 9}
				})
				_, err := run(t, d)
				if failures == 4 {
					require.ErrorContains(t, err, fmt.Sprintf("(%d attempts): network: down", attempts))
					return
				}
				require.NoError(t, err)
				require.Len(t, result(t, d).Turns[0].Attempts, attempts)
			})
		})
	}
}

// A stream that is cut has told its usage at its begin, if at all; a whole reply has told all of it.
func TestWhatACutReplyUsedIsEstimatedWhereItSaysTooLittle(t *testing.T) {
	text := strings.Repeat("many words ", 100)
	said := window.Estimate(text)
	for name, tt := range map[string]struct {
		text     string
		whole    bool
		reported transcript.Usage
		want     transcript.Usage
	}{
		"far too little":          {text, false, transcript.Usage{Input: 9, Output: 1}, transcript.Usage{Input: 9, Output: said, Estimated: true}},
		"a bit less":              {text, false, transcript.Usage{Input: 9, Output: said/4 + 1}, transcript.Usage{Input: 9, Output: said/4 + 1}},
		"more, which was thought": {text, false, transcript.Usage{Input: 9, Output: 9000}, transcript.Usage{Input: 9, Output: 9000}},
		"of no text":              {"", false, transcript.Usage{Input: 9, Output: 1}, transcript.Usage{Input: 9, Output: 1}},
		"of a whole reply":        {text, true, transcript.Usage{Input: 9, Output: 1}, transcript.Usage{Input: 9, Output: 1}},
		"nothing of no text":      {"", false, transcript.Usage{}, transcript.Usage{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model, first := chatter(), true
				d := troubledPair(t, generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
					if !first {
						return model.Generate(ctx, r)
					}
					first = false
					resp := providers.Response{Text: tt.text, Usage: tt.reported}
					if tt.whole {
						return resp, nil
					}
					return providers.Response{}, &providers.Error{Kind: providers.Network, Err: errors.New("cut"), Partial: resp}
				}), nil)
				_, err := run(t, d)
				require.NoError(t, err)
				require.Equal(t, tt.want, result(t, d).Turns[0].Attempts[0].Usage)
			})
		})
	}
}

// An invalid reply is whole all the same, and so is its usage.
func TestTheUsageOfAnInvalidReplyIsTakenAsReported(t *testing.T) {
	used := transcript.Usage{Input: 9, Output: 1}
	jury := &scripted.Provider{
		Replies: []scripted.Reply{{Text: strings.Repeat("many words ", 100), Usage: used}}, Func: court(t, 1).Func,
	}
	d := panelOf(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["j"] = jury })
	_, err := run(t, d)
	require.NoError(t, err)
	require.Equal(t, used, result(t, d).Assessments[0].Attempts[0].Usage)
}

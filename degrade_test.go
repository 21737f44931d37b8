package debate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// dead is a model whose service is down for good.
func dead(kind providers.Kind) *scripted.Provider {
	return &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Err: failsWith(kind, 0)} }}
}

// anyJudge is a judge of whoever is in, who lets a debate go on until it has given so many assessments.
func anyJudge(t testing.TB, rounds int) *scripted.Provider {
	t.Helper()
	said := 0
	return &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		if asked(r, "verdict") {
			return scripted.Reply{Text: verdict}
		}
		said++
		return scripted.Reply{Text: assess(t, said < rounds, namesIn(r)...)}
	}}
}

// dropouts are those who took no further part, in order.
func dropouts(events []debate.Event) (list []string) {
	for _, ev := range events {
		if d, ok := ev.(debate.Dropped); ok {
			list = append(list, d.Name)
		}
	}
	return list
}

// warned are the texts of warnings, in order.
func warned(events []debate.Event) (list []string) {
	for _, ev := range events {
		if w, ok := ev.(debate.Warning); ok {
			list = append(list, w.Key.Actor+": "+w.Text)
		}
	}
	return list
}

// tried are the models that were called for a turn: provider, model and kind of error of each.
func tried(attempts []transcript.Attempt) (list []string) {
	for _, a := range attempts {
		list = append(list, strings.Join(strings.Fields(a.Provider+" "+a.Model+" "+a.Error), " "))
	}
	return list
}

func TestWhatAFailingSpeakerHadSaidIsKept(t *testing.T) {
	texts := []string{"One", "One two three ", "", "One two"}
	breaking := generate(func(_ context.Context, r providers.Request) (providers.Response, error) {
		failed := failsWith(providers.Network, 0)
		failed.Partial.Text, texts = texts[0], append(texts[1:], texts[0])
		if failed.Partial.Text != "" {
			if err := r.OnChunk(failed.Partial.Text); err != nil {
				return providers.Response{}, err
			}
		}
		return providers.Response{}, failed
	})
	hanging := generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		if err := r.OnChunk("As I see it, "); err != nil {
			return providers.Response{}, err
		}
		<-ctx.Done()
		return providers.Response{}, providers.Ended(ctx, providers.Response{Text: "As I see it, "})
	})
	ignoring := generate(func(context.Context, providers.Request) (providers.Response, error) {
		time.Sleep(time.Hour) // whatever its context says
		return providers.Response{Text: "All of it, but late."}, nil
	})
	for name, tt := range map[string]struct {
		model    providers.Provider
		text     string
		attempts int
	}{
		"the longest of all attempts": {breaking, "One two three", 4},
		"when it hangs":               {hanging, "As I see it,", 1},
		"what came too late":          {ignoring, "All of it, but late.", 1},
	} {
		for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
			t.Run(name+", "+string(mode), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					other := chatter()
					d := troubledPair(t, tt.model, func(c *debate.Config, o *debate.Options) {
						c.Protocol, c.Limits.MaxRounds, o.Providers["other"] = panel.Protocol{Mode: mode}, 1, other
					})
					events, err := run(t, d)
					require.NoError(t, err)
					res := result(t, d)
					require.Equal(t, fsm.Completed, res.State)
					require.Len(t, res.Turns, 4)
					require.Equal(t, tt.text, res.Turns[0].Text)
					require.Equal(t, []transcript.Flag{transcript.Partial}, res.Turns[0].Flags)
					require.Len(t, res.Turns[0].Attempts, tt.attempts)
					require.Positive(t, res.Turns[0].Tokens)
					require.Empty(t, dropouts(events))
					require.Equal(t, []string{"A: the model failed, this is as far as it came"}, warned(events))
					require.Equal(t, []string{"round 1, respond of A: the model failed, this is as far as it came"}, res.Warnings)
					require.Equal(t, "active", res.Participants[0].State)
					if mode == panel.Sequential {
						require.Contains(t, other.Calls()[0].Messages[1].Text, tt.text, "others read it")
					}
				})
			})
		}
	}
}

func TestWhereAPersonIsAskedNothingIsKept(t *testing.T) {
	model := &scripted.Provider{Replies: []scripted.Reply{
		{Text: "So far", Err: failsWith(providers.ContextOverflow, 0)}, {Text: "Now all of it."},
	}}
	d := troubledPair(t, model, func(c *debate.Config, _ *debate.Options) { c.OnFailure = debate.Ask })
	_, err := run(t, d)
	require.NoError(t, err)
	require.Empty(t, result(t, d).Turns)
	require.NotNil(t, result(t, d).Question)
	require.NoError(t, d.Decide(t.Context(), "retry"))
	_, err = run(t, d)
	require.NoError(t, err)
	require.Equal(t, "Now all of it.", result(t, d).Turns[0].Text)
	require.Empty(t, result(t, d).Turns[0].Flags)
}

func TestAllSpeakersOfAPhaseMayFailAtOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		failing []string
		outcome transcript.Outcome
		dropped []string
	}{
		"one of four":   {[]string{"B"}, transcript.JudgeDecided, []string{"B"}},
		"two of four":   {[]string{"A", "D"}, transcript.JudgeDecided, []string{"A", "D"}},
		"three of four": {[]string{"A", "B", "C"}, transcript.QuorumLost, []string{"A", "B"}},
		"all":           {[]string{"A", "B", "C", "D"}, transcript.QuorumLost, []string{"A", "B"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := panelOf(t, 2, func(c *debate.Config, o *debate.Options) {
					c.Protocol, c.Participants = panel.Protocol{Mode: panel.Simultaneous}, nil
					for _, name := range []string{"A", "B", "C", "D"} {
						c.Participants = append(c.Participants, debate.Participant{Name: name, Provider: name})
						model := chatter()
						if slices.Contains(tt.failing, name) {
							model = &scripted.Provider{Replies: []scripted.Reply{{Text: "In round 1."}}, Func: dead(providers.Network).Func}
						}
						o.Providers[name] = model
					}
					o.Providers["j"] = anyJudge(t, 2)
				})
				events, err := run(t, d)
				require.NoError(t, err)
				res := result(t, d)
				require.Equal(t, tt.outcome, res.Ending.Outcome, res.Ending.Evidence)
				require.Equal(t, tt.dropped, dropouts(events))
				require.NotNil(t, res.Verdict)
				spoken := 4 // in round 1
				for _, turn := range res.Turns {
					if turn.Kind == transcript.Speech && turn.Round == 2 {
						spoken++
						require.NotContains(t, tt.failing, turn.Actor)
					}
				}
				require.Equal(t, 8-len(tt.failing), spoken, "whoever spoke at the same time has spoken")
			})
		})
	}
}

// A key or a request that is refused stops the debate, names the provider, and goes on from an engine that has it right.
func TestARefusedKeyStopsAndGoesOnWithAnotherEngine(t *testing.T) {
	for _, kind := range []providers.Kind{providers.Authentication, providers.Validation} {
		for place, reply := range map[string]string{"m": "", "j": "assessment/1", "v": "verdict/1", "p": "personas/1"} {
			for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
				t.Run(fmt.Sprint(kind, " ", place, " ", mode), func(t *testing.T) {
					calls := map[string]int{}
					var mu sync.Mutex
					broken := true
					model := generate(func(_ context.Context, r providers.Request) (providers.Response, error) {
						mu.Lock()
						defer mu.Unlock()
						system := r.Messages[0].Text[:len("You are A,")]
						if broken && r.Reply == reply && (reply != "" || system == "You are B,") {
							return providers.Response{}, &providers.Error{Kind: kind, Err: errors.New("refused")}
						}
						calls[r.Reply+system]++
						e := echo{names: []string{"A", "B"}}
						return providers.Response{Text: e.say(4, r)}, nil
					})
					cfg := pair(panel.Protocol{Mode: mode, Personas: panel.Binary})
					cfg.Participants[0].Provider, cfg.Participants[1].Provider = "acme", "acme"
					cfg.Judges[0].Provider = "acme"
					opts := debate.Options{Store: store.Memory(), Providers: map[string]providers.Provider{"acme": model}}
					d, err := debate.New(t.Context(), cfg, opts)
					require.NoError(t, err)
					_, err = run(t, d)
					var failure *debate.Failure
					require.ErrorAs(t, err, &failure)
					require.Equal(t, "acme", failure.Provider)
					require.Equal(t, 1, failure.Attempts)
					require.ErrorContains(t, err, "call provider acme: "+string(kind)+": refused")
					require.Contains(t, failure.Hint(), "acme")
					require.True(t, failure.Recoverable)
					require.Equal(t, fsm.Error, result(t, d).State)
					before := result(t, d).Turns

					broken = false
					e, err := debate.NewEngine(opts)
					require.NoError(t, err)
					d, err = e.Open(t.Context(), "d")
					require.NoError(t, err)
					require.NoError(t, d.Retry(t.Context()))
					_, err = run(t, d)
					require.NoError(t, err)
					require.Equal(t, []string{
						"1/0/personas/personas/", "1/1/respond/A/", "1/1/respond/B/", "1/1/assess/J/", "1/1/verdict/J/",
					}, keys(result(t, d)))
					for _, turn := range before {
						require.Contains(t, result(t, d).Turns, turn)
					}
					for what, n := range calls {
						require.Equal(t, 1, n, what)
					}
				})
			}
		}
	}
}

func TestAJudgeIsAskedAgainInStricterWords(t *testing.T) {
	jury := &scripted.Provider{
		Replies: []scripted.Reply{{Text: `{"participants": [], "quality": 5, "should_continue": true}`}},
		Func:    court(t, 1).Func,
	}
	d := panelOf(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["j"] = jury })
	events, err := run(t, d)
	require.NoError(t, err)
	turn := result(t, d).Assessments[0]
	require.Equal(t, []transcript.Flag{transcript.Reasked}, turn.Flags)
	require.Equal(t, []string{"j invalid_response", "j"}, tried(turn.Attempts))
	first, second := jury.Calls()[0].Messages, jury.Calls()[1].Messages
	require.Equal(t, first, second[:len(first)])
	require.Len(t, second, len(first)+2)
	require.Equal(t, providers.Assistant, second[len(first)].Role)
	require.Contains(t, second[len(first)+1].Text, `"Debater A" is not assessed`)
	require.Contains(t, second[len(first)+1].Text, `"Debater B" is not assessed`)
	require.Equal(t, []time.Duration{0}, pausesAfter(events), "without a wait")
	require.Empty(t, warned(events))
}

func TestSubstitutesJudgeInTheirOrder(t *testing.T) {
	hot := 1.5
	for name, tt := range map[string]struct {
		j, s, u providers.Provider
		tried   []string
		flags   []transcript.Flag
	}{
		"the judge's service is down": {
			dead(providers.API), court(t, 1), nil,
			[]string{"j gpt api_error", "j gpt api_error", "j gpt api_error", "s mistral"},
			[]transcript.Flag{transcript.Substituted},
		},
		"the first substitute's too": {
			dead(providers.InvalidResponse), dead(providers.ContextOverflow), court(t, 1),
			[]string{"j gpt invalid_response", "j gpt invalid_response", "s mistral context_overflow", "u qwen"},
			[]transcript.Flag{transcript.Substituted},
		},
		"the judge cannot do it": {
			scripted.Text("What?", "How?"), court(t, 1), nil,
			[]string{"j gpt invalid_response", "j gpt invalid_response", "s mistral"},
			[]transcript.Flag{transcript.Substituted},
		},
		"the substitute needs asking again": {
			scripted.Text("What?", "How?"), &scripted.Provider{Replies: []scripted.Reply{{Text: "Me?"}}, Func: court(t, 1).Func}, nil,
			[]string{"j gpt invalid_response", "j gpt invalid_response", "s mistral invalid_response", "s mistral"},
			[]transcript.Flag{transcript.Substituted, transcript.Reasked},
		},
		"the judge's key is refused": {
			dead(providers.Authentication), court(t, 1), nil,
			[]string{"j gpt authentication", "s mistral"},
			[]transcript.Flag{transcript.Substituted},
		},
		"nobody can do it": {
			scripted.Text("What?", "How?"), scripted.Text("Me?", "Now?"), scripted.Text("Hm?", "Er?"),
			[]string{
				"j gpt invalid_response", "j gpt invalid_response", "s mistral invalid_response", "s mistral invalid_response",
				"u qwen invalid_response", "u qwen invalid_response",
			},
			[]transcript.Flag{transcript.Reasked, transcript.Fallback},
		},
		"one does not know what to say, the last is down": {
			scripted.Text("What?", "How?"), scripted.Text("Me?", "Now?"), dead(providers.ContextOverflow),
			[]string{
				"j gpt invalid_response", "j gpt invalid_response", "s mistral invalid_response", "s mistral invalid_response",
				"u qwen context_overflow",
			},
			[]transcript.Flag{transcript.Reasked, transcript.Fallback},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen []providers.Request
				look := func(p providers.Provider) providers.Provider {
					return generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
						if asked(r, "verdict") {
							return providers.Response{Text: verdict}, nil
						}
						seen = append(seen, r)
						resp, err := p.Generate(ctx, r)
						resp.Model = "" // which the service does not say
						if failed, ok := errors.AsType[*providers.Error](err); ok {
							failed.Partial.Model = ""
						}
						return resp, err
					})
				}
				d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
					c.Limits.MaxRounds, c.OnOverflow, c.Judges[0].Model = 1, debate.Degrade, "gpt"
					c.Substitutes = []debate.Participant{{Provider: "s", Model: "mistral", Temperature: &hot, MaxTokens: 99}, {Provider: "u", Model: "qwen"}}
					o.Providers["j"], o.Providers["s"], o.Providers["u"] = look(tt.j), look(tt.s), look(tt.u)
				})
				events, err := run(t, d)
				require.NoError(t, err)
				turn := result(t, d).Assessments[0]
				require.Equal(t, tt.tried, tried(turn.Attempts))
				require.Equal(t, tt.flags, turn.Flags)
				require.Equal(t, "J", turn.Actor, "it speaks in the judge's name")
				require.Len(t, warned(events), 1)
				for i, r := range seen {
					if at := tt.tried[i]; strings.HasPrefix(at, "s mistral") {
						require.Equal(t, "mistral", r.Model)
						require.Equal(t, []any{hot, 99}, []any{*r.Temperature, r.MaxTokens})
						if !strings.HasPrefix(tt.tried[i-1], "s ") {
							require.Equal(t, seen[0].Messages, r.Messages, "it begins from the beginning")
						}
					}
				}
			})
		})
	}
}

func TestASubstituteJudgesOneReplyOnly(t *testing.T) {
	jury := &scripted.Provider{Replies: []scripted.Reply{{Err: failsWith(providers.ContextOverflow, 0)}}, Func: court(t, 2).Func}
	spare := court(t, 9)
	d := panelOf(t, 2, func(c *debate.Config, o *debate.Options) {
		c.OnOverflow, c.Substitutes = debate.Degrade, []debate.Participant{{Provider: "s"}}
		o.Providers["j"], o.Providers["s"] = jury, spare
	})
	_, err := run(t, d)
	require.NoError(t, err)
	require.Len(t, spare.Calls(), 1, "the next reply is the judge's own")
	require.Equal(t, []transcript.Flag{transcript.Substituted}, result(t, d).Assessments[0].Flags)
	require.Empty(t, result(t, d).Assessments[1].Flags)
}

func TestASubstituteThatReadsLessIsShownLess(t *testing.T) {
	long := strings.Repeat("and so on and so forth, ", 400)
	spare := court(t, 1)
	d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
		c.OnOverflow, c.Substitutes = debate.Degrade, []debate.Participant{{Provider: "s", MaxTokens: 500, Window: 5000}}
		o.Providers["m"] = &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: long} }}
		o.Providers["j"], o.Providers["s"] = dead(providers.ContextOverflow), spare
	})
	events, err := run(t, d)
	require.NoError(t, err)
	turn := result(t, d).Assessments[0]
	require.Equal(t, []transcript.Flag{transcript.Substituted}, turn.Flags)
	require.Equal(t, 1, turn.Window.Cut)
	require.Equal(t, 1, turn.Window.Kept)
	require.Len(t, spare.Calls()[0].Messages, 3)
	require.Len(t, warned(events), 4, "of both the assessment and the verdict: left out, and another model")
}

// What becomes of a debate of A and B whose judges fail, by policy. J fails from some reply on, J2 does not.
func TestPoliciesForAJudgeThatFails(t *testing.T) {
	type want struct {
		outcome  transcript.Outcome
		rounds   int
		dropped  []string
		verdict  string // who gives it; empty: nobody
		fallback int    // turns that are marked
	}
	for _, tt := range []struct {
		name   string
		policy debate.FailurePolicy
		judges int
		from   int // the judge's reply that fails, from 0: 0, 1 are assessments, 2 is the verdict
		want   want
	}{
		{"default", "", 1, 0, want{transcript.RoundLimit, 3, nil, "J", 4}},
		{"go on, from the second round", debate.GoOn, 1, 1, want{transcript.RoundLimit, 3, nil, "J", 3}},
		{"go on, without a verdict", debate.GoOn, 1, 2, want{transcript.JudgeDecided, 2, nil, "J", 1}},
		{"go on, with another judge", debate.GoOn, 2, 0, want{transcript.JudgeDecided, 2, nil, "J2", 3}},
		{"without, from the first round", debate.WithoutJudge, 1, 0, want{transcript.RoundLimit, 3, []string{"J"}, "", 0}},
		{"without, from the second round", debate.WithoutJudge, 1, 1, want{transcript.RoundLimit, 3, []string{"J"}, "", 0}},
		{"without a verdict", debate.WithoutJudge, 1, 2, want{transcript.JudgeDecided, 2, []string{"J"}, "", 0}},
		{"without one of two", debate.WithoutJudge, 2, 0, want{transcript.JudgeDecided, 2, []string{"J"}, "J2", 0}},
		{"without one of two at the verdict", debate.WithoutJudge, 2, 2, want{transcript.JudgeDecided, 2, []string{"J"}, "J2", 0}},
		{"end, in the first round", debate.End, 1, 0, want{transcript.QuorumLost, 1, []string{"J"}, "", 0}},
		{"end, in the second round", debate.End, 1, 1, want{transcript.QuorumLost, 2, []string{"J"}, "", 0}},
		{"end, at the verdict", debate.End, 1, 2, want{transcript.JudgeDecided, 2, []string{"J"}, "", 0}},
		{"end, with another judge", debate.End, 2, 1, want{transcript.QuorumLost, 2, []string{"J"}, "J2", 0}},
	} {
		for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
			t.Run(tt.name+", "+string(mode), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					model, replies := chatter(), 0
					jury := court(t, 2)
					d := panelOf(t, 2, func(c *debate.Config, o *debate.Options) {
						c.Protocol, c.OnJudgeFailure, c.Limits.MaxRounds = panel.Protocol{Mode: mode}, tt.policy, 3
						if tt.judges == 2 {
							c.Judges = append(c.Judges, debate.Participant{Name: "J2", Provider: "j2"})
						}
						o.Providers["m"], o.Providers["j2"] = model, court(t, 2)
						o.Providers["j"] = generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
							if replies >= tt.from {
								return providers.Response{}, failsWith(providers.API, 0)
							}
							replies++
							return jury.Generate(ctx, r)
						})
					})
					events, err := run(t, d)
					require.NoError(t, err)
					res := result(t, d)
					is := want{outcome: res.Ending.Outcome, rounds: res.Round, dropped: dropouts(events)}
					for _, turn := range res.Turns {
						if slices.Contains(turn.Flags, transcript.Fallback) {
							is.fallback++
						}
					}
					if res.Verdict != nil {
						is.verdict = res.Verdict.Actor
					}
					require.Equal(t, tt.want, is)
					require.Equal(t, fsm.Completed, res.State)
					require.Len(t, warned(events), tt.want.fallback)
					require.Len(t, res.Warnings, tt.want.fallback)
					require.Len(t, model.Calls(), 2*res.Round, "no speaker is called again")
				})
			})
		}
	}
}

func TestAMarkedFallbackSaysNothingThatEndsADebate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Limits.MaxRounds, o.Providers["j"] = 2, dead(providers.Network)
		})
		_, err := run(t, d)
		require.NoError(t, err)
		for _, turn := range result(t, d).Assessments {
			a, err := transcript.Decode[judge.Assessment](turn)
			require.NoError(t, err)
			require.True(t, a.ShouldContinue)
			require.False(t, a.Converged || a.DiminishingReturns)
			require.Len(t, a.Participants, 2)
			require.Len(t, turn.Attempts, 4)
		}
		v, err := transcript.Decode[judge.Verdict](*result(t, d).Verdict)
		require.NoError(t, err)
		require.Empty(t, v.Winner)
	})
}

// A person decides in another process about a judge that failed.
func TestAPersonDecidesAboutAJudge(t *testing.T) {
	for name, tt := range map[string]struct {
		action  string
		mended  bool
		outcome transcript.Outcome
		verdict bool
	}{
		"try again":  {"retry", true, transcript.JudgeDecided, true},
		"go without": {"drop", false, transcript.RoundLimit, false},
		"end":        {"end", true, transcript.Stopped, true},
	} {
		t.Run(name, func(t *testing.T) {
			model, opts := chatter(), debate.Options{Store: store.Memory()}
			opts.Providers = models(model, dead(providers.ContextOverflow))
			cfg := pair(nil)
			cfg.OnJudgeFailure, cfg.OnOverflow, cfg.Limits.MaxRounds = debate.Ask, debate.Degrade, 2
			d, err := debate.New(t.Context(), cfg, opts)
			require.NoError(t, err)
			_, err = run(t, d)
			require.NoError(t, err, "to be asked is no failure")
			res := result(t, d)
			require.Equal(t, fsm.Paused, res.State)
			require.Equal(t, "J", res.Question.Failure.Key.Actor)
			require.Contains(t, res.Question.Cause, "call provider j: context_overflow: down")
			require.Equal(t, []debate.Choice{
				{Action: "retry", Label: "Try again", Description: "call J again"},
				{Action: "drop", Label: "Go on without", Description: "J takes no further part"},
				{Action: "end", Label: "End here", Description: "conclude with what was said so far"},
			}, res.Question.Choices)

			if tt.mended {
				opts.Providers = models(model, court(t, 1))
			}
			e, err := debate.NewEngine(opts)
			require.NoError(t, err)
			other, err := e.Open(t.Context(), "d")
			require.NoError(t, err)
			require.Equal(t, encode(t, res.Question), encode(t, result(t, other).Question))
			require.NoError(t, other.Decide(t.Context(), tt.action))
			_, err = run(t, other)
			require.NoError(t, err)
			res = result(t, other)
			require.Equal(t, fsm.Completed, res.State)
			require.Equal(t, tt.outcome, res.Ending.Outcome)
			require.Equal(t, tt.verdict, res.Verdict != nil)
			require.Len(t, model.Calls(), 2*res.Round)
		})
	}
}

// Where the verdict fails, the debate is ending already: there is nothing else to end.
func TestAPersonDecidesAboutAVerdict(t *testing.T) {
	for _, action := range []string{"retry", "drop"} {
		t.Run(action, func(t *testing.T) {
			jury := court(t, 1)
			broken := true
			d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
				c.OnJudgeFailure, c.OnOverflow = debate.Ask, debate.Degrade
				o.Providers["j"] = generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
					if broken && asked(r, "verdict") {
						return providers.Response{}, failsWith(providers.ContextOverflow, 0)
					}
					return jury.Generate(ctx, r)
				})
			})
			_, err := run(t, d)
			require.NoError(t, err)
			require.Equal(t, []debate.Choice{
				{Action: "retry", Label: "Try again", Description: "call J again"},
				{Action: "drop", Label: "Go on without", Description: "J takes no further part"},
			}, result(t, d).Question.Choices)
			broken = false
			require.NoError(t, d.Decide(t.Context(), action))
			_, err = run(t, d)
			require.NoError(t, err)
			require.Equal(t, fsm.Completed, result(t, d).State)
			require.Equal(t, transcript.JudgeDecided, result(t, d).Ending.Outcome)
			require.Equal(t, action == "retry", result(t, d).Verdict != nil)
		})
	}
}

// modest is a model that refuses prompts of more than so many characters, history or not.
type modest struct {
	*scripted.Provider
	most int
}

func (m modest) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	n := 0
	for _, msg := range r.Messages {
		n += len(msg.Text)
	}
	if n > m.most {
		return providers.Response{}, &providers.Error{Kind: providers.ContextOverflow, Err: fmt.Errorf("%d characters, %d at most", n, m.most)}
	}
	return m.Provider.Generate(ctx, r)
}

// wordy is a model that says a lot, each time something else.
func wordy() *scripted.Provider {
	n := 0
	var mu sync.Mutex
	return &scripted.Provider{Func: func(providers.Request) scripted.Reply {
		mu.Lock()
		defer mu.Unlock()
		n++
		return scripted.Reply{Text: fmt.Sprintf("Point %d. ", n) + strings.Repeat("It is so for many reasons. ", 100)}
	}}
}

func TestAPromptThatIsTooLongIsShownWithoutItsOldestTurns(t *testing.T) {
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			model, jury := modest{wordy(), 9000}, modest{court(t, 4), 12000}
			d := panelOf(t, 4, func(c *debate.Config, o *debate.Options) {
				c.Protocol, o.Providers = panel.Protocol{Mode: mode}, models(model, jury)
			})
			events, err := run(t, d)
			require.NoError(t, err)
			res := result(t, d)
			require.Equal(t, fsm.Completed, res.State)
			require.Equal(t, 4, res.Round)
			require.Equal(t, "context_exceeded", res.Participants[0].State)
			require.Empty(t, dropouts(events))
			cuts := 0
			for _, turn := range res.Turns {
				if len(turn.Attempts) > 1 { // else it was known to be too long
					require.NotNil(t, turn.Window, "%v", turn.Key)
				}
				if w := turn.Window; w != nil && w.Cut > 0 {
					cuts++
					require.Positive(t, w.Cut)
					require.GreaterOrEqual(t, w.Kept, 0)
					require.GreaterOrEqual(t, w.Used, 0)
					require.Contains(t, warned(events), fmt.Sprintf("%s: the prompt left out %d of %d turns to fit: %d of %d tokens are used",
						turn.Actor, w.Cut, w.Cut+w.Kept, w.Used, w.Limit))
				}
			}
			require.Equal(t, cuts, res.Total.Cut)
			require.Greater(t, cuts, 4)
			for _, r := range append(model.Calls(), jury.Calls()...) { // those that were short enough
				checkNewest(t, r.Messages, mode)
			}
		})
	}
}

// checkNewest checks that a prompt has its system's message and its task, and that nothing is left out between the points
// that it shows, but after the first.
func checkNewest(t *testing.T, list []providers.Message, mode panel.Mode) {
	t.Helper()
	require.Equal(t, providers.System, list[0].Role)
	require.NotContains(t, list[len(list)-1].Text, "Point")
	last := 0
	for i, m := range list[1 : len(list)-1] {
		var n int
		_, err := fmt.Sscanf(m.Text[strings.Index(m.Text, "Point"):], "Point %d.", &n)
		require.NoError(t, err)
		if i > 1 && mode == panel.Sequential { // those who speak at once come in any order
			require.Equal(t, last+1, n)
		}
		last = n
	}
}

func TestAPromptWithoutHistoryThatIsTooLongIsGivenUp(t *testing.T) {
	for name, tt := range map[string]struct {
		policy debate.FailurePolicy
		calls  int // in the second round
	}{
		"nothing is left to leave out": {debate.Truncate, 9},
		"nothing is to be left out":    {debate.Degrade, 1},
	} {
		t.Run(name, func(t *testing.T) {
			prompts := []int(nil) // how many messages each that was too long had
			said := 0
			model := generate(func(_ context.Context, r providers.Request) (providers.Response, error) {
				if said++; said > 1 {
					prompts = append(prompts, len(r.Messages))
					return providers.Response{}, failsWith(providers.ContextOverflow, 0)
				}
				return providers.Response{Text: "In the first round it works."}, nil
			})
			d := panelOf(t, 2, func(c *debate.Config, o *debate.Options) {
				c.OnOverflow = tt.policy
				c.Participants = append([]debate.Participant{{Name: "C", Provider: "c"}}, c.Participants...)
				o.Providers["m"], o.Providers["c"], o.Providers["j"] = wordy(), model, anyJudge(t, 2)
			})
			events, err := run(t, d)
			require.NoError(t, err)
			require.Equal(t, []string{"C"}, dropouts(events))
			require.Equal(t, fsm.Completed, result(t, d).State)
			require.LessOrEqual(t, len(prompts), tt.calls)
			require.True(t, slices.IsSortedFunc(prompts, func(a, b int) int { return b - a }), "%v", prompts)
			if tt.policy == debate.Truncate {
				require.Greater(t, len(prompts), 1)
				require.Equal(t, 3, prompts[len(prompts)-1], "the system's, what is left of the newest turn, and the task")
			}
			for _, ev := range events {
				if ev, ok := ev.(debate.Dropped); ok {
					require.Equal(t, providers.ContextOverflow, ev.Failure.Kind)
					require.Equal(t, len(prompts), ev.Failure.Attempts)
				}
			}
		})
	}
}

// throttle is a model with a rate limit that lasts for a time.
func throttle(p providers.Provider, until time.Duration, after time.Duration) providers.Provider {
	began := time.Now()
	return generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		if time.Since(began) < until {
			return providers.Response{}, failsWith(providers.RateLimit, after)
		}
		return p.Generate(ctx, r)
	})
}

func TestARateLimitOfEverybodyIsSatOut(t *testing.T) {
	for name, tt := range map[string]struct {
		lasts, after time.Duration // after: that the service asks for
		limits       debate.Limits
		outcome      transcript.Outcome
	}{
		"shorter than a step":                    {2 * time.Minute, 0, debate.Limits{}, transcript.JudgeDecided},
		"longer than a step":                     {30 * time.Minute, 0, debate.Limits{}, transcript.JudgeDecided},
		"longer, and the service says how long":  {30 * time.Minute, 30 * time.Minute, debate.Limits{}, transcript.JudgeDecided},
		"with steps shorter than the least wait": {10 * time.Minute, 0, debate.Limits{StepTimeout: 20 * time.Second}, transcript.JudgeDecided},
		"longer than the budget":                 {3 * time.Hour, 0, debate.Limits{}, transcript.TimeBudget},
		"longer, and the service says so":        {3 * time.Hour, 3 * time.Hour, debate.Limits{}, transcript.TimeBudget},
		"longer than the round may take":         {30 * time.Minute, 0, debate.Limits{Round: 10 * time.Minute}, transcript.TimeBudget},
	} {
		for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
			t.Run(name+", "+string(mode), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					began := time.Now()
					d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
						c.Protocol, c.Limits = panel.Protocol{Mode: mode}, tt.limits
						o.Providers["m"] = throttle(chatter(), tt.lasts, tt.after)
					})
					events, err := run(t, d)
					require.NoError(t, err)
					res, took := result(t, d), time.Since(began)
					require.Equal(t, fsm.Completed, res.State)
					require.Equal(t, tt.outcome, res.Ending.Outcome, res.Ending.Evidence)
					require.Empty(t, dropouts(events))
					if tt.outcome == transcript.TimeBudget {
						require.Empty(t, res.Turns, "nothing was said")
						require.LessOrEqual(t, took, time.Hour)
						return
					}
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
		model, n := chatter(), 0
		began := time.Now()
		d := panelOf(t, 9, func(_ *debate.Config, o *debate.Options) {
			o.Providers["m"] = generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
				if n++; n > 3 {
					return providers.Response{}, failsWith(providers.RateLimit, 0)
				}
				return model.Generate(ctx, r)
			})
		})
		_, err := run(t, d)
		require.NoError(t, err)
		res := result(t, d)
		require.Equal(t, transcript.TimeBudget, res.Ending.Outcome)
		require.Equal(t, []string{"1/1/respond/A/", "1/1/respond/B/", "1/1/assess/J/", "1/2/respond/A/", "1/2/verdict/J/"}, keys(res))
		require.LessOrEqual(t, time.Since(began), time.Hour)
		require.GreaterOrEqual(t, time.Since(began), 50*time.Minute)
	})
}

// What is sat out leaves no more time for the call than the budget has.
func TestACallAfterARateLimitKeepsToTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Limits = debate.Limits{Time: 20 * time.Minute, StepTimeout: 10 * time.Minute}
			o.Providers["m"] = throttle(&scripted.Provider{Func: func(providers.Request) scripted.Reply {
				return scripted.Reply{Text: "So far", Chunks: 2, Latency: time.Hour}
			}}, 14*time.Minute, 0)
		})
		_, err := run(t, d)
		require.NoError(t, err)
		require.Equal(t, transcript.TimeBudget, result(t, d).Ending.Outcome)
		require.Equal(t, 16*time.Minute, time.Since(began), "a fifth is kept for the conclusion")
	})
}

func TestARateLimitOfOneProviderDoesNotWaitBeyondTheStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Participants = append(c.Participants, debate.Participant{Name: "C", Provider: "c"})
			o.Providers["c"], o.Providers["j"] = throttle(chatter(), time.Hour, 0), anyJudge(t, 1)
		})
		events, err := run(t, d)
		require.NoError(t, err)
		require.Equal(t, []string{"C"}, dropouts(events))
		require.Equal(t, transcript.JudgeDecided, result(t, d).Ending.Outcome)
		require.Less(t, time.Since(began), 5*time.Minute)
		require.Len(t, pausesAfter(events), 6)
	})
}

func TestRateLimitsOfAllProvidersAreSatOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		late := func(p providers.Provider) providers.Provider { // works, then is limited for half an hour from the tenth second on
			return generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
				if since := time.Since(began); since > 5*time.Minute && since < 35*time.Minute || since < 10*time.Second {
					return providers.Response{}, failsWith(providers.RateLimit, 0)
				}
				return p.Generate(ctx, r)
			})
		}
		d := panelOf(t, 2, func(c *debate.Config, o *debate.Options) {
			c.Participants[1].Provider, c.Limits.RoundDelay = "other", 6*time.Minute
			c.Protocol = panel.Protocol{Mode: panel.Simultaneous} // so that both had to wait for their last turn
			o.Providers["m"], o.Providers["other"] = late(chatter()), late(chatter())
		})
		events, err := run(t, d)
		require.NoError(t, err)
		require.Empty(t, dropouts(events))
		require.Equal(t, transcript.JudgeDecided, result(t, d).Ending.Outcome)
		require.Len(t, result(t, d).Turns, 7)
		require.Greater(t, time.Since(began), 35*time.Minute)
	})
}

// A debate that concludes is not ended once more: there it is a failure like others, in any round.
func TestAParticipantMayFailInTheConclusion(t *testing.T) {
	for _, kind := range []providers.Kind{providers.RateLimit, providers.Network} {
		for _, rounds := range []int{1, 2} {
			t.Run(fmt.Sprint(kind, " ", rounds), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					model, began, down := chatter(), time.Now(), true
					d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
						c.Protocol, o.Providers["j"] = closing{}, anyJudge(t, rounds)
						o.Providers["m"] = generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
							if down && len(model.Calls()) >= 2*rounds {
								return providers.Response{}, failsWith(kind, 0)
							}
							return model.Generate(ctx, r)
						})
					})
					_, err := run(t, d)
					var failure *debate.Failure
					require.ErrorAs(t, err, &failure)
					require.Equal(t, kind, failure.Kind)
					require.Less(t, time.Since(began), 5*time.Minute)
					require.Equal(t, fsm.Error, result(t, d).State)
					require.Len(t, result(t, d).Turns, 3*rounds)
					require.NoError(t, d.Retry(t.Context()))
					down = false
					_, err = run(t, d)
					require.NoError(t, err)
					require.Len(t, result(t, d).Turns, 3*rounds+2)
				})
			})
		}
	}
}

// closing is a panel whose participants conclude.
type closing struct{ panel.Protocol }

func (closing) Name() string { return "closing/1" }

func (c closing) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage != transcript.Conclusion {
		return c.Protocol.Phases(r)
	}
	p := protocol.Phase{Name: "last-words", Parallel: true}
	for _, s := range r.Seats {
		p.Steps = append(p.Steps, step(s.Name, "", nil))
	}
	return []protocol.Phase{p}
}

func TestAParticipantMakesOneCallAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running, most, all := map[string]int{}, map[string]int{}, 0
		total := 0
		say := func(name string) providers.Provider {
			return generate(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
				mu.Lock()
				running[name]++
				total++
				most[name], all = max(most[name], running[name]), max(all, total)
				mu.Unlock()
				defer func() {
					mu.Lock()
					defer mu.Unlock()
					running[name]--
					total--
				}()
				return providers.Response{Text: "I say."}, wait(ctx, 10*time.Second)
			})
		}
		began := time.Now()
		d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Protocol, c.Participants = mesh{}, nil
			for _, name := range []string{"A", "B", "C"} {
				c.Participants = append(c.Participants, debate.Participant{Name: name, Provider: name})
				o.Providers[name] = say(name)
			}
			o.Providers["j"] = anyJudge(t, 1)
		})
		_, err := run(t, d)
		require.NoError(t, err)
		require.Equal(t, map[string]int{"A": 1, "B": 1, "C": 1}, most)
		require.Equal(t, 3, all, "others speak at the same time")
		require.Equal(t, (10+2*10+10)*time.Second, time.Since(began), "each criticises two, one after the other")
		require.Len(t, result(t, d).Turns, 3+6+3+2)
	})
}

// The wait for one's own call before is no part of a step's time.
func TestAStepsTimeBeginsWithItsOwnCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Protocol, c.Limits.StepTimeout = mesh{}, time.Minute
			c.Participants = append(c.Participants, debate.Participant{Name: "C", Provider: "m"})
			o.Providers["m"] = generate(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
				return providers.Response{Text: "I say."}, wait(ctx, 40*time.Second)
			})
			o.Providers["j"] = anyJudge(t, 1)
		})
		_, err := run(t, d)
		require.NoError(t, err)
		require.Len(t, result(t, d).Turns, 3+6+3+2)
	})
}

// What is sat out is time that the debate takes, whatever a step's own time is.
func TestRateLimitsOfManyStepsKeepToTheBudgetTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, next := time.Now(), time.Now().Add(20*time.Minute)
		d := panelOf(t, 9, func(c *debate.Config, o *debate.Options) {
			c.Limits.MaxRounds, o.Providers["j"] = 9, anyJudge(t, 9)
			o.Providers["m"] = generate(func(context.Context, providers.Request) (providers.Response, error) {
				if time.Now().Before(next) {
					return providers.Response{}, failsWith(providers.RateLimit, 0)
				}
				next = time.Now().Add(20 * time.Minute)
				return providers.Response{Text: "One statement each twenty minutes."}, nil
			})
		})
		_, err := run(t, d)
		require.NoError(t, err)
		require.Equal(t, transcript.TimeBudget, result(t, d).Ending.Outcome)
		require.LessOrEqual(t, time.Since(began), time.Hour)
		require.GreaterOrEqual(t, result(t, d).Running, 40*time.Minute)
		require.Len(t, result(t, d).Turns, 4, "two speeches, assessed, and the verdict")
	})
}

// A speaker in mid-sentence keeps what it has said when the time for rounds is over. Where a person is asked about failures,
// half a statement is none, and what it used is counted all the same.
func TestWhatWasSaidWhenTheTimeIsOverIsKept(t *testing.T) {
	const half = "half a statement"
	for name, limits := range map[string]debate.Limits{
		"of the debate":       {Time: 10 * time.Minute, StepTimeout: time.Hour},
		"of the debate alone": {Time: 6 * time.Minute},
		"of the round":        {Round: 3 * time.Minute},
	} {
		for _, policy := range []debate.FailurePolicy{debate.Degrade, debate.Ask} {
			for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
				t.Run(fmt.Sprint(name, " ", policy, " ", mode), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						var mu sync.Mutex
						calls, used := 0, purse{}
						d := panelOf(t, 9, func(c *debate.Config, o *debate.Options) {
							c.Protocol, c.Limits, c.OnFailure = panel.Protocol{Mode: mode}, limits, policy
							o.Providers["j"] = used.of(o.Providers["j"])
							o.Providers["m"] = used.of(generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
								mu.Lock()
								calls++
								said := calls <= 2
								mu.Unlock()
								resp := providers.Response{Text: half, Usage: transcript.Usage{Input: 10, Output: 700}}
								if err := r.OnChunk(half); err != nil || said {
									return resp, err
								}
								<-ctx.Done()
								return providers.Response{}, providers.Ended(ctx, resp)
							}))
						})
						events, err := run(t, d)
						require.NoError(t, err)
						res := result(t, d)
						require.Equal(t, transcript.TimeBudget, res.Ending.Outcome)
						require.NotNil(t, res.Verdict)
						require.Empty(t, dropouts(events))
						used.check(t, d, d.In(t, chatter()))
						partial := 0
						for _, turn := range res.Turns {
							if turn.Round == 2 && turn.Kind == transcript.Speech {
								partial++
								require.Equal(t, half, turn.Text)
								require.Equal(t, []transcript.Flag{transcript.Partial}, turn.Flags)
							}
						}
						switch {
						case policy == debate.Ask:
							require.Zero(t, partial)
						case mode == panel.Sequential:
							require.Equal(t, 1, partial)
						default:
							require.Equal(t, 2, partial)
						}
						require.Len(t, warned(events), partial)
					})
				})
			}
		}
	}
}

func TestAReplyThatTheServiceHeldBackIsMarked(t *testing.T) {
	d := panelOf(t, 1, func(_ *debate.Config, o *debate.Options) {
		o.Providers["m"] = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
			return scripted.Reply{Text: "I would say that", Finish: providers.ContentFilter}
		}}
	})
	events, err := run(t, d)
	require.NoError(t, err)
	res := result(t, d)
	require.Equal(t, []transcript.Flag{transcript.Withheld}, res.Turns[0].Flags)
	require.Equal(t, "I would say that", res.Turns[0].Text)
	require.Equal(t, []string{"A: the service held back the rest of the reply", "B: the service held back the rest of the reply"}, warned(events))
	require.Equal(t, []string{
		"round 1, respond of A: the service held back the rest of the reply", "round 1, respond of B: the service held back the rest of the reply",
	}, res.Warnings)
}

// A job of a worker has an end of its own. A rate limit of everybody outlasts it: each job says so in the journal, where its
// time counts, and the next one goes on.
func TestAJobHandsARateLimitOfEverybodyOn(t *testing.T) {
	for name, tt := range map[string]struct {
		lasts   time.Duration
		outcome transcript.Outcome
	}{
		"shorter than the budget": {30 * time.Minute, transcript.JudgeDecided},
		"longer than the budget":  {3 * time.Hour, transcript.TimeBudget},
	} {
		for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
			t.Run(name+", "+string(mode), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					began, jobs := time.Now(), 0
					d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
						c.Protocol = panel.Protocol{Mode: mode}
						c.Participants = append(c.Participants, debate.Participant{Name: "C", Provider: "m"})
						o.Providers["m"], o.Providers["j"] = throttle(chatter(), tt.lasts, 0), anyJudge(t, 1)
					})
					for more := true; more; {
						require.Less(t, time.Since(began), 4*time.Hour)
						before := result(t, d)
						ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
						var err error
						more, err = d.Do(ctx)
						cancel()
						if more = more || err != nil; err == nil {
							continue
						}
						jobs++
						require.ErrorContains(t, err, "a rate limit is to be sat out")
						after := result(t, d)
						require.Equal(t, before.State, after.State)
						require.Greater(t, after.Running, before.Running)
						require.Regexp(t, `^{"actor":"[ABC]","phase":"respond","provider":"m"}$`, string(after.Annotations["rate_limit"]))
					}
					res := result(t, d)
					require.Greater(t, jobs, 5)
					require.Equal(t, fsm.Completed, res.State)
					require.Equal(t, tt.outcome, res.Ending.Outcome, res.Ending.Evidence)
					require.Empty(t, dropouts(stored(t, d)))
					if tt.outcome == transcript.TimeBudget {
						require.Empty(t, res.Turns)
						require.LessOrEqual(t, time.Since(began), time.Hour)
						require.GreaterOrEqual(t, res.Running, 45*time.Minute)
						return
					}
					require.Len(t, res.Turns, 5)
					require.GreaterOrEqual(t, res.Running, tt.lasts)
				})
			})
		}
	}
}

// Whoever waits for a rate limit and then fails otherwise has taken the debate's time, whatever becomes of it.
func TestAFailureAfterARateLimitCountsItsWholeTime(t *testing.T) {
	for name, tt := range map[string]struct {
		failing string // who
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
					began, model := time.Now(), chatter()
					d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
						c.Protocol, c.OnFailure = panel.Protocol{Mode: mode}, tt.policy
						c.Participants = append(c.Participants, debate.Participant{Name: "C", Provider: "m"})
						o.Providers["j"] = anyJudge(t, 1)
						o.Providers["m"] = generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
							if time.Since(began) < 30*time.Minute {
								return providers.Response{}, failsWith(providers.RateLimit, 0)
							}
							if strings.Contains(tt.failing, r.Messages[0].Text[len("You are "):][:1]) {
								return providers.Response{}, failsWith(providers.API, 0)
							}
							return model.Generate(ctx, r)
						})
					})
					events, err := run(t, d)
					res := result(t, d)
					require.Equal(t, tt.state, res.State, err)
					require.GreaterOrEqual(t, res.Running, 30*time.Minute)
					require.LessOrEqual(t, res.Running, time.Since(began))
					require.Equal(t, res.Running, result(t, d.In(t, chatter())).Running)
					for _, ev := range events {
						if ev, ok := ev.(debate.Dropped); ok && mode == panel.Simultaneous {
							require.Equal(t, began.UTC(), ev.Failure.Began)
							require.GreaterOrEqual(t, ev.Failure.At.Sub(began), 30*time.Minute)
						}
					}
				})
			})
		}
	}
}

// The steps of one actor run one after the other: together they keep to what is left of the debate's time.
func TestManyStepsOfOneActorKeepToTheTimeBudget(t *testing.T) {
	for name, limited := range map[string]bool{"each takes a while": false, "a rate limit in between": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
					c.Protocol, c.Participants = mesh{}, nil
					c.Limits = debate.Limits{Time: 10 * time.Minute, MaxRounds: 1}
					for _, name := range []string{"A", "B", "C", "D", "E"} {
						c.Participants = append(c.Participants, debate.Participant{Name: name, Provider: "m"})
					}
					o.Providers["j"] = anyJudge(t, 1)
					o.Providers["m"] = generate(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
						if limited && time.Since(began) >= 230*time.Second {
							return providers.Response{}, failsWith(providers.RateLimit, 0)
						}
						if err := wait(ctx, 230*time.Second); err != nil {
							return providers.Response{}, providers.Ended(ctx, providers.Response{})
						}
						return providers.Response{Text: "I say."}, nil
					})
				})
				events, err := run(t, d)
				require.NoError(t, err)
				res := result(t, d)
				require.Equal(t, transcript.TimeBudget, res.Ending.Outcome)
				require.Empty(t, dropouts(events))
				require.LessOrEqual(t, time.Since(began), 10*time.Minute)
				require.LessOrEqual(t, res.Running, time.Since(began))
				spoken := 5 // proposals, then one critique each
				if !limited {
					spoken += 5
				}
				require.Len(t, res.Turns, spoken+1, "and the verdict")
			})
		})
	}
}

// What else failed beside counts as well: B waited, while A failed at once.
func TestARateLimitBesideAnotherFailureCountsItsWholeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Protocol = panel.Protocol{Mode: panel.Simultaneous}
			o.Providers["m"] = generate(func(_ context.Context, r providers.Request) (providers.Response, error) {
				if strings.HasPrefix(r.Messages[0].Text, "You are B") && time.Since(began) < 30*time.Minute {
					return providers.Response{}, failsWith(providers.RateLimit, 0)
				}
				return providers.Response{}, failsWith(providers.Validation, 0)
			})
		})
		_, err := run(t, d)
		require.ErrorContains(t, err, "respond of A")
		require.GreaterOrEqual(t, result(t, d).Running, 30*time.Minute)
	})
}

// stateOf is the transition that ended, paused or failed a debate: the last one with a failure in it.
func stateOf(events []debate.Event) (last debate.StateChanged) {
	for _, ev := range events {
		if s, ok := ev.(debate.StateChanged); ok && (s.Failure != nil || s.Question != nil || len(s.Lost) > 0) {
			last = s
		}
	}
	return last
}

// What failed attempts used is counted in whichever way their step ends, also beside another that has failed first.
func TestWhatFailedAttemptsUsedIsCountedHoweverTheirStepEnds(t *testing.T) {
	usage := transcript.Usage{Input: 10, Output: 500}
	failed := func(kind providers.Kind, text string) *providers.Error {
		return &providers.Error{Kind: kind, Err: errors.New("down"), Partial: providers.Response{Text: text, Usage: usage}}
	}
	always := func(kind providers.Kind, text string) providers.Provider {
		return generate(func(context.Context, providers.Request) (providers.Response, error) {
			return providers.Response{}, failed(kind, text)
		})
	}
	hangs := func(first error) providers.Provider { // after a first failure
		calls := 0
		return generate(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
			if calls++; calls%2 == 1 {
				return providers.Response{}, first
			}
			<-ctx.Done()
			return providers.Response{}, providers.Ended(ctx, providers.Response{Usage: usage})
		})
	}
	type config = func(*debate.Config)
	none := func(*debate.Config) {}
	short := func(c *debate.Config) { c.Limits.Time, c.Limits.StepTimeout = 5*time.Minute, time.Hour }
	ask := func(c *debate.Config) { c.OnFailure, c.OnJudgeFailure = debate.Ask, debate.Ask }
	for name, tt := range map[string]struct {
		failing string // who: in the second round, as far as there is one before
		model   func() providers.Provider
		change  config
		outcome transcript.Outcome
		state   fsm.State
		lost    int // failures in the transition, beside the first
	}{
		"the time is over":                {"C", func() providers.Provider { return hangs(failed(providers.Network, "")) }, short, transcript.TimeBudget, fsm.Completed, 0},
		"the time of all is over":         {"ABCD", func() providers.Provider { return hangs(failed(providers.Network, "")) }, short, transcript.TimeBudget, fsm.Completed, 3},
		"one has failed by then":          {"AB", func() providers.Provider { return hangs(failed(providers.Authentication, "")) }, short, "", fsm.Error, 1},
		"the quorum is lost":              {"BCD", func() providers.Provider { return always(providers.Network, "") }, none, transcript.QuorumLost, fsm.Completed, 0},
		"the quorum is lost by all":       {"ABCD", func() providers.Provider { return always(providers.Network, "") }, none, transcript.QuorumLost, fsm.Completed, 1},
		"one is dropped":                  {"B", func() providers.Provider { return always(providers.API, "") }, none, transcript.JudgeDecided, fsm.Completed, 0},
		"two are dropped":                 {"BD", func() providers.Provider { return always(providers.API, "") }, none, transcript.JudgeDecided, fsm.Completed, 0},
		"a part is kept":                  {"BD", func() providers.Provider { return always(providers.API, "So far") }, none, transcript.JudgeDecided, fsm.Completed, 0},
		"a key is refused":                {"B", func() providers.Provider { return always(providers.Authentication, "") }, none, "", fsm.Error, 0},
		"all keys are refused":            {"ABCD", func() providers.Provider { return always(providers.Authentication, "") }, none, "", fsm.Error, 3},
		"a person is asked about one":     {"B", func() providers.Provider { return always(providers.API, "") }, ask, "", fsm.Paused, 0},
		"a person is asked about all":     {"ABCD", func() providers.Provider { return always(providers.API, "So far") }, ask, "", fsm.Paused, 3},
		"the judge's defaults stand in":   {"J", func() providers.Provider { return always(providers.API, "") }, none, transcript.JudgeDecided, fsm.Completed, 0},
		"both judges' do":                 {"JK", func() providers.Provider { return always(providers.API, "") }, none, transcript.RoundLimit, fsm.Completed, 0},
		"a person is asked about a judge": {"JK", func() providers.Provider { return always(providers.API, "") }, ask, "", fsm.Paused, 1},
		"a judge is gone": {
			"J", func() providers.Provider { return always(providers.API, "") },
			func(c *debate.Config) { c.OnJudgeFailure = debate.WithoutJudge }, transcript.JudgeDecided, fsm.Completed, 0,
		},
		"both judges are gone": {
			"JK", func() providers.Provider { return always(providers.API, "") },
			func(c *debate.Config) { c.OnJudgeFailure = debate.WithoutJudge }, transcript.RoundLimit, fsm.Completed, 0,
		},
		"the debate ends without its judges": {
			"JK", func() providers.Provider { return always(providers.API, "") },
			func(c *debate.Config) { c.OnJudgeFailure = debate.End }, transcript.QuorumLost, fsm.Completed, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var used purse
				var mu sync.Mutex
				calls := map[string]int{}
				d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
					c.Protocol, c.Participants, c.Judges, c.Limits.MaxRounds = panel.Protocol{Mode: panel.Simultaneous}, nil, nil, 3
					for _, name := range []string{"A", "B", "C", "D", "J", "K"} {
						p, well, bad := debate.Participant{Name: name, Provider: name}, chatter(), providers.Provider(nil)
						if c.Participants = append(c.Participants, p); name >= "J" {
							c.Participants, well = c.Participants[:4], anyJudge(t, 2)
							c.Judges = append(c.Judges, p)
						}
						if strings.Contains(tt.failing, name) {
							bad = tt.model()
						}
						o.Providers[name] = used.of(generate(func(ctx context.Context, r providers.Request) (providers.Response, error) {
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
				events, err := run(t, d)
				res := result(t, d)
				require.Equal(t, tt.state, res.State, err)
				require.Equal(t, tt.outcome, res.Ending.Outcome, res.Ending.Evidence)
				require.Len(t, stateOf(stored(t, d)).Lost, tt.lost)
				used.check(t, d, d.In(t, chatter()))
				for _, s := range res.Participants {
					errs := 0
					for _, ev := range events {
						if f, ok := ev.(debate.TurnFailed); ok && f.Key.Actor == s.Name {
							errs++
						}
					}
					require.Equal(t, calls[s.Name], s.Attempts, s.Name)
					if res.Ending.Outcome != transcript.TimeBudget { // a call that it cuts is not told of
						require.Len(t, s.Errors, errs, s.Name)
					}
				}
			})
		})
	}
}

// Who has several steps in a phase may fail in each of them.
func TestWhatEachStepOfADroppedActorUsedIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var used purse
		said := false
		d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Protocol, c.Participants = mesh{}, nil
			for _, name := range []string{"A", "B", "C", "D"} {
				c.Participants = append(c.Participants, debate.Participant{Name: name, Provider: name})
				o.Providers[name] = used.of(chatter())
			}
			o.Providers["A"] = used.of(generate(func(context.Context, providers.Request) (providers.Response, error) {
				if !said {
					said = true
					return providers.Response{Text: "I propose.", Usage: transcript.Usage{Input: 10, Output: 5}}, nil
				}
				down := failsWith(providers.ContextOverflow, 0)
				down.Partial.Usage = transcript.Usage{Input: 10, Output: 5}
				return providers.Response{}, down
			}))
			o.Providers["j"] = used.of(anyJudge(t, 1))
		})
		events, err := run(t, d)
		require.NoError(t, err)
		require.Equal(t, []string{"A"}, dropouts(events))
		used.check(t, d, d.In(t, chatter()))
	})
}

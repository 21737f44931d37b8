package debate_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// The formats of a panel differ in what ends them.
func TestWhatEndsAPanel(t *testing.T) {
	say := func(goOn, converged, diminishing bool) string {
		a := debatetest.Assessment(goOn, "A", "B")
		a.Converged, a.DiminishingReturns = converged, diminishing
		return debatetest.Encode(t, a)
	}
	for _, tt := range []struct {
		name    string
		format  panel.Format
		limits  debate.Limits
		says    string
		outcome transcript.Outcome
		rounds  int
	}{
		{"free-form: the judge decides", panel.FreeForm, debate.Limits{}, say(false, false, false), transcript.JudgeDecided, 1},
		{
			"free-form: convergence alone does not end it",
			panel.FreeForm,
			debate.Limits{MaxRounds: 2},
			say(true, true, true),
			transcript.RoundLimit,
			2,
		},
		{"free-form: never past the limit", panel.FreeForm, debate.Limits{MaxRounds: 3}, say(true, false, false), transcript.RoundLimit, 3},
		{
			"free-form: never before the minimum",
			panel.FreeForm,
			debate.Limits{MinRounds: 3},
			say(false, false, false),
			transcript.JudgeDecided,
			3,
		},
		{
			"round-limited: whatever the judge says",
			panel.RoundLimited,
			debate.Limits{MaxRounds: 3},
			say(false, true, true),
			transcript.RoundLimit,
			3,
		},
		{"structured: after its closing", panel.StructuredRounds, debate.Limits{MaxRounds: 3}, say(false, true, true), transcript.RoundLimit, 3},
		{"convergence-seeking: convergence", panel.ConvergenceSeeking, debate.Limits{}, say(true, true, true), transcript.Converged, 1},
		{
			"convergence-seeking: diminishing returns",
			panel.ConvergenceSeeking,
			debate.Limits{},
			say(true, false, true),
			transcript.DiminishingReturns,
			1,
		},
		{
			"convergence-seeking: the judge decides",
			panel.ConvergenceSeeking,
			debate.Limits{},
			say(false, false, false),
			transcript.JudgeDecided,
			1,
		},
		{
			"convergence-seeking: not before the minimum",
			panel.ConvergenceSeeking,
			debate.Limits{MinRounds: 2},
			say(true, true, false),
			transcript.Converged,
			2,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			jury := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
				if debatetest.AsksFor(r, "verdict") {
					return scripted.Reply{Text: verdictReply}
				}
				return scripted.Reply{Text: tt.says}
			}}
			d := newPanelDebate(t, 0, func(c *debate.Config, o *debate.Options) {
				c.Protocol = panel.Protocol{Format: tt.format}
				c.Limits = tt.limits
				o.Providers["j"] = jury
			})
			res := debatetest.RunResult(t, d)
			require.Equal(t, tt.outcome, res.Ending.Outcome)
			require.Equal(t, tt.rounds, res.Ending.Round)
			require.Len(t, res.Assessments, tt.rounds, "each round is assessed")
			require.NotNil(t, res.Verdict)
		})
	}
}

func TestAParticipantThatFailsIsDropped(t *testing.T) {
	three := func(t *testing.T, change func(*debate.Config)) *debate.Debate {
		failing := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
			if len(r.Messages) > 3 { // from round 2 on
				return scripted.Reply{Err: &providers.Error{Kind: providers.ContextOverflow, Err: errors.New("too long")}}
			}
			return scripted.Reply{Text: "while it lasts"}
		}}
		return newPanelDebate(t, 2, func(c *debate.Config, o *debate.Options) {
			c.Participants = append([]debate.Participant{{Name: "C", Provider: "f"}}, c.Participants...)
			o.Providers["f"] = failing
			c.OnOverflow = debate.Degrade
			o.Providers["j"] = &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
				names := []string{"C", "A", "B"}
				if len(r.Messages) > 6 {
					names = names[1:]
				}
				e := debatetest.DigestModel{Names: names}
				return scripted.Reply{Text: e.Say(1, r)}
			}}
			c.Limits.MaxRounds = 2
			if change != nil {
				change(c)
			}
		})
	}
	t.Run("the debate continues", func(t *testing.T) {
		d := three(t, nil)
		events := debatetest.Finish(t, d)
		res := debatetest.Result(t, d)
		require.Equal(t, fsm.Completed, res.State)
		require.Equal(t, "dropped", res.Participants[0].State)
		require.Equal(t, []string{"context_overflow: too long"}, res.Participants[0].Errors)
		require.Equal(t, 2, res.Participants[0].Attempts)
		require.Equal(t, "active", res.Participants[1].State)
		dropped := 0
		for _, ev := range events {
			if e, ok := ev.(debate.Dropped); ok {
				dropped++
				require.Equal(t, "C", e.Name)
			}
		}
		require.Equal(t, 1, dropped)
		require.NotContains(t, res.Assessments[1].Text, "C:", "the judge assesses those who remain")
	})
	t.Run("without a quorum the debate concludes with what there is", func(t *testing.T) {
		d := three(t, func(c *debate.Config) { c.Participants = c.Participants[:2] })
		debatetest.Finish(t, d)
		require.Equal(t, transcript.QuorumLost, debatetest.Result(t, d).Ending.Outcome)
		require.NotNil(t, debatetest.Result(t, d).Verdict)
	})
	t.Run("in the first round the debate fails, also after a speech", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newPanelDebate(t, 2, func(c *debate.Config, o *debate.Options) {
				c.Participants[1].Provider = "f"
				o.Providers["f"] = unavailableModel(providers.ServerError)
			})
			_, err := debatetest.Run(t, d)
			var failure *debate.Failure
			require.ErrorAs(t, err, &failure)
			require.Equal(t, "B", failure.Key.Actor)
			res := debatetest.Result(t, d)
			require.Equal(t, fsm.Error, res.State)
			require.Len(t, res.Turns, 1)
			require.Equal(t, "A", res.Turns[0].Actor)
		})
	})
	t.Run("the policy asks a person", func(t *testing.T) {
		d := three(t, func(c *debate.Config) { c.OnFailure = debate.Ask })
		debatetest.Finish(t, d)
		q := debatetest.Result(t, d).Question
		require.Contains(t, q.Cause, "too long")
		require.ErrorContains(t, d.Resume(t.Context()), "call Decide with one of retry, drop, end")
		require.ErrorContains(
			t,
			d.Decide(t.Context(), debatetest.Result(t, d).Question.ID, "dance"),
			`"dance" is not a choice, use one of retry, drop, end`,
		)

		require.NoError(t, d.Decide(t.Context(), debatetest.Result(t, d).Question.ID, "retry"))
		debatetest.Finish(t, d)
		require.NotNil(t, debatetest.Result(t, d).Question, "it failed again")

		require.NoError(t, d.Decide(t.Context(), debatetest.Result(t, d).Question.ID, "drop"))
		debatetest.Finish(t, d)
		require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
		require.Equal(t, "dropped", debatetest.Result(t, d).Participants[0].State)
		require.ErrorContains(t, d.Decide(t.Context(), "q99", "drop"), "already completed")
	})
	t.Run("who may end it", func(t *testing.T) {
		d := three(t, func(c *debate.Config) { c.OnFailure = debate.Ask })
		debatetest.Finish(t, d)
		require.NoError(t, d.Decide(t.Context(), debatetest.Result(t, d).Question.ID, "end"))
		debatetest.Finish(t, d)
		require.Equal(t, transcript.Stopped, debatetest.Result(t, d).Ending.Outcome)
		require.NotNil(t, debatetest.Result(t, d).Verdict)
	})
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
				d := newPanelDebate(t, 2, func(c *debate.Config, o *debate.Options) {
					c.Protocol, c.Participants = panel.Protocol{Mode: panel.Simultaneous}, nil
					for _, name := range []string{"A", "B", "C", "D"} {
						c.Participants = append(c.Participants, debate.Participant{Name: name, Provider: name})
						model := talkingModel()
						if slices.Contains(tt.failing, name) {
							model = &scripted.Provider{Replies: []scripted.Reply{{Text: "In round 1."}}, Func: unavailableModel(providers.ServerError).Func}
						}
						o.Providers[name] = model
					}
					o.Providers["j"] = scriptedJudgeOfAll(t, 2)
				})
				events := debatetest.Finish(t, d)
				res := debatetest.Result(t, d)
				require.Equal(t, tt.outcome, res.Ending.Outcome, res.Ending.Evidence)
				require.Equal(t, tt.dropped, droppedNames(events))
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

// A rejected key or request stops the debate in an error that names the provider. An engine with a valid key can
// continue.
func TestARefusedKeyStopsAndGoesOnWithAnotherEngine(t *testing.T) {
	for _, kind := range []providers.ErrorKind{providers.Authentication, providers.InvalidRequest} {
		for place, reply := range map[string]string{"m": "", "j": "assessment/1", "v": "verdict/1", "p": "personas/1"} {
			for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
				t.Run(fmt.Sprint(kind, " ", place, " ", mode), func(t *testing.T) {
					calls := map[string]int{}
					var mu sync.Mutex
					broken := true
					model := debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
						mu.Lock()
						defer mu.Unlock()
						system := r.Messages[0].Text[:len("You are A,")]
						if broken && r.SchemaName == reply && (reply != "" || system == "You are B,") {
							return providers.Response{}, &providers.Error{Kind: kind, Err: errors.New("refused")}
						}
						calls[r.SchemaName+system]++
						e := debatetest.DigestModel{Names: []string{"A", "B"}}
						return providers.Response{Text: e.Say(4, r)}, nil
					})
					cfg := debatetest.PairConfig(panel.Protocol{Mode: mode, Personas: panel.Binary})
					cfg.Participants[0].Provider, cfg.Participants[1].Provider = "acme", "acme"
					cfg.Judges[0].Provider = "acme"
					opts := debate.Options{Store: store.Memory(), Providers: map[string]providers.Provider{"acme": model}}
					d := debatetest.New(t, cfg, opts)
					_, err := debatetest.Run(t, d)
					var failure *debate.Failure
					require.ErrorAs(t, err, &failure)
					require.Equal(t, "acme", failure.Provider)
					require.Equal(t, 1, failure.Attempts)
					require.ErrorContains(t, err, "call provider acme: "+string(kind)+": refused")
					require.Contains(t, failure.Hint(), "acme")
					require.True(t, failure.Recoverable)
					require.Equal(t, fsm.Error, debatetest.Result(t, d).State)
					before := debatetest.Result(t, d).Turns

					broken = false
					e := debatetest.Engine(t, opts)
					d = debatetest.Open(t, e, "d")
					require.NoError(t, d.Retry(t.Context()))
					debatetest.Finish(t, d)
					require.Equal(t, []string{
						"1/0/personas/personas/", "1/1/respond/A/", "1/1/respond/B/", "1/1/assess/J/", "1/1/verdict/J/",
					}, debatetest.TurnKeys(debatetest.Result(t, d)))
					for _, turn := range before {
						require.Contains(t, debatetest.Result(t, d).Turns, turn)
					}
					for what, n := range calls {
						require.Equal(t, 1, n, what)
					}
				})
			}
		}
	}
}

// What happens to a debate of A and B whose judge fails, by policy. J fails from the given reply on; J2 does not
// fail.
func TestPoliciesForAJudgeThatFails(t *testing.T) {
	type want struct {
		outcome  transcript.Outcome
		rounds   int
		dropped  []string
		verdict  string // who gives it; empty if there is none
		fallback int    // number of turns with a default
	}
	for _, tt := range []struct {
		name   string
		policy debate.FailurePolicy
		judges int
		from   int // index of the judge's first reply that fails: 0 and 1 are assessments, 2 is the verdict
		want   want
	}{
		{"default", "", 1, 0, want{transcript.RoundLimit, 3, nil, "J", 4}},
		{"continue, from the second round", debate.Continue, 1, 1, want{transcript.RoundLimit, 3, nil, "J", 3}},
		{"continue, without a verdict", debate.Continue, 1, 2, want{transcript.JudgeDecided, 2, nil, "J", 1}},
		{"continue, with another judge", debate.Continue, 2, 0, want{transcript.JudgeDecided, 2, nil, "J2", 3}},
		{"without, from the first round", debate.DropJudge, 1, 0, want{transcript.RoundLimit, 3, []string{"J"}, "", 0}},
		{"without, from the second round", debate.DropJudge, 1, 1, want{transcript.RoundLimit, 3, []string{"J"}, "", 0}},
		{"without a verdict", debate.DropJudge, 1, 2, want{transcript.JudgeDecided, 2, []string{"J"}, "", 0}},
		{"without one of two", debate.DropJudge, 2, 0, want{transcript.JudgeDecided, 2, []string{"J"}, "J2", 0}},
		{"without one of two at the verdict", debate.DropJudge, 2, 2, want{transcript.JudgeDecided, 2, []string{"J"}, "J2", 0}},
		{"end, in the first round", debate.End, 1, 0, want{transcript.QuorumLost, 1, []string{"J"}, "", 0}},
		{"end, in the second round", debate.End, 1, 1, want{transcript.QuorumLost, 2, []string{"J"}, "", 0}},
		{"end, at the verdict", debate.End, 1, 2, want{transcript.JudgeDecided, 2, []string{"J"}, "", 0}},
		{"end, with another judge", debate.End, 2, 1, want{transcript.QuorumLost, 2, []string{"J"}, "J2", 0}},
	} {
		for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
			t.Run(tt.name+", "+string(mode), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					model, replies := talkingModel(), 0
					jury := scriptedJudge(t, 2)
					d := newPanelDebate(t, 2, func(c *debate.Config, o *debate.Options) {
						c.Protocol = panel.Protocol{Mode: mode}
						c.OnJudgeFailure = tt.policy
						c.Limits.MaxRounds = 3
						if tt.judges == 2 {
							c.Judges = append(c.Judges, debate.Participant{Name: "J2", Provider: "j2"})
						}
						o.Providers["m"], o.Providers["j2"] = model, scriptedJudge(t, 2)
						o.Providers["j"] = debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
							if replies >= tt.from {
								return providers.Response{}, errorOfKind(providers.ServerError, 0)
							}
							replies++
							return jury.Generate(ctx, r)
						})
					})
					events := debatetest.Finish(t, d)
					res := debatetest.Result(t, d)
					is := want{outcome: res.Ending.Outcome, rounds: res.Round, dropped: droppedNames(events)}
					for _, turn := range res.Turns {
						if slices.Contains(turn.Flags, transcript.Defaulted) {
							is.fallback++
						}
					}
					if res.Verdict != nil {
						is.verdict = res.Verdict.Actor
					}
					require.Equal(t, tt.want, is)
					require.Equal(t, fsm.Completed, res.State)
					require.Len(t, warningTexts(events), tt.want.fallback)
					require.Len(t, res.Warnings, tt.want.fallback)
					require.Len(t, model.Calls(), 2*res.Round, "no speaker is called again")
				})
			})
		}
	}
}

func TestAMarkedFallbackSaysNothingThatEndsADebate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Limits.MaxRounds, o.Providers["j"] = 2, unavailableModel(providers.ServerError)
		})
		debatetest.Finish(t, d)
		for _, turn := range debatetest.Result(t, d).Assessments {
			a, err := transcript.Decode[judge.Assessment](turn)
			require.NoError(t, err)
			require.True(t, a.ShouldContinue)
			require.False(t, a.Converged || a.DiminishingReturns)
			require.Len(t, a.Participants, 2)
			require.Len(t, turn.Attempts, 3)
		}
		v, err := transcript.Decode[judge.Verdict](*debatetest.Result(t, d).Verdict)
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
		"try again":        {"retry", true, transcript.JudgeDecided, true},
		"continue without": {"drop", false, transcript.RoundLimit, false},
		"end":              {"end", true, transcript.Stopped, true},
	} {
		t.Run(name, func(t *testing.T) {
			model, opts := talkingModel(), debate.Options{Store: store.Memory()}
			opts.Providers = providersOf(model, unavailableModel(providers.ContextOverflow))
			cfg := debatetest.PairConfig(nil)
			cfg.OnJudgeFailure = debate.Ask
			cfg.OnOverflow = debate.Degrade
			cfg.Limits.MaxRounds = 2
			d := debatetest.New(t, cfg, opts)
			_, err := debatetest.Run(t, d)
			require.NoError(t, err, "to be asked is no failure")
			res := debatetest.Result(t, d)
			require.Equal(t, fsm.Paused, res.State)
			require.Equal(t, "J", res.Question.Failure.Key.Actor)
			require.Contains(t, res.Question.Cause, "call provider j: context_overflow: down")
			require.Equal(t, []debate.Choice{
				{Action: "retry", Label: "Try again", Description: "call J again"},
				{Action: "drop", Label: "Continue without", Description: "J takes no further part"},
				{Action: "end", Label: "End here", Description: "conclude with the turns so far"},
			}, res.Question.Choices)

			if tt.mended {
				opts.Providers = providersOf(model, scriptedJudge(t, 1))
			}
			e := debatetest.Engine(t, opts)
			other := debatetest.Open(t, e, "d")
			require.Equal(t, debatetest.Encode(t, res.Question), debatetest.Encode(t, debatetest.Result(t, other).Question))
			require.NoError(t, other.Decide(t.Context(), debatetest.Result(t, other).Question.ID, tt.action))
			res = debatetest.RunResult(t, other)
			require.Equal(t, fsm.Completed, res.State)
			require.Equal(t, tt.outcome, res.Ending.Outcome)
			require.Equal(t, tt.verdict, res.Verdict != nil)
			require.Len(t, model.Calls(), 2*res.Round)
		})
	}
}

// If the verdict fails, the debate is already ending, so the question has no choice to end it.
func TestAPersonDecidesAboutAVerdict(t *testing.T) {
	for _, action := range []string{"retry", "drop"} {
		t.Run(action, func(t *testing.T) {
			jury := scriptedJudge(t, 1)
			broken := true
			d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
				c.OnJudgeFailure, c.OnOverflow = debate.Ask, debate.Degrade
				o.Providers["j"] = debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
					if broken && debatetest.AsksFor(r, "verdict") {
						return providers.Response{}, errorOfKind(providers.ContextOverflow, 0)
					}
					return jury.Generate(ctx, r)
				})
			})
			debatetest.Finish(t, d)
			require.Equal(t, []debate.Choice{
				{Action: "retry", Label: "Try again", Description: "call J again"},
				{Action: "drop", Label: "Continue without", Description: "J takes no further part"},
			}, debatetest.Result(t, d).Question.Choices)
			broken = false
			require.NoError(t, d.Decide(t.Context(), debatetest.Result(t, d).Question.ID, action))
			debatetest.Finish(t, d)
			require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
			require.Equal(t, transcript.JudgeDecided, debatetest.Result(t, d).Ending.Outcome)
			require.Equal(t, action == "retry", debatetest.Result(t, d).Verdict != nil)
		})
	}
}

// A debate that is concluding is not ended again: a failure there is handled like any other, in every round.
func TestAParticipantMayFailInTheConclusion(t *testing.T) {
	for _, kind := range []providers.ErrorKind{providers.RateLimit, providers.ServerError} {
		for _, rounds := range []int{1, 2} {
			t.Run(fmt.Sprint(kind, " ", rounds), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					model := talkingModel()
					began := time.Now()
					down := true
					d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
						c.Protocol, o.Providers["j"] = panelWithClosing{}, scriptedJudgeOfAll(t, rounds)
						o.Providers["m"] = debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
							if down && len(model.Calls()) >= 2*rounds {
								return providers.Response{}, errorOfKind(kind, 0)
							}
							return model.Generate(ctx, r)
						})
					})
					_, err := debatetest.Run(t, d)
					var failure *debate.Failure
					require.ErrorAs(t, err, &failure)
					require.Equal(t, kind, failure.Kind)
					require.Less(t, time.Since(began), 5*time.Minute)
					require.Equal(t, fsm.Error, debatetest.Result(t, d).State)
					require.Len(t, debatetest.Result(t, d).Turns, 3*rounds)
					require.NoError(t, d.Retry(t.Context()))
					down = false
					debatetest.Finish(t, d)
					require.Len(t, debatetest.Result(t, d).Turns, 3*rounds+2)
				})
			})
		}
	}
}

// panelWithClosing is a panel whose participants conclude.
type panelWithClosing struct{ panel.Protocol }

func (panelWithClosing) Name() string { return "closing/1" }

func (c panelWithClosing) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage != transcript.Conclusion {
		return c.Protocol.Phases(r)
	}
	p := protocol.Phase{Name: "last-words", Parallel: true}
	for _, s := range r.Participants {
		p.Steps = append(p.Steps, debatetest.Step(s.Name, "", nil))
	}
	return []protocol.Phase{p}
}

func TestAllThatADroppedParticipantTriedIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Participants = append(c.Participants, debate.Participant{Name: "C", Provider: "c"})
			o.Providers["c"] = scripted.Text("  ", "\n")
		})
		debatetest.Finish(t, d)
		require.Equal(t, debate.ParticipantStatus{
			Name: "C", State: "dropped", Attempts: 2,
			Errors: []string{"invalid_response: the reply is empty", "invalid_response: the reply is empty"},
		}, debatetest.Result(t, d).Participants[2])
	})
}

// A judge was needed to begin. After it has dropped out, its absence does not prevent dropping a participant.
func TestAParticipantCanBeSparedAfterTheOnlyJudgeDroppedOut(t *testing.T) {
	c := debatetest.PairConfig(panel.Protocol{})
	c.Participants = append(c.Participants, debate.Participant{Name: "C", Provider: "c"})
	c.OnJudgeFailure, c.Limits.MaxRounds = debate.DropJudge, 3
	c.Retries = map[providers.ErrorKind]int{providers.ServerError: 0}
	n := 0
	third := debatetest.ProviderFunc(func(context.Context, providers.Request) (providers.Response, error) {
		n++
		if n > 1 {
			return providers.Response{}, &providers.Error{Kind: providers.ServerError, Err: errors.New("gone")}
		}
		return providers.Response{Text: "I am here.", FinishReason: providers.Stop}, nil
	})
	d := debatetest.New(t, c, debate.Options{Providers: map[string]providers.Provider{
		"m": talkingModel(), "c": third, "j": failingProvider{&providers.Error{Kind: providers.ServerError, Err: errors.New("gone")}},
	}})
	debatetest.Finish(t, d)
	require.Equal(t, transcript.RoundLimit, debatetest.Result(t, d).Ending.Outcome, "%s", debatetest.Result(t, d).Ending.Evidence)
}

// Rules that compare answers find nothing without a function that extracts answers, so the configuration is
// rejected.
func TestARuleByAnswersNeedsAnAnswer(t *testing.T) {
	c := debatetest.PairConfig(nil)
	c.Detect = []detect.Rule{{Signal: detect.Unanimous, Effect: detect.Stop}}
	p := talkingModel()
	d, err := debate.New(t.Context(), c, debate.Options{Providers: providersOf(p, scriptedJudge(t, 1))})
	if err == nil {
		_, err = debatetest.Run(t, d)
	}
	require.ErrorContains(t, err, "detect[0]")
}

// Vectors are long. The token limit of judges does not apply to them.
func TestVectorsOfManySpeechesAreTaken(t *testing.T) {
	c := debate.Config{ID: "d", Topic: "Ban cars?", Protocol: panelOfMany{}, Limits: debate.Limits{MaxRounds: 1}}
	for i := range 20 {
		c.Participants = append(c.Participants, debate.Participant{Name: fmt.Sprint("P", i), Provider: "m"})
	}
	c.Embedder.Provider = "e"
	c.Detect = []detect.Rule{{Signal: detect.Repetitive, Method: "vectors"}}
	e := debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
		list := make([]string, len(r.Messages))
		for i := range list {
			list[i] = base64.StdEncoding.EncodeToString(slices.Repeat([]byte{3}, 3072)) // the size of a common model
		}
		return providers.Response{Text: debatetest.Encode(t, map[string]any{"vectors": list}), FinishReason: providers.Stop}, nil
	})
	d := debatetest.New(
		t,
		c,
		debate.Options{Providers: map[string]providers.Provider{"m": talkingModel(), "e": e}, Protocols: []protocol.Protocol{panelOfMany{}}},
	)
	debatetest.Finish(t, d)
	require.Empty(t, debatetest.Result(t, d).Warnings)
}

type panelOfMany struct{ unjudgedPanel }

func (panelOfMany) Name() string { return "crowd/1" }

// repeatingModel repeats itself in each round from the second on.
var repeatingModel = &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
	if len(r.Messages) < 4 {
		return scripted.Reply{Text: "Here is how I begin: " + r.Messages[0].Text}
	}
	return scripted.Reply{Text: "As I have always said, it is so and not otherwise. ANSWER 42"}
}}

func TestWhatFollowsFromAFinding(t *testing.T) {
	same := detect.Rule{Signal: detect.Unanimous}
	repeats := detect.Rule{Signal: detect.Repetitive}
	for _, tt := range []struct {
		name    string
		rule    detect.Rule
		use     string
		min     int
		outcome transcript.Outcome
		round   int
		advised bool
	}{
		{"it is reported", same, detect.Report, 1, transcript.RoundLimit, 5, false},
		{"reporting is the default", same, "", 1, transcript.RoundLimit, 5, false},
		{"it advises the judge", same, detect.Advise, 1, transcript.RoundLimit, 5, true},
		{"it stops the debate", same, detect.Stop, 1, transcript.Unanimous, 2, true},
		{"but not before the minimum of rounds", same, detect.Stop, 4, transcript.Unanimous, 4, true},
		{"a signal without an outcome of its own", repeats, detect.Stop, 1, transcript.EarlyStop, 3, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := configWithRules(5, tt.rule)
			c.Detect[0].Effect, c.Limits.MinRounds = tt.use, tt.min
			j := scriptedJudge(t, 9)
			d := debatetest.New(t, c, debate.Options{Providers: providersOf(repeatingModel, j), ExtractAnswer: answerLine})
			events := debatetest.Finish(t, d)
			res := debatetest.Result(t, d)
			require.Equal(t, tt.outcome, res.Ending.Outcome)
			require.Equal(t, tt.round, res.Round)

			require.Len(t, res.Findings, tt.round, "one for each round")
			var told []detect.Finding
			for _, ev := range events {
				if s, ok := ev.(debate.StateChanged); ok {
					told = append(told, s.Findings...)
				}
			}
			require.Equal(t, res.Findings, told)
			found := res.Findings[tt.round-1]
			require.True(t, found.Found, "%v", found)
			if tt.outcome != transcript.RoundLimit {
				require.Equal(t, found.String(), res.Ending.Evidence)
			}
			advised := false
			for _, r := range j.Calls() {
				advised = advised || strings.Contains(r.Messages[len(r.Messages)-1].Text, string(tt.rule.Signal))
			}
			require.Equal(t, tt.advised, advised)
		})
	}
}

func TestFindingsByTheJudgesMarks(t *testing.T) {
	c := configWithRules(5, detect.Rule{Signal: detect.Drifting, Effect: detect.Stop}, detect.Rule{Signal: detect.Converged})
	round := 0
	j := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		if debatetest.AsksFor(r, "verdict") {
			return scripted.Reply{Text: verdictReply}
		}
		round++
		a := debatetest.Assessment(true, "A", "B")
		for i := range a.Participants {
			for k := range a.Participants[i].Criteria {
				if m := &a.Participants[i].Criteria[k]; m.Criterion == judge.Relevance && round == 3 {
					m.Score = 4
				}
			}
		}
		return scripted.Reply{Text: debatetest.Encode(t, a)}
	}}
	d := debatetest.New(t, c, debate.Options{Providers: providersOf(talkingModel(), j)})
	res := debatetest.RunResult(t, d)
	require.Equal(t, transcript.EarlyStop, res.Ending.Outcome)
	require.Equal(t, 3, res.Round)
	require.Contains(t, res.Ending.Evidence, "round 3: drifting")
	require.Len(t, res.Findings, 6)
}

// A rule that uses the judges' scores combines them as the protocol does, and counts each judge once.
func TestFindingsUseTheJuryOfTheProtocol(t *testing.T) {
	c := configWithRules(1, detect.Rule{Signal: detect.Drifting}, detect.Rule{Signal: detect.Converged})
	c.Protocol = panel.Protocol{Mode: panel.Simultaneous, Jury: judge.Jury{Aggregation: judge.Median, Swap: true}}
	c.Judges = []debate.Participant{{Name: "J", Provider: "j"}, {Name: "K", Provider: "k"}, {Name: "L", Provider: "l"}}
	judges := map[string]providers.Provider{"m": talkingModel()}
	for name, says := range map[string]struct {
		relevance float64
		converged [2]bool // in the two orders
	}{"j": {1, [2]bool{true, true}}, "k": {6, [2]bool{false, false}}, "l": {6, [2]bool{true, false}}} {
		var calls atomic.Int32
		judges[name] = &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
			if debatetest.AsksFor(r, "verdict") {
				return scripted.Reply{Text: verdictReply}
			}
			a := debatetest.Assessment(true, "A", "B")
			a.Converged = says.converged[calls.Add(1)-1]
			for i := range a.Participants {
				a.Participants[i].Criteria = judge.Rubric(nil).UniformScores(says.relevance)
			}
			return scripted.Reply{Text: debatetest.Encode(t, a)}
		}}
	}
	d := debatetest.New(t, c, debate.Options{Providers: judges})
	debatetest.Finish(t, d)
	found := debatetest.Result(t, d).Findings
	require.Len(t, found, 2)
	require.InDelta(t, 0.6, found[0].Value, 1e-9, "the median")
	require.InDelta(t, 0.5, found[1].Value, 1e-9, "one says yes, one says no, and one contradicts itself")
	require.Contains(t, found[1].Evidence, "1 of 2 judges say")
}

// The journal holds each finding once. A debate that another process continues keeps its findings and gets the same
// new ones as an uninterrupted debate.
func TestFindingsAreTheSameInAnotherProcess(t *testing.T) {
	rules := []detect.Rule{
		{Signal: detect.Repetitive, Effect: detect.Advise},
		{Signal: detect.Drifting, Method: "words"},
		{Signal: detect.Diminishing},
	}
	drive := func(stops int) *debate.Result {
		s := store.Memory()
		p := &debatetest.DigestModel{Names: []string{"A", "B"}}
		o := debate.Options{Providers: providersOf(p, scriptedJudge(t, 9)), Store: s}
		d, err := debate.New(t.Context(), configWithRules(4, rules...), o)
		require.NoError(t, err)
		for more := true; more; {
			more, err = d.RunOnce(t.Context())
			require.NoError(t, err)
			stops--
			if stops > 0 {
				e := debatetest.Engine(t, o)
				d = debatetest.Open(t, e, "d")
			}
		}
		return debatetest.Result(t, d)
	}
	require.Equal(t, drive(0).Findings, drive(100).Findings)
}

// A debate that fails after its speeches and is retried passes through them again, and repeats no finding.
func TestARetriedDebateFindsNothingTwice(t *testing.T) {
	c := configWithRules(1, detect.Rule{Signal: detect.Unanimous})
	c.OnJudgeFailure = debate.Ask
	c.Retries = map[providers.ErrorKind]int{providers.Authentication: 0}
	refuse := true
	j := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		if refuse {
			refuse = false
			return scripted.Reply{Err: &providers.Error{Kind: providers.Authentication, Err: errors.New("no key")}}
		}
		if debatetest.AsksFor(r, "verdict") {
			return scripted.Reply{Text: verdictReply}
		}
		return scripted.Reply{Text: assessmentReply(t, true, "A", "B")}
	}}
	c.OnJudgeFailure = ""
	d := debatetest.New(t, c, debate.Options{Providers: providersOf(repeatingModel, j), ExtractAnswer: answerLine})
	_, err := debatetest.Run(t, d)
	require.Error(t, err)
	require.Equal(t, fsm.Error, debatetest.Result(t, d).State)
	require.NoError(t, d.Retry(t.Context()))
	debatetest.Finish(t, d)
	require.Len(t, debatetest.Result(t, d).Findings, 1)
}

// scriptedEmbedder gives each text the vector of its first letter.
type scriptedEmbedder struct{ err error }

func (e scriptedEmbedder) reply(r providers.Request) scripted.Reply {
	if e.err != nil {
		return scripted.Reply{Err: e.err}
	}
	var list []string
	for _, m := range r.Messages {
		list = append(list, `"`+base64.StdEncoding.EncodeToString([]byte{127, m.Text[0] - 'A'})+`"`)
	}
	return scripted.Reply{Text: `{"vectors": [` + strings.Join(list, ",") + `]}`}
}

func TestVectorsAreAStep(t *testing.T) {
	for _, tt := range []struct {
		name  string
		err   error
		value float64
		flags []transcript.Flag
	}{
		{"an embedder", nil, 1, nil},
		{
			"a failing embedder does not stop the debate",
			&providers.Error{Kind: providers.ServerError, Err: errors.New("broken")},
			0,
			[]transcript.Flag{transcript.Defaulted},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := configWithRules(2, detect.Rule{Signal: detect.Repetitive, Method: "vectors", Effect: detect.Report})
			c.Embedder.Provider = "e"
			c.Retries = map[providers.ErrorKind]int{providers.ServerError: 0}
			e := &scripted.Provider{Func: scriptedEmbedder{tt.err}.reply}
			p := providersOf(&scripted.Provider{Func: func(r providers.Request) scripted.Reply {
				return scripted.Reply{Text: strings.ToUpper(r.Messages[0].Text[8:9]) + " is my name."}
			}}, scriptedJudge(t, 9))
			p["e"] = e
			d := debatetest.New(t, c, debate.Options{Providers: p})
			res := debatetest.RunResult(t, d)
			require.Equal(t, []string{
				"1/1/respond/A/", "1/1/respond/B/", "1/1/embed/embedder/", "1/1/assess/J/",
				"1/2/respond/A/", "1/2/respond/B/", "1/2/embed/embedder/", "1/2/assess/J/", "1/2/verdict/J/",
			}, debatetest.TurnKeys(res))
			require.Equal(t, transcript.Embeddings, res.Turns[2].Kind)
			require.Equal(t, tt.flags, res.Turns[2].Flags)
			require.Len(t, res.Assessments, 2)
			require.Len(t, res.Findings, 2)
			require.InDelta(t, tt.value, res.Findings[1].Value, 0.001)
			require.Equal(
				t,
				[]providers.Message{{Role: providers.User, Text: "A is my name."}, {Role: providers.User, Text: "B is my name."}},
				e.Calls()[0].Messages,
			)
		})
	}
}

func TestANewRunIsMeasuredFromItsBeginning(t *testing.T) {
	broken := true
	m := talkingModel()
	c := configWithRules(2, detect.Rule{Signal: detect.Repetitive}, detect.Rule{Signal: detect.Converged})
	var n atomic.Int64
	d := debatetest.New(t, c, debate.Options{Providers: providersOf(debatetest.ProviderFunc(func(
		ctx context.Context, r providers.Request,
	) (providers.Response, error) {
		if n.Add(1) > 2 && broken {
			return providers.Response{}, &providers.Error{Kind: providers.Authentication, Err: errors.New("the key has expired")}
		}
		return m.Generate(ctx, r)
	}), scriptedJudge(t, 9))})
	_, err := debatetest.Run(t, d)
	require.Error(t, err)
	require.Len(t, debatetest.Result(t, d).Findings, 2)
	require.NoError(t, d.Reset(t.Context()))
	require.Empty(t, debatetest.Result(t, d).Findings)
	broken = false
	debatetest.Finish(t, d)
	require.Len(t, debatetest.Result(t, d).Findings, 4, "two of each round of the new run")
}

func TestRulesThatWereEditedHoldFromThenOn(t *testing.T) {
	m, broken := talkingModel(), true
	var n atomic.Int64
	c := configWithRules(3, detect.Rule{Signal: detect.Repetitive})
	d := debatetest.New(t, c, debate.Options{Providers: providersOf(debatetest.ProviderFunc(func(
		ctx context.Context, r providers.Request,
	) (providers.Response, error) {
		if n.Add(1) > 4 && broken {
			return providers.Response{}, &providers.Error{Kind: providers.Authentication, Err: errors.New("the key has expired")}
		}
		return m.Generate(ctx, r)
	}), scriptedJudge(t, 9))})
	_, err := debatetest.Run(t, d)
	require.Error(t, err)
	require.NoError(t, d.Retry(t.Context()))
	c.Detect = []detect.Rule{{Signal: detect.Drifting, Method: "words"}}
	require.NoError(t, d.Edit(t.Context(), c))
	broken = false
	debatetest.Finish(t, d)
	var signs []detect.Signal
	for _, f := range debatetest.Result(t, d).Findings {
		signs = append(signs, f.Signal)
	}
	require.Equal(t, []detect.Signal{detect.Repetitive, detect.Repetitive, detect.Drifting}, signs)
}

func TestDefaultsAreNoMarks(t *testing.T) {
	c := configWithRules(1, detect.Rule{Signal: detect.Drifting})
	j := &scripted.Provider{Func: func(r providers.Request) scripted.Reply { return scripted.Reply{Text: "No idea."} }}
	d := debatetest.New(t, c, debate.Options{Providers: providersOf(talkingModel(), j)})
	debatetest.Finish(t, d)
	require.True(
		t,
		strings.HasSuffix(debatetest.Result(t, d).Findings[0].Evidence, "no relevance score"),
		debatetest.Result(t, d).Findings[0].Evidence,
	)
}

type refund struct {
	Why     string `json:"why" jsonschema:"minLength=1"`
	Percent int    `json:"percent" jsonschema:"minimum=0,maximum=100" decision:"choice"`
}

type safeRefund struct{ refund }

func (*safeRefund) Default([]string) {}

var refundContract = reply.New[refund]("root-refund/1")

// decidingPanel returns a debate whose judges decide by a contract of the user's, with the given replies by judge.
func decidingPanel(t *testing.T, judges map[string]string, change func(*debate.Config, *debate.Options)) *debate.Debate {
	t.Helper()
	return newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
		c.Protocol, o.Contracts = panel.Protocol{Decision: decision.Task{Contract: refundContract.Name()}}, []*reply.Contract{refundContract}
		c.Judges = nil
		for _, name := range []string{"J", "K", "L"} {
			if _, sits := judges[name]; sits {
				c.Judges = append(c.Judges, debate.Participant{Name: name, Provider: "j", Model: name})
			}
		}
		others := scriptedJudgeOfAll(t, 1)
		o.Providers["j"] = &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
			if r.SchemaName == refundContract.Name() {
				return scripted.Reply{Text: judges[r.Model]}
			}
			return others.Func(r)
		}}
		if change != nil {
			change(c, o)
		}
	})
}

func TestJudgesDecideInAContractOfTheUsers(t *testing.T) {
	d := decidingPanel(t, map[string]string{
		"J": `{"why": "It was broken.", "percent": 100}`,
		"K": `{"why": "It was late.", "percent": 50}`, "L": `{"why": "So?", "percent": 100}`,
	}, nil)
	res := debatetest.RunResult(t, d)
	var j decision.Joint[refund]
	require.NoError(t, res.Answer.Decode(decision.Type, &j))
	require.Equal(t, "100", j.Choice)
	require.Equal(t, "percent", j.Field)
	require.Equal(t, refund{"It was broken.", 100}, j.Value)
	require.Equal(t, []string{"K: 50"}, j.Dissent)
	require.Len(t, j.Scores, 2)
	_, err := panel.DecodeAnswer(res.Answer)
	require.ErrorContains(t, err, `its type is "joint-decision/1", want "panel/1"`)
	require.Equal(t, res.Answer, debatetest.Result(t, d.OpenWithProvider(t, talkingModel())).Answer, "another process reads the same")
}

// There is no decision to fall back on, so the debate must not end with one.
func TestAContractWithoutADefaultMakesAFailureAnError(t *testing.T) {
	d := decidingPanel(t, map[string]string{"J": "I cannot say."}, nil)
	_, err := debatetest.Run(t, d)
	require.Error(t, err)
	res := debatetest.Result(t, d)
	require.Equal(t, fsm.Error, res.State)
	require.Equal(t, "J", res.Failure.Key.Actor)
	require.Empty(t, res.Answer.Data)
}

func TestAContractWithADefaultEndsTheDebateWithoutADecision(t *testing.T) {
	safe := reply.New[safeRefund]("root-safe/1")
	d := decidingPanel(t, map[string]string{"J": ""}, func(c *debate.Config, o *debate.Options) {
		c.Protocol, o.Contracts = panel.Protocol{Decision: decision.Task{Options: []string{"Yes", "No"}}}, []*reply.Contract{safe}
		others := scriptedJudgeOfAll(t, 1)
		o.Providers["j"] = &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
			if r.SchemaName == decision.Contract.Name() {
				return scripted.Reply{Text: "I cannot say."}
			}
			return others.Func(r)
		}}
	})
	debatetest.Finish(t, d)
	var j decision.Joint[decision.Choice]
	require.NoError(t, debatetest.Result(t, d).Answer.Decode(decision.Type, &j))
	require.True(t, j.Failed)
	require.Zero(t, j.Option)
}

func TestADecisionWithoutItsContractIsLeftAlone(t *testing.T) {
	cfg := debatetest.PairConfig(panel.Protocol{Decision: decision.Task{Contract: "nobody-knows/1"}})
	_, err := debate.New(t.Context(), cfg, debate.Options{Providers: providersOf(talkingModel(), talkingModel())})
	require.ErrorContains(t, err, `reply contract "nobody-knows/1" is unknown, add it to Options.Contracts`)
}

func TestADecisionBetweenNoOptionsIsRefused(t *testing.T) {
	for _, name := range []string{"panel/1", "procon/1"} {
		var c debate.Config
		require.NoError(t, c.UnmarshalJSON([]byte(`{"topic": "t", "judges": [{"name": "J"}],
			"participants": [{"name": "A", "position": "x"}, {"name": "B", "position": "y"}],
			"protocol": {"name": "`+name+`", "decision": {"options": []}}}`)))
		_, err := debate.New(t.Context(), c, debate.Options{Providers: providersOf(talkingModel(), talkingModel())})
		require.ErrorContains(t, err, "protocol.decision: the number of options is 0, use 2 to 16")
	}
}

// A person decides with the same fields as a model.
func TestAPersonDecides(t *testing.T) {
	d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
		c.Protocol = panel.Protocol{Decision: decision.Task{Options: []string{"Refund", "Refuse"}}}
		c.Judges = append(c.Judges, debate.Participant{Name: "Pat", Human: true})
		c.Limits.MaxRounds = 1
		m := scriptedJudgeOfAll(t, 1)
		o.Providers["j"] = &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
			if r.SchemaName == decision.Contract.Name() {
				return scripted.Reply{Text: `{"summary": "s", "reasons": [{"text": "t"}], "option": 2, "confidence": 70}`}
			}
			return m.Func(r)
		}}
	})
	for {
		debatetest.Finish(t, d)
		list := debatetest.Waiting(t, d)
		if len(list) == 0 {
			break
		}
		text := assessmentReply(t, false, "A", "B")
		if list[0].Contract == decision.Contract.Name() {
			require.Contains(t, list[0].Task, "1. Refund\n2. Refuse")
			require.Contains(t, list[0].Fields, "would_change")
			require.Error(t, d.Answer(t.Context(), list[0].Key, `{"summary": "s", "reasons": [{"text": "t"}], "option": 9, "confidence": 70}`, ""))
			text = `{"summary": "s", "reasons": [{"text": "t", "speaker": "B", "round": 1}], "option": 2, "confidence": 80}`
		}
		require.NoError(t, d.Answer(t.Context(), list[0].Key, text, ""))
	}
	var j decision.Joint[decision.Choice]
	require.NoError(t, debatetest.Result(t, d).Answer.Decode(decision.Type, &j))
	require.Equal(t, 2, j.Option)
	require.Equal(t, 75.0, j.Confidence)
	require.Equal(t, []decision.Votes{{Choice: "Refuse", Option: 2, Judges: []string{"J", "Pat"}}}, j.Votes)
}

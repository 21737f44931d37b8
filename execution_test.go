package debate_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

func TestModelsAndTemperaturesReachTheCall(t *testing.T) {
	hot := func(v float64) *float64 { return &v }
	for _, tt := range []struct {
		name string
		set  *float64
		want map[string]float64
	}{
		{"defaults", nil, map[string]float64{"A": 0.7, "J": 0.2, "personas": 0.9, "summarizer": 0.3}},
		{"set", hot(1.1), map[string]float64{"A": 1.1, "J": 1.1, "personas": 1.1, "summarizer": 1.1}},
		{"zero is a temperature", hot(0), map[string]float64{"A": 0, "J": 0, "personas": 0, "summarizer": 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			seen := map[string]providers.Request{}
			all := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
				seen[r.Model] = r
				e := &debatetest.DigestModel{Names: []string{"A", "B"}}
				return scripted.Reply{Text: e.Say(1, r)}
			}}
			p := debate.Participant{Provider: "m", Temperature: tt.set, MaxTokens: 77}
			with := func(name, model string) debate.Participant {
				p := p
				p.Name, p.Model = name, model
				return p
			}
			d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
				c.Protocol = debatetest.SummarizingPanel{Protocol: panel.Protocol{Personas: panel.Binary}}
				c.Participants = []debate.Participant{with("A", "A-model"), with("B", "B-model")}
				c.Judges = []debate.Participant{with("J", "J-model")}
				c.PersonaAssigner, c.Summarizer = with("", "personas-model"), with("", "summarizer-model")
				o.Providers["m"] = all
			})
			debatetest.Finish(t, d)
			for who, want := range tt.want {
				r, called := seen[who+"-model"]
				require.True(t, called, who)
				require.Equal(t, want, *r.Temperature, who)
				require.Equal(t, 77, r.MaxTokens, who)
			}
		})
	}
}

func TestASlowViewerTripsNoTimeout(t *testing.T) {
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
					c.Protocol = panel.Protocol{Mode: mode}
					c.Limits = debate.Limits{StepTimeout: time.Minute, RunningTime: 100 * time.Hour}
					o.Providers["m"] = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
						return scripted.Reply{Text: "a statement in pieces", Chunks: 10, Latency: 30 * time.Second}
					}}
				})
				for ev, err := range d.Run(t.Context()) {
					require.NoError(t, err)
					if _, ok := ev.(debate.Chunk); ok {
						time.Sleep(3 * time.Minute) // synctest time: the viewer takes longer than a step may
					}
				}
				res := debatetest.Result(t, d)
				require.Equal(t, fsm.Completed, res.State)
				for _, turn := range res.Turns {
					require.Len(t, turn.Attempts, 1)
				}
			})
		})
	}
}

func TestAStepThatTakesTooLongFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Limits.StepTimeout = time.Minute
			o.Providers["m"] = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
				return scripted.Reply{Text: "never said in time", Latency: 2 * time.Minute}
			}}
		})
		began := time.Now()
		_, err := debatetest.Run(t, d)
		var failure *debate.Failure
		require.ErrorAs(t, err, &failure)
		require.Equal(t, providers.Timeout, failure.Kind)
		require.ErrorContains(t, err, "the step took longer than 1m0s")
		require.Equal(t, time.Minute, time.Since(began))
		require.Equal(t, fsm.Error, debatetest.Result(t, d).State)
	})
}

func TestWhatAFailingSpeakerHadSaidIsKept(t *testing.T) {
	texts := []string{"One", "One two three ", "", "One two"}
	breaking := debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
		failed := errorOfKind(providers.Network, 0)
		failed.Partial.Text, texts = texts[0], append(texts[1:], texts[0])
		if failed.Partial.Text != "" {
			if err := r.OnChunk(failed.Partial.Text); err != nil {
				return providers.Response{}, err
			}
		}
		return providers.Response{}, failed
	})
	hanging := debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		if err := r.OnChunk("As I see it, "); err != nil {
			return providers.Response{}, err
		}
		<-ctx.Done()
		return providers.Response{}, providers.ContextError(ctx, providers.Response{Text: "As I see it, "})
	})
	ignoring := debatetest.ProviderFunc(func(context.Context, providers.Request) (providers.Response, error) {
		time.Sleep(time.Hour) // ignores its context
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
					other := talkingModel()
					d := newDebateWithModel(t, tt.model, func(c *debate.Config, o *debate.Options) {
						c.Protocol, c.Limits.MaxRounds, o.Providers["other"] = panel.Protocol{Mode: mode}, 1, other
					})
					events := debatetest.Finish(t, d)
					res := debatetest.Result(t, d)
					require.Equal(t, fsm.Completed, res.State)
					require.Len(t, res.Turns, 4)
					require.Equal(t, tt.text, res.Turns[0].Text)
					require.Equal(t, []transcript.Flag{transcript.Partial}, res.Turns[0].Flags)
					require.Len(t, res.Turns[0].Attempts, tt.attempts)
					require.Positive(t, res.Turns[0].Tokens)
					require.Empty(t, droppedNames(events))
					require.Equal(t, []string{"A: the model failed, the reply is incomplete"}, warningTexts(events))
					require.Equal(t, []string{"round 1, respond of A: the model failed, the reply is incomplete"}, res.Warnings)
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
		{Text: "So far", Err: errorOfKind(providers.ContextOverflow, 0)}, {Text: "Now all of it."},
	}}
	d := newDebateWithModel(t, model, func(c *debate.Config, _ *debate.Options) { c.OnFailure = debate.Ask })
	debatetest.Finish(t, d)
	require.Empty(t, debatetest.Result(t, d).Turns)
	require.NotNil(t, debatetest.Result(t, d).Question)
	require.NoError(t, d.Decide(t.Context(), debatetest.Result(t, d).Question.ID, "retry"))
	debatetest.Finish(t, d)
	require.Equal(t, "Now all of it.", debatetest.Result(t, d).Turns[0].Text)
	require.Empty(t, debatetest.Result(t, d).Turns[0].Flags)
}

func TestSubstitutesJudgeInTheirOrder(t *testing.T) {
	hot := 1.5
	for name, tt := range map[string]struct {
		j, s, u providers.Provider
		tried   []string
		flags   []transcript.Flag
	}{
		"the judge's service is down": {
			unavailableModel(providers.ServerError), scriptedJudge(t, 1), nil,
			[]string{"j gpt server_error", "j gpt server_error", "j gpt server_error", "s mistral"},
			[]transcript.Flag{transcript.Substituted},
		},
		"the first substitute's too": {
			unavailableModel(providers.InvalidResponse), unavailableModel(providers.ContextOverflow), scriptedJudge(t, 1),
			[]string{"j gpt invalid_response", "j gpt invalid_response", "s mistral context_overflow", "u qwen"},
			[]transcript.Flag{transcript.Substituted},
		},
		"the judge gives no valid reply": {
			scripted.Text("What?", "How?"), scriptedJudge(t, 1), nil,
			[]string{"j gpt invalid_response", "j gpt invalid_response", "s mistral"},
			[]transcript.Flag{transcript.Substituted},
		},
		"the substitute is asked again": {
			scripted.Text("What?", "How?"), &scripted.Provider{Replies: []scripted.Reply{{Text: "Me?"}}, Func: scriptedJudge(t, 1).Func}, nil,
			[]string{"j gpt invalid_response", "j gpt invalid_response", "s mistral invalid_response", "s mistral"},
			[]transcript.Flag{transcript.Substituted, transcript.Reasked},
		},
		"the judge's key is refused": {
			unavailableModel(providers.Authentication), scriptedJudge(t, 1), nil,
			[]string{"j gpt authentication", "s mistral"},
			[]transcript.Flag{transcript.Substituted},
		},
		"no model gives a valid reply": {
			scripted.Text("What?", "How?"), scripted.Text("Me?", "Now?"), scripted.Text("Hm?", "Er?"),
			[]string{
				"j gpt invalid_response", "j gpt invalid_response", "s mistral invalid_response", "s mistral invalid_response",
				"u qwen invalid_response", "u qwen invalid_response",
			},
			[]transcript.Flag{transcript.Reasked, transcript.Defaulted},
		},
		"one gives no valid reply, the last is down": {
			scripted.Text("What?", "How?"), scripted.Text("Me?", "Now?"), unavailableModel(providers.ContextOverflow),
			[]string{
				"j gpt invalid_response", "j gpt invalid_response", "s mistral invalid_response", "s mistral invalid_response",
				"u qwen context_overflow",
			},
			[]transcript.Flag{transcript.Reasked, transcript.Defaulted},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen []providers.Request
				look := func(p providers.Provider) providers.Provider {
					return debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
						if debatetest.AsksFor(r, "verdict") {
							return providers.Response{Text: verdictReply}, nil
						}
						seen = append(seen, r)
						resp, err := p.Generate(ctx, r)
						resp.Model = "" // the service does not return it
						if failed, ok := errors.AsType[*providers.Error](err); ok {
							failed.Partial.Model = ""
						}
						return resp, err
					})
				}
				d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
					c.Limits.MaxRounds, c.OnOverflow, c.Judges[0].Model = 1, debate.Degrade, "gpt"
					c.Substitutes = []debate.Participant{{Provider: "s", Model: "mistral", Temperature: &hot, MaxTokens: 99}, {Provider: "u", Model: "qwen"}}
					o.Providers["j"], o.Providers["s"], o.Providers["u"] = look(tt.j), look(tt.s), look(tt.u)
				})
				events := debatetest.Finish(t, d)
				turn := debatetest.Result(t, d).Assessments[0]
				require.Equal(t, tt.tried, attemptSummaries(turn.Attempts))
				require.Equal(t, tt.flags, turn.Flags)
				require.Equal(t, "J", turn.Actor, "it speaks in the judge's name")
				require.Len(t, warningTexts(events), 1)
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
	jury := &scripted.Provider{Replies: []scripted.Reply{{Err: errorOfKind(providers.ContextOverflow, 0)}}, Func: scriptedJudge(t, 2).Func}
	spare := scriptedJudge(t, 9)
	d := newPanelDebate(t, 2, func(c *debate.Config, o *debate.Options) {
		c.OnOverflow, c.Substitutes = debate.Degrade, []debate.Participant{{Provider: "s"}}
		o.Providers["j"], o.Providers["s"] = jury, spare
	})
	debatetest.Finish(t, d)
	require.Len(t, spare.Calls(), 1, "the next reply is the judge's own")
	require.Equal(t, []transcript.Flag{transcript.Substituted}, debatetest.Result(t, d).Assessments[0].Flags)
	require.Empty(t, debatetest.Result(t, d).Assessments[1].Flags)
}

func TestASubstituteThatReadsLessIsShownLess(t *testing.T) {
	long := strings.Repeat("and so on and so forth, ", 400)
	spare := scriptedJudge(t, 1)
	d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
		c.OnOverflow, c.Substitutes = debate.Degrade, []debate.Participant{{Provider: "s", MaxTokens: 500, Window: 5000}}
		o.Providers["m"] = &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: long} }}
		o.Providers["j"], o.Providers["s"] = unavailableModel(providers.ContextOverflow), spare
	})
	events := debatetest.Finish(t, d)
	turn := debatetest.Result(t, d).Assessments[0]
	require.Equal(t, []transcript.Flag{transcript.Substituted}, turn.Flags)
	require.Equal(t, 1, turn.Window.Omitted)
	require.Equal(t, 1, turn.Window.Kept)
	require.Len(t, spare.Calls()[0].Messages, 3)
	require.Len(t, warningTexts(events), 4, "of both the assessment and the verdict: left out, and another model")
}

// A speaker whose reply is cut off by the time budget keeps the partial text. If the policy is to ask a person, the
// partial text is discarded, but its usage counts.
func TestWhatWasSaidWhenTheTimeIsOverIsKept(t *testing.T) {
	const half = "half a statement"
	for name, limits := range map[string]debate.Limits{
		"of the debate":       {RunningTime: 10 * time.Minute, StepTimeout: time.Hour},
		"of the debate alone": {RunningTime: 6 * time.Minute},
		"of the round":        {RoundTime: 3 * time.Minute},
	} {
		for _, policy := range []debate.FailurePolicy{debate.Degrade, debate.Ask} {
			for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
				t.Run(fmt.Sprint(name, " ", policy, " ", mode), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						var mu sync.Mutex
						calls, used := 0, debatetest.UsageMeter{}
						d := newPanelDebate(t, 9, func(c *debate.Config, o *debate.Options) {
							c.Protocol, c.Limits, c.OnFailure = panel.Protocol{Mode: mode}, limits, policy
							o.Providers["j"] = used.Wrap(o.Providers["j"])
							o.Providers["m"] = used.Wrap(debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
								mu.Lock()
								calls++
								said := calls <= 2
								mu.Unlock()
								resp := providers.Response{Text: half, Usage: transcript.Usage{Input: 10, Output: 700}}
								if err := r.OnChunk(half); err != nil || said {
									return resp, err
								}
								<-ctx.Done()
								return providers.Response{}, providers.ContextError(ctx, resp)
							}))
						})
						events := debatetest.Finish(t, d)
						res := debatetest.Result(t, d)
						require.Equal(t, transcript.TimeBudget, res.Ending.Outcome)
						require.NotNil(t, res.Verdict)
						require.Empty(t, droppedNames(events))
						used.Check(t, d, d.OpenWithProvider(t, talkingModel()))
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
						require.Len(t, warningTexts(events), partial)
					})
				})
			}
		}
	}
}

func TestRepliesThatTheServiceCutsAreMarked(t *testing.T) {
	for reason, want := range map[providers.FinishReason]struct {
		flag transcript.Flag
		text string
	}{
		providers.ContentFilter: {transcript.Filtered, "the service filtered the rest of the reply"},
		providers.Length:        {transcript.Truncated, "the reply was truncated at its token limit"},
		providers.WindowFull:    {transcript.Truncated, "the reply was truncated because the model's context window was full, or at a limit of the service"},
	} {
		t.Run(string(reason), func(t *testing.T) {
			d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) {
				o.Providers["m"] = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
					return scripted.Reply{Text: "I would say that", FinishReason: reason}
				}}
			})
			events := debatetest.Finish(t, d)
			res := debatetest.Result(t, d)
			require.Equal(t, []transcript.Flag{want.flag}, res.Turns[0].Flags)
			require.Equal(t, "I would say that", res.Turns[0].Text)
			require.Equal(t, []string{"A: " + want.text, "B: " + want.text}, warningTexts(events))
			require.Equal(t, []string{"round 1, respond of A: " + want.text, "round 1, respond of B: " + want.text}, res.Warnings)
		})
	}
}

// If the window has no room for a whole assessment, a higher token limit does not help. So the prompt is shortened.
func TestAnAssessmentCutByTheWindow(t *testing.T) {
	c := debatetest.PairConfig(panel.Protocol{})
	c.Limits.MaxRounds = 1
	j := &scripted.Provider{
		Replies: []scripted.Reply{{Text: assessmentReply(t, false, "A", "B") + "\n{", FinishReason: providers.WindowFull}, {Text: assessmentReply(t, true, "A", "B")}},
		Func:    func(providers.Request) scripted.Reply { return scripted.Reply{Text: verdictReply} },
	}
	d := debatetest.New(t, c, debate.Options{Providers: providersOf(talkingModel(), j)})
	debatetest.Finish(t, d)
	turn := debatetest.Result(t, d).Assessments[0]
	require.Len(t, turn.Attempts, 2)
	require.Less(t, turn.Attempts[1].Usage.Input, turn.Attempts[0].Usage.Input)
	require.Equal(t, string(providers.ContextOverflow), turn.Attempts[0].ErrorKind)
	require.Contains(t, turn.Attempts[0].ErrorMessage, "the context window was full before the reply was complete: ")
	require.Equal(t, j.Calls()[0].MaxTokens, j.Calls()[1].MaxTokens)
}

// A truncated structured reply is requested again with a higher token limit. It is neither repaired nor searched for
// a draft.
func TestACutReplyIsAskedForWithMoreRoom(t *testing.T) {
	draft := assessmentReply(t, false, "A", "B") + "\nBut let me think again: {"
	whole := assessmentReply(t, true, "A", "B")
	for _, tt := range []struct {
		name    string
		replies []scripted.Reply // to the assessment of the first round
		room    []int            // token limit of each request
		flags   []transcript.Flag
		judge   debate.Participant
		retries map[providers.ErrorKind]int
	}{
		{
			"a whole one comes then",
			[]scripted.Reply{{Text: draft, FinishReason: providers.Length}, {Text: whole}},
			[]int{500, 1000},
			[]transcript.Flag{transcript.Reasked},
			debate.Participant{},
			nil,
		},
		{
			"even one that looks whole may be a draft",
			[]scripted.Reply{{Text: whole, FinishReason: providers.Length}, {Text: whole}},
			[]int{500, 1000},
			[]transcript.Flag{transcript.Reasked},
			debate.Participant{},
			nil,
		},
		{
			"an invalid one comes then, and is asked for with what is wrong",
			[]scripted.Reply{{Text: "{", FinishReason: providers.Length}, {Text: "{}"}, {Text: whole}},
			[]int{500, 1000, 1000},
			[]transcript.Flag{transcript.Reasked},
			debate.Participant{},
			nil,
		},
		{
			"it is cut again, and is given up",
			[]scripted.Reply{{Text: draft, FinishReason: providers.Length}, {Text: draft, FinishReason: providers.Length}},
			[]int{500, 1000},
			[]transcript.Flag{transcript.Reasked, transcript.Truncated, transcript.Defaulted},
			debate.Participant{},
			nil,
		},
		{
			"the window has not so much room",
			[]scripted.Reply{{Text: draft, FinishReason: providers.Length}, {Text: whole}},
			[]int{500, 999},
			[]transcript.Flag{transcript.Reasked},
			debate.Participant{Window: -1},
			nil,
		},
		{
			"nothing is to be asked again",
			[]scripted.Reply{{Text: draft, FinishReason: providers.Length}},
			[]int{500},
			[]transcript.Flag{transcript.Truncated, transcript.Defaulted},
			debate.Participant{},
			map[providers.ErrorKind]int{providers.InvalidResponse: 0},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := debatetest.PairConfig(panel.Protocol{})
			c.Limits.MaxRounds, c.Retries = 1, tt.retries
			c.Limits.JudgeTokens = 500
			j := &scripted.Provider{Replies: tt.replies, Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: verdictReply} }}
			if tt.judge.Window < 0 { // a little more than the prompt and a reply
				c.Judges[0].Window = judgePromptTokens(t, c) + 999
			}
			d := debatetest.New(t, c, debate.Options{Providers: providersOf(talkingModel(), j)})
			debatetest.Finish(t, d)

			var room []int
			for _, r := range j.Calls()[:len(tt.replies)] {
				room = append(room, r.MaxTokens)
			}
			require.Equal(t, tt.room, room)
			turn := debatetest.Result(t, d).Assessments[0]
			require.Equal(t, tt.flags, turn.Flags)
			require.Len(t, turn.Attempts, len(tt.replies))
			if tt.flags[0] == transcript.Reasked && len(tt.flags) == 1 {
				require.Contains(t, turn.Attempts[0].ErrorMessage, "the reply was truncated at 500 tokens")
			}
		})
	}
}

// judgePromptTokens returns about how many tokens the judge's prompt has after one round.
func judgePromptTokens(t *testing.T, c debate.Config) int {
	t.Helper()
	d := debatetest.New(t, c, debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 1))})
	for range 4 {
		next, err := d.Preview(t.Context())
		require.NoError(t, err)
		if next[0].Kind == transcript.Assessment {
			return next[0].Tokens
		}
		_, err = d.RunOnce(t.Context())
		require.NoError(t, err)
	}
	t.Fatal("nobody judges")
	return 0
}

func TestAnEmptyReplyAfterAnInvalidOneIsReplaced(t *testing.T) {
	d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
		c.Limits.MaxRounds, o.Providers["j"] = 1, scripted.Text("I cannot say.", "", verdictReply)
	})
	res := debatetest.RunResult(t, d)
	require.Equal(t, fsm.Completed, res.State)
	require.Equal(t, []transcript.Flag{transcript.Reasked, transcript.Defaulted}, res.Assessments[0].Flags)
	require.Len(t, res.Assessments[0].Attempts, 2)
	require.Contains(t, strings.Join(res.Warnings, "\n"), "there was no valid reply, the default is used")
}

// A model with a maximum reply length rejects the raised limit. That is a failure of the second attempt, not of the
// debate: the default is used, as if the reply was truncated twice.
func TestACapThatAModelRefusesIsNotTheDebatesEnd(t *testing.T) {
	m := talkingModel()
	j := debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
		switch {
		case debatetest.AsksFor(r, "verdict"):
			return providers.Response{Text: verdictReply, FinishReason: providers.Stop}, nil
		case r.MaxTokens > 500:
			return providers.Response{}, &providers.Error{Kind: providers.InvalidRequest, Err: errors.New("max_tokens: 1000 > 500, the most of this model")}
		}
		return providers.Response{Text: `{"participants": [`, FinishReason: providers.Length}, nil
	})
	c := debatetest.PairConfig(panel.Protocol{})
	c.Limits.MaxRounds, c.Limits.JudgeTokens = 1, 500
	d := debatetest.New(t, c, debate.Options{Providers: providersOf(m, j)})
	debatetest.Finish(t, d)
	require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
	require.Contains(t, debatetest.Result(t, d).Assessments[0].Flags, transcript.Defaulted)
}

// A reply whose syntax was corrected has a flag.
func TestARepairedReplyIsMarked(t *testing.T) {
	c := debatetest.PairConfig(panel.Protocol{})
	c.Limits.MaxRounds = 1
	j := scripted.Text(assessmentReply(t, true, "A", "B"), strings.TrimSuffix(verdictReply, "}")+",}")
	d := debatetest.New(t, c, debate.Options{Providers: providersOf(talkingModel(), j)})
	res := debatetest.RunResult(t, d)
	require.Empty(t, res.Assessments[0].Flags)
	require.Equal(t, []transcript.Flag{transcript.Repaired}, res.Verdict.Flags)
	require.Empty(t, res.Warnings)
}

// In a sequential debate, the model calls the viewer on the same goroutine.
func TestAChunkReachesItsViewerOnTheModelsGoroutine(t *testing.T) {
	var model string
	d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) {
		o.Providers["m"] = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
			model = goroutine()
			return scripted.Reply{Text: "here", Chunks: 2}
		}}
	})
	seen := 0
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if c, ok := ev.(debate.Chunk); ok && c.Kind == transcript.Speech {
			require.Equal(t, model, goroutine())
			seen++
		}
	}
	require.Equal(t, 4, seen)
}

// goroutine returns the name of the goroutine that calls it.
func goroutine() string {
	b := make([]byte, 64)
	name, _, _ := strings.Cut(string(b[:runtime.Stack(b, false)]), " [")
	return name
}

// A chunk allocates its event and nothing else.
func TestAChunkAllocatesItselfOnly(t *testing.T) {
	allocations := func(chunks int) float64 {
		e := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{
			"m": &scripted.Provider{DiscardCalls: true, Func: func(providers.Request) scripted.Reply {
				return scripted.Reply{Text: strings.Repeat("x", chunks), Chunks: chunks}
			}},
		}})
		return testing.AllocsPerRun(5, func() {
			cfg := debatetest.PairConfig(unjudgedPanel{})
			cfg.ID, cfg.Judges, cfg.Participants[0].Provider, cfg.Limits = "", nil, "m", debate.Limits{MaxRounds: 1, OutputTokens: 1 << 30}
			d := debatetest.Create(t, e, cfg)
			_, err := countEvents(d.Run(t.Context()))
			require.NoError(t, err)
		})
	}
	few, many := allocations(1000), allocations(3000)
	require.InDelta(t, 1, (many-few)/(2*2000), 0.05, "2 speakers, 2,000 chunks more each")
}

// A stream that was cut off may have reported part of its usage. A complete reply has reported all of it.
func TestWhatACutReplyUsedIsEstimatedWhereItSaysTooLittle(t *testing.T) {
	text := strings.Repeat("many words ", 100)
	said := window.Estimate(text)
	for name, tt := range map[string]struct {
		text     string
		whole    bool
		reported transcript.Usage
		want     transcript.Usage
	}{
		"far too little":       {text, false, transcript.Usage{Input: 9, Output: 1}, transcript.Usage{Input: 9, Output: said, Estimated: true}},
		"a bit less":           {text, false, transcript.Usage{Input: 9, Output: said/4 + 1}, transcript.Usage{Input: 9, Output: said/4 + 1}},
		"more, with reasoning": {text, false, transcript.Usage{Input: 9, Output: 9000}, transcript.Usage{Input: 9, Output: 9000}},
		"of no text":           {"", false, transcript.Usage{Input: 9, Output: 1}, transcript.Usage{Input: 9, Output: 1}},
		"of a whole reply":     {text, true, transcript.Usage{Input: 9, Output: 1}, transcript.Usage{Input: 9, Output: 1}},
		"nothing of no text":   {"", false, transcript.Usage{}, transcript.Usage{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model, first := talkingModel(), true
				d := newDebateWithModel(t, debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
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
				debatetest.Finish(t, d)
				require.Equal(t, tt.want, debatetest.Result(t, d).Turns[0].Attempts[0].Usage)
			})
		})
	}
}

// An invalid reply is complete, and so is its usage.
func TestTheUsageOfAnInvalidReplyIsTakenAsReported(t *testing.T) {
	used := transcript.Usage{Input: 9, Output: 1}
	jury := &scripted.Provider{
		Replies: []scripted.Reply{{Text: strings.Repeat("many words ", 100), Usage: used}}, Func: scriptedJudge(t, 1).Func,
	}
	d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["j"] = jury })
	debatetest.Finish(t, d)
	require.Equal(t, used, debatetest.Result(t, d).Assessments[0].Attempts[0].Usage)
}

func TestAFailureOfNoStepNamesTheRound(t *testing.T) {
	require.Equal(t, "plan round 2: it fell", (&debate.Failure{Key: transcript.Key{Round: 2}, Message: "it fell"}).Error())
}

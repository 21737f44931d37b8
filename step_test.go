package debate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
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
	"github.com/elenchus-go/debate/judge"
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
						c.Protocol = panel.Protocol{Mode: mode}
						c.Limits.MaxRounds = 1
						o.Providers["other"] = other
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
					c.Limits.MaxRounds = 1
					c.OnOverflow = debate.Degrade
					c.Judges[0].Model = "gpt"
					c.Substitutes = []debate.Participant{
						{Provider: "s", Model: "mistral", Temperature: &hot, MaxTokens: 99},
						{Provider: "u", Model: "qwen"},
					}
					o.Providers["j"] = look(tt.j)
					o.Providers["s"] = look(tt.s)
					o.Providers["u"] = look(tt.u)
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
							c.Protocol = panel.Protocol{Mode: mode}
							c.Limits = limits
							c.OnFailure = policy
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
		providers.WindowFull: {
			transcript.Truncated,
			"the reply was truncated because the model's context window was full, or at a limit of the service",
		},
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
		Replies: []scripted.Reply{
			{Text: assessmentReply(t, false, "A", "B") + "\n{", FinishReason: providers.WindowFull},
			{Text: assessmentReply(t, true, "A", "B")},
		},
		Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: verdictReply} },
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
			return providers.Response{},
				&providers.Error{Kind: providers.InvalidRequest, Err: errors.New("max_tokens: 1000 > 500, the most of this model")}
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
			cfg.ID = ""
			cfg.Judges = nil
			cfg.Participants[0].Provider = "m"
			cfg.Limits = debate.Limits{MaxRounds: 1, OutputTokens: 1 << 30}
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
			a.Began = time.Time{}
			a.Waited = 0
			a.FirstChunk = 0
		}
		require.Equal(t, turn.Ended.UTC(), end)
		require.Equal(t, []transcript.Attempt{
			{
				Provider: "m", Model: "gpt-9", ErrorKind: "network", ErrorMessage: "network: down", Next: transcript.NextRetried,
				Usage: spend[0], Duration: 2 * time.Second,
			},
			{
				Provider: "m", Model: "gpt-9", ErrorKind: "server_error", ErrorMessage: "server_error: down", Next: transcript.NextRetried,
				Usage: spend[1], Duration: 3 * time.Second,
			},
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
		"longer, and the service says so": {
			3 * time.Hour, 3 * time.Hour,
			debate.Limits{},
			"rate_limit: the service asks to wait for 3h0m0s, and the debate has less time left: down",
		},
		"longer than the round may take": {
			30 * time.Minute, 0,
			debate.Limits{RoundTime: 10 * time.Minute},
			"rate_limit: the time budget is used up: down",
		},
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
				n++
				if n > 3 {
					return providers.Response{}, errorOfKind(providers.RateLimit, 0)
				}
				return model.Generate(ctx, r)
			})
		})
		res := debatetest.RunResult(t, d)
		require.Equal(t, transcript.TimeBudget, res.Ending.Outcome)
		require.Equal(t, []string{"1/1/respond/A/", "1/1/respond/B/", "1/1/assess/J/", "1/2/respond/A/", "1/2/verdict/J/"},
			debatetest.TurnKeys(res))
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
						more = more || err != nil
						if err == nil {
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

// unevenJudge scores A with 10 and B with 0, and answers requests for a verdict with the given replies in turn.
func unevenJudge(t testing.TB, verdicts ...scripted.Reply) *scripted.Provider {
	t.Helper()
	said := 0
	return &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		if debatetest.AsksFor(r, "verdict") {
			said++
			return verdicts[said-1]
		}
		a := judge.Assessment{Reasoning: "So.", Quality: 5, ShouldContinue: true}
		for i, name := range []string{"A", "B"} {
			a.Participants = append(a.Participants,
				judge.ParticipantAssessment{Name: name, Criteria: judge.Rubric(nil).UniformScores(float64(10 * (1 - i)))})
		}
		return scripted.Reply{Text: debatetest.Encode(t, a)}
	}}
}

// names returns a verdict that names a winner.
func names(winner string) scripted.Reply {
	return scripted.Reply{Text: fmt.Sprintf(`{"summary": "So it ended.", "winner": %q, "quality": 50}`, winner)}
}

const contradiction = "J named B the winner against its own scores: B has 0 of 10, and A has 10."

func TestAWinnerAgainstTheScoresIsAskedForOnceMore(t *testing.T) {
	failed := func(kind providers.ErrorKind) scripted.Reply {
		return scripted.Reply{Err: &providers.Error{Kind: kind}}
	}
	for name, tt := range map[string]struct {
		replies  []scripted.Reply
		change   func(*debate.Config)
		winner   string
		attempts int
		warns    bool
	}{
		"the scores agree":            {replies: []scripted.Reply{names("A")}, winner: "A", attempts: 1},
		"nobody wins":                 {replies: []scripted.Reply{names("")}, attempts: 1},
		"it is corrected":             {replies: []scripted.Reply{names("B"), names("A")}, winner: "A", attempts: 2},
		"nobody wins then":            {replies: []scripted.Reply{names("B"), names("")}, attempts: 2},
		"it stands":                   {replies: []scripted.Reply{names("B"), names("B")}, winner: "B", attempts: 2, warns: true},
		"the second reply is invalid": {replies: []scripted.Reply{names("B"), {Text: "What?"}}, winner: "B", attempts: 2, warns: true},
		"the second reply is empty":   {replies: []scripted.Reply{names("B"), {}}, winner: "B", attempts: 2, warns: true},
		"the second reply is cut off": {
			replies: []scripted.Reply{names("B"), {Text: `{"summary": "S`, FinishReason: providers.Length}},
			winner:  "B", attempts: 2, warns: true,
		},
		"the second call fails": {
			replies: []scripted.Reply{names("B"), failed(providers.Network)}, winner: "B", attempts: 2,
			warns: true,
		},
		"the key is wrong then": {
			replies: []scripted.Reply{names("B"), failed(providers.Authentication)}, winner: "B",
			attempts: 2, warns: true,
		},
		"the prompt is too long then": {
			replies: []scripted.Reply{names("B"), failed(providers.ContextOverflow)}, winner: "B",
			attempts: 2, warns: true,
		},
		"after an invalid reply": {replies: []scripted.Reply{{Text: "Well."}, names("B"), names("A")}, winner: "A", attempts: 3},
		"no further attempt is allowed": {
			replies: []scripted.Reply{names("B")},
			change:  func(c *debate.Config) { c.Limits.StepAttempts = 1 }, winner: "B", attempts: 1, warns: true,
		},
		"invalid replies are never asked for again": {
			replies: []scripted.Reply{names("B")},
			change:  func(c *debate.Config) { c.Retries = map[providers.ErrorKind]int{providers.InvalidResponse: 0} }, winner: "B",
			attempts: 1, warns: true,
		},
		"the scores decide": {
			replies: []scripted.Reply{names("B")}, change: func(c *debate.Config) { c.Protocol = panel.Protocol{ByScores: true} },
			winner: "A", attempts: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []providers.Request
				j := unevenJudge(t, tt.replies...)
				d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
					if tt.change != nil {
						tt.change(c)
					}
					o.Providers["j"] = debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
						if debatetest.AsksFor(r, "verdict") {
							asked = append(asked, r)
						}
						return j.Generate(ctx, r)
					})
				})
				res := debatetest.RunResult(t, d)
				require.Equal(t, "completed", string(res.State))
				v, err := panel.DecodeAnswer(res.Answer)
				require.NoError(t, err)
				require.Equal(t, tt.winner, v.Value.Winner)
				require.Len(t, res.Verdict.Attempts, tt.attempts)
				require.Len(t, asked, tt.attempts)
				require.NotContains(t, res.Verdict.Flags, transcript.Defaulted)
				require.Equal(t, tt.warns, slices.Contains(res.Warnings, contradiction), "%q", res.Warnings)
				require.Equal(t, tt.warns, slices.Equal(res.Answer.Warnings, []string{contradiction}))
				if tt.attempts > 1 {
					last := asked[len(asked)-1].Messages
					require.Equal(t, providers.Assistant, last[len(last)-2].Role)
					text := last[len(last)-1].Text
					require.Regexp(t, `Debater [AB] has 0 of 10, and Debater [AB] has 10`, text, "the judge knows pseudonyms only")
					require.Contains(t, text, "You are not asked again")
				}
				require.Equal(t, res, debatetest.Result(t, d.OpenWithProvider(t, talkingModel())), "another process reads the same")
			})
		})
	}
}

// The scores of rounds that the judge did not score itself do not count, and neither do defaults. Means are compared after
// rounding to a tenth.
func TestOnlyAJudgesOwnScoresContradictIt(t *testing.T) {
	for name, tt := range map[string]struct {
		scores map[string][][2]float64 // of A and B, by judge and round; nil for no valid assessment
		rotate bool
		warns  []string
	}{
		"each by itself": {
			scores: map[string][][2]float64{"J": {{4, 6}}, "K": {{6, 4}}},
			warns:  []string{"K named B the winner against its own scores: B has 4 of 10, and A has 6."},
		},
		"over the rounds":   {scores: map[string][][2]float64{"J": {{9, 4}, {2, 8}}, "K": {{4, 9}, {9, 5}}}},
		"less than a tenth": {scores: map[string][][2]float64{"J": {{5, 5}, {5, 5}, {5.1, 5}}, "K": {{5, 5}}}},
		"a default":         {scores: map[string][][2]float64{"J": {nilScores, {5, 6}}, "K": {nilScores}}},
		"in turn":           {rotate: true, scores: map[string][][2]float64{"J": {{3, 4}, {9, 0}}, "K": {{9, 0}, {3, 4}}}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
				c.Judges = []debate.Participant{{Name: "J", Provider: "j", Model: "J"}, {Name: "K", Provider: "j", Model: "K"}}
				c.Protocol = panel.Protocol{Format: panel.RoundLimited, RotateJudges: tt.rotate}
				c.Limits.MaxRounds = max(len(tt.scores["J"]), 1)
				c.Retries = map[providers.ErrorKind]int{providers.InvalidResponse: 0}
				var mu sync.Mutex // judges reply at the same time
				round := map[string]int{}
				o.Providers["j"] = &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
					if debatetest.AsksFor(r, "verdict") {
						return names("B")
					}
					mu.Lock()
					n := round[r.Model]
					round[r.Model]++
					mu.Unlock()
					if tt.rotate && r.Model == "K" { // J has round 1, and K round 2
						n++
					}
					list := tt.scores[r.Model]
					given := list[min(n, len(list)-1)]
					if given == nilScores {
						return scripted.Reply{Text: "{}"}
					}
					a := judge.Assessment{Reasoning: "So.", Quality: 5, ShouldContinue: true}
					for i, name := range []string{"A", "B"} {
						a.Participants = append(a.Participants, judge.ParticipantAssessment{Name: name, Criteria: judge.Rubric(nil).UniformScores(given[i])})
					}
					return scripted.Reply{Text: debatetest.Encode(t, a)}
				}}
			})
			debatetest.Finish(t, d)
			require.Equal(t, tt.warns, debatetest.Result(t, d).Answer.Warnings)
		})
	}
}

var nilScores = [2]float64{-1, -1}

// With the order swapped, each sitting counts by itself.
func TestEachSittingIsComparedWithItsOwnScores(t *testing.T) {
	d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
		c.Protocol, c.Retries = panel.Protocol{Jury: judge.Jury{Swap: true}}, map[providers.ErrorKind]int{providers.InvalidResponse: 0}
		said := 0
		o.Providers["j"] = &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
			if debatetest.AsksFor(r, "verdict") {
				return names("B")
			}
			said++
			a := judge.Assessment{Reasoning: "So.", Quality: 5}
			for i, name := range []string{"A", "B"} {
				a.Participants = append(a.Participants,
					judge.ParticipantAssessment{Name: name, Criteria: judge.Rubric(nil).UniformScores(float64(5 + (said-1)*(1-i)))})
			}
			return scripted.Reply{Text: debatetest.Encode(t, a)}
		}}
	})
	debatetest.Finish(t, d)
	require.Equal(t, []string{
		"J, with the participants in reversed order, named B the winner against its own scores: B has 5 of 10, and A has 6.",
	}, debatetest.Result(t, d).Answer.Warnings)
}

// A step that takes too long while the model reconsiders keeps the first reply. A pause does not prevent the second call, and
// a crash between the two costs no more than the step's calls.
func TestTheFirstReplyStandsWhenTheTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := unevenJudge(t, names("B"), scripted.Reply{Latency: time.Hour, Text: "late"})
		d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Limits.StepTimeout, o.Providers["j"] = time.Minute, j
		})
		res := debatetest.RunResult(t, d)
		require.Equal(t, []string{contradiction}, res.Answer.Warnings)
		require.Len(t, res.Verdict.Attempts, 2)
		require.Equal(t, string(providers.Timeout), res.Verdict.Attempts[1].ErrorKind)
	})
}

func TestACrashWhileTheModelReconsidersRepeatsTheStep(t *testing.T) {
	m := unevenJudge(t, names("B"), names("A"))
	calls := 0
	var stop context.CancelFunc
	d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) {
		o.Providers["j"] = debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
			if debatetest.AsksFor(r, "verdict") {
				calls++
				if calls == 2 { // the process ends while the second call is in flight
					stop()
					<-ctx.Done()
					return providers.Response{}, ctx.Err()
				}
			}
			return m.Generate(ctx, r)
		})
	})
	ctx, cancel := context.WithCancel(t.Context())
	stop = cancel
	for _, err := range d.Run(ctx) {
		_ = err // the debate is interrupted
	}
	require.Nil(t, debatetest.Result(t, d).Verdict)

	again := unevenJudge(t, names("B"), names("A"))
	second := d.OpenWithProvider(t, again)
	res := debatetest.RunResult(t, second)
	require.Len(t, res.Verdict.Attempts, 2)
	require.Len(t, again.Calls(), 2)
	require.Empty(t, res.Answer.Warnings)
}

// Viewers and logs learn what contradicts what, and that the attempt did not fail.
func TestADoubtfulReplyIsNoFailure(t *testing.T) {
	var log bytes.Buffer
	d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) {
		o.Providers["j"], o.Logger = unevenJudge(t, names("B"), names("B")), slog.New(slog.NewTextHandler(&log, nil))
	})
	events := debatetest.Finish(t, d)
	var failed []debate.TurnFailed
	for _, ev := range events {
		if f, ok := ev.(debate.TurnFailed); ok {
			failed = append(failed, f)
		}
	}
	require.Len(t, failed, 1)
	require.True(t, failed[0].Doubtful)
	require.Zero(t, failed[0].RetryIn)
	require.Regexp(t, `^the reply is doubtful: /winner: it contradicts the scores .* B has 0 of 10, and A has 10; .*; asked once more$`,
		failed[0].Message)
	require.Contains(t, log.String(), "reply is doubtful, asked once more")
	require.NotContains(t, log.String(), "attempt failed")
}

// The prompt of the second attempt is rebuilt like any other.
func TestAPromptToReconsiderIsRebuilt(t *testing.T) {
	j := unevenJudge(t, names("B"), names("A"))
	d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["j"], o.KeepReplies = j, true })
	debatetest.Finish(t, d)
	turn := debatetest.Result(t, d).Verdict
	require.Equal(t, []transcript.Flag{transcript.Reasked}, turn.Flags)
	require.True(t, strings.Contains(turn.Attempts[0].ErrorMessage, "the reply is doubtful"))
	p := debatetest.PromptOf(t, d, turn.Key)
	require.Empty(t, p.Missing)
	calls := j.Calls()
	want := debatetest.Encode(t, calls[len(calls)-1].Messages)
	require.JSONEq(t, want, debatetest.Encode(t, p.Request.Messages))
}

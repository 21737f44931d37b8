package step

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elenchus-go/debate/journal"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// calling is a reply that calls a tool with each of the arguments.
func calling(text string, arguments ...string) scripted.Reply {
	y := scripted.Reply{Text: text}
	for i, a := range arguments {
		y.ToolCalls = append(y.ToolCalls, providers.ToolCall{ID: fmt.Sprintf("call %d", i), Name: "search", Arguments: json.RawMessage(a)})
	}
	return y
}

// withTools lets the step call a tool.
func withTools(r *Run) *Run {
	r.Plan.Tools = &Tools{List: []providers.Tool{{Name: "search", Schema: json.RawMessage(`{"type":"object"}`)}}, Most: 4, Room: 2000}
	return r
}

// runTools executes a step with tools and returns its turn, its host, and the model's requests.
func runTools(t *testing.T, r *Run, model *scripted.Provider) (*transcript.Turn, *recorder, []providers.Request) {
	t.Helper()
	h := &recorder{}
	turn, err := do(t, r, h)
	require.NoError(t, err)
	return turn, h, model.Calls()
}

// rounds returns the number of rounds in a request.
func rounds(r providers.Request) (n int) {
	for _, m := range r.Messages {
		if len(m.Parts) > 0 && m.Parts[0].ToolResult != nil {
			n++
		}
	}
	return n
}

func TestRounds(t *testing.T) {
	model := &scripted.Provider{Replies: []scripted.Reply{
		calling("I look it up.", `{"q":1}`, `{"q":2}`), calling("", `{"q":3}`), {Text: "The speech."},
	}}
	turn, h, sent := runTools(t, withTools(newRun(t, model)), model)
	require.Equal(t, "The speech.", turn.Text, "text beside calls is not the speech")
	require.Equal(t, []string{"begin 1 p/m", "end", "round 1", "begin 2 p/m", "end", "round 2", "begin 3 p/m", "end"}, h.log)
	require.Len(t, turn.Attempts, 3)
	require.Len(t, sent, 3)
	last := sent[2].Messages
	require.Equal(
		t,
		[]providers.Part{
			{Text: "I look it up."},
			{ToolCall: &providers.ToolCall{ID: "call 0", Name: "search", Arguments: json.RawMessage(`{"q":1}`)}},
			{ToolCall: &providers.ToolCall{ID: "call 1", Name: "search", Arguments: json.RawMessage(`{"q":2}`)}},
		},
		last[5].Parts,
	)
	result := last[6].Parts[1].ToolResult
	require.Equal(t, "call 1", result.ID)
	require.Regexp(t, `^<<<\d+ begin: result of search>>>\nfound {"q":2}\n<<<\d+ end>>>$`, result.Text)
	require.Equal(t, sent[1].Messages, last[:7], "a stable prefix")
	require.Empty(t, sent[2].ToolChoice)
}

// Each case says what the model replies, and what the engine asks.
func TestRoundsAmongOtherAttempts(t *testing.T) {
	speech := scripted.Reply{Text: "The speech."}
	cut := calling("", `{"q":1}`)
	cut.FinishReason = providers.Length
	for name, tt := range map[string]struct {
		replies []scripted.Reply
		change  func(r *Run)
		rounds  []int    // in each request
		choice  []string // of each request
		text    string
	}{
		"a retry sends the same rounds": {
			[]scripted.Reply{calling("", `{}`), failing(providers.ServerError), speech},
			nil,
			[]int{0, 1, 1},
			[]string{"", "", ""},
			"",
		},
		"rounds count as no attempts": {
			[]scripted.Reply{calling("", `{}`), calling("", `{}`), failing(providers.ServerError), speech},
			func(r *Run) { r.Plan.Limits.Attempts = 2 },
			[]int{0, 1, 2, 2},
			[]string{"", "", "", ""},
			"",
		},
		"the last round": {
			[]scripted.Reply{calling("", `{}`), calling("", `{}`), speech},
			func(r *Run) { r.Plan.Tools.Most = 2 },
			[]int{0, 1, 2},
			[]string{"", "", "none"},
			"",
		},
		"no round": {
			[]scripted.Reply{speech},
			func(r *Run) { r.Plan.Tools.Most = 0 },
			[]int{0},
			[]string{"none"},
			"",
		},
		"a call although none is allowed": {
			[]scripted.Reply{calling("", `{}`), speech},
			func(r *Run) { r.Plan.Tools.Most = 0 },
			[]int{0, 0},
			[]string{"none", "none"},
			"",
		},
		"a speech with a call that is forbidden": {
			[]scripted.Reply{calling("The speech.", `{}`)},
			func(r *Run) { r.Plan.Tools.Most = 0 },
			[]int{0},
			[]string{"none"},
			"",
		},
		"a call that was cut": {
			[]scripted.Reply{cut, calling("", `{}`), speech},
			nil,
			[]int{0, 0, 1},
			[]string{"", "", ""},
			"",
		},
		"no room for the results": {
			[]scripted.Reply{calling("", `{}`), speech},
			func(r *Run) { r.Plan.Tools.Room = 70 },
			[]int{0},
			[]string{"none"},
			"",
		},
		"no room to send a call back": {
			[]scripted.Reply{calling(strings.Repeat("word ", 2000), `{}`), speech},
			nil,
			[]int{0, 0},
			[]string{"", "none"},
			"",
		},
		"the room is used up": {
			[]scripted.Reply{calling("", `{"q":"`+strings.Repeat("word ", 450)+`"}`), speech},
			func(r *Run) { r.Plan.Tools.Room = 1150 },
			[]int{0, 1},
			[]string{"", "none"},
			"",
		},
		"too many calls for the room": {
			[]scripted.Reply{calling("", slices.Repeat([]string{`{}`}, 40)...), speech},
			nil,
			[]int{0, 0},
			[]string{"", "none"},
			"",
		},
		"reasoning that is not sent back": {
			[]scripted.Reply{{Reasoning: []providers.Reasoning{{Text: "hm"}}, ToolCalls: calling("", `{}`).ToolCalls}, speech},
			nil,
			[]int{0, 1},
			[]string{"", ""},
			"",
		},
		"no tools for the model": {
			[]scripted.Reply{speech},
			func(r *Run) { r.Plan.Model.NoTools = true },
			[]int{0},
			[]string{""},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := &scripted.Provider{Replies: tt.replies}
				r := withTools(newRun(t, model))
				if tt.change != nil {
					tt.change(r)
				}
				if name == "no room for the results" {
					tt.replies = tt.replies[1:]
					model.Replies = tt.replies
				}
				turn, h, sent := runTools(t, r, model)
				require.Equal(t, "The speech.", turn.Text)
				var got []int
				var choice []string
				for i, s := range sent {
					got, choice = append(got, rounds(s)), append(choice, s.ToolChoice)
					require.Equal(t, s.ToolChoice != "", turn.Attempts[i].ToolsForbidden)
					require.Equal(t, name == "no tools for the model", s.Tools == nil, "the tools stay in the request")
				}
				require.Equal(t, tt.rounds, got)
				require.Equal(t, tt.choice, choice)
				require.Len(t, h.rounds, got[len(got)-1])
				if name == "reasoning that is not sent back" {
					require.Len(t, sent[1].Messages[5].Parts, 1)
				}
				if name == "a call that was cut" {
					require.Equal(t, 2*sent[0].MaxTokens+0, min(sent[1].MaxTokens, 2*sent[0].MaxTokens))
				}
			})
		})
	}
}

// After an overflow, the results are halved before history goes, also for a first speaker, who sees no history.
func TestOverflowWithRounds(t *testing.T) {
	long := `{"q":"` + strings.Repeat("word ", 300) + `"}`
	for name, first := range map[string]bool{"with history": false, "first speaker": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				overflow := failing(providers.ContextOverflow)
				model := &scripted.Provider{Replies: []scripted.Reply{calling("", long), overflow, overflow, {Text: "The speech."}}}
				r := withTools(newRun(t, model))
				if first {
					list := r.Plan.Prompt.Messages
					r.Plan.Prompt.Messages = []providers.Message{list[0], list[len(list)-1]}
					r.Plan.Prompt.Tokens = 100
					r.Plan.Prompt.History = 0
				}
				turn, _, sent := runTools(t, r, model)
				require.Equal(t, "The speech.", turn.Text)
				size := func(r providers.Request) int {
					last := r.Messages[len(r.Messages)-1]
					return len(last.Parts[0].ToolResult.Text)
				}
				require.Len(t, sent, 4)
				require.Greater(t, size(sent[1]), size(sent[2]))
				require.Greater(t, size(sent[2]), size(sent[3]))
				require.Equal(t, len(sent[1].Messages), len(sent[3].Messages), "the history stays")
				require.Contains(t, sent[3].Messages[len(sent[3].Messages)-1].Parts[0].ToolResult.Text, "more bytes omitted to fit")
			})
		})
	}
}

// Once the results are short, history goes.
func TestOverflowThatResultsDoNotExplain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &scripted.Provider{Replies: []scripted.Reply{calling("", `{}`), failing(providers.ContextOverflow), {Text: "The speech."}}}
		_, _, sent := runTools(t, withTools(newRun(t, model)), model)
		require.Less(t, len(sent[2].Messages), len(sent[1].Messages))
		require.Equal(t, 1, rounds(sent[2]))
	})
}

func TestAskingAgainForbidsTools(t *testing.T) {
	model := &scripted.Provider{Replies: []scripted.Reply{calling("", `{}`), {Text: "no JSON"}, {Text: `{"winner":"A"}`}}}
	r := withTools(newRun(t, model))
	judging(r)
	turn, _, sent := runTools(t, r, model)
	require.JSONEq(t, `{"winner":"A"}`, string(turn.Data))
	require.Equal(t, []string{"", "", "none"}, []string{sent[0].ToolChoice, sent[1].ToolChoice, sent[2].ToolChoice})
	require.NotNil(t, sent[2].Tools)
	require.Equal(t, 1, rounds(sent[2]))
	require.Equal(t, "no JSON", sent[2].Messages[len(sent[2].Messages)-2].Text, "in the same conversation")
}

// A service that cannot have tools and a schema in one call first calls tools, and then gets the schema.
func TestGatherFirst(t *testing.T) {
	schema := json.RawMessage(`{"type":"object"}`)
	for name, tt := range map[string]struct {
		replies []scripted.Reply
		calls   int
	}{
		"free text first":   {[]scripted.Reply{calling("", `{}`), {Text: "I think that A has won."}, {Text: `{"winner":"A"}`}}, 3},
		"no call":           {[]scripted.Reply{{Text: "A."}, {Text: `{"winner":"A"}`}}, 2},
		"an empty reply":    {[]scripted.Reply{{}, {Text: `{"winner":"A"}`}}, 2},
		"a reply that fits": {[]scripted.Reply{calling("", `{}`), {Text: `{"winner":"A"}`}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			model := &scripted.Provider{Replies: tt.replies}
			r := withTools(newRun(t, model))
			judging(r)
			r.Plan.Model.Gathers, r.Plan.Model.Request.Schema = true, schema
			turn, h, sent := runTools(t, r, model)
			require.JSONEq(t, `{"winner":"A"}`, string(turn.Data))
			require.Empty(t, turn.Flags, "nothing has failed")
			require.NotContains(t, strings.Join(h.log, " "), "failed")
			require.Len(t, sent, tt.calls)
			for i, s := range sent {
				forced := i == len(sent)-1 && name != "a reply that fits"
				require.Equal(t, forced, s.Schema != nil)
				require.Equal(t, forced, s.ToolChoice == "none")
			}
		})
	}
}

func TestASubstituteStartsAfresh(t *testing.T) {
	for name, noTools := range map[string]bool{"with tools": false, "without tools": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := &scripted.Provider{Replies: []scripted.Reply{calling("", `{"q":1}`), failing(providers.Authentication)}}
				replies := []scripted.Reply{calling("", `{"q":2}`), {Text: `{"winner":"A"}`}}
				if noTools {
					replies = replies[1:]
				}
				other := &scripted.Provider{Replies: replies}
				r := withTools(newRun(t, model))
				judging(r)
				r.Plan.Substitutes = []Model{{
					Provider: "q",
					Client:   other,
					Request:  providers.Request{Model: "n", MaxTokens: 500},
					Window:   10000,
					Room:     9500,
					NoTools:  noTools,
				}}
				turn, _, _ := runTools(t, r, model)
				require.Contains(t, turn.Flags, transcript.Substituted)
				sent := other.Calls()
				require.Equal(t, 0, rounds(sent[0]))
				require.Equal(t, noTools, sent[0].Tools == nil)
				if !noTools {
					require.Equal(t, 1, rounds(sent[1]))
				}
			})
		})
	}
}

// The text of a call that may have become calls of tools is no speech, even if the policy keeps partial texts.
func TestPartialTextBesideCalls(t *testing.T) {
	for name, most := range map[string]int{"tools allowed": 4, "tools forbidden": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				broken := failing(providers.ServerError)
				broken.Text = "Let me search for that first."
				r := withTools(newRun(t, &scripted.Provider{Replies: []scripted.Reply{broken}}))
				r.Plan.Tools.Most = most
				r.Plan.KeepPartial = true
				r.Plan.Retries = map[providers.ErrorKind]int{providers.ServerError: 0}
				turn, err := do(t, r, &recorder{})
				if most == 0 {
					require.NoError(t, err)
					require.Contains(t, turn.Flags, transcript.Partial)
					return
				}
				require.Error(t, err)
			})
		})
	}
}

// Tools are forbidden when two thirds of the time are used.
func TestTheTimeOfTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &scripted.Provider{Replies: []scripted.Reply{calling("", `{}`), calling("", `{}`), {Text: "The speech."}}}
		r := withTools(newRun(t, model))
		var allowed []time.Duration
		h := &recorder{tools: func(c Calls) error {
			allowed = append(allowed, c.Time)
			time.Sleep(3*time.Minute + 21*time.Second)
			c.Round.Results = []Result{{Text: "x"}}
			return nil
		}}
		_, err := do(t, r, h)
		require.NoError(t, err)
		sent := model.Calls()
		require.Equal(t, []string{"", "", "none"}, []string{sent[0].ToolChoice, sent[1].ToolChoice, sent[2].ToolChoice})
		require.Equal(t, 5*time.Minute, allowed[0], "half of what is left")
		require.Equal(t, (10*time.Minute-3*time.Minute-21*time.Second)/2, allowed[1])
	})
}

// A step that was interrupted after any round goes on after it: it asks the same as one that was not interrupted.
func TestResumeAfterEachRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := []scripted.Reply{
			calling("a", `{"q":1}`), failing(providers.ContextOverflow), calling(
				"b",
				`{"q":2}`,
				`{"q":3}`,
			), failing(providers.ServerError), calling("c", `{"q":4}`), {Text: "The speech."},
		}
		ends := []int{1, 3, 5} // calls of the model that were made when each round was stored
		model := &scripted.Provider{Replies: script}
		whole, h, sent := runTools(t, withTools(newRun(t, model)), model)
		for made := 1; made <= 3; made++ {
			for _, pending := range []bool{false, true} {
				t.Logf("after round %d, without results: %t", made, pending)
				func() {
					rest := &scripted.Provider{Replies: script[ends[made-1]:]}
					r := withTools(newRun(t, rest))
					for _, c := range h.rounds[:made] {
						r.Plan.Tools.Rounds = append(r.Plan.Tools.Rounds, *c.Round)
					}
					if pending { // its calls wait for a person, or the process ended while they ran
						r.Plan.Tools.Rounds[made-1].Results = nil
					}
					turn, again, calls := runTools(t, r, rest)
					require.Equal(t, whole.Text, turn.Text)
					require.Len(t, turn.Attempts, len(whole.Attempts))
					require.Equal(t, whole.Usage, turn.Usage, "no usage is lost")
					want := 3 - made
					if pending {
						want++
						require.Equal(t, made, again.rounds[0].Number)
					}
					require.Len(t, again.rounds, want)
					for i, s := range calls {
						other := sent[ends[made-1]+i]
						s.OnChunk, other.OnChunk = nil, nil
						require.Equal(t, other, s)
					}
				}()
			}
		}
	})
}

// After a failure, the attempts of the rounds are counted: the next turn has only new ones.
func TestResumeAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{}
		failed, err := do(
			t,
			withTools(newRun(t, &scripted.Provider{Replies: []scripted.Reply{calling("", `{"q":1}`), failing(providers.Authentication)}})),
			h,
		)
		require.Nil(t, failed)
		f, ok := errors.AsType[*journal.Failure](err)
		require.True(t, ok)
		require.Len(t, f.AttemptDetails, 2)
		rest := &scripted.Provider{Replies: []scripted.Reply{calling("", `{"q":2}`), {Text: "The speech."}}}
		r := withTools(newRun(t, rest))
		r.Plan.Tools.Rounds, r.Plan.Tools.Counted = []Round{*h.rounds[0].Round}, 1
		turn, again, sent := runTools(t, r, rest)
		require.Len(t, turn.Attempts, 2)
		require.Equal(t, 1, rounds(sent[0]))
		require.Equal(t, 2, again.rounds[0].Number)
		require.Len(t, again.rounds[0].Attempts, 1)
	})
}

// The host ends the step between two attempts, such as to wait for a person.
func TestTheHostEndsTheStep(t *testing.T) {
	r := withTools(newRun(t, &scripted.Provider{Replies: []scripted.Reply{calling("", `{}`)}}))
	_, err := do(t, r, &recorder{tools: func(Calls) error { return ErrSuperseded }})
	require.ErrorIs(t, err, ErrSuperseded)
}

func TestTheStepEndsWhileToolsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := withTools(newRun(t, &scripted.Provider{Replies: []scripted.Reply{calling("", `{}`)}}))
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stopped")
		_, err := r.Do(ctx, cancel, &recorder{tools: func(Calls) error { cancel(stop); return ctx.Err() }})
		require.ErrorIs(t, err, stop)
	})
}

// A system prompt of several parts stays as it is when opaque reasoning goes.
func TestDropReasoningKeepsTheSystemPrompt(t *testing.T) {
	r := newRun(t, &scripted.Provider{})
	q := &r.Plan.Prompt
	system := []providers.Part{{Text: "You are A."}, {Text: "A document."}}
	q.Messages[0] = providers.Message{Role: providers.System, Parts: system}
	q.Messages[2] = providers.Message{
		Role:  providers.Assistant,
		Parts: []providers.Part{{Reasoning: &providers.Reasoning{Data: json.RawMessage(`"x"`)}}, {Text: "mine"}},
	}
	q.Opaque = 10
	r.query.set(&r.Plan)
	require.True(t, r.query.dropReasoning())
	require.Equal(t, system, r.query.Messages[0].Parts)
	require.Equal(t, "mine", r.query.Messages[2].Text)
	require.Nil(t, r.query.Messages[2].Parts)
}

package enginetest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// configOf returns a debate of the named participants with the given number of judges. One model plays all actors.
func configOf(p protocol.Protocol, judges int, limits debate.Limits, names ...string) debate.Config {
	c := debate.Config{ID: "d", Topic: "Ban cars?", Protocol: p, Limits: limits}
	for _, name := range names {
		c.Participants = append(c.Participants, debate.Participant{Name: name, Position: "What " + name + " holds", Provider: "m"})
	}
	for i := range judges {
		c.Judges = append(c.Judges, debate.Participant{Name: fmt.Sprint("J", i), Provider: "m"})
	}
	return c
}

// scriptedModel returns a model that gives a valid reply to each step. alter may change the nth reply.
func scriptedModel(names []string, alter func(n int, r providers.Request, reply *scripted.Reply)) providers.Provider {
	var mu sync.Mutex
	calls := 0
	return &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		mu.Lock()
		calls++
		n := calls
		mu.Unlock()
		reply := scripted.Reply{Text: enginetest.Reply(r, names, fmt.Sprintf("Words %d.", n), 0)}
		alter(n, r, &reply)
		return reply
	}}
}

func runWith(t *testing.T, c debate.Config, model providers.Provider) *debate.Debate {
	t.Helper()
	return debatetest.New(t, c, debate.Options{Providers: map[string]providers.Provider{"m": model}})
}

// The default budget suffices for all rounds of each preset, even if each reply is as long as allowed.
func TestNoPresetSpendsItsDefaultBudgetByArithmetic(t *testing.T) {
	eight := strings.Split("A B C D E F G H", " ")
	sums := refine.Protocol{SummaryPolicy: refine.SummaryPolicy{Threshold: 10}, FinalSummaryPolicy: refine.SummaryPolicy{Threshold: 10}}
	scores := map[string]float64{"problem": 7, "solution": 5, "market": 6}
	for name, c := range map[string]debate.Config{
		"panel":                         configOf(panel.Protocol{Format: panel.RoundLimited, Personas: panel.Binary, Jury: judge.Jury{Swap: true}}, 3, debate.Limits{}, eight[:4]...),
		"skeptic":                       configOf(skeptic.Protocol{}, 1, debate.Limits{}, "A", "B"),
		"refine":                        configOf(refine.Protocol{}, 1, debate.Limits{}, "A", "B"),
		"refine, everything summarized": configOf(sums, 1, debate.Limits{}, eight...),
		"refine, short steps":           configOf(sums, 1, debate.Limits{StepTokens: 100}, "A", "B"),
		"refine of 8, short steps":      configOf(sums, 1, debate.Limits{StepTokens: 100}, eight...),
		"refine, longer, short steps":   configOf(refine.Protocol{}, 1, debate.Limits{StepTokens: 300, MaxRounds: 8}, eight[:3]...),
		"arbitration":                   configOf(arbitration.Protocol{Scores: scores}, 1, debate.Limits{}, "A", "B"),
		"procon":                        configOf(procon.Protocol{}, 1, debate.Limits{}, "A", "B"),
		"procon, longer":                configOf(procon.Protocol{}, 1, debate.Limits{MaxRounds: 10}, "A", "B"),
		"council":                       configOf(council.Protocol{}, 1, debate.Limits{}, eight...),
		"mad":                           configOf(mad.Protocol{}, 1, debate.Limits{}, "A", "B"),
		"oversight":                     configOf(oversight.Protocol{Mode: oversight.Interactive, A: "Yes", B: "No"}, 1, debate.Limits{}, "A", "B"),
		"vote":                          configOf(vote.Protocol{Decision: vote.Judge}, 1, debate.Limits{}, eight...),
	} {
		t.Run(name, func(t *testing.T) {
			d := runWith(t, c, scriptedModel(eight[:len(c.Participants)], func(_ int, r providers.Request, reply *scripted.Reply) {
				if r.SchemaName == "" {
					reply.Text = strings.Repeat("long words ", 60)
				}
				reply.Usage = transcript.Usage{Input: 10, Output: r.MaxTokens}
			}))
			debatetest.Finish(t, d)
			require.Equal(t, transcript.RoundLimit, debatetest.Result(t, d).Ending.Outcome, debatetest.Result(t, d).Ending.Evidence)
		})
	}
}

// A skeptic that finds the answer ready does not stop a debate that ends for another reason, and the trace agrees.
func TestATraceStoppedEarlyWhereTheDebateDid(t *testing.T) {
	const ready = "All good.\n```json\n{\"issues\": [], \"ready\": true, \"score\": 9}\n```"
	names := []string{"A", "B"}
	c := configOf(skeptic.Protocol{Templates: -1}, 1, debate.Limits{MinRounds: 1}, names...)
	ended := func(t *testing.T, d *debate.Debate, want transcript.Outcome) {
		r := debatetest.Result(t, d)
		require.Equal(t, fsm.Completed, r.State)
		require.Equal(t, want, r.Ending.Outcome)
		var trace skeptic.Trace
		require.NoError(t, json.Unmarshal(r.Answer.Data, &trace))
		require.Equal(t, want == transcript.EarlyStop, trace.StoppedEarly)
	}
	t.Run("by the critique", func(t *testing.T) {
		d := runWith(t, c, scriptedModel(names, func(n int, _ providers.Request, reply *scripted.Reply) {
			if n == 2 {
				reply.Text = ready
			}
		}))
		debatetest.Finish(t, d)
		ended(t, d, transcript.EarlyStop)
	})
	t.Run("by a person", func(t *testing.T) {
		var d *debate.Debate
		d = runWith(t, c, scriptedModel(names, func(n int, _ providers.Request, reply *scripted.Reply) {
			if n == 2 { // the critique is committed while paused
				reply.Text = ready
				require.NoError(t, d.Pause(t.Context()))
			}
		}))
		debatetest.Finish(t, d)
		require.Equal(t, fsm.Paused, debatetest.Result(t, d).State)
		require.NoError(t, d.Stop(t.Context()))
		debatetest.Finish(t, d)
		ended(t, d, transcript.Stopped)
	})
	t.Run("by the critique, before its limit was edited", func(t *testing.T) {
		down := true
		d := runWith(t, c, scriptedModel(names, func(n int, _ providers.Request, reply *scripted.Reply) {
			if n == 2 {
				reply.Text = ready
			} else if n > 2 && down { // there is no synthesis
				reply.Err = &providers.Error{Kind: providers.Authentication, Err: fmt.Errorf("bad key")}
			}
		}))
		_, err := debatetest.Run(t, d)
		require.Error(t, err)
		down = false
		require.NoError(t, d.Retry(t.Context()))
		shorter := c
		shorter.Limits.MaxRounds = 1
		require.NoError(t, d.Edit(t.Context(), shorter))
		debatetest.Finish(t, d)
		ended(t, d, transcript.EarlyStop)
	})
}

// One failed attempt that used tokens does not end a debate with more rounds than usual.
func TestAFailedAttemptDoesNotEndALongerProCon(t *testing.T) {
	c := configOf(procon.Protocol{}, 1, debate.Limits{MaxRounds: 10}, "A", "B")
	d := runWith(t, c, scriptedModel([]string{"A", "B"}, func(n int, r providers.Request, reply *scripted.Reply) {
		reply.Usage = (transcript.Usage{Input: 10, Output: r.MaxTokens})
		if n == 3 {
			reply.Text = ""
		}
	}))
	r := debatetest.RunResult(t, d)
	require.Equal(t, transcript.RoundLimit, r.Ending.Outcome, r.Ending.Evidence)
}

// Result.Verdict is the verdict of the debate, not an intermediate summary by the judge.
func TestADigestIsNoVerdict(t *testing.T) {
	c := configOf(refine.Protocol{FinalSummaryPolicy: refine.SummaryPolicy{Threshold: 10}}, 1, debate.Limits{MaxRounds: 1}, "A", "B")
	d := runWith(t, c, scriptedModel([]string{"A", "B"}, func(_ int, r providers.Request, reply *scripted.Reply) {
		if r.SchemaName == refine.SolutionContract.Name() {
			reply.Text = "I would rather not."
		}
	}))
	r := debatetest.RunResult(t, d)
	require.NotNil(t, r.Verdict)
	require.Equal(t, refine.SolutionContract.Name(), r.Verdict.Contract)
	require.Equal(t, r.Answer.Text, r.Verdict.Text)
}

// A rating can be set at any time, and is null before that.
func TestARatingThatIsNotSetIsNull(t *testing.T) {
	c := configOf(skeptic.Protocol{Templates: -1}, 1, debate.Limits{}, "A", "B")
	d := runWith(t, c, scriptedModel([]string{"A", "B"}, func(int, providers.Request, *scripted.Reply) {}))
	debatetest.Finish(t, d)
	var trace map[string]any
	require.NoError(t, json.Unmarshal(debatetest.Result(t, d).Answer.Data, &trace))
	require.Contains(t, trace, "rating")
	require.Nil(t, trace["rating"])
	require.Equal(t, []any{"d", "Ban cars?"}, []any{trace["id"], trace["query"]})
	require.NotEmpty(t, trace["time"])

	require.NoError(t, d.Annotate(t.Context(), "rating", 4))
	require.NoError(t, json.Unmarshal(debatetest.Result(t, d).Answer.Data, &trace))
	require.InDelta(t, 4, trace["rating"], 0)
}

package debate_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

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
			a.Participants = append(a.Participants, judge.ParticipantAssessment{Name: name, Criteria: judge.Rubric(nil).UniformScores(float64(10 * (1 - i)))})
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
		"the scores agree":              {replies: []scripted.Reply{names("A")}, winner: "A", attempts: 1},
		"nobody wins":                   {replies: []scripted.Reply{names("")}, attempts: 1},
		"it is corrected":               {replies: []scripted.Reply{names("B"), names("A")}, winner: "A", attempts: 2},
		"nobody wins then":              {replies: []scripted.Reply{names("B"), names("")}, attempts: 2},
		"it stands":                     {replies: []scripted.Reply{names("B"), names("B")}, winner: "B", attempts: 2, warns: true},
		"the second reply is invalid":   {replies: []scripted.Reply{names("B"), {Text: "What?"}}, winner: "B", attempts: 2, warns: true},
		"the second reply is empty":     {replies: []scripted.Reply{names("B"), {}}, winner: "B", attempts: 2, warns: true},
		"the second reply is cut off":   {replies: []scripted.Reply{names("B"), {Text: `{"summary": "S`, FinishReason: providers.Length}}, winner: "B", attempts: 2, warns: true},
		"the second call fails":         {replies: []scripted.Reply{names("B"), failed(providers.Network)}, winner: "B", attempts: 2, warns: true},
		"the key is wrong then":         {replies: []scripted.Reply{names("B"), failed(providers.Authentication)}, winner: "B", attempts: 2, warns: true},
		"the prompt is too long then":   {replies: []scripted.Reply{names("B"), failed(providers.ContextOverflow)}, winner: "B", attempts: 2, warns: true},
		"after an invalid reply":        {replies: []scripted.Reply{{Text: "Well."}, names("B"), names("A")}, winner: "A", attempts: 3},
		"no further attempt is allowed": {replies: []scripted.Reply{names("B")}, change: func(c *debate.Config) { c.Limits.StepAttempts = 1 }, winner: "B", attempts: 1, warns: true},
		"invalid replies are never asked for again": {
			replies: []scripted.Reply{names("B")}, change: func(c *debate.Config) { c.Retries = map[providers.ErrorKind]int{providers.InvalidResponse: 0} }, winner: "B", attempts: 1, warns: true,
		},
		"the scores decide": {
			replies: []scripted.Reply{names("B")}, change: func(c *debate.Config) { c.Protocol = panel.Protocol{ByScores: true} }, winner: "A", attempts: 1,
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
		"each by itself":    {scores: map[string][][2]float64{"J": {{4, 6}}, "K": {{6, 4}}}, warns: []string{"K named B the winner against its own scores: B has 4 of 10, and A has 6."}},
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
				a.Participants = append(a.Participants, judge.ParticipantAssessment{Name: name, Criteria: judge.Rubric(nil).UniformScores(float64(5 + (said-1)*(1-i)))})
			}
			return scripted.Reply{Text: debatetest.Encode(t, a)}
		}}
	})
	debatetest.Finish(t, d)
	require.Equal(t, []string{"J, with the participants in reversed order, named B the winner against its own scores: B has 5 of 10, and A has 6."}, debatetest.Result(t, d).Answer.Warnings)
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
				if calls++; calls == 2 { // the process ends while the second call is in flight
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
	require.Regexp(t, `^the reply is doubtful: /winner: it contradicts the scores .* B has 0 of 10, and A has 10; .*; asked once more$`, failed[0].Message)
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

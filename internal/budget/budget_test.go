package budget_test

import (
	"testing"
	"time"

	"github.com/elenchus-go/debate/journal"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/budget"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

func TestBudgetsCoverTheStart(t *testing.T) {
	worst := transcript.Usage{Input: 60, Output: 40, Cost: 2}
	require.Empty(t, budget.CoverStart(&journal.Limits{}, worst), "there is no limit")
	require.Empty(t, budget.CoverStart(&journal.Limits{OutputTokens: 40, Tokens: 100, Cost: 2}, worst))
	var texts []string
	for _, p := range budget.CoverStart(&journal.Limits{OutputTokens: 39, Tokens: 99, Cost: 1.5}, worst) {
		texts = append(texts, p.String())
	}
	require.Equal(t, []string{
		"limits.output_tokens: too small for the first phase: with the setup and the conclusion, up to 40 tokens are needed, but it is 39",
		"limits.tokens: too small for the first phase: with the setup and the conclusion, up to 100 tokens are needed, but it is 99",
		"limits.cost: too small for the first phase: with the setup and the conclusion, up to 2.0000 is needed, but it is 1.5",
	}, texts)
}

func TestABudgetEndsADebate(t *testing.T) {
	a := budget.Account{
		Limits: journal.Limits{OutputTokens: 100, Tokens: 300, Cost: 3},
		Spent:  transcript.Usage{Input: 100, Output: 50, Cost: 1},
	}
	for _, tt := range []struct {
		most    transcript.Usage
		outcome transcript.Outcome
		text    string
	}{
		{most: transcript.Usage{Input: 100, Output: 50, Cost: 2}},
		{transcript.Usage{Output: 51}, transcript.TokenBudget, "50 of 100 output tokens are used, and up to 51 more are needed for the next phase and the conclusion"},
		{transcript.Usage{Input: 101, Output: 50}, transcript.TokenBudget, "150 of 300 tokens are used, and up to 151 more are needed for the next phase and the conclusion"},
		{transcript.Usage{Cost: 2.5}, transcript.CostBudget, "1.0000 of 3.0000 are spent, and up to 2.5000 more are needed for the next phase and the conclusion"},
	} {
		e := a.Ending(tt.most)
		require.Equal(t, tt.outcome, e.Outcome)
		require.Equal(t, tt.text, e.Evidence)
	}
	a.Limits.Tokens, a.Limits.Cost = 0, 0
	require.Zero(t, a.Ending(transcript.Usage{Input: 1e9, Cost: 1e9}), "0 is no limit")
}

func TestTimeIsReservedForTheConclusion(t *testing.T) {
	limits := journal.Limits{RunningTime: 100 * time.Second, StepTimeout: 30 * time.Second}
	rounds := limits
	rounds.RoundTime = 40 * time.Second
	for _, tt := range []struct {
		name    string
		account budget.Account
		left    time.Duration
		text    string // of the ending
	}{
		{"a fifth is reserved", budget.Account{Limits: limits}, 80 * time.Second, ""},
		{"all of it is used", budget.Account{Limits: limits, Running: 80 * time.Second}, 0, "1m20s of 1m40s are used, the rest is reserved for the conclusion"},
		{"the conclusion has the reserve", budget.Account{Limits: limits, At: transcript.Cursor{Stage: transcript.Conclusion}, Running: 95 * time.Second}, 20 * time.Second, ""},
		{"the conclusion has what is left", budget.Account{Limits: limits, At: transcript.Cursor{Stage: transcript.Conclusion}, Running: 10 * time.Second}, 90 * time.Second, ""},
		{"a round has its own time", budget.Account{Limits: rounds, At: transcript.Cursor{Stage: transcript.Speech, Round: 2}, Running: 30 * time.Second, RoundBegan: 20 * time.Second}, 30 * time.Second, ""},
		{"the time of the round is used", budget.Account{Limits: rounds, At: transcript.Cursor{Stage: transcript.Assessment, Round: 2}, Running: 60 * time.Second, RoundBegan: 20 * time.Second}, 0, "round 2 has taken 40s of 40s"},
		{"the setup belongs to no round", budget.Account{Limits: rounds, At: transcript.Cursor{Stage: transcript.Setup}, Running: 60 * time.Second}, 20 * time.Second, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.left, tt.account.Remaining())
			require.Equal(t, tt.text, tt.account.TimeEnding().Evidence)
			limit, budgets := tt.account.StepTime()
			require.Equal(t, min(tt.left, limits.StepTimeout), limit)
			require.Equal(t, tt.left < limits.StepTimeout, budgets)
		})
	}
}

func TestRoundsOfToolsHaveAShareOfTheBudgets(t *testing.T) {
	need, each := transcript.Usage{Input: 200, Output: 100, Cost: 1}, transcript.Usage{Input: 90, Output: 10, Cost: 0.5}
	for _, tt := range []struct {
		name         string
		limits       journal.Limits
		shares, want int
	}{
		{"no budget", journal.Limits{}, 1, 4},
		{"output tokens", journal.Limits{OutputTokens: 130}, 1, 3},
		{"output tokens for two steps", journal.Limits{OutputTokens: 130}, 2, 1},
		{"tokens", journal.Limits{Tokens: 500}, 1, 2},
		{"cost", journal.Limits{Cost: 1.5}, 1, 1},
		{"nothing is left", journal.Limits{Cost: 0.5}, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := budget.Account{Limits: tt.limits}
			require.Equal(t, tt.want, a.Rounds(transcript.Usage{}, need, each, tt.shares, 4))
			made := transcript.Usage{Input: 30, Output: 4, Cost: 0.1}
			a.Spent = made
			require.Equal(t, tt.want, a.Rounds(made, need, each, tt.shares, 4), "what the shares have paid for does not lower them")
			a.Spent = each
			if tt.shares == 1 && tt.want > 0 && tt.want < 4 {
				require.Equal(t, tt.want-1, a.Rounds(transcript.Usage{}, need, each, tt.shares, 4), "what others have spent lowers them")
			}
		})
	}
}

// A cost that is added and taken away again changes its last digits.
func TestRoundsDoNotDependOnTheRoundingOfCosts(t *testing.T) {
	each := transcript.Usage{Cost: 0.1}
	for spent := 0.0; spent < 0.3; spent += 0.01 {
		a := budget.Account{Limits: journal.Limits{Cost: 0.3 + spent}, Spent: transcript.Usage{Cost: spent}}
		require.Equal(t, 3, a.Rounds(transcript.Usage{}, transcript.Usage{}, each, 1, 4))
		for own := 0.01; own < 0.3; own += 0.01 {
			a.Spent.Cost = spent + own
			require.Equal(t, 3, a.Rounds(transcript.Usage{Cost: own}, transcript.Usage{}, each, 1, 4))
		}
	}
}

// plain is a protocol without defaults.
type plain struct{ protocol.Protocol }

func TestDefaultsOfAProtocolWithoutAny(t *testing.T) {
	d := budget.DefaultsOf(plain{})
	require.Equal(t, 5, d.MaxRounds)
	require.Equal(t, []float64{0.7}, d.Temperatures)
	require.InDelta(t, 0.2, *d.JudgeTemperature, 0)
	require.Equal(t, time.Hour, d.Time)
}

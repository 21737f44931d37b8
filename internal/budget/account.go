// Package budget holds the limits of a debate, tells what is left of its budgets, and foresees the steps that a debate can have and the
// most that they can use.
package budget

import (
	"cmp"
	"fmt"
	"time"

	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/transcript"
)

// Account is what a debate has used of its limits.
type Account struct {
	Limits     journal.Limits
	At         transcript.Cursor
	Spent      transcript.Usage
	Running    time.Duration // running time of the run
	RoundBegan time.Duration // running time at the start of the current round
}

// Ending returns an Ending if a budget is too small for the given usage in addition to what is spent, otherwise the zero
// Ending.
func (a *Account) Ending(most transcript.Usage) transcript.Ending {
	l := &a.Limits
	spent := a.Spent
	if need := most.Output; spent.Output+need > l.OutputTokens {
		return transcript.Ending{Outcome: transcript.TokenBudget, Evidence: fmt.Sprintf(
			"%d of %d output tokens are used, "+
				"and up to %d more are needed for the next phase and the conclusion", spent.Output, l.OutputTokens, need)}
	}
	if used, need := spent.Input+spent.Output, most.Input+most.Output; l.Tokens > 0 &&
		used+need > l.Tokens {
		return transcript.Ending{Outcome: transcript.TokenBudget, Evidence: fmt.Sprintf(
			"%d of %d tokens are used, and up to %d more are needed for the next phase and the conclusion", used, l.Tokens, need)}
	}
	if used := spent.Cost; l.Cost > 0 && used+most.Cost > l.Cost {
		return transcript.Ending{Outcome: transcript.CostBudget, Evidence: fmt.Sprintf(
			"%.4f of %.4f are spent, and up to %.4f more are needed for the next phase and the conclusion", used, l.Cost, most.Cost)}
	}
	return transcript.Ending{}
}

// TimeEnding returns an Ending if the running time or the round time is used up, otherwise the zero Ending.
func (a *Account) TimeEnding() transcript.Ending {
	if a.Remaining() > 0 {
		return transcript.Ending{}
	}
	l := &a.Limits
	evidence := fmt.Sprintf(
		"%v of %v are used, the rest is reserved for the conclusion",
		a.Running.Round(time.Second),
		l.RunningTime,
	)
	if took := a.Running - a.RoundBegan; l.RoundTime > 0 && took >= l.RoundTime && a.inRound() {
		evidence = fmt.Sprintf("round %d has taken %v of %v", a.At.Round, took.Round(time.Second), l.RoundTime)
	}
	return transcript.Ending{Outcome: transcript.TimeBudget, Evidence: evidence}
}

// inRound reports whether the current stage counts towards Limits.RoundTime.
func (a *Account) inRound() bool {
	return a.At.Stage == transcript.Speech || a.At.Stage == transcript.Assessment
}

// Remaining returns how long the current stage may still run. A fifth of the time budget, but at most the step timeout, is
// reserved for the conclusion.
func (a *Account) Remaining() time.Duration {
	l := &a.Limits
	reserve := min(l.RunningTime/5, l.StepTimeout)
	if a.At.Stage == transcript.Conclusion {
		return max(l.RunningTime-a.Running, reserve)
	}
	left := l.RunningTime - reserve - a.Running
	if l.RoundTime > 0 && a.inRound() {
		left = min(left, l.RoundTime-(a.Running-a.RoundBegan))
	}
	return left
}

// StepTime returns the time for all attempts of a step, and whether the time budget rather than the step timeout sets it.
func (a *Account) StepTime() (limit time.Duration, budget bool) {
	limit = a.Limits.StepTimeout
	if left := a.Remaining(); left < limit {
		return left, true
	}
	return limit, false
}

// Rounds returns how many rounds of tool calls a step can pay for, up to most. The rounds use what is left beside need, the worst
// case of the phase and the conclusion, and other steps have as large shares of it. each is what a round uses. shared is the
// part of what is spent that comes out of these shares, such as the step's own rounds before a crash: it does not lower them.
func (a *Account) Rounds(shared, need, each transcript.Usage, shares, most int) int {
	const rounding = 1e-9 // of a cost to which shared was added and from which it is taken away
	afford := func(limit, spent, shared, need, each float64) {
		if limit > 0 && each > 0 {
			share := max(limit-(spent-shared)-need, 0) / float64(max(shares, 1))
			most = min(most, int(min(share/each+rounding, float64(most))))
		}
	}
	l := &a.Limits
	used := a.Spent
	afford(
		float64(l.OutputTokens),
		float64(used.Output),
		float64(shared.Output),
		float64(need.Output),
		float64(each.Output),
	)
	afford(
		float64(l.Tokens),
		float64(used.Input+used.Output),
		float64(shared.Input+shared.Output),
		float64(need.Input+need.Output),
		float64(each.Input+each.Output),
	)
	afford(l.Cost, used.Cost, shared.Cost, need.Cost, each.Cost)
	return most
}

// MostCost returns the most that a prompt and a reply of a model with the given tokens can cost.
func MostCost(prices price.Prices, model string, input, output int) float64 {
	known, _ := prices.Lookup(model)
	u := transcript.Usage{Input: input, Output: output}
	plain := known.Cost(u)
	u.Written = input // the service may write the whole prompt to its cache
	return max(plain, known.Cost(u))
}

// CoverStart returns a problem for each budget that is smaller than the worst case of the setup, the first phase and the
// conclusion. The debate would end before the first speech.
func CoverStart(l *journal.Limits, worst transcript.Usage) (found []protocol.Problem) {
	const text = "too small for the first phase: with the setup and the conclusion, up to"
	if n, need := l.OutputTokens, worst.Output; n > 0 && need > n {
		found = append(
			found,
			protocol.Problemf("limits.output_tokens", "%s %d tokens are needed, but it is %d", text, need, n),
		)
	}
	if n, need := l.Tokens, worst.Input+worst.Output; n > 0 && need > n {
		found = append(found, protocol.Problemf("limits.tokens", "%s %d tokens are needed, but it is %d", text, need, n))
	}
	if n, need := l.Cost, worst.Cost; n > 0 && need > n {
		found = append(found, protocol.Problemf("limits.cost", "%s %.4f is needed, but it is %v", text, need, n))
	}
	return found
}

// DefaultsOf returns a protocol's defaults, and the library's where the protocol has none.
func DefaultsOf(p protocol.Protocol) (d protocol.Defaults) {
	if own, ok := p.(protocol.Defaulter); ok {
		d = own.Defaults()
	}
	d.MinRounds = cmp.Or(d.MinRounds, 1)
	d.MaxRounds = cmp.Or(d.MaxRounds, 5)
	d.Time = cmp.Or(d.Time, time.Hour)
	d.StepTokens = cmp.Or(d.StepTokens, 4096)
	d.JudgeTokens = cmp.Or(d.JudgeTokens, 4096)
	if len(d.Temperatures) == 0 {
		d.Temperatures = []float64{0.7}
	}
	cool := 0.2
	d.JudgeTemperature = cmp.Or(d.JudgeTemperature, &cool)
	return d
}

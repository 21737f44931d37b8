package debate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// budgetEnding returns an Ending if a budget is too small for the given steps and the conclusion after them,
// otherwise the zero Ending.
func budgetEnding(r *record, steps []protocol.Step) transcript.Ending {
	if r.Cursor.Stage == transcript.Conclusion {
		return transcript.Ending{}
	}
	need, l := maxOutput(r, steps)+conclusionReserve(r), r.config.Limits
	if r.usage.Output+need > l.OutputTokens {
		return transcript.Ending{Outcome: transcript.TokenBudget, Evidence: fmt.Sprintf(
			"%d of %d output tokens are used, and up to %d more are needed for the next phase and the conclusion", r.usage.Output, l.OutputTokens, need)}
	}
	if e := spendingEnding(r, steps); e.Outcome != "" {
		return e
	}
	if remainingTime(r) <= 0 {
		return timeEnding(r)
	}
	return transcript.Ending{}
}

// timeEnding returns the Ending of a debate whose running time or round time is used up.
func timeEnding(r *record) transcript.Ending {
	l := r.config.Limits
	evidence := fmt.Sprintf("%v of %v are used, the rest is reserved for the conclusion", r.times.running.Round(time.Second), l.RunningTime)
	if took := r.times.running - r.times.roundBegan; l.RoundTime > 0 && took >= l.RoundTime && inRound(r) {
		evidence = fmt.Sprintf("round %d has taken %v of %v", r.Cursor.Round, took.Round(time.Second), l.RoundTime)
	}
	return transcript.Ending{Outcome: transcript.TimeBudget, Evidence: evidence}
}

// spendingEnding returns an Ending if the token or cost budget is too small for the given steps and the conclusion
// after them, otherwise the zero Ending.
func spendingEnding(r *record, steps []protocol.Step) transcript.Ending {
	l := r.config.Limits
	if l.Tokens == 0 && l.Cost == 0 {
		return transcript.Ending{}
	}
	most := maxUsage(r, steps)
	if used, need := r.usage.Input+r.usage.Output, most.Input+most.Output; l.Tokens > 0 && used+need > l.Tokens {
		return transcript.Ending{Outcome: transcript.TokenBudget, Evidence: fmt.Sprintf(
			"%d of %d tokens are used, and up to %d more are needed for the next phase and the conclusion", used, l.Tokens, need)}
	}
	if used := r.usage.Cost; l.Cost > 0 && used+most.Cost > l.Cost {
		return transcript.Ending{Outcome: transcript.CostBudget, Evidence: fmt.Sprintf(
			"%.4f of %.4f are spent, and up to %.4f more are needed for the next phase and the conclusion", used, l.Cost, most.Cost)}
	}
	return transcript.Ending{}
}

// maxUsage returns the most that the given steps and the conclusion can use. It assumes that each prompt contains the
// whole history at that point and an allowance for everything else, up to the reader's window, and that each reply
// has its maximum length.
func maxUsage(r *record, steps []protocol.Step) (all transcript.Usage) {
	history := r.history.tokens
	for _, p := range r.phases(transcript.Conclusion) {
		steps = append(slices.Clip(steps), p.Steps...)
	}
	for _, s := range steps {
		if p, seat, ok := r.actor(s.Actor); ok && !makesNoText(s.Actor) {
			u := transcript.Usage{Input: min(history+tokensBesideHistory(r, seat), p.Window-p.MaxTokens), Output: p.MaxTokens}
			u.Cost = maxCost(r, p, slices.Contains(r.Judges, s.Actor), u)
			all = all.Add(u)
			history += p.MaxTokens
		}
	}
	return all
}

// maxCost returns the cost of a usage for an actor's model. For a judge, it returns the cost for the most expensive
// model among the judge's own and its substitutes'.
func maxCost(r *record, p *Participant, judge bool, u transcript.Usage) (cost float64) {
	models := []string{p.Model}
	for _, s := range r.config.Substitutes {
		if judge {
			models = append(models, s.Model)
		}
	}
	for _, m := range models {
		known, _ := r.config.Prices.Lookup(m)
		cost = max(cost, known.Cost(u))
	}
	return cost
}

// tokensBesideHistory returns the tokens of a reader's prompts other than the history: the texts of the configuration
// and the personas, and an allowance for the library's templates.
func tokensBesideHistory(r *record, me transcript.Profile) int {
	tokens := window.Estimate(r.config.Topic + r.config.Background + me.Persona + me.Instructions + strings.Join(me.KeyArguments, ""))
	for _, s := range r.profiles {
		tokens += window.Estimate(s.Role + s.Side + s.Position)
	}
	return templateTokens + tokens
}

// templateTokens is the allowance for the text of templates.
const templateTokens = 2048

// maxOutput returns the output tokens of steps whose replies have their maximum length.
func maxOutput(r *record, steps []protocol.Step) (tokens int) {
	for _, s := range steps {
		if p, _, ok := r.actor(s.Actor); ok && !makesNoText(s.Actor) {
			tokens += p.MaxTokens
		}
	}
	return tokens
}

// conclusionReserve returns the output tokens that are reserved for the conclusion.
func conclusionReserve(r *record) (tokens int) {
	for _, p := range r.phases(transcript.Conclusion) {
		tokens += maxOutput(r, p.Steps)
	}
	return tokens
}

// inRound reports whether the current stage counts towards Limits.RoundTime.
func inRound(r *record) bool {
	return r.Cursor.Stage == transcript.Speech || r.Cursor.Stage == transcript.Assessment
}

// remainingTime returns how long the current stage may still run. A fifth of the time budget, but at most the step
// timeout, is reserved for the conclusion.
func remainingTime(r *record) time.Duration {
	l := r.config.Limits
	reserve := min(l.RunningTime/5, l.StepTimeout)
	if r.Cursor.Stage == transcript.Conclusion {
		return max(l.RunningTime-r.times.running, reserve)
	}
	left := l.RunningTime - reserve - r.times.running
	if l.RoundTime > 0 && inRound(r) {
		left = min(left, l.RoundTime-(r.times.running-r.times.roundBegan))
	}
	return left
}

// timeLimit returns the time for all attempts of a step, and whether the debate's time budget rather than the step
// timeout sets it.
func timeLimit(r *record) (limit time.Duration, budget bool) {
	limit = r.config.Limits.StepTimeout
	if left := remainingTime(r); left < limit {
		return left, true
	}
	return limit, false
}

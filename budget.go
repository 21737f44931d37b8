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

// budgetEnding says which budget has no room for a phase and the conclusion after it.
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

// timeEnding says which time is over.
func timeEnding(r *record) transcript.Ending {
	l := r.config.Limits
	evidence := fmt.Sprintf("%v of %v have passed, and the rest is kept for the conclusion", r.times.running.Round(time.Second), l.RunningTime)
	if took := r.times.running - r.times.roundBegan; l.RoundTime > 0 && took >= l.RoundTime && inRound(r) {
		evidence = fmt.Sprintf("round %d has taken %v of %v", r.Cursor.Round, took.Round(time.Second), l.RoundTime)
	}
	return transcript.Ending{Outcome: transcript.TimeBudget, Evidence: evidence}
}

// spendingEnding says whether the budget of all tokens, or of money, has no room for steps and the conclusion after them.
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

// maxUsage is what steps and the conclusion use when each prompt is as long as the history will be by then, with an
// allowance for what is not history, but no longer than its reader's window, and each reply as long as its cap.
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

// maxCost is what a usage costs by the model of an actor, or by the dearest of its substitutes.
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

// tokensBesideHistory is what the prompts of a reader have beside the history, in tokens: what the configuration and the personas say,
// and an allowance for all that is the library's own.
func tokensBesideHistory(r *record, me transcript.Profile) int {
	tokens := window.Estimate(r.config.Topic + r.config.Background + me.Persona + me.Instructions + strings.Join(me.KeyArguments, ""))
	for _, s := range r.profiles {
		tokens += window.Estimate(s.Role + s.Side + s.Position)
	}
	return templateTokens + tokens
}

const templateTokens = 2048

// maxOutput is what steps cost when each reply is as long as its cap.
func maxOutput(r *record, steps []protocol.Step) (tokens int) {
	for _, s := range steps {
		if p, _, ok := r.actor(s.Actor); ok && !makesNoText(s.Actor) {
			tokens += p.MaxTokens
		}
	}
	return tokens
}

// conclusionReserve is the room in tokens that is kept for the conclusion.
func conclusionReserve(r *record) (tokens int) {
	for _, p := range r.phases(transcript.Conclusion) {
		tokens += maxOutput(r, p.Steps)
	}
	return tokens
}

// inRound says whether a round is going on that the limit of a round's time is for.
func inRound(r *record) bool {
	return r.Cursor.Stage == transcript.Speech || r.Cursor.Stage == transcript.Assessment
}

// remainingTime is how long the stage at hand may still run. A fifth of the time budget, but not more than the step timeout,
// is kept for the conclusion.
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

// timeLimit is the time that a call has for all its attempts, and what the time is up for when it is over.
func timeLimit(r *record) (limit time.Duration, budget bool) {
	limit = r.config.Limits.StepTimeout
	if left := remainingTime(r); left < limit {
		return left, true
	}
	return limit, false
}

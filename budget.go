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

// exhausted says which budget has no room for a phase and the conclusion after it.
func (r *record) exhausted(steps []protocol.Step) transcript.Ending {
	if r.Cursor.Stage == transcript.Conclusion {
		return transcript.Ending{}
	}
	need, l := r.worst(steps)+r.reserve(), r.config.Limits
	if r.usage.Output+need > l.OutputTokens {
		return transcript.Ending{Outcome: transcript.TokenBudget, Evidence: fmt.Sprintf(
			"%d of %d output tokens are used, and up to %d more are needed for the next phase and the conclusion", r.usage.Output, l.OutputTokens, need)}
	}
	if e := r.overspent(steps); e.Outcome != "" {
		return e
	}
	if r.remaining() <= 0 {
		return r.late()
	}
	return transcript.Ending{}
}

// late says which time is over.
func (r *record) late() transcript.Ending {
	l := r.config.Limits
	evidence := fmt.Sprintf("%v of %v have passed, and the rest is kept for the conclusion", r.times.running.Round(time.Second), l.Time)
	if took := r.times.running - r.times.roundBegan; l.Round > 0 && took >= l.Round && r.inRound() {
		evidence = fmt.Sprintf("round %d has taken %v of %v", r.Cursor.Round, took.Round(time.Second), l.Round)
	}
	return transcript.Ending{Outcome: transcript.TimeBudget, Evidence: evidence}
}

// overspent says whether the budget of all tokens, or of money, has no room for steps and the conclusion after them.
func (r *record) overspent(steps []protocol.Step) transcript.Ending {
	l := r.config.Limits
	if l.Tokens == 0 && l.Cost == 0 {
		return transcript.Ending{}
	}
	most := r.worstUsage(steps)
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

// worstUsage is what steps and the conclusion use when each prompt is as long as the history will be by then, with an
// allowance for what is not history, but no longer than its reader's window, and each reply as long as its cap.
func (r *record) worstUsage(steps []protocol.Step) (all transcript.Usage) {
	history := r.history.tokens
	for _, p := range r.phases(transcript.Conclusion) {
		steps = append(slices.Clip(steps), p.Steps...)
	}
	for _, s := range steps {
		if p, seat, ok := r.actor(s.Actor); ok && !wordless(s.Actor) {
			u := transcript.Usage{Input: min(history+r.beside(seat), p.Window-p.MaxTokens), Output: p.MaxTokens}
			u.Cost = r.dearest(p, slices.Contains(r.Judges, s.Actor), u)
			all = all.Add(u)
			history += p.MaxTokens
		}
	}
	return all
}

// dearest is what a usage costs by the model of an actor, or by the dearest of its substitutes.
func (r *record) dearest(p *Participant, judge bool, u transcript.Usage) (cost float64) {
	models := []string{p.Model}
	for _, s := range r.config.Substitutes {
		if judge {
			models = append(models, s.Model)
		}
	}
	for _, m := range models {
		known, _ := r.config.Prices.Of(m)
		cost = max(cost, known.Cost(u))
	}
	return cost
}

// beside is what the prompts of a reader have beside the history, in tokens: what the configuration and the personas say,
// and an allowance for all that is the library's own.
func (r *record) beside(me transcript.Seat) int {
	tokens := window.Estimate(r.config.Topic + r.config.Background + me.Persona + me.Instructions + strings.Join(me.KeyArguments, ""))
	for _, s := range r.everyone {
		tokens += window.Estimate(s.Role + s.Side + s.Position)
	}
	return allowance + tokens
}

const allowance = 2048

// worst is what steps cost when each reply is as long as its cap.
func (r *record) worst(steps []protocol.Step) (tokens int) {
	for _, s := range steps {
		if p, _, ok := r.actor(s.Actor); ok && !wordless(s.Actor) {
			tokens += p.MaxTokens
		}
	}
	return tokens
}

// reserve is the room in tokens that is kept for the conclusion.
func (r *record) reserve() (tokens int) {
	for _, p := range r.phases(transcript.Conclusion) {
		tokens += r.worst(p.Steps)
	}
	return tokens
}

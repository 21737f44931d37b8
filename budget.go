package debate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/embedding"
	"github.com/elenchus-go/debate/internal/forecast"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/internal/step/prompting/worst"
	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// worstCase returns the most that the given phases and the conclusion after them can use; see package worst. If only the
// output tokens are limited, it leaves out the rest.
func worstCase(r *record, next ...forecast.Stage) transcript.Usage {
	declared := r.phases(transcript.Conclusion)
	cursor := r.Cursor
	r.BeginSupposing()
	defer func() {
		r.TakeBack()
		r.EndSupposing()
		r.Cursor = cursor
	}()
	w := worst.Case{Debate: &r.Debate, Calls: calls{r}, Spends: r.config.Limits.Tokens > 0 || r.config.Limits.Cost > 0, Rules: len(r.config.Detect)}
	for _, s := range next {
		for _, p := range s.Phases {
			w.Add(s.Kind, p)
		}
	}
	return w.Conclude(declared)
}

// calls implements worst.Calls.
type calls struct{ *record }

// Actor returns what the calls of an actor can use.
func (c calls) Actor(name string) (a worst.Actor, ok bool) {
	who, seat, ok := c.actor(name)
	if !ok {
		return a, false
	}
	a = worst.Actor{Seat: seat, Free: who.Human, NoText: makesNoText(name), Reply: maxReply(c.record, who, name)}
	if name == protocol.Retriever {
		a.Free = who.Provider == templatesProvider
	}
	return a, true
}

// Conclusion returns the phases of the conclusion that the protocol asks for now.
func (c calls) Conclusion() []protocol.Phase {
	phases := c.rules().Phases(&c.Record)
	if c.config.hasPeople() {
		phases = c.adaptToPeople(phases)
	}
	return phases
}

// Cost returns the most that a prompt and a reply of an actor with the given tokens can cost.
func (c calls) Cost(actor string, prompt, reply int) float64 {
	return maxCost(c.record, c.config.settings(actor), actor, prompt, reply)
}

// Embedded returns the tokens of the texts that the step with an order embeds in a round.
func (c calls) Embedded(round, order int) (tokens int) {
	who := c.config.settings(protocol.Embedder)
	s := protocol.Step{Key: transcript.Key{Round: round}, Order: order}
	for _, m := range embedding.Messages(&c.Record, who.Window, &s) {
		tokens += c.env.Count(who.Model, m.Text)
	}
	return tokens
}

// maxCost returns the most that a prompt and a reply with the given tokens can cost. A judge's substitutes may have other
// prices.
func maxCost(r *record, p *Participant, actor string, input, output int) float64 {
	cost := func(model string, output int) float64 {
		known, _ := r.config.Prices.Lookup(model)
		u := transcript.Usage{Input: input, Output: output}
		plain := known.Cost(u)
		u.Written = input // the service may write the whole prompt to its cache
		return max(plain, known.Cost(u))
	}
	most := cost(p.Model, min(output, p.MaxTokens))
	for _, s := range substitutesOf(r, actor) {
		most = max(most, cost(s.Model, min(output, substituteLimit(p, &s))))
	}
	return most
}

// maxReply returns the token limit of an actor's replies. For a judge, it returns the largest limit among those of the
// judge itself and its substitutes.
func maxReply(r *record, p *Participant, actor string) int {
	most := p.MaxTokens
	for _, s := range substitutesOf(r, actor) {
		most = max(most, substituteLimit(p, &s))
	}
	return most
}

// substitutesOf returns the substitutes that may reply in place of an actor.
func substitutesOf(r *record, actor string) []Participant {
	if !slices.Contains(r.Judges, actor) {
		return nil
	}
	return r.config.Substitutes
}

// substituteLimit returns the token limit of a substitute's replies in place of a judge: the lower one of the two limits.
// The substitute has room for its reasoning in addition to the judge's limit.
func substituteLimit(judge, s *Participant) int {
	return min(s.MaxTokens, judge.MaxTokens+reasoning.Tokens(s.Reasoning))
}

// replyLimit returns the token limit of an actor's replies. That of a substitute is the lowest for any judge.
func replyLimit(c *Config, field string, p Participant) int {
	limit := p.MaxTokens
	for i := range c.Judges {
		if strings.HasPrefix(field, "substitutes") {
			limit = min(limit, substituteLimit(&c.Judges[i], &p))
		}
	}
	return limit
}

// budgetEnding returns an Ending if a budget is too small for the given phases, which come next in the current stage, and
// for the conclusion after them. Otherwise it returns the zero Ending.
func budgetEnding(r *record, next ...protocol.Phase) transcript.Ending {
	if r.Cursor.Stage == transcript.Conclusion {
		return transcript.Ending{}
	}
	if e := usageEnding(r, worstCase(r, forecast.Stage{Kind: r.Cursor.Stage, Phases: next})); e.Outcome != "" {
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

// usageEnding returns an Ending if a budget is too small for the given usage in addition to what is used already,
// otherwise the zero Ending.
func usageEnding(r *record, most transcript.Usage) transcript.Ending {
	l, spent := r.config.Limits, r.spent()
	if need := most.Output; spent.Output+need > l.OutputTokens {
		return transcript.Ending{Outcome: transcript.TokenBudget, Evidence: fmt.Sprintf(
			"%d of %d output tokens are used, and up to %d more are needed for the next phase and the conclusion", spent.Output, l.OutputTokens, need)}
	}
	if used, need := spent.Input+spent.Output, most.Input+most.Output; l.Tokens > 0 && used+need > l.Tokens {
		return transcript.Ending{Outcome: transcript.TokenBudget, Evidence: fmt.Sprintf(
			"%d of %d tokens are used, and up to %d more are needed for the next phase and the conclusion", used, l.Tokens, need)}
	}
	if used := spent.Cost; l.Cost > 0 && used+most.Cost > l.Cost {
		return transcript.Ending{Outcome: transcript.CostBudget, Evidence: fmt.Sprintf(
			"%.4f of %.4f are spent, and up to %.4f more are needed for the next phase and the conclusion", used, l.Cost, most.Cost)}
	}
	return transcript.Ending{}
}

// summaryNeeded returns the summary that must come before any of the given steps, or nil if there is none. Only a
// process that commits calls it; other processes read the decision from the journal.
func summaryNeeded(r *record, steps []protocol.Step) *window.SummaryPlan {
	if !r.config.History.UsesSummaries() {
		return nil
	}
	for i := range steps {
		s := &steps[i]
		who, seat, ok := r.actor(s.Actor)
		if !ok || who.Human || slices.Contains(systemActors, s.Actor) {
			continue
		}
		if w := r.SummaryFor(s, seat); w != nil && affordsSummary(r, w.Tokens+reasoning.Tokens(r.config.Summarizer.Reasoning)) {
			return w
		}
	}
	return nil
}

// affordsSummary reports whether the budgets of a conclusion allow a summary in addition to its steps. In earlier
// stages the checks at the start of a phase ensure this.
func affordsSummary(r *record, tokens int) bool {
	if r.Cursor.Stage != transcript.Conclusion {
		return true
	}
	step := protocol.Step{Key: transcript.Key{Actor: protocol.Summarizer}}
	most := worstCase(r, forecast.Stage{Kind: transcript.Conclusion, Phases: []protocol.Phase{{Name: summaryPhase, Steps: []protocol.Step{step}}}})
	most.Output += tokens - r.config.Summarizer.MaxTokens
	return usageEnding(r, most).Outcome == ""
}

// maxOutput returns the output tokens of steps whose replies have their maximum length.
func maxOutput(r *record, steps []protocol.Step) (tokens int) {
	for _, s := range steps {
		if p, _, ok := r.actor(s.Actor); ok && !p.Human && !makesNoText(s.Actor) {
			tokens += worst.Replies(&s) * maxReply(r, p, s.Actor)
		}
	}
	return tokens
}

// affordableRounds returns how many rounds of tool calls a step can pay for from its share of what the budgets leave beside
// the worst case of the phase and the conclusion, up to most. made is the number of rounds that it has made. The prompt has
// the given tokens, with rounds of full size.
func affordableRounds(r *record, s *protocol.Step, who *Participant, prompt, made, most int) int {
	if s.Phase != r.Cursor.Phase {
		return most // the step is only planned
	}
	phase := protocol.Phase{Name: s.Phase, Steps: r.next()}
	sharing := 0
	for _, p := range r.phases(r.Cursor.Stage) {
		if p.Name == s.Phase {
			phase = p
		}
	}
	for _, x := range phase.Steps {
		x.Key = transcript.Key{Run: s.Run, Round: s.Round, Phase: s.Phase, Actor: x.Actor, Target: x.Target}
		if other := r.config.settings(x.Actor); other != nil && len(other.Tools) > 0 {
			if _, done := r.Find(x.Key); !done {
				sharing++
			}
		}
	}
	need := worstCase(r, forecast.Stage{Kind: r.Cursor.Stage, Phases: []protocol.Phase{phase}})
	if r.Cursor.Stage == transcript.Conclusion { // worstCase has added its steps
		need = worstCase(r)
	}
	l, used, reply := r.config.Limits, r.spent(), maxReply(r, who, s.Actor)
	afford := func(limit, used, need, each float64) {
		if limit > 0 && each > 0 {
			share := max(limit-used-need, 0) / float64(max(sharing, 1))
			most = min(most, made+int(min(share/each, float64(most))))
		}
	}
	afford(float64(l.OutputTokens), float64(used.Output), float64(need.Output), float64(reply))
	afford(float64(l.Tokens), float64(used.Input+used.Output), float64(need.Input+need.Output), float64(prompt+reply))
	afford(l.Cost, used.Cost, need.Cost, maxCost(r, who, s.Actor, prompt, reply))
	return most
}

// forecastOf asks the protocol for the phases of all stages and rounds. r is the record of a debate that has not begun.
func forecastOf(r *record) forecast.Forecast {
	return forecast.Of(&r.Record, r.config.Protocol, r.phases, func(steps []protocol.Step) int { return maxOutput(r, steps) })
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

// The greatest limits. With these, no sum or product of limits overflows.
const (
	maxRounds   = 10_000
	maxTokens   = turns.MaxTokens
	maxAttempts = 1_000_000
	maxStops    = 16
	maxBudget   = math.MaxInt / 4
	maxTime     = 365 * 24 * time.Hour
)

// valid returns the limits with 0, the default, in place of each invalid value, and adds a problem for that value.
// Otherwise checks of other fields would report it again.
func (l Limits) valid(list *problemList) Limits {
	for _, x := range []struct {
		field string
		value *int
		most  int
	}{
		{"min_rounds", &l.MinRounds, maxRounds},
		{"max_rounds", &l.MaxRounds, maxRounds},
		{"output_tokens", &l.OutputTokens, maxBudget},
		{"tokens", &l.Tokens, maxBudget},
		{"step_tokens", &l.StepTokens, maxTokens},
		{"judge_tokens", &l.JudgeTokens, maxTokens},
		{"step_attempts", &l.StepAttempts, maxAttempts},
		{"tool_rounds", &l.ToolRounds, maxToolRounds},
		{"tool_calls", &l.ToolCalls, maxToolCalls},
		{"tool_bytes", &l.ToolBytes, maxToolBytes},
	} {
		if *x.value < 0 || *x.value > x.most {
			list.add("limits."+x.field, "%d is not valid, use at most %d, or 0 for the default", *x.value, x.most)
			*x.value = 0
		}
	}
	for _, x := range []struct {
		field string
		value *time.Duration
	}{
		{"running_time", &l.RunningTime},
		{"step_timeout", &l.StepTimeout},
		{"round_time", &l.RoundTime},
		{"round_delay", &l.RoundDelay},
		{"tool_timeout", &l.ToolTimeout},
	} {
		if *x.value < 0 || *x.value > maxTime {
			list.add("limits."+x.field, "%v is not valid, use at most %v, or 0 for the default", *x.value, maxTime)
			*x.value = 0
		}
	}
	if n := l.ToolBytes; n > 0 && n < minToolBytes {
		list.add("limits.tool_bytes", "%d is too small, use at least %d, or 0 for the default", n, minToolBytes)
		l.ToolBytes = 0
	}
	if !(l.Cost >= 0) || math.IsInf(l.Cost, 0) {
		list.add("limits.cost", "%v is not valid, use 0 or more", l.Cost)
		l.Cost = 0
	}
	if l.MinRounds > l.MaxRounds && l.MaxRounds > 0 {
		list.add("limits.min_rounds", "%d is more than max_rounds, %d", l.MinRounds, l.MaxRounds)
		l.MinRounds = 0
	}
	return l
}

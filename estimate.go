package debate

import (
	"context"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/internal/budget"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Estimate says what a debate costs before anybody is called. Likely is for all rounds with replies of usual length: about 400 tokens,
// half of what a model may reason, and one call of tools for each step that may call them. Worst is for all rounds with replies of
// maximum length, but within the budgets of Limits. Neither has failed attempts, nor summaries that a window needs.
type Estimate struct {
	Likely Expense        `json:"likely"`
	Worst  Expense        `json:"worst"`
	Seats  []SeatEstimate `json:"seats"` // whoever is called, in the order of the first calls
	// Unpriced lists models without a price, by the name of the provider if the model is its default one. Their costs are not
	// included.
	Unpriced []string `json:"unpriced,omitempty"`
}

// SeatEstimate is the part of a participant, a judge or a system actor in an [Estimate].
type SeatEstimate struct {
	Name     string  `json:"name"`
	Provider string  `json:"provider,omitempty"`
	Model    string  `json:"model,omitempty"` // empty for the provider's default model
	Prompt   int     `json:"prompt"`          // tokens of the longest likely prompt
	Likely   Expense `json:"likely"`
	Worst    Expense `json:"worst"`
}

// Expense is a number of calls with what they use.
type Expense struct {
	Calls  int     `json:"calls"`
	Input  int     `json:"input"`  // tokens of prompts
	Output int     `json:"output"` // tokens of replies, including reasoning
	Cost   float64 `json:"cost"`   // in the currency of the debate's prices
}

const (
	usualReply = 400 // tokens
	// maxEstimated is the number of rounds that are estimated one by one. Each further round counts as the last of them.
	maxEstimated = 12
)

// Estimate returns what the whole debate costs, as if it had not begun. It calls no model.
func (d *Debate) Estimate(ctx context.Context) (e Estimate, err error) {
	defer func() {
		if err != nil {
			e = Estimate{}
			err = fmt.Errorf("estimate debate %s: %w", d.ID(), err)
		}
	}()
	defer catchFailure(&err, transcript.Key{})
	err = d.read(ctx, func(r *record) {
		err = r.protocolKnown()
		if err == nil {
			e = estimateOf(r.config, r.env)
		}
	})
	return e, err
}

// estimateOf returns the estimate of a configuration.
func estimateOf(c *Config, env *environment) (e Estimate) {
	x := &estimator{
		config: c,
		env:    env,
		result: &e,
	}
	e.Likely = x.walk(plannedRecord(seatSettings{config: c}, env), true)
	e.Worst = x.walk(plannedRecord(seatSettings{config: c}, env), false).within(c.Limits)
	e.Likely = e.Likely.atMost(e.Worst)
	for i := range e.Seats {
		s := &e.Seats[i]
		s.Worst = s.Worst.within(c.Limits)
		s.Likely = s.Likely.atMost(s.Worst)
		_, priced := c.Prices.Lookup(s.Model)
		name := s.Model
		if name == "" {
			name = s.Provider
		}
		if !priced && !slices.Contains(e.Unpriced, name) {
			e.Unpriced = append(e.Unpriced, name)
		}
	}
	return e
}

// within returns the expense with no more than the budgets allow.
func (x Expense) within(l Limits) Expense {
	if l.OutputTokens > 0 {
		x.Output = min(x.Output, l.OutputTokens)
	}
	if l.Tokens > 0 {
		x.Input = min(x.Input, l.Tokens)
	}
	if l.Cost > 0 {
		x.Cost = min(x.Cost, l.Cost)
	}
	return x
}

// atMost returns the expense with no more than another one.
func (x Expense) atMost(most Expense) Expense {
	return Expense{min(x.Calls, most.Calls), min(x.Input, most.Input), min(x.Output, most.Output), min(x.Cost, most.Cost)}
}

// add adds calls that each use the same.
func (x *Expense) add(calls int, u transcript.Usage) {
	x.Calls += calls
	x.Input += calls * u.Input
	x.Output += calls * u.Output
	x.Cost += float64(calls) * u.Cost
}

// estimator adds up the calls of a debate.
type estimator struct {
	config *Config
	env    *environment
	result *Estimate

	sum    Expense // of the walk at hand
	weight int     // how many rounds the round at hand stands for
}

// walk supposes all turns of a debate, one after the other, and returns what they use.
func (x *estimator) walk(r *record, likely bool) Expense {
	x.sum = Expense{}
	x.weight = 1
	w := budget.Case{
		Debate: &r.Debate,
		Calls:  calls{r},
		Spends: true,
		Rules:  len(r.config.Detect),
		Usual:  likely,
	}
	if likely {
		w.Calls = usualCalls{calls{r}}
	}
	w.Each = func(actor string, u transcript.Usage) { x.count(actor, u, likely) }
	last := min(r.MaxRounds, maxEstimated)
	setup := r.phases(transcript.Setup)
	later := laterPhases(r)
	rounds := make([][]budget.Stage, last+1)
	for n := 1; n <= last; n++ {
		r.Cursor.Round = n
		rounds[n] = []budget.Stage{
			{Kind: transcript.Speech, Phases: slices.Concat(r.phases(transcript.Speech), later)},
			{Kind: transcript.Assessment, Phases: r.phases(transcript.Assessment)},
		}
	}
	r.Cursor.Round = r.MaxRounds
	conclusion := r.phases(transcript.Conclusion)

	r.BeginSupposing()
	r.Cursor.Round = 0
	w.AddStage(transcript.Setup, setup)
	for n := 1; n <= last; n++ {
		r.Cursor.Round = n
		if n == last {
			x.weight = 1 + r.MaxRounds - last
		}
		for _, s := range rounds[n] {
			w.AddStage(s.Kind, s.Phases)
		}
	}
	x.weight = 1
	r.Cursor.Round = r.MaxRounds
	w.Conclude(conclusion)
	return x.sum
}

// laterPhases returns the phases of the steps that the protocol asks for only after some turns.
func laterPhases(r *record) (phases []protocol.Phase) {
	p, ok := r.config.Protocol.(interface {
		Steps(r *protocol.Record) []protocol.Step
	})
	if !ok {
		return nil
	}
	for _, s := range p.Steps(&r.Record) {
		at := slices.IndexFunc(phases, func(x protocol.Phase) bool { return x.Name == s.Phase })
		if at < 0 {
			at = len(phases)
			phases = append(phases, protocol.Phase{Name: s.Phase, Parallel: true})
		}
		phases[at].Steps = append(phases[at].Steps, s)
	}
	return phases
}

// count counts a call of an actor, with those that its tools add.
func (x *estimator) count(actor string, u transcript.Usage, likely bool) {
	calls := x.weight
	who := x.config.Actor(actor)
	if len(who.Tools) > 0 && likely {
		calls *= 2
	} else if len(who.Tools) > 0 {
		calls *= 1 + x.config.Limits.ToolRounds
	}
	x.sum.add(calls, u)
	at := slices.IndexFunc(x.result.Seats, func(s SeatEstimate) bool { return s.Name == actor })
	if at < 0 {
		at = len(x.result.Seats)
		x.result.Seats = append(x.result.Seats, SeatEstimate{
			Name:     actor,
			Provider: x.provider(who.Provider),
			Model:    who.Model,
		})
	}
	s := &x.result.Seats[at]
	if !likely {
		s.Worst.add(calls, u)
		return
	}
	s.Likely.add(calls, u)
	s.Prompt = max(s.Prompt, u.Input)
}

// provider returns the name of a provider, also if it is the only one and has not been named.
func (x *estimator) provider(name string) string {
	known, _, err := x.env.Bind(name)
	if err != nil {
		return name
	}
	return known
}

// usualCalls are calls with replies of usual length.
type usualCalls struct{ calls }

// Actor returns an actor with the usual length of its replies.
func (c usualCalls) Actor(name string) (a budget.Actor, ok bool) {
	a, ok = c.calls.Actor(name)
	if ok {
		a.Reply = min(a.Reply, usualReply+reasoning.Tokens(c.config.Actor(name).Reasoning)/2)
	}
	return a, ok
}

// Cost returns the price of a prompt and a reply that no cache holds and no substitute gives.
func (c usualCalls) Cost(actor string, prompt, reply int) float64 {
	price, _ := c.config.Prices.Lookup(c.config.Actor(actor).Model)
	return price.Cost(transcript.Usage{Input: prompt, Output: reply})
}

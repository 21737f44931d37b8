package core

import (
	"cmp"
	"slices"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/agenda"
	"github.com/elenchus-go/debate/internal/budget"
	"github.com/elenchus-go/debate/internal/clients"
	"github.com/elenchus-go/debate/internal/findings"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// WorstCase returns the most that the given phases and the conclusion after them can use; see package worst. If only the
// output tokens are limited, it leaves out the rest.
func WorstCase(r *State, next ...budget.Stage) transcript.Usage {
	declared := r.Phases(transcript.Conclusion)
	cursor := r.Cursor
	r.BeginSupposing()
	defer func() {
		r.TakeBack()
		r.EndSupposing()
		r.Cursor = cursor
	}()
	w := budget.Case{
		Debate: &r.Debate,
		Calls:  calls{r},
		Spends: r.Config.Limits.Tokens > 0 || r.Config.Limits.Cost > 0,
		Rules:  len(r.Config.Detect),
	}
	for _, s := range next {
		for _, p := range s.Phases {
			w.Add(s.Kind, p)
		}
	}
	return w.Conclude(declared)
}

// calls implements budget.Calls.
type calls struct{ *State }

// Actor returns what the calls of an actor can use.
func (c calls) Actor(name string) (a budget.Actor, ok bool) {
	who, seat, ok := c.State.Actor(name)
	if !ok {
		return a, false
	}
	a = budget.Actor{
		Seat:   seat,
		Free:   who.Human,
		NoText: actor.MakesNoText(name),
		Reply:  maxReply(c.State, who, name),
	}
	if name == protocol.Retriever {
		a.Free = who.Provider == clients.Templates
	}
	return a, true
}

// Phases returns the phases of the current stage that the protocol asks for now.
func (c calls) Phases() []protocol.Phase {
	return c.Agenda.Protocol.Phases(&c.Record)
}

// Cost returns the most that a prompt and a reply of an actor with the given tokens can cost.
func (c calls) Cost(actor string, prompt, reply int) float64 {
	return maxCost(c.State, c.Config.Actor(actor), actor, prompt, reply)
}

// Embedded returns the tokens of the texts that the step with an order embeds in a round.
func (c calls) Embedded(round, order int) (tokens int) {
	who := c.Config.Actor(protocol.Embedder)
	s := protocol.Step{
		Key:   transcript.Key{Round: round},
		Order: order,
	}
	for _, m := range findings.SpeechesToEmbed(&c.Record, who.Window, &s) {
		tokens += c.Engine.Count(who.Model, m.Text)
	}
	return tokens
}

// maxCost returns the most that a prompt and a reply with the given tokens can cost. A judge's substitutes may have other
// prices.
func maxCost(r *State, p *journal.Participant, actor string, input, output int) float64 {
	prices := r.Config.Prices
	most := budget.MostCost(prices, p.Model, input, min(output, p.MaxTokens))
	for _, s := range SubstitutesOf(r, actor) {
		most = max(most, budget.MostCost(prices, s.Model, input, min(output, s.LimitFor(p))))
	}
	return most
}

// maxReply returns the token limit of an actor's replies. For a judge, it returns the largest limit among those of the
// judge itself and its substitutes.
func maxReply(r *State, p *journal.Participant, actor string) int {
	most := p.MaxTokens
	for _, s := range SubstitutesOf(r, actor) {
		most = max(most, s.LimitFor(p))
	}
	return most
}

// SubstitutesOf returns the substitutes that may reply in place of an actor.
func SubstitutesOf(r *State, actor string) []journal.Participant {
	if !slices.Contains(r.Judges, actor) {
		return nil
	}
	return r.Config.Substitutes
}

// budgetEnding returns an Ending if a budget is too small for the given phases, which come next in the current stage, and
// for the conclusion after them. Otherwise it returns the zero Ending.
func budgetEnding(r *State, next ...protocol.Phase) transcript.Ending {
	if r.Cursor.Stage == transcript.Conclusion {
		return transcript.Ending{}
	}
	most := WorstCase(r, budget.Stage{
		Kind:   r.Cursor.Stage,
		Phases: next,
	})
	a := AccountOf(r)
	return cmp.Or(a.Ending(most), a.TimeEnding())
}

// summaryNeeded returns the summary that must come before any of the given steps, or nil if there is none. Only a
// process that commits calls it; other processes read the decision from the journal.
func summaryNeeded(r *State, steps []protocol.Step) *window.SummaryPlan {
	if !r.Config.History.UsesSummaries() {
		return nil
	}
	for i := range steps {
		s := &steps[i]
		who, seat, ok := r.Actor(s.Actor)
		if !ok ||
			who.Human ||
			slices.Contains(actor.System, s.Actor) ||
			agenda.IsEmpty(*s) {
			continue
		}
		w := r.SummaryFor(s, seat)
		if w != nil && affordsSummary(r, w.Tokens+reasoning.Tokens(r.Config.Summarizer.Reasoning)) {
			return w
		}
	}
	return nil
}

// affordsSummary reports whether the budgets of a conclusion allow a summary in addition to its steps. In earlier
// stages the checks at the start of a phase ensure this.
func affordsSummary(r *State, tokens int) bool {
	if r.Cursor.Stage != transcript.Conclusion {
		return true
	}
	most := WorstCase(r, budget.Stage{
		Kind:   transcript.Conclusion,
		Phases: []protocol.Phase{r.SummaryPhase()},
	})
	most.Output += tokens - r.Config.Summarizer.MaxTokens
	a := AccountOf(r)
	return a.Ending(most).Outcome == ""
}

// maxOutput returns the output tokens of steps whose replies have their maximum length.
func maxOutput(r *State, steps []protocol.Step) (tokens int) {
	for _, s := range steps {
		if p, _, ok := r.Actor(s.Actor); ok &&
			!p.Human &&
			!actor.MakesNoText(s.Actor) {
			tokens += budget.Replies(&s) * maxReply(r, p, s.Actor)
		}
	}
	return tokens
}

// AffordableRounds returns how many rounds of tool calls a step can pay for from its share of what the budgets leave beside
// the worst case of the phase and the conclusion, up to most. The prompt has the given tokens, with rounds of full size. The
// number does not change when the step goes on after a crash: the steps of a parallel phase have equal shares of what was left when
// the phase began, and other steps have equal shares of what those before them have left.
func AffordableRounds(r *State, s *protocol.Step, who *journal.Participant, prompt, most int) int {
	if s.Phase != r.Cursor.Phase {
		return most // the step is only planned
	}
	phase := protocol.Phase{
		Name:  s.Phase,
		Steps: r.Next(),
	}
	for _, p := range r.Phases(r.Cursor.Stage) {
		if p.Name == s.Phase {
			phase = p
		}
	}
	shared := r.Tools.Of(s.Key).Usage()
	if r.Parallel {
		shared = r.Tools.InPhase(s.Key)
		hidden, show := r.HidePhase()
		r.Agenda.Forget()
		defer func() {
			show()
			r.Agenda.Forget()
		}()
		for i := range hidden {
			if hidden[i].Phase == s.Phase {
				shared = shared.Add(hidden[i].Usage)
			}
		}
	}
	sharing := 0
	for _, x := range phase.Steps {
		x.Key = transcript.Key{
			Run:    s.Run,
			Round:  s.Round,
			Phase:  s.Phase,
			Actor:  x.Actor,
			Target: x.Target,
		}
		if other := r.Config.Actor(x.Actor); other != nil && len(other.Tools) > 0 {
			if _, done := r.Find(x.Key); !done {
				sharing++
			}
		}
	}
	need := WorstCase(r, budget.Stage{
		Kind:   r.Cursor.Stage,
		Phases: []protocol.Phase{phase},
	})
	if r.Cursor.Stage == transcript.Conclusion { // WorstCase has added its steps
		need = WorstCase(r)
	}
	reply := maxReply(r, who, s.Actor)
	each := transcript.Usage{
		Input:  prompt,
		Output: reply,
		Cost:   maxCost(r, who, s.Actor, prompt, reply),
	}
	a := AccountOf(r)
	return a.Rounds(shared, need, each, max(sharing, r.Sources.Callers(s.Key)), most)
}

// ForecastOf asks the protocol for the phases of all stages and rounds. r is the state of a debate that has not begun.
func ForecastOf(r *State) budget.Forecast {
	return budget.ForecastOf(
		&r.Record,
		r.Config.Protocol,
		r.Phases,
		func(steps []protocol.Step) int { return maxOutput(r, steps) },
	)
}

// AccountOf returns what a debate has used and may use.
func AccountOf(r *State) budget.Account {
	return budget.Account{
		Limits:     r.Config.Limits,
		At:         r.Cursor,
		Spent:      r.spent(),
		Running:    r.Times.running,
		RoundBegan: r.Times.roundBegan,
	}
}

const (
	usualReply = 400 // tokens
	// maxEstimated limits the rounds that are estimated one by one. Each further round counts as the last of them.
	maxEstimated = 12
)

// EstimateOf returns the estimate of a configuration.
func EstimateOf(c *journal.Config, env *Environment) (e journal.Estimate) {
	x := &estimator{
		config: c,
		env:    env,
		result: &e,
	}
	e.Likely = x.walk(BeforeStart(Seats{Config: c}, env), true)
	e.Worst = withinLimits(x.walk(BeforeStart(Seats{Config: c}, env), false), c.Limits)
	e.Likely = atMost(e.Likely, e.Worst)
	for i := range e.Seats {
		s := &e.Seats[i]
		s.Worst = withinLimits(s.Worst, c.Limits)
		s.Likely = atMost(s.Likely, s.Worst)
		_, priced := c.Prices.Lookup(s.Model)
		name := cmp.Or(s.Model, s.Provider)
		if !priced && !slices.Contains(e.Unpriced, name) {
			e.Unpriced = append(e.Unpriced, name)
		}
	}
	return e
}

// withinLimits returns the expense with no more than the budgets allow.
func withinLimits(x journal.Expense, l journal.Limits) journal.Expense {
	x.Output = min(x.Output, cmp.Or(l.OutputTokens, x.Output))
	x.Input = min(x.Input, cmp.Or(l.Tokens, x.Input))
	x.Cost = min(x.Cost, cmp.Or(l.Cost, x.Cost))
	return x
}

// atMost returns the expense with no more than another one.
func atMost(x, most journal.Expense) journal.Expense {
	return journal.Expense{
		Calls:  min(x.Calls, most.Calls),
		Input:  min(x.Input, most.Input),
		Output: min(x.Output, most.Output),
		Cost:   min(x.Cost, most.Cost),
	}
}

// addCalls adds calls that each use the same.
func addCalls(x *journal.Expense, calls int, u transcript.Usage) {
	x.Calls += calls
	x.Input += calls * u.Input
	x.Output += calls * u.Output
	x.Cost += float64(calls) * u.Cost
}

// estimator adds up the calls of a debate.
type estimator struct {
	config *journal.Config
	env    *Environment
	result *journal.Estimate

	sum    journal.Expense // of the walk at hand
	weight int             // how many rounds the round at hand stands for
}

// walk supposes all turns of a debate, one after the other, and returns what they use.
func (x *estimator) walk(r *State, likely bool) journal.Expense {
	x.sum = journal.Expense{}
	x.weight = 1
	w := budget.Case{
		Debate: &r.Debate,
		Calls:  calls{r},
		Spends: true,
		Rules:  len(r.Config.Detect),
		Usual:  likely,
	}
	if likely {
		w.Calls = usualCalls{calls{r}}
	}
	w.Each = func(actor string, u transcript.Usage) {
		x.count(actor, u, likely)
	}
	last := min(r.MaxRounds, maxEstimated)
	setup := r.Phases(transcript.Setup)
	later := laterPhases(r)
	rounds := make([][]budget.Stage, last+1)
	for n := 1; n <= last; n++ {
		r.Cursor.Round = n
		rounds[n] = []budget.Stage{
			{
				Kind:   transcript.Speech,
				Phases: slices.Concat(r.Phases(transcript.Speech), later),
			},
			{
				Kind:   transcript.Assessment,
				Phases: r.Phases(transcript.Assessment),
			},
		}
	}
	r.Cursor.Round = r.MaxRounds
	conclusion := r.Phases(transcript.Conclusion)

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
func laterPhases(r *State) (phases []protocol.Phase) {
	p, ok := r.Config.Protocol.(interface {
		Steps(r *protocol.Record) []protocol.Step
	})
	if !ok {
		return nil
	}
	for _, s := range p.Steps(&r.Record) {
		at := slices.IndexFunc(phases, func(x protocol.Phase) bool {
			return x.Name == s.Phase
		})
		if at < 0 {
			at = len(phases)
			phases = append(phases, protocol.Phase{
				Name:     s.Phase,
				Parallel: true,
			})
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
	addCalls(&x.sum, calls, u)
	at := slices.IndexFunc(x.result.Seats, func(s journal.SeatEstimate) bool {
		return s.Name == actor
	})
	if at < 0 {
		at = len(x.result.Seats)
		x.result.Seats = append(x.result.Seats, journal.SeatEstimate{
			Name:     actor,
			Provider: x.provider(who.Provider),
			Model:    who.Model,
		})
	}
	s := &x.result.Seats[at]
	if !likely {
		addCalls(&s.Worst, calls, u)
		return
	}
	addCalls(&s.Likely, calls, u)
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

// usualCalls has calls with replies of usual length.
type usualCalls struct{ calls }

// Actor returns an actor with the usual length of its replies.
func (c usualCalls) Actor(name string) (a budget.Actor, ok bool) {
	a, ok = c.calls.Actor(name)
	if ok {
		a.Reply = min(a.Reply, usualReply+reasoning.Tokens(c.Config.Actor(name).Reasoning)/2)
	}
	return a, ok
}

// Cost returns the price of a prompt and a reply that no cache holds and no substitute gives.
func (c usualCalls) Cost(actor string, prompt, reply int) float64 {
	price, _ := c.Config.Prices.Lookup(c.Config.Actor(actor).Model)
	return price.Cost(transcript.Usage{
		Input:  prompt,
		Output: reply,
	})
}

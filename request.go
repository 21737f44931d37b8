package debate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// allThrottled reports whether a rate limit of a participant's provider affects all participants: each uses the same
// provider or had to wait for its own.
func allThrottled(r *record, p *Participant) bool {
	for _, s := range r.Participants {
		if other, _, ok := r.actor(s.Name); ok && other.Provider != p.Provider && participantStatus(r, s.Name).State != "rate_limited" {
			return false
		}
	}
	return true
}

// newExecution returns the execution of a step, with its request.
func (e *Engine) newExecution(r *record, s protocol.Step) (*execution, error) {
	who, seat, ok := r.actor(s.Actor)
	if !ok {
		return nil, fmt.Errorf("plan step %s: %q is not a participant, judge or system actor: %w", s.Phase, s.Actor, errProtocol)
	}
	c := executionPool.Get().(*execution)
	*c = execution{
		shown: c.shown,
		step:  s, role: seat.Role, config: r.config, created: r.times.created, names: r.names,
		concluding: r.Cursor.Stage == transcript.Conclusion, judging: slices.Contains(r.Judges, s.Actor), debating: r.isParticipating(s.Actor),
		model: model{actor: who, bind: r.env.bind}, prompt: promptParts{set: e.prompts}, counter: counter{count: r.env.count}, turn: newDraft(&s),
	}
	c.timing.limit, c.timing.budget = timeLimit(r)
	c.timing.remaining = remainingTime(r)
	if c.judging {
		c.model.substitutes = r.config.Substitutes
	}
	if c.debating && s.Kind != transcript.Conclusion && allThrottled(r, who) {
		c.timing.maxWait = remainingTime(r)
	}
	if c.maxRetries(providers.Network) > 0 && s.Actor != protocol.Embedder && (s.Actor != protocol.Retriever || !c.hasDefault()) { // otherwise the debate continues without the reply
		c.timing.maxOutage = max(c.timing.remaining-r.times.outage, 1)
	}
	c.answers = &e.answers
	c.request = providers.Request{Model: who.Model, Temperature: who.Temperature, MaxTokens: who.MaxTokens}
	if s.Contract != "" {
		if c.contract = e.contract(r, s.Contract); c.contract == nil {
			return nil, &unsupported{[]string{fmt.Sprintf("reply contract %q is unknown, add it to Options.Contracts", s.Contract)}}
		}
		if s.Check != nil {
			c.contract = c.contract.WithCheck(s.Check)
		}
		c.request.SchemaName, c.request.Schema = s.Contract, c.contract.Schema() // buildPrompt adds names to the schema
	}
	if s.Actor == protocol.Embedder {
		c.request.Messages = embedderMessages(r, who.Window, &s)
		return c, nil
	}
	if !e.prompts.Has(s.Prompt) {
		return nil, &unsupported{[]string{fmt.Sprintf("prompt %q is unknown, add it to Options.Prompts", s.Prompt)}}
	}
	if err := e.buildPrompt(r, c, seat); err != nil {
		return nil, err
	}
	if s.Kind == transcript.Summary {
		c.request.MaxTokens = min(cmp.Or(who.MaxTokens, r.history.wanted.Tokens), r.history.wanted.Tokens)
		if c.turn.Window == nil { // show the window that led to the summary
			led := r.history.wanted.Window
			c.turn.setWindow(&led)
		}
	}
	return c, nil
}

// promptData returns what the template of a step's user message may read.
func promptData(r *record, c *execution, b *fixedPrompt) prompts.Data {
	d := b.data
	d.Vars = b.pseudonyms.HideValues(c.step.Vars) // the system prompt keeps the values of the actor's first step
	d.Phase, d.Round, d.Rounds, d.MinRounds = c.step.Phase, r.Cursor.Round, r.MaxRounds, r.MinRounds
	d.ActiveNames, d.Target = b.pseudonyms.SortedPseudonyms(c.names), targetRole(r, b, c.step.Target)
	if c.judging {
		d.Advice = b.pseudonyms.HideAll(judgeAdvice(r))
	}
	if c.contract != nil {
		d.ReplyFields = c.contract.Outline()
	}
	return d
}

// setSchema sets the schema of the request and returns its tokens. The schema lists the names of all participants, as the
// reader sees them, including those who dropped out, so it does not change within the debate.
func setSchema(r *record, c *execution, b *fixedPrompt) int {
	if c.contract == nil {
		return 0
	}
	if b.contract != c.step.Contract {
		contract := c.contract.WithNames("participants", b.pseudonyms.SortedPseudonyms(names(r.profiles)))
		contract = contract.WithNames("criteria", b.pseudonyms.HideAll(r.config.Rubric.Names()))
		b.contract, b.schema = c.step.Contract, contract.Schema()
		b.size = c.count(string(b.schema))
	}
	c.request.Schema = b.schema
	return b.size
}

// buildPrompt sets the messages of the request: the system prompt, which does not change within the debate, the turns
// that fit into the window, and the task.
func (e *Engine) buildPrompt(r *record, c *execution, seat transcript.Profile) error {
	b, err := fixedPromptFor(r, e.prompts, c.step, seat, c.model.actor.Model)
	if err != nil {
		return err
	}
	c.prompt.fixed, c.pseudonyms = b, b.pseudonyms
	data := promptData(r, c, b)
	if c.contract != nil { // the reply may be asked for again
		c.prompt.data = promptDataPool.Get().(*prompts.Data)
		*c.prompt.data = data
	}
	user, err := e.prompts.User(c.step.Prompt, data)
	if err != nil {
		return err
	}
	shown, tokens := visibleTurns(r, &c.step, b.pseudonyms)
	fixed := b.tokens + setSchema(r, c, b) + c.count(user)
	c.prompt.slack = roundingTokens - fixed%roundingTokens
	fixed += c.prompt.slack // rounded up, so that small changes do not move the cut
	policy, room := r.config.History, r.history.scale(&c.step, r.inOpenParallelPhase(c.step.Phase)).ToEstimated(c.model.actor.Window-cmp.Or(c.model.actor.MaxTokens, window.DefaultReplyTokens))-fixed
	if policy.UsesSummaries() { // the room that the summary was planned for
		room = min(room, historyRoom(r, &c.step, c.model.actor, seat))
	}
	if c.step.Kind == transcript.Summary { // the turns to summarize were chosen to fit
		policy, c.prompt.summarized = window.Policy{Manager: window.Sliding}, r.history.wanted.Base > 0
	}
	cut := policy.Fit(countedHistory(r, &c.step, shown, tokens), room)
	c.turn.setWindow(cut.Window())
	c.prompt.tokens, c.prompt.history = fixed+cut.Used, cut.Used
	c.prompt.summarized = c.prompt.summarized || cut.Summary.Covers > 0
	c.prompt.messages = promptMessages(r, c.step.Actor, b, shown, cut, user)
	c.request.Messages = c.prompt.messages
	return nil
}

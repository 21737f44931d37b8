package debate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/reasoning"
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
		shown: c.shown, reports: e.reports, debate: r.ID, promptSeq: r.Seq,
		step: s, pseudonyms: pseudonymsFor(r, &s), role: seat.Role, config: r.config, created: r.times.created,
		concluding: r.Cursor.Stage == transcript.Conclusion, judging: slices.Contains(r.Judges, s.Actor), debating: r.isParticipating(s.Actor),
		model: model{actor: who, bind: r.env.bind, substitutes: r.substitutesOf(s.Actor)}, prompt: promptParts{set: r.promptSet()}, counter: counter{count: r.env.count}, turn: newDraft(&s),
	}
	c.names, c.ownNames = namesFor(r, &s)
	c.timing.limit, c.timing.budget = timeLimit(r)
	c.timing.remaining = remainingTime(r)
	if c.debating && s.Kind != transcript.Conclusion && allThrottled(r, who) {
		c.timing.maxWait = remainingTime(r)
	}
	if c.maxRetries(providers.Network) > 0 && s.Actor != protocol.Embedder && (s.Actor != protocol.Retriever || !c.hasDefault()) { // otherwise the debate continues without the reply
		c.timing.maxOutage = max(c.timing.remaining-r.times.outage, 1)
	}
	c.answers, c.closing = &e.answers, e.closing
	c.request, c.keepText, c.keepReplies = who.request(), e.keepReasoning, e.keepReplies
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
	if !c.prompt.set.Has(s.Prompt) {
		return nil, &unsupported{[]string{fmt.Sprintf("prompt %q is unknown, add it to Options.Prompts", s.Prompt)}}
	}
	if err := e.buildPrompt(r, c, seat); err != nil {
		return nil, err
	}
	if s.Kind == transcript.Summary {
		wanted := r.history.wanted.Tokens + reasoning.Tokens(who.Reasoning)
		c.request.MaxTokens = min(cmp.Or(who.MaxTokens, wanted), wanted)
		if c.turn.Window == nil { // show the window that led to the summary
			led := r.history.wanted.Window
			c.turn.setWindow(&led)
		}
	}
	return c, nil
}

// learnsWindow reports whether the windows of a provider's models are known only when a debate starts. It is true if the
// engine lacks the provider, because another engine may drive the debate.
func (e *Engine) learnsWindow(provider string) bool {
	_, p, err := e.bind(provider)
	_, knows := p.(providers.Windowed)
	return err != nil || knows
}

// knownWindows returns the windows of StateChanged.Windows for a configuration.
func (e *Engine) knownWindows(ctx context.Context, c *Config) (known map[string]int) {
	for field, p := range c.allActors() {
		name, provider, err := e.bind(p.Provider)
		if err != nil || p.Human || makesNoText(actorOf(field, p)) {
			continue
		}
		size := 0
		if w, ok := provider.(providers.Windowed); ok {
			_ = e.callApart(ctx, name, func() error { size = w.Window(p.Model); return nil }) // a panic is logged
		}
		switch {
		case p.Window == 0:
			put(&known, field, cmp.Or(min(max(size, 0), maxTokens), window.DefaultSize))
		case size > 0 && size < p.Window:
			put(&known, field, size)
		}
	}
	return known
}

// setSchema sets the schema of the request and the outline of the reply, both with names, adds the names to the contract, and
// returns the tokens of the schema.
func setSchema(r *record, c *execution, b *fixedPrompt) int {
	if c.contract == nil {
		b.data.ReplyFields = ""
		return 0
	}
	n := b.replyFor(r, c.step.Contract, c.model.actor.Model, c.names, c.ownNames)
	if c.contract = n.contract; c.step.Check != nil {
		c.contract = c.contract.WithCheck(c.step.Check)
	}
	c.request.Schema, b.data.ReplyFields = n.schema, n.outline
	return n.tokens
}

// buildPrompt sets the messages of the request: the system prompt, which does not change within the debate, the turns
// that fit into the window, and the task.
func (e *Engine) buildPrompt(r *record, c *execution, seat transcript.Profile) error {
	b, err := fixedPromptFor(r, c.prompt.set, c.step, seat, c.model.actor.Model)
	if err != nil {
		return err
	}
	c.prompt.fixed = b
	c.prompt.schema = setSchema(r, c, b)
	data := promptData(r, &c.step, b, c.names)
	if c.contract != nil { // the reply may be asked for again
		c.prompt.data = promptDataPool.Get().(*prompts.Data)
		*c.prompt.data = data
	}
	user, err := c.prompt.set.User(c.step.Prompt, data)
	if err != nil {
		return err
	}
	shown, tokens := visibleTurns(r, &c.step, b.pseudonyms)
	fixed := b.tokens + c.prompt.schema + c.count(user)
	c.prompt.slack = roundingTokens - fixed%roundingTokens
	fixed += c.prompt.slack // rounded up, so that small changes do not move the cut
	c.prompt.scale = scaleOf(r, c.model.actor, c.step.Actor, c.step.Phase)
	policy, room := r.config.History, c.prompt.scale.ToEstimated(c.model.actor.Window-cmp.Or(c.model.actor.MaxTokens, window.DefaultReplyTokens))-fixed
	if policy.UsesSummaries() { // the room that the summary was planned for
		room = min(room, historyRoom(r, &c.step, c.model.actor, seat))
	}
	if c.step.Kind == transcript.Summary { // the turns to summarize were chosen to fit
		policy, c.prompt.summarized = window.Policy{Manager: window.Sliding}, r.history.wanted.Base > 0
	}
	cut := policy.Fit(countedHistory(r, &c.step, shown, tokens), room)
	c.prompt.cut = cut
	c.turn.setWindow(cut.Window())
	c.prompt.tokens, c.prompt.history = fixed+cut.Used, cut.Used
	c.prompt.summarized = c.prompt.summarized || cut.Summary.Covers > 0
	list, opaque := promptMessages(r, &c.step, b, shown, cut, user)
	c.prompt.opaque = opaque
	c.setMessages(list)
	return nil
}

// preflight builds the first prompt of each kind of step that the protocol can ask for, without history. It returns
// what is wrong: a prompt that cannot be built, or that leaves no room for a reply. It also returns lower token limits
// for replies that would leave no room for history, by the fields of their actors, a record with the prompts, and an
// ErrUnsupported if the engine lacks something.
func (e *Engine) preflight(c *Config) (found []protocol.Problem, limits map[string]int, r *record, lacks error) {
	l := &problemList{}
	r = c.plannedRecord(e.env)
	steps := forecastOf(r).steps
	if c.History.UsesSummaries() {
		steps = append(steps, protocol.Step{Key: transcript.Key{Actor: protocol.Summarizer, Phase: summaryPhase}, Prompt: "summarize", Vars: map[string]string{"words": "1000"}})
	}
	sizes := map[string]int{}
	for i := range steps {
		s := &steps[i]
		r.Cursor.Round, r.Cursor.Stage = s.Round, s.Kind
		if r.isHuman(s.Actor) {
			if _, err := newAsked(r, s); errors.Is(err, ErrUnsupported) {
				lacks = err
			} else if err != nil {
				l.add("protocol", "phase %q: %v", s.Phase, err)
			}
			continue
		}
		x, err := e.newExecution(r, *s)
		switch {
		case errors.Is(err, ErrUnsupported):
			lacks = err
			continue
		case err != nil:
			l.add("protocol", "phase %q: %v", s.Phase, err)
			continue
		case slices.Contains(r.Judges, s.Actor):
			sizes["substitutes"] = max(sizes["substitutes"], x.prompt.tokens-x.prompt.slack)
		}
		sizes[s.Actor] = max(sizes[s.Actor], x.prompt.tokens-x.prompt.slack)
		x.release()
	}
	for field, p := range c.allActors() {
		size := sizes[actorOf(field, p)]
		room := replyRoom(p.Window - size)
		switch {
		case size == 0 || makesNoText(actorOf(field, p)) || room >= p.MaxTokens:
		case room < minReply+reasoning.Budget(p.Reasoning):
			l.tooSmall(c, field, p, size)
		default:
			if limits == nil {
				limits = map[string]int{}
			}
			limits[field] = room
		}
	}
	return l.problems, limits, r, lacks
}

// replyRoom returns the tokens that a reply may have if the given number of tokens is left beside the prompt. The rest is
// for the history: half, but at most 1,024.
func replyRoom(left int) int { return left - min(left/2, 1024) }

// tooSmall adds a problem about a prompt that leaves too little of a window. It names the topic or the background if that
// takes more than half of the window.
func (l *problemList) tooSmall(c *Config, field string, p Participant, size int) {
	for _, text := range []struct{ field, text string }{{"topic", c.Topic}, {"background", c.Background}} {
		if tokens := window.Estimate(text.text); tokens > p.Window/2 {
			if !slices.ContainsFunc(l.problems, func(x protocol.Problem) bool { return x.Field == text.field }) {
				l.add(text.field, "about %d tokens are too long for the window of %s, %d", tokens, cmp.Or(p.Name, field), p.Window)
			}
			return
		}
	}
	if tokens := attachmentTokens(c.attachmentsFor(actorOf(field, p))); tokens > p.Window/2 {
		l.add("attachments", "about %d tokens are too many for the window of %s, %d: set its window, or leave it out of the readers", tokens, cmp.Or(p.Name, field), p.Window)
		return
	}
	l.add(field+".window", "%d is too small: the prompt takes about %d tokens, and the reply and the history need %d each", p.Window, size, minReply)
}

package debate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// throttled says whether a rate limit of a participant's provider hits everyone who debates: they all call it, or had to
// wait for theirs as well.
func (r *record) throttled(p *Participant) bool {
	for _, s := range r.Seats {
		if other, _, ok := r.actor(s.Name); ok && other.Provider != p.Provider && r.status(s.Name).State != "rate_limited" {
			return false
		}
	}
	return true
}

// call makes the request of a step.
func (e *Engine) call(r *record, s protocol.Step) (*call, error) {
	who, seat, ok := r.actor(s.Actor)
	if !ok {
		return nil, fmt.Errorf("plan step %s: %q is no participant, judge or helper: %w", s.Phase, s.Actor, errProtocol)
	}
	c := &call{
		step: s, who: who, role: seat.Role, set: e.prompts, names: r.names, created: r.times.created, config: r.config, bind: e.bind,
		judging: slices.Contains(r.Judges, s.Actor), debating: r.seated(s.Actor),
		tally: r.env.count, concluding: r.Cursor.Stage == transcript.Conclusion,
	}
	c.limit, c.budget = r.timeLimit()
	c.room = r.remaining()
	if c.judging {
		c.reserve = r.config.Substitutes
	}
	if c.debating && s.Kind != transcript.Conclusion && r.throttled(who) {
		c.patience = r.remaining()
	}
	c.turn = transcript.Turn{Key: s.Key, Kind: s.Kind, Order: s.Order, Horizon: s.Horizon, Output: s.Output}
	c.request = providers.Request{Model: who.Model, Temperature: who.Temperature, MaxTokens: who.MaxTokens}
	if s.Output != "" {
		if c.contract = e.contract(r, s.Output); c.contract == nil {
			return nil, fmt.Errorf("plan step %s: reply contract %q is unknown, give it in Options.Replies", s.Phase, s.Output)
		}
		c.request.Reply, c.request.Schema = s.Output, c.contract.Schema()
	}
	if s.Actor == protocol.Embedding {
		c.request.Messages = r.texts(who.Window, &s)
		return c, nil
	}
	if err := e.prompt(r, c, seat); err != nil {
		return nil, err
	}
	if s.Kind == transcript.Summary {
		c.request.MaxTokens = min(cmp.Or(who.MaxTokens, r.history.wanted.Tokens), r.history.wanted.Tokens)
		if c.turn.Window == nil { // it tells what led to it
			led := r.history.wanted.Window
			c.turn.Window = &led
		}
	}
	return c, nil
}

// prompt fills in the messages: the system prompt, which does not change within the debate, the turns that the window
// has room for, and what is asked for now.
func (e *Engine) prompt(r *record, c *call, seat transcript.Seat) error {
	b, err := r.brief(e.prompts, c.step, seat, c.who.Model)
	if err != nil {
		return err
	}
	c.data, c.mask = b.data, b.mask
	c.data.Vars = b.mask.vars(c.step.Vars) // the system prompt keeps those of the first
	c.data.Phase, c.data.Round, c.data.Rounds, c.data.MinRounds = c.step.Phase, r.Cursor.Round, r.MaxRounds, r.MinRounds
	c.data.Names, c.data.Target = b.mask.names(c.names), r.target(b, c.step.Target)
	if c.judging {
		c.data.Advice = b.mask.list(r.advice())
	}
	if c.contract != nil {
		c.data.Reply = c.contract.Outline()
	}
	user, err := e.prompts.User(c.step.Prompt, c.data)
	if err != nil {
		return err
	}
	shown, tokens := r.visible(&c.step, b.mask)
	if b.schema == 0 && len(c.request.Schema) > 0 {
		b.schema = c.count(string(c.request.Schema))
	}
	fixed := b.tokens + b.schema + c.count(user)
	c.slack = instruction - fixed%instruction
	fixed += c.slack // rounded up, so that a word more or less does not move the cut
	policy, room := r.config.History, r.scale(&c.step).Room(c.who.Window-cmp.Or(c.who.MaxTokens, window.Reply))-fixed
	if policy.Summarizes() { // where a summary was planned, there is no more
		room = min(room, r.room(&c.step, c.who, seat))
	}
	if c.step.Kind == transcript.Summary { // what it stands for was chosen to fit
		policy, c.summary = window.Policy{Manager: window.Sliding}, r.history.wanted.Base > 0
	}
	cut := policy.Fit(r.told(&c.step, shown, tokens), room)
	c.turn.Window, c.tokens, c.history = cut.Report(), fixed+cut.Used, cut.Used
	c.summary = c.summary || cut.Summary.Covers > 0
	c.asked = r.messages(c.step.Actor, b, shown, cut, user)
	c.request.Messages = c.asked
	return nil
}

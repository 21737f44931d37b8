package debate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// calls are what may run now, each with all that it needs of the record.
func (dr *drive) calls(r *record) ([]*call, *Failure) {
	var calls []*call
	for _, s := range r.next() {
		c, err := dr.d.engine.call(r, s)
		if err == nil {
			c.name, c.provider, err = dr.d.engine.bind(c.who.Provider)
		}
		if err != nil {
			return nil, &Failure{
				Key: s.Key, Kind: providers.Validation, At: time.Now().UTC(), Message: err.Error(), Recoverable: !errors.Is(err, errProtocol), cause: err,
			}
		}
		calls = append(calls, c)
	}
	return calls, nil
}

// errProtocol says that a protocol asks for what cannot be: trying again would not help.
var errProtocol = errors.New("the protocol is wrong")

// call makes the request of a step.
func (e *Engine) call(r *record, s protocol.Step) (*call, error) {
	who, seat, ok := r.actor(s.Actor)
	if !ok {
		return nil, fmt.Errorf("plan step %s: %q is no participant, judge or helper: %w", s.Phase, s.Actor, errProtocol)
	}
	c := &call{
		step: s, who: who, role: seat.Role, set: e.prompts, names: r.names, created: r.created, config: r.config, bind: e.bind,
		judging: slices.Contains(r.Judges, s.Actor), debating: r.seated(s.Actor),
		tally: r.count, concluding: r.Cursor.Stage == transcript.Conclusion,
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
		c.request.MaxTokens = min(cmp.Or(who.MaxTokens, r.wanted.Tokens), r.wanted.Tokens)
		if c.turn.Window == nil { // it tells what led to it
			led := r.wanted.Window
			c.turn.Window = &led
		}
	}
	return c, nil
}

// contract is the contract of a name; nil: there is none.
func (e *Engine) contract(r *record, name string) *reply.Contract {
	if name == judge.AssessmentContract.Name() {
		return r.config.Rubric.Contract()
	}
	return e.replies[name]
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
		policy, c.summary = window.Policy{Manager: window.Sliding}, r.wanted.Base > 0
	}
	cut := policy.Fit(r.told(&c.step, shown, tokens), room)
	c.turn.Window, c.tokens, c.history = cut.Report(), fixed+cut.Used, cut.Used
	c.summary = c.summary || cut.Summary.Covers > 0
	c.asked = r.messages(c.step.Actor, b, shown, cut, user)
	c.request.Messages = c.asked
	return nil
}

// instruction is the step in tokens by which the room for what is not history grows.
const instruction = 512

// target is the seat of whom a step is about; nil: of nobody.
func (r *record) target(b *briefing, name string) *transcript.Seat {
	name = b.mask.name(name)
	for _, list := range [][]transcript.Seat{b.data.Others, r.everyone} {
		if at := slices.IndexFunc(list, func(x transcript.Seat) bool { return x.Name == name }); at >= 0 {
			return &list[at]
		}
	}
	return nil
}

// brief is the part of a reader's prompts that stays the same.
func (r *record) brief(set *prompts.Set, s protocol.Step, seat transcript.Seat, model string) (*briefing, error) {
	k := briefKey{s.Actor, s.Prompt, s.Blind, s.Swap}
	if b := r.briefs[k]; b != nil {
		return b, nil
	}
	m := r.mask(&s)
	b := &briefing{mask: m, data: prompts.Data{
		Topic: m.text(r.config.Topic), Background: m.text(r.config.Background), Me: m.self(seat), Vars: m.vars(s.Vars),
		Others: m.seats(slices.DeleteFunc(slices.Clone(r.everyone), func(x transcript.Seat) bool { return x.Name == seat.Name })),
		Fence:  m.fence(),
	}}
	if slices.Contains(r.Judges, s.Actor) {
		b.data.Criteria = m.text(r.config.Rubric.Outline())
	}
	var err error
	if b.system, err = set.System(s.Prompt, b.data); err != nil {
		return nil, err
	}
	b.tokens = r.count(model, b.system)
	if r.briefs == nil {
		r.briefs = map[briefKey]*briefing{}
	}
	r.briefs[k] = b
	return b, nil
}

// visible are the turns that a step may show, by their index, and their tokens, until it is asked again.
func (r *record) visible(s *protocol.Step, m *mask) (shown, tokens []int) {
	shown, tokens = r.shown[:0], r.tokens[:0]
	for i := range r.Turns {
		t := &r.Turns[i]
		show := t.Kind == transcript.Speech || t.Kind == transcript.Remark
		if s.Show != nil {
			show = s.Show(t)
		}
		if show && t.Seq <= s.Horizon {
			shown = append(shown, i)
		}
	}
	if s.Kind == transcript.Summary { // one that is to be gone on from comes first, wherever it stands
		slices.SortStableFunc(shown, func(i, j int) int { return rank(&r.Turns[i]) - rank(&r.Turns[j]) })
	}
	for _, i := range shown {
		tokens = append(tokens, r.Turns[i].Tokens+m.cost())
	}
	r.shown, r.tokens = shown, tokens
	return shown, tokens
}

// rank puts summaries before what follows them.
func rank(t *transcript.Turn) int {
	if t.Kind == transcript.Summary {
		return 0
	}
	return 1
}

// messages are a prompt: one's own turns are the assistant's, others' the user's with their name.
func (r *record) messages(reader string, b *briefing, shown []int, cut window.Cut, user string) []providers.Message {
	list := make([]providers.Message, 0, cut.Kept+4) // and room for asking again
	list = append(list, providers.Message{Role: providers.System, Text: b.system})
	kept := slices.Delete(shown, cut.From, cut.To)
	b.mask.order(r.Turns, kept)
	if cut.Summary.Covers > 0 {
		at := slices.IndexFunc(r.Turns, func(t transcript.Turn) bool { return t.Seq == cut.Summary.Seq })
		list = append(list, providers.Message{Role: providers.User, Text: r.retold(&r.Turns[at], b.mask)})
	}
	for _, i := range kept {
		t := &r.Turns[i]
		list = append(list, r.heard(reader, t, b.mask, cut))
	}
	return append(list, providers.Message{Role: providers.User, Text: user})
}

// heard is a turn as a reader's prompt has it. Where only the newest is left, and it alone is too large, it is cut.
func (r *record) heard(reader string, t *transcript.Turn, m *mask, cut window.Cut) providers.Message {
	text := t.Text
	if cut.Used > cut.Limit {
		text = window.Clip(text, max(cut.Limit-m.cost(), 0))
	}
	switch {
	case t.Actor == reader && t.Kind != transcript.Summary:
		return providers.Message{Role: providers.Assistant, Text: m.text(text)}
	case cut.Used > cut.Limit:
		return providers.Message{Role: providers.User, Text: r.worded(t, text, m)}
	}
	return providers.Message{Role: providers.User, Text: r.retold(t, m)}
}

// retold is a turn as others read it.
func (r *record) retold(t *transcript.Turn, m *mask) string {
	said := &r.said
	if m != nil {
		said = &m.said
	}
	if missing := int(t.Seq) + 1 - len(*said); missing > 0 {
		*said = append(*said, make([]string, missing)...)
	}
	if (*said)[t.Seq] == "" {
		(*said)[t.Seq] = r.worded(t, t.Text, m)
	}
	return (*said)[t.Seq]
}

// worded is a turn with another text as others read it.
func (r *record) worded(t *transcript.Turn, text string, m *mask) string {
	from, round := t.Actor, t.Round
	if t.Target != "" && slices.Contains(names(r.everyone), t.Target) {
		from += " on " + t.Target
	}
	if t.Kind == transcript.Summary {
		from, round = before, 0
	}
	switch {
	case m != nil:
		return m.labels.Quote(from, round, text)
	case t.Kind == transcript.Summary:
		return from + ":\n\n" + text
	}
	return from + ": " + text
}

// before names a summary.
const before = "Summary of what was said before"

package debate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elenchus-go/debate/context/window"
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
		if c.contract = e.replies[s.Output]; c.contract == nil {
			return nil, fmt.Errorf("plan step %s: reply contract %q is unknown, give it in Options.Replies", s.Phase, s.Output)
		}
		c.request.Reply, c.request.Schema = s.Output, c.contract.Schema()
	}
	return c, e.prompt(r, c, seat)
}

// prompt fills in the messages: the system prompt, which does not change within the debate, the turns that the window
// has room for, and what is asked for now.
func (e *Engine) prompt(r *record, c *call, seat transcript.Seat) error {
	b, err := r.brief(e.prompts, c.step, seat)
	if err != nil {
		return err
	}
	c.data = b.data
	c.data.Vars = c.step.Vars // the system prompt keeps those of the first
	c.data.Phase, c.data.Round, c.data.Rounds, c.data.MinRounds = c.step.Phase, r.Cursor.Round, r.MaxRounds, r.MinRounds
	c.data.Names = c.names
	if c.contract != nil {
		c.data.Reply = c.contract.Outline()
	}
	if at := slices.IndexFunc(r.everyone, func(x transcript.Seat) bool { return x.Name == c.step.Target }); at >= 0 {
		c.data.Target = &r.everyone[at]
	}
	user, err := e.prompts.User(c.step.Prompt, c.data)
	if err != nil {
		return err
	}
	shown, tokens := r.visible(&c.step)
	fixed := b.tokens + window.Estimate(user)
	fixed += instruction - fixed%instruction // rounded up, so that a word more or less does not move the cut
	cut := window.Sliding{}.Fit(tokens, c.who.Window-cmp.Or(c.who.MaxTokens, window.Reply)-fixed)
	c.turn.Window, c.tokens, c.history = cut.Report(), fixed+cut.Used, cut.Used
	c.asked = r.messages(c.step.Actor, b.system, shown, cut, user)
	c.request.Messages = c.asked
	return nil
}

// instruction is the step in tokens by which the room for what is not history grows.
const instruction = 512

// brief is the part of a reader's prompts that stays the same.
func (r *record) brief(set *prompts.Set, s protocol.Step, seat transcript.Seat) (*briefing, error) {
	k := briefKey{s.Actor, s.Prompt}
	if b := r.briefs[k]; b != nil {
		return b, nil
	}
	b := &briefing{data: prompts.Data{
		Topic: r.config.Topic, Background: r.config.Background, Me: seat, Vars: s.Vars,
		Others: slices.DeleteFunc(slices.Clone(r.everyone), func(x transcript.Seat) bool { return x.Name == seat.Name }),
	}}
	var err error
	if b.system, err = set.System(s.Prompt, b.data); err != nil {
		return nil, err
	}
	b.tokens = window.Estimate(b.system)
	if r.briefs == nil {
		r.briefs = map[briefKey]*briefing{}
	}
	r.briefs[k] = b
	return b, nil
}

// visible are the turns that a step may show, by their index, and their tokens, until it is asked again.
func (r *record) visible(s *protocol.Step) (shown, tokens []int) {
	shown, tokens = r.shown[:0], r.tokens[:0]
	for i := range r.Turns {
		t := &r.Turns[i]
		show := t.Kind == transcript.Speech || t.Kind == transcript.Remark
		if s.Show != nil {
			show = s.Show(t)
		}
		if show && t.Seq <= s.Horizon {
			shown, tokens = append(shown, i), append(tokens, t.Tokens)
		}
	}
	r.shown, r.tokens = shown, tokens
	return shown, tokens
}

// messages are a prompt: one's own turns are the assistant's, others' the user's with their name.
func (r *record) messages(reader, system string, shown []int, cut window.Cut, user string) []providers.Message {
	list := make([]providers.Message, 0, cut.Kept+4) // and room for asking again
	list = append(list, providers.Message{Role: providers.System, Text: system})
	for n, i := range shown {
		if n >= cut.From && n < cut.To {
			continue
		}
		t := &r.Turns[i]
		m := providers.Message{Role: providers.Assistant, Text: t.Text}
		if t.Actor != reader {
			m = providers.Message{Role: providers.User, Text: r.retold(t)}
		}
		if cut.Used > cut.Limit { // only the newest is left, and it alone is too large
			m.Text = window.Clip(m.Text, cut.Limit)
		}
		list = append(list, m)
	}
	return append(list, providers.Message{Role: providers.User, Text: user})
}

// retold is a turn as others read it.
func (r *record) retold(t *transcript.Turn) string {
	if r.said[t.Seq] == "" {
		r.said[t.Seq] = t.Actor + ": " + t.Text
	}
	return r.said[t.Seq]
}

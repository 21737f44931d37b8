package prompting

import (
	"cmp"
	"slices"
	"sync"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// summaryHeading names a summary in prompts.
const summaryHeading = "Summary of what was said before"

// dataPool holds the data of prompts that may have to ask for a reply again.
var dataPool = sync.Pool{New: func() any { return new(prompts.Data) }}

// Release gives what Build has taken for a prompt back. Nothing may use the prompt afterwards.
func Release(q *step.Prompt) {
	if q.Data != nil {
		dataPool.Put(q.Data)
	}
}

// Build sets the prompt of a plan: the system prompt, which does not change within the debate, the turns that fit into the
// window, and the task. It adds names to the contract of the reply. own are the names that the protocol lists for the step.
func (d *Debate) Build(p *step.Plan, seat transcript.Profile, own []string) error {
	s, q, model := &p.Step, &p.Prompt, d.model(p.Step.Actor)
	b, err := d.Fixed(s, seat)
	if err != nil {
		return err
	}
	q.Heading = summaryHeading
	q.Base, q.Attachments = &b.data, b.shown
	q.Schema = d.setSchema(p, b, own)
	data := d.data(s, b, p.Names)
	if p.Contract != nil { // the reply may be asked for again
		q.Data = dataPool.Get().(*prompts.Data)
		*q.Data = data
	}
	user, err := q.Set.User(s.Prompt, data)
	if err != nil {
		return err
	}
	shown, tokens := d.Visible(s)
	fixed := b.tokens + q.Schema + d.Env.Count(model.Name, user)
	q.Slack = roundingTokens - fixed%roundingTokens
	fixed += q.Slack // rounded up, so that small changes do not move the cut
	q.Scale = d.Scale(s.Actor, s.Phase)
	policy, room := d.Settings.History, q.Scale.ToEstimated(model.Window-cmp.Or(model.MaxTokens, window.DefaultReplyTokens))-fixed
	if len(d.Settings.Actors.ToolsOf(s.Actor)) > 0 {
		p.Tools = &step.Tools{Room: d.Settings.Tools.Room(room)}
		room -= p.Tools.Room
	}
	if policy.UsesSummaries() { // the room that the summary was planned for
		room = min(room, d.room(s, seat))
	}
	if s.Kind == transcript.Summary { // the turns to summarize were chosen to fit
		policy, q.Summarized = window.Policy{Manager: window.Sliding}, d.History.Wanted.Base > 0
	}
	h := d.counted(s, shown, tokens)
	if q.Cut = policy.Fit(h, room); d.Env.Recut != nil {
		d.Env.Recut(policy, h, &q.Cut)
	}
	p.Window = q.Cut.Window()
	q.Tokens, q.History = fixed+q.Cut.Used, q.Cut.Used
	q.Summarized = q.Summarized || q.Cut.Summary.Covers > 0
	q.Messages, q.Opaque = d.messages(s, b, shown, q.Cut, user)
	return nil
}

// setSchema sets the schema of the request and the outline of the reply, both with names, adds the names to the contract, and
// returns the tokens of the schema.
func (d *Debate) setSchema(p *step.Plan, b *Fixed, own []string) int {
	if p.Contract == nil {
		b.data.ReplyFields = ""
		return 0
	}
	n := b.replyFor(d, p.Step.Contract, p.Model.Request.Model, p.Names, own)
	if p.Contract = n.contract; p.Step.Check != nil {
		p.Contract = p.Contract.WithCheck(p.Step.Check)
	}
	p.Model.Request.Schema, b.data.ReplyFields = n.schema, n.outline
	return n.tokens
}

// data returns what the template of a step's user message may read, except the reply's fields. The reply may name active.
func (d *Debate) data(s *protocol.Step, b *Fixed, active []string) prompts.Data {
	x := b.data
	x.Vars = b.Pseudonyms.HideValues(s.Vars) // the system prompt keeps the values of the actor's first step
	x.Phase, x.Round, x.Rounds, x.MinRounds = s.Phase, d.Cursor.Round, d.MaxRounds, d.MinRounds
	x.ActiveNames, x.Target = b.Pseudonyms.SortedPseudonyms(active), d.targetRole(b, s.Target)
	if slices.Contains(d.Judges, s.Actor) {
		x.Advice = b.Pseudonyms.HideAll(d.Findings.Advice(d.Cursor.Round))
	}
	return x
}

// targetRole returns the profile of the participant that a step is about, or nil if there is none.
func (d *Debate) targetRole(b *Fixed, name string) *transcript.Profile {
	name = b.Pseudonyms.Of(name)
	for _, list := range [][]transcript.Profile{b.data.Others, d.Profiles} {
		if at := slices.IndexFunc(list, func(x transcript.Profile) bool { return x.Name == name }); at >= 0 {
			return &list[at]
		}
	}
	return nil
}

// Task returns the task of a step, as a model or a person is asked. The reply may name active.
func (d *Debate) Task(s *protocol.Step, b *Fixed, active []string) (string, error) {
	return d.Settings.Templates.User(s.Prompt, d.data(s, b, active))
}

// Tokens returns the tokens of a step's prompt without the history: the system prompt, the attachments, the task and the
// schema of the reply. If the template or the contract is missing, it returns an estimate.
func (d *Debate) Tokens(s *protocol.Step, seat transcript.Profile) int {
	set, model := d.Settings.Templates, d.model(s.Actor).Name
	if set == nil || !set.Has(s.Prompt) {
		return d.tokensBesideHistory(seat)
	}
	b, err := d.Fixed(s, seat)
	if err != nil { // the step reports this error
		return d.tokensBesideHistory(seat)
	}
	active, own := d.NamesFor(s)
	data, schema := d.data(s, b, active), 0
	if s.Contract != "" {
		c := b.replyFor(d, s.Contract, model, active, own)
		if c == nil {
			return d.tokensBesideHistory(seat)
		}
		schema, data.ReplyFields = c.tokens, c.outline
	}
	user, err := set.User(s.Prompt, data)
	if err != nil {
		return d.tokensBesideHistory(seat)
	}
	return b.tokens + schema + d.Env.Count(model, user)
}

// EstimatedTokens returns an estimate of the tokens of a prompt that shows every turn.
func (d *Debate) EstimatedTokens(s *protocol.Step, seat transcript.Profile) int {
	tokens := d.tokensBesideHistory(seat) + taskTokens
	quote := d.Pseudonyms(s).QuoteTokens()
	for i := range d.Turns {
		tokens += d.Turns[i].Tokens + quote + checkedTokens(&d.Turns[i], d.Pseudonyms(s).Nonce())
	}
	return tokens
}

// messages returns the messages of a prompt, and the tokens of the opaque reasoning in them. The reader's own turns have the
// assistant role. Others' turns have the user role and stand between delimiters that name the speaker.
func (d *Debate) messages(s *protocol.Step, b *Fixed, shown []int, cut window.Cut, user string) (list []providers.Message, opaque int) {
	size := cut.Kept + 2
	if cut.Summary.Covers > 0 {
		size++
	}
	list = make([]providers.Message, 0, size)
	list = append(list, providers.Message{Role: providers.System, Text: b.System})
	kept := slices.Delete(shown, cut.From, cut.To)
	b.Pseudonyms.Sort(d.Turns, kept)
	if cut.Summary.Covers > 0 {
		at := slices.IndexFunc(d.Turns, func(t transcript.Turn) bool { return t.Seq == cut.Summary.Seq })
		list = append(list, providers.Message{Role: providers.User, Text: d.turnText(&d.Turns[at], b.Pseudonyms)})
	}
	for _, i := range kept {
		t := &d.Turns[i]
		m := d.turnMessage(s, t, b.Pseudonyms, cut)
		if m.Parts != nil {
			opaque += d.opaqueFor(s, t).Tokens
		}
		list = append(list, m)
	}
	return append(list, providers.Message{Role: providers.User, Text: user}), opaque
}

// turnMessage returns a turn as a message of a reader's prompt. If only the newest turn is left and it is too long, its text
// is cut.
func (d *Debate) turnMessage(s *protocol.Step, t *transcript.Turn, m *judge.Pseudonyms, cut window.Cut) providers.Message {
	text := t.Text
	if cut.Used > cut.Limit {
		text = window.Clip(text, max(cut.Limit-m.QuoteTokens()-checkedTokens(t, m.Nonce()), 0))
	}
	switch {
	case t.Actor == s.Actor && t.Kind != transcript.Summary:
		if o := d.opaqueFor(s, t); o != nil && cut.Used <= cut.Limit {
			return opaqueMessage(o, m.Hide(text))
		}
		return providers.Message{Role: providers.Assistant, Text: m.Hide(text)}
	case cut.Used > cut.Limit:
		return providers.Message{Role: providers.User, Text: d.formatTurn(t, text, m)}
	}
	return providers.Message{Role: providers.User, Text: d.turnText(t, m)}
}

// opaqueMessage returns a message of the actor's own with its reasoning. The text is the last part.
func opaqueMessage(o *reasoning.Opaque, text string) providers.Message {
	parts := make([]providers.Part, 0, len(o.Parts)+1)
	for _, p := range o.Parts {
		parts = append(parts, providers.Part{Reasoning: &providers.Reasoning{Service: p.Service, Data: p.Data}})
	}
	return providers.Message{Role: providers.Assistant, Parts: append(parts, providers.Part{Text: text})}
}

// turnText returns a turn as other actors see it.
func (d *Debate) turnText(t *transcript.Turn, m *judge.Pseudonyms) string {
	said := d.cache.texts[m]
	if missing := int(t.Seq) + 1 - len(said); missing > 0 {
		if d.cache.texts == nil {
			d.cache.texts = map[*judge.Pseudonyms][]string{}
		}
		said = append(said, make([]string, missing)...)
		d.cache.texts[m] = said
	}
	if said[t.Seq] == "" {
		said[t.Seq] = d.formatTurn(t, t.Text, m)
	}
	return said[t.Seq]
}

// formatTurn formats a turn with the given text as other actors see it.
func (d *Debate) formatTurn(t *transcript.Turn, text string, m *judge.Pseudonyms) string {
	from, round := heading(t.Actor), t.Round
	if t.Target != "" && slices.Contains(NamesOf(d.Profiles), t.Target) {
		from += " on " + t.Target
	}
	if t.Kind == transcript.Summary {
		from, round = summaryHeading, 0
	}
	return m.Quote(from, round, text) + checkedText(t, m.Nonce())
}

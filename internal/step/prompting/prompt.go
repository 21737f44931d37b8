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
	s := &p.Step
	q := &p.Prompt
	model := d.model(p.Step.Actor)
	b, err := d.fixed(s, seat)
	if err != nil {
		return err
	}
	q.Heading = summaryHeading
	q.Base = &b.data
	q.Attachments = b.shown
	q.AttachmentDigests = b.digests
	q.Schema = d.setSchema(p, b, own)
	data := d.data(s, b, p.Names)
	if p.Contract != nil || s.Doubt != nil || p.Speech != nil { // the reply may be asked for again
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
	policy := d.Settings.History
	room := q.Scale.ToEstimated(model.room()) - fixed
	if len(d.Settings.Actors.ToolsOf(s.Actor)) > 0 {
		p.Tools = &step.Tools{Room: d.Settings.Tools.Room(room)}
		room -= p.Tools.Room
	}
	if policy.UsesSummaries() { // the room that the summary was planned for
		room = min(room, d.room(s, seat))
	}
	if s.Kind == transcript.Summary { // the turns to summarize were chosen to fit
		policy = window.Policy{Manager: window.Sliding}
		q.Summarized = d.History.Wanted.Base > 0
	}
	h := d.counted(s, shown, tokens)
	q.Cut = policy.Fit(h, room)
	if d.Env.Recut != nil {
		d.Env.Recut(policy, h, &q.Cut)
	}
	p.Window = q.Cut.Window()
	q.Tokens = fixed + q.Cut.Used
	q.History = q.Cut.Used
	q.Summarized = q.Summarized || q.Cut.Summary.Covers > 0
	d.setMessages(s, b, q, shown, user)
	return nil
}

// setSchema sets the schema of the request and the outline of the reply, both with names, adds the names to the contract, and
// returns the tokens of the schema.
func (d *Debate) setSchema(p *step.Plan, b *fixedPart, own []string) int {
	if p.Contract == nil {
		b.data.ReplyFields = ""
		return 0
	}
	n := b.replyFor(d, p.Step.Contract, p.Model.Request.Model, p.Names, own)
	p.Contract = n.contract
	if p.Step.Check != nil {
		p.Contract = p.Contract.WithCheck(p.Step.Check)
	}
	p.Model.Request.Schema = n.schema
	p.Prompt.SchemaDigest = n.digest
	b.data.ReplyFields = n.outline
	return n.tokens
}

// data returns what the template of a step's user message may read, except the reply's fields. The reply may name active.
func (d *Debate) data(s *protocol.Step, b *fixedPart, active []string) prompts.Data {
	x := b.data
	x.Vars = b.Pseudonyms.HideValues(s.Vars) // the system prompt keeps the values of the actor's first step
	x.Phase = s.Phase
	x.Round = d.Cursor.Round
	x.Rounds = d.MaxRounds
	x.MinRounds = d.MinRounds
	x.ActiveNames = b.Pseudonyms.SortedPseudonyms(active)
	x.Target = d.targetRole(b, s.Target)
	if slices.Contains(d.Judges, s.Actor) {
		x.Advice = b.Pseudonyms.HideAll(d.Findings.Advice(d.Cursor.Round))
	}
	return x
}

// targetRole returns the profile of the participant that a step is about, or nil if there is none.
func (d *Debate) targetRole(b *fixedPart, name string) *transcript.Profile {
	name = b.Pseudonyms.Of(name)
	return cmp.Or(profileOf(b.data.Others, name), profileOf(d.Profiles, name))
}

// profileOf returns the profile with a name, or nil if there is none.
func profileOf(list []transcript.Profile, name string) *transcript.Profile {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// task returns the task of a step, as a model or a person is asked. The reply may name active.
func (d *Debate) task(s *protocol.Step, b *fixedPart, active []string) (string, error) {
	return d.Settings.Templates.User(s.Prompt, d.data(s, b, active))
}

// Tokens returns the tokens of a step's prompt without the history: the system prompt, the attachments, the task and the
// schema of the reply. If the template or the contract is missing, it returns an estimate.
func (d *Debate) Tokens(s *protocol.Step, seat transcript.Profile) int {
	set := d.Settings.Templates
	model := d.model(s.Actor).Name
	if set == nil || !set.Has(s.Prompt) {
		return d.tokensBesideHistory(seat)
	}
	b, err := d.fixed(s, seat)
	if err != nil { // the step reports this error
		return d.tokensBesideHistory(seat)
	}
	active, own := d.NamesFor(s)
	data := d.data(s, b, active)
	schema := 0
	if s.Contract != "" {
		c := b.replyFor(d, s.Contract, model, active, own)
		if c == nil {
			return d.tokensBesideHistory(seat)
		}
		schema = c.tokens
		data.ReplyFields = c.outline
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
	m := d.Pseudonyms(s)
	for i := range d.Turns {
		tokens += shownTokens(&d.Turns[i], m)
	}
	return tokens
}

// setMessages sets the messages of a prompt with their digests, and the tokens of the opaque reasoning in them. The reader's own
// turns have the assistant role. Others' turns have the user role and stand between delimiters that name the speaker.
func (d *Debate) setMessages(s *protocol.Step, b *fixedPart, q *step.Prompt, shown []int, user string) {
	cut := q.Cut
	size := cut.Kept + 2
	if cut.Summary.Covers > 0 {
		size++
	}
	q.Messages = make([]providers.Message, 0, size)
	q.Digests = slices.Grow(q.Digests[:0], size)
	add := func(m providers.Message, sum step.Digest) {
		q.Messages = append(q.Messages, m)
		q.Digests = append(q.Digests, sum)
	}
	add(step.Message(providers.System, b.System), b.digest)
	kept := slices.Delete(shown, cut.From, cut.To)
	b.Pseudonyms.Sort(d.Turns, kept)
	if cut.Summary.Covers > 0 {
		of := d.saidIn(turnWith(d.Turns, cut.Summary.Seq), b.Pseudonyms)
		add(step.Message(providers.User, of.text), of.digest)
	}
	for _, i := range kept {
		m, sum := d.turnMessage(s, i, b.Pseudonyms, cut)
		if m.Parts != nil {
			q.Opaque += d.opaqueFor(s, &d.Turns[i]).Tokens
		}
		add(m, sum)
	}
	task := step.Message(providers.User, user)
	add(task, step.DigestOf(&task))
}

// turnMessage returns the turn at an index as a message of a reader's prompt, and the digest of the message. If only the newest
// turn is left and it is too long, its text is cut.
func (d *Debate) turnMessage(
	s *protocol.Step, at int, m *judge.Pseudonyms, cut window.Cut,
) (providers.Message, step.Digest) {
	t := &d.Turns[at]
	if cut.Used > cut.Limit {
		beside := shownTokens(t, m) - t.Tokens
		text := window.Clip(t.Text, max(cut.Limit-beside, 0))
		clipped := d.clippedMessage(s, t, m, text)
		return clipped, step.DigestOf(&clipped)
	}
	of := d.saidIn(at, m)
	if t.Actor != s.Actor || t.Kind == transcript.Summary {
		return step.Message(providers.User, of.text), of.digest
	}
	own := step.Message(providers.Assistant, m.Hide(t.Text))
	thoughts := d.opaqueFor(s, t)
	if thoughts != nil {
		own = opaqueMessage(thoughts, own.Text)
	}
	if of.own == (step.Digest{}) || of.thoughts != thoughts {
		of.own = step.DigestOf(&own)
		of.thoughts = thoughts
	}
	return own, of.own
}

// clippedMessage returns a turn with a text that was cut as a message of a reader's prompt.
func (d *Debate) clippedMessage(s *protocol.Step, t *transcript.Turn, m *judge.Pseudonyms, text string) providers.Message {
	if t.Actor == s.Actor && t.Kind != transcript.Summary {
		return step.Message(providers.Assistant, m.Hide(text))
	}
	return step.Message(providers.User, d.formatTurn(t, text, m))
}

// opaqueMessage returns a message of the actor's own with its reasoning. The text is the last part.
func opaqueMessage(o *reasoning.Opaque, text string) providers.Message {
	parts := make([]providers.Part, 0, len(o.Parts)+1)
	for _, p := range o.Parts {
		parts = append(parts, providers.Part{Reasoning: &providers.Reasoning{
			Service: p.Service,
			Data:    p.Data,
		}})
	}
	return providers.Message{
		Role:  providers.Assistant,
		Parts: append(parts, providers.Part{Text: text}),
	}
}

// fewTurns is the number of turns for which the cache gets room at once.
const fewTurns = 32

// saidIn returns the turn at an index as a message of prompts, which it keeps.
func (d *Debate) saidIn(at int, m *judge.Pseudonyms) *said {
	list := d.cache.said[m]
	t := &d.Turns[at]
	if at >= len(list) {
		if d.cache.said == nil {
			d.cache.said = map[*judge.Pseudonyms][]said{}
		}
		if at >= cap(list) {
			list = slices.Grow(list, at-len(list)+fewTurns)
		}
		list = list[:at+1]
		d.cache.said[m] = list
	}
	of := &list[at]
	if of.text == "" || of.seq != t.Seq { // no prompt has shown it yet, or a turn was inserted before it
		text := d.formatTurn(t, t.Text, m)
		*of = said{
			seq:  t.Seq,
			text: text,
			digest: step.DigestOf(&providers.Message{
				Role: providers.User,
				Text: text,
			}),
		}
	}
	return of
}

// formatTurn formats a turn with the given text as other actors see it.
func (d *Debate) formatTurn(t *transcript.Turn, text string, m *judge.Pseudonyms) string {
	from := headingOf(t.Actor)
	round := t.Round
	if t.Target != "" && slices.Contains(NamesOf(d.Profiles), t.Target) {
		from += " on " + t.Target
	}
	if t.Kind == transcript.Summary {
		from = summaryHeading
		round = 0
	}
	return m.Quote(from, round, text) + checkedText(t, m.Nonce())
}

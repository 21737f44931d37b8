package debate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/embedding"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// roundingTokens holds the unit, in tokens, to which the size of a prompt's fixed part is rounded up.
const roundingTokens = 512

// promptSet returns the templates of the debate's prompts. If the engine lacks them, it returns its own; it does not drive
// the debate then.
func promptSet(r *record) *prompts.Set {
	if set := r.env.sets[r.config.Prompts]; set != nil {
		return set
	}
	return r.env.sets[""]
}

// targetRole returns the profile of the participant that a step is about, or nil if there is none.
func targetRole(r *record, b *fixedPrompt, name string) *transcript.Profile {
	name = b.pseudonyms.Of(name)
	for _, list := range [][]transcript.Profile{b.data.Others, r.profiles} {
		if at := slices.IndexFunc(list, func(x transcript.Profile) bool { return x.Name == name }); at >= 0 {
			return &list[at]
		}
	}
	return nil
}

// fixedPromptFor returns the part of a reader's prompts that does not change. Its tokens are those of the system prompt,
// with the documents, and of the attachments.
func fixedPromptFor(r *record, set *prompts.Set, s protocol.Step, seat transcript.Profile, model string) (*fixedPrompt, error) {
	k := fixedPromptKey{s.Actor, s.Prompt, s.Blind, s.Swap}
	for i, b := range r.cache.fixedPrompts {
		if b.key == k && b.planned && !maps.Equal(b.vars, s.Vars) {
			r.cache.fixedPrompts = slices.Delete(r.cache.fixedPrompts, i, i+1)
			break
		}
		if b.key == k {
			b.planned = false
			return b, nil
		}
	}
	m := pseudonymsFor(r, &s)
	b := &fixedPrompt{key: k, pseudonyms: m, vars: s.Vars, data: prompts.Data{
		Topic: m.Hide(r.config.Topic), Background: m.Hide(r.config.Background), Me: m.OwnProfile(seat), Vars: m.HideValues(s.Vars),
		Others: m.Profiles(others(r, seat.Name)),
		Nonce:  m.Nonce(),
		Blind:  s.Blind,
	}}
	if slices.Contains(r.Judges, s.Actor) {
		b.data.Criteria = m.Hide(r.config.Rubric.Outline())
	}
	var err error
	if b.system, err = set.System(s.Prompt, b.data); err != nil {
		return nil, err
	}
	if who := r.config.settings(s.Actor); who != nil && len(who.Tools) > 0 && !who.Human {
		list, _ := r.env.tools(who.Tools)
		b.system += "\n\n" + prompts.Tools(b.data.Nonce)
		b.tokens = toolTokens(r, model, list)
	}
	documents, attached := documentsFor(r.config, s.Actor), attachmentsFor(r.config, s.Actor)
	b.tokens += r.env.count(model, b.system) + documentsTokens(documents) + attachmentTokens(attached)
	b.system += documentsText(documents, m)
	b.shown = attachmentMessage(attached, m)
	r.cache.fixedPrompts = append(r.cache.fixedPrompts, b)
	return b, nil
}

// toolTokens returns the tokens of the definitions of tools.
func toolTokens(r *record, model string, list []providers.Tool) int {
	raw, _ := json.Marshal(list) // they were checked
	return r.env.count(model, string(raw))
}

// others returns the profiles of all participants but one.
func others(r *record, name string) []transcript.Profile {
	list := make([]transcript.Profile, 0, max(len(r.profiles)-1, 1))
	for i := range r.profiles {
		if r.profiles[i].Name != name {
			list = append(list, r.profiles[i])
		}
	}
	return list
}

// visibleTurns returns the indexes of the turns that a step may show, and their tokens. The next call overwrites both
// slices.
func visibleTurns(r *record, s *protocol.Step, m *judge.Pseudonyms) (shown, tokens []int) {
	shown, tokens = r.cache.shown[:0], r.cache.tokens[:0]
	for i := range r.Turns {
		t := &r.Turns[i]
		show := t.Kind == transcript.Speech || t.Kind == transcript.Remark
		if s.Show != nil {
			show = s.Show(t)
		}
		if show && t.Seq <= s.VisibleSeq {
			shown = append(shown, i)
		}
	}
	if s.Kind == transcript.Summary { // the summary to extend comes first
		slices.SortStableFunc(shown, func(i, j int) int { return rank(&r.Turns[i]) - rank(&r.Turns[j]) })
	}
	for _, i := range shown {
		n := r.Turns[i].Tokens + m.QuoteTokens()
		if o := opaqueFor(r, s, &r.Turns[i]); o != nil {
			n += o.Tokens
		}
		tokens = append(tokens, n)
	}
	r.cache.shown, r.cache.tokens = shown, tokens
	return shown, tokens
}

// rank sorts summaries before other turns.
func rank(t *transcript.Turn) int {
	if t.Kind == transcript.Summary {
		return 0
	}
	return 1
}

// promptMessages returns the messages of a prompt, and the tokens of the opaque reasoning in them. The reader's own turns
// have the assistant role. Others' turns have the user role and stand between delimiters that name the speaker.
func promptMessages(r *record, s *protocol.Step, b *fixedPrompt, shown []int, cut window.Cut, user string) (list []providers.Message, opaque int) {
	size := cut.Kept + 2
	if cut.Summary.Covers > 0 {
		size++
	}
	list = make([]providers.Message, 0, size)
	list = append(list, providers.Message{Role: providers.System, Text: b.system})
	kept := slices.Delete(shown, cut.From, cut.To)
	b.pseudonyms.Sort(r.Turns, kept)
	if cut.Summary.Covers > 0 {
		at := slices.IndexFunc(r.Turns, func(t transcript.Turn) bool { return t.Seq == cut.Summary.Seq })
		list = append(list, providers.Message{Role: providers.User, Text: turnText(r, &r.Turns[at], b.pseudonyms)})
	}
	for _, i := range kept {
		t := &r.Turns[i]
		m := turnMessage(r, s, t, b.pseudonyms, cut)
		if m.Parts != nil {
			opaque += opaqueFor(r, s, t).Tokens
		}
		list = append(list, m)
	}
	return append(list, providers.Message{Role: providers.User, Text: user}), opaque
}

// turnMessage returns a turn as a message of a reader's prompt. If only the newest turn is left and it is too long,
// its text is cut.
func turnMessage(r *record, s *protocol.Step, t *transcript.Turn, m *judge.Pseudonyms, cut window.Cut) providers.Message {
	text := t.Text
	if cut.Used > cut.Limit {
		text = window.Clip(text, max(cut.Limit-m.QuoteTokens(), 0))
	}
	switch {
	case t.Actor == s.Actor && t.Kind != transcript.Summary:
		if o := opaqueFor(r, s, t); o != nil && cut.Used <= cut.Limit {
			return opaqueMessage(o, m.Hide(text))
		}
		return providers.Message{Role: providers.Assistant, Text: m.Hide(text)}
	case cut.Used > cut.Limit:
		return providers.Message{Role: providers.User, Text: formatTurn(r, t, text, m)}
	}
	return providers.Message{Role: providers.User, Text: turnText(r, t, m)}
}

// opaqueFor returns the opaque reasoning of a turn for the prompt of a step, or nil. Only the actor of the turn gets it
// back, and only if its provider and its model are still the same.
func opaqueFor(r *record, s *protocol.Step, t *transcript.Turn) *reasoning.Opaque {
	o := r.history.opaque[t.Seq]
	if o == nil || t.Actor != s.Actor || s.Blind || strings.TrimSpace(t.Text) == "" {
		return nil
	}
	p := r.config.settings(s.Actor)
	if p == nil || p.Model != o.Model {
		return nil
	}
	if name, _, err := r.env.bind(p.Provider); err != nil || name != o.Provider {
		return nil
	}
	return o
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
func turnText(r *record, t *transcript.Turn, m *judge.Pseudonyms) string {
	said := r.cache.texts[m]
	if missing := int(t.Seq) + 1 - len(said); missing > 0 {
		if r.cache.texts == nil {
			r.cache.texts = map[*judge.Pseudonyms][]string{}
		}
		said = append(said, make([]string, missing)...)
		r.cache.texts[m] = said
	}
	if said[t.Seq] == "" {
		said[t.Seq] = formatTurn(r, t, t.Text, m)
	}
	return said[t.Seq]
}

// formatTurn formats a turn with the given text as other actors see it.
func formatTurn(r *record, t *transcript.Turn, text string, m *judge.Pseudonyms) string {
	from, round := cmp.Or(systemHeadings[t.Actor], t.Actor), t.Round
	if t.Target != "" && slices.Contains(names(r.profiles), t.Target) {
		from += " on " + t.Target
	}
	if t.Kind == transcript.Summary {
		from, round = summaryHeading, 0
	}
	return m.Quote(from, round, text)
}

// summaryHeading names a summary in prompts.
const summaryHeading = "Summary of what was said before"

// systemHeadings lists the headings of system actors' turns in prompts. The names of these actors mean nothing to models.
var systemHeadings = map[string]string{
	protocol.PersonaAssigner: "Personas", protocol.Summarizer: "Notes", protocol.Retriever: "Documents",
}

// pseudonymsFor returns the pseudonyms for a step. They hide the names of all participants but the reader. If the step is
// not blind, they hide no names: they only enclose the statements. All readers that are neither judges nor blind share one
// nonce.
func pseudonymsFor(r *record, s *protocol.Step) *judge.Pseudonyms {
	var k pseudonymsKey
	if s.Blind || slices.Contains(r.Judges, s.Actor) {
		k = pseudonymsKey{reader: s.Actor, swap: s.Swap, blind: s.Blind}
	}
	if m := r.cache.pseudonyms[k]; m != nil {
		return m
	}
	var hidden []string
	if s.Blind {
		hidden = names(others(r, s.Actor))
	}
	m := judge.NewPseudonyms(hidden, r.Seed, k.reader, s.Swap)
	if r.cache.pseudonyms == nil {
		r.cache.pseudonyms = map[pseudonymsKey]*judge.Pseudonyms{}
	}
	r.cache.pseudonyms[k] = m
	return m
}

// historyTokens returns the estimated tokens of all turns except summaries, with their delimiters.
func historyTokens(r *record) int {
	return r.history.tokens + len(r.Turns)*pseudonymsFor(r, &protocol.Step{}).QuoteTokens()
}

// promptData returns what the template of a step's user message may read, except the reply's fields. The reply may name
// active.
func promptData(r *record, s *protocol.Step, b *fixedPrompt, active []string) prompts.Data {
	d := b.data
	d.Vars = b.pseudonyms.HideValues(s.Vars) // the system prompt keeps the values of the actor's first step
	d.Phase, d.Round, d.Rounds, d.MinRounds = s.Phase, r.Cursor.Round, r.MaxRounds, r.MinRounds
	d.ActiveNames, d.Target = b.pseudonyms.SortedPseudonyms(active), targetRole(r, b, s.Target)
	if slices.Contains(r.Judges, s.Actor) {
		d.Advice = b.pseudonyms.HideAll(r.findings.Advice(r.Cursor.Round))
	}
	return d
}

// withNames returns a contract whose schema lists the names of all participants, as the reader sees them, including
// those who dropped out. If the protocol lists other names for the step, the schema lists these. What has an entry for
// each participant has one for each who is left, so the schema changes within the debate only if one drops out or if the
// names of the step differ.
func withNames(r *record, c *reply.Contract, m *judge.Pseudonyms, active, own []string) *reply.Contract {
	if own == nil {
		own = names(r.profiles)
	}
	c = c.WithNames("participants", m.SortedPseudonyms(own)).WithNames("active", m.SortedPseudonyms(active))
	return c.WithNames("criteria", m.HideAll(r.config.Rubric.Names()))
}

// replyFor returns what a reply with the given contract must look like, or nil if the engine lacks the contract. It is made
// again only if the names have changed.
func (b *fixedPrompt) replyFor(r *record, contract, model string, active, own []string) *namedReply {
	if n := b.reply; n != nil && n.contract.Name() == contract && n.active == len(active) && slices.Equal(n.names, own) {
		return n
	}
	c := r.env.contract(r, contract)
	if c == nil {
		return nil
	}
	c = withNames(r, c, b.pseudonyms, active, own)
	n := &namedReply{contract: c, schema: c.Schema(), outline: c.Outline(), active: len(active), names: own}
	n.tokens = r.env.count(model, string(n.schema))
	b.reply = n
	return n
}

// contractFor returns the contract of the reply to a step, with the step's own check, or nil if the reply is free text.
func contractFor(r *record, s *protocol.Step) (*reply.Contract, error) {
	if s.Contract == "" {
		return nil, nil
	}
	c := r.env.contract(r, s.Contract)
	if c == nil {
		return nil, &unsupported{[]string{fmt.Sprintf("reply contract %q is unknown, add it to Options.Contracts", s.Contract)}}
	}
	if s.Check != nil {
		c = c.WithCheck(s.Check)
	}
	return c, nil
}

// namesFor returns the participants that the reply to a step may name. own is the same list if the protocol gives it, and
// nil if the reply may name all who have not dropped out.
func namesFor(r *record, s *protocol.Step) (list, own []string) {
	if p, ok := r.config.Protocol.(interface {
		Names(r *protocol.Record, s protocol.Step) []string
	}); ok {
		own = p.Names(&r.Record, *s)
	}
	if own != nil {
		return own, own
	}
	return r.names, nil
}

// adopt takes over the prompts of a record of the same configuration without turns, if there are none yet.
func (c *promptCache) adopt(from *promptCache) {
	if c.fixedPrompts == nil && c.pseudonyms == nil {
		c.fixedPrompts, c.pseudonyms = from.fixedPrompts, from.pseudonyms
		c.plan()
	}
}

// plan allows the first step of each reader to have other vars than the prompt was made with.
func (c *promptCache) plan() {
	for _, b := range c.fixedPrompts {
		b.planned = true
	}
}

// embedderMessages returns the messages of an embedder's request: its share of the speeches of the round, in order.
func embedderMessages(r *record, limit int, s *protocol.Step) (list []providers.Message) {
	for _, t := range embedding.Part(&r.Record, s.Round, s.Order) {
		list = append(list, providers.Message{Role: providers.User, Text: window.Clip(t.Text, limit)})
	}
	return list
}

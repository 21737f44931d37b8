// Package prompting builds the prompts of a debate: what a model is asked with in a step, how much of the history its window
// holds, whether a first prompt leaves room in it, and what a person must know. It knows no journal, no engine and no store.
package prompting

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/delimit"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/internal/speech"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// Debate is the state of a debate from which prompts are built. It keeps parts of them.
type Debate struct {
	protocol.Record

	Settings Settings
	Profiles []transcript.Profile // in the order of the configuration, including those who were dropped
	Names    []string             // of the participants that were not dropped
	Parallel bool                 // the open phase runs all its steps at once
	History  History
	Sources  sources.List
	Findings interface{ Advice(round int) []string } // what judges are advised of in a round
	Env      *Environment

	cache    cache
	supposed cache // for the prompts that budgets suppose
}

// Settings are what prompts need of the configuration of a debate.
type Settings struct {
	Background string
	Reference  string // what judges read; empty if there is none
	Rubric     judge.Rubric
	Protocol   protocol.Protocol
	Templates  *prompts.Set
	History    window.Policy
	Tools      ToolLimits
	Summarizer transcript.Profile
	Actors     Actors
	Cites      bool // the debate can have sources
}

// ToolLimits limit the rounds of tool calls in a step, and the bytes of a result.
type ToolLimits struct{ Rounds, Bytes int }

// Actors tells about the actors of a debate, by their names.
type Actors interface {
	Models

	// ToolsOf returns the names of the tools that a model may call.
	ToolsOf(actor string) []string
	DocumentsOf(actor string) []evidence.Document
	AttachmentsOf(actor string) []*providers.Attachment
}

// Environment is what prompts need besides: what an engine has.
type Environment struct {
	Count    func(model, text string) int                                   // counts tokens
	Contract func(name string) *reply.Contract                              // returns a reply contract, or nil
	Bind     func(name string) (string, providers.Provider, error)          // returns a provider and its name
	Recut    func(window.Policy, window.History, *window.Cut)               // replaces the cut of a prompt of the past; otherwise nil
	Tools    func(names []string) (list []providers.Tool, missing []string) // returns definitions, and the names of those that it lacks
}

// model returns the model of an actor.
func (d *Debate) model(actor string) Model {
	m, _ := d.Settings.Actors.ModelOf(actor)
	return m
}

// others returns the profiles of all participants but one.
func (d *Debate) others(name string) []transcript.Profile {
	list := make([]transcript.Profile, 0, max(len(d.Profiles)-1, 1))
	for i := range d.Profiles {
		if d.Profiles[i].Name != name {
			list = append(list, d.Profiles[i])
		}
	}
	return list
}

// NamesOf returns the names of participants.
func NamesOf(list []transcript.Profile) []string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	return names
}

// Pseudonyms returns the pseudonyms for a step. They hide the names of all participants but the reader. If the step is
// not blind, they hide no names: they only enclose the statements. All readers that are neither judges nor blind share one
// nonce.
func (d *Debate) Pseudonyms(s *protocol.Step) *judge.Pseudonyms {
	var k pseudonymsKey
	if s.Blind || slices.Contains(d.Judges, s.Actor) {
		k = pseudonymsKey{
			reader: s.Actor,
			swap:   s.Swap,
			blind:  s.Blind,
		}
	}
	if m := d.cache.pseudonyms[k]; m != nil {
		return m
	}
	var hidden []string
	if s.Blind {
		hidden = NamesOf(d.others(s.Actor))
	}
	m := judge.NewPseudonyms(hidden, d.Seed, k.reader, s.Swap)
	if d.cache.pseudonyms == nil {
		d.cache.pseudonyms = map[pseudonymsKey]*judge.Pseudonyms{}
	}
	d.cache.pseudonyms[k] = m
	return m
}

// Seats returns the names of the speaker of a step and of everybody else who can speak. A participant whom the speaker knows by a
// pseudonym has both names, because a speaker may know the other one too, such as an agent that remembers earlier steps.
func (d *Debate) Seats(s *protocol.Step) *speech.Seats {
	m := d.Pseudonyms(s)
	seats := &speech.Seats{Own: s.Actor} // no reader has a pseudonym
	for _, name := range slices.Concat(NamesOf(d.Profiles), d.Judges) {
		if name != s.Actor {
			seats.Others = append(seats.Others, name)
		}
	}
	seats.Others = append(seats.Others, m.Names()...)
	return seats
}

// NamesFor returns the participants that the reply to a step may name. own is the same list if the protocol gives it, and
// nil if the reply may name all who have not dropped out.
func (d *Debate) NamesFor(s *protocol.Step) (list, own []string) {
	if p, ok := d.Settings.Protocol.(interface {
		Names(r *protocol.Record, s protocol.Step) []string
	}); ok {
		own = p.Names(&d.Record, *s)
	}
	if own != nil {
		return own, own
	}
	return d.Names, nil
}

// Left returns the participants who have left after a speech that the reply to a step may refer to.
func (d *Debate) Left(s *protocol.Step) (list []string) {
	if len(d.Dropped) == 0 {
		return nil
	}
	for i := range d.Turns {
		t := &d.Turns[i]
		spoke := t.Kind == transcript.Speech && t.Seq <= s.VisibleSeq
		if spoke &&
			slices.Contains(d.Dropped, t.Actor) &&
			!slices.Contains(list, t.Actor) {
			list = append(list, t.Actor)
		}
	}
	return list
}

// Contract returns the reply contract with the given name, or nil if there is none.
func (d *Debate) Contract(name string) *reply.Contract {
	if name == judge.AssessmentContract.Name() {
		return d.Settings.Rubric.Contract()
	}
	return d.Env.Contract(name)
}

// WithNames returns a contract whose schema lists the names of all participants, as the reader sees them, including
// those who dropped out. If the protocol lists other names for the step, the schema lists these. What has an entry for
// each participant has one for each who is left, so the schema changes within the debate only if one drops out or if the
// names of the step differ.
func (d *Debate) WithNames(c *reply.Contract, m *judge.Pseudonyms, active, own []string) *reply.Contract {
	if own == nil {
		own = NamesOf(d.Profiles)
	}
	c = c.WithNames("participants", m.SortedPseudonyms(own))
	c = c.WithNames("active", m.SortedPseudonyms(active))
	return c.WithNames("criteria", m.HideAll(d.Settings.Rubric.Names()))
}

// cache keeps parts of prompts that do not change. Losing it only costs time.
type cache struct {
	fixed      []*fixedPart // the constant part of each reader's prompts
	pseudonyms map[pseudonymsKey]*judge.Pseudonyms
	said       map[*judge.Pseudonyms][]said // turns as messages, by reader and index
	// Buffers that are reused for each prompt.
	shown, tokens []int
	covered       []window.Summary
}

// said is a turn as a message of a reader's prompts.
type said struct {
	seq      int64             // of the turn
	text     string            // formatted; empty if no prompt has shown it yet
	digest   step.Digest       // of the message with this text
	own      step.Digest       // of the message of the reader's own turn; zero if no prompt has shown it yet
	thoughts *reasoning.Opaque // in that message
}

type pseudonymsKey struct {
	reader string // empty for all readers that share the debaters' nonce
	swap   bool
	blind  bool
}

type fixedKey struct {
	actor, prompt string
	blind, swap   bool
}

// fixedPart holds the part of a reader's prompts that does not change.
type fixedPart struct {
	System     string
	Pseudonyms *judge.Pseudonyms // names by which the reader sees the participants

	key     fixedKey
	digest  step.Digest // of the message with the system prompt
	tokens  int         // of the system prompt
	data    prompts.Data
	reply   *namedReply         // what the last reply with a contract must look like; nil if there is none yet
	vars    map[string]string   // of the first step
	planned bool                // no step has used it yet, so the first step may have other vars
	shown   []providers.Message // the message with the attachments; nil if there are none
	digests []step.Digest       // of shown
}

// namedReply is what a reply must look like, with the names that the reader sees.
type namedReply struct {
	contract       *reply.Contract
	schema         json.RawMessage
	outline        string
	digest         step.Digest // of the schema
	tokens, active int         // of the schema, and participants who were left
	names          []string    // that the protocol listed; nil if it did not
}

// keptPart returns the part with a key, or nil if it has to be made. A part that was only planned, with other variables, is dropped.
func (d *Debate) keptPart(k fixedKey, vars map[string]string) *fixedPart {
	at := slices.IndexFunc(d.cache.fixed, func(b *fixedPart) bool { return b.key == k })
	if at < 0 {
		return nil
	}
	kept := d.cache.fixed[at]
	if kept.planned && !maps.Equal(kept.vars, vars) {
		d.cache.fixed = slices.Delete(d.cache.fixed, at, at+1)
		return nil
	}
	kept.planned = false
	return kept
}

// fixed returns the part of a reader's prompts that does not change. Its tokens are those of the system prompt, with the
// documents, and of the attachments.
func (d *Debate) fixed(s *protocol.Step, seat transcript.Profile) (*fixedPart, error) {
	k := fixedKey{s.Actor, s.Prompt, s.Blind, s.Swap}
	if kept := d.keptPart(k, s.Vars); kept != nil {
		return kept, nil
	}
	m := d.Pseudonyms(s)
	model := d.model(s.Actor).Name
	set := d.Settings.Templates
	b := &fixedPart{
		key:        k,
		Pseudonyms: m,
		vars:       s.Vars,
		data: prompts.Data{
			Topic:      m.Hide(d.Topic),
			Background: m.Hide(d.Settings.Background),
			Me:         m.OwnProfile(seat),
			Vars:       m.HideValues(s.Vars),
			Others:     m.Profiles(d.others(seat.Name)),
			Nonce:      m.Nonce(),
			Blind:      s.Blind,
		},
	}
	if slices.Contains(d.Judges, s.Actor) {
		b.data.Criteria = m.Hide(d.Settings.Rubric.Outline())
	}
	var err error
	b.System, err = set.System(s.Prompt, b.data)
	if err != nil {
		return nil, err
	}
	a := d.Settings.Actors
	if names := a.ToolsOf(s.Actor); len(names) > 0 {
		list, _ := d.Env.Tools(names)
		b.System += "\n\n" + prompts.Tools(b.data.Nonce)
		b.tokens = d.toolTokens(model, list)
	}
	if d.Settings.Cites &&
		s.Actor != protocol.PersonaAssigner &&
		s.Actor != protocol.Retriever {
		b.System += "\n\n" + prompts.Sources(b.data.Nonce)
	}
	if passages := s.Vars[protocol.Passages]; passages != "" {
		b.System += "\n\n" + prompts.Passages + "\n\n"
		b.System += m.Enclose(delimit.Line(m.Nonce(), "passages"), m.Hide(passages))
	}
	if reference := d.referenceFor(s.Actor); reference != "" {
		b.System += "\n\n" + prompts.Reference + "\n\n"
		b.System += m.Enclose(delimit.Line(m.Nonce(), "the reference answer"), m.Hide(reference))
	}
	documents := a.DocumentsOf(s.Actor)
	attached := a.AttachmentsOf(s.Actor)
	b.tokens += d.Env.Count(model, b.System)
	b.tokens += DocumentTokens(documents)
	b.tokens += AttachmentTokens(attached)
	b.System += documentsText(&d.Sources, documents, m)
	b.shown = AttachmentMessage(attached, m)
	b.digest = step.DigestOf(&providers.Message{
		Role: providers.System,
		Text: b.System,
	})
	for i := range b.shown {
		b.digests = append(b.digests, step.DigestOf(&b.shown[i]))
	}
	d.cache.fixed = append(d.cache.fixed, b)
	return b, nil
}

// referenceFor returns the reference answer for a judge, and "" for anybody else.
func (d *Debate) referenceFor(actor string) string {
	if slices.Contains(d.Judges, actor) {
		return d.Settings.Reference
	}
	return ""
}

// toolTokens returns the tokens of the definitions of tools.
func (d *Debate) toolTokens(model string, list []providers.Tool) int {
	raw, _ := json.Marshal(list) // they were checked
	return d.Env.Count(model, string(raw))
}

// replyFor returns what a reply with the given contract must look like, or nil if there is no such contract. It is made again
// only if the names have changed.
func (b *fixedPart) replyFor(d *Debate, contract, model string, active, own []string) *namedReply {
	if n := b.reply; n != nil && n.contract.Name() == contract && n.active == len(active) &&
		slices.Equal(n.names, own) {
		return n
	}
	c := d.Contract(contract)
	if c == nil {
		return nil
	}
	c = d.WithNames(c, b.Pseudonyms, active, own)
	n := &namedReply{
		contract: c,
		schema:   c.Schema(),
		outline:  c.Outline(),
		active:   len(active),
		names:    own,
	}
	n.tokens = d.Env.Count(model, string(n.schema))
	n.digest = step.DigestOfSchema(n.schema)
	b.reply = n
	return n
}

// Forget drops the constant parts of prompts, which are made again when they are needed.
func (d *Debate) Forget() {
	d.cache.fixed = nil
	d.supposed.fixed = nil
}

// SetProfiles begins with other participants.
func (d *Debate) SetProfiles(list []transcript.Profile) {
	d.Participants = list
	d.Profiles = list
	d.Names = NamesOf(list)
	d.cache.pseudonyms = nil
	d.supposed.pseudonyms = nil
}

// Adopt takes over the prompts of a debate of the same configuration without turns, if there are none yet.
func (d *Debate) Adopt(from *Debate) {
	if c := &d.cache; c.fixed == nil && c.pseudonyms == nil {
		c.fixed = from.cache.fixed
		c.pseudonyms = from.cache.pseudonyms
		c.plan()
	}
}

// plan allows the first step of each reader to have other vars than the prompt was made with.
func (c *cache) plan() {
	for _, b := range c.fixed {
		b.planned = true
	}
}

// BeginSupposing keeps parts of the prompts that budgets suppose apart: the prompts that are sent must not depend on budgets.
func (d *Debate) BeginSupposing() {
	d.EndSupposing()
	d.cache.plan()
}

// EndSupposing returns to the parts of prompts that are sent.
func (d *Debate) EndSupposing() { d.cache, d.supposed = d.supposed, d.cache }

// headingOf returns what the turns of an actor are headed with in prompts.
func headingOf(actor string) string { return cmp.Or(systemHeadings[actor], actor) }

// systemHeadings lists the headings of system actors' turns in prompts. The names of these actors mean nothing to models.
var systemHeadings = map[string]string{
	protocol.PersonaAssigner: "Personas",
	protocol.Summarizer:      "Notes",
	protocol.Retriever:       "Documents",
}

// PhaseKey returns the key of the steps in a phase of the present stage and round, without an actor.
func (d *Debate) PhaseKey(phase string) transcript.Key {
	k := transcript.Key{
		Run:   d.Cursor.Run,
		Round: d.Cursor.Round,
		Phase: phase,
	}
	if d.Cursor.Stage == transcript.Setup {
		k.Round = 0
	}
	return k
}

// Participates reports whether a participant has the given name and was not dropped.
func (d *Debate) Participates(name string) bool {
	return slices.Contains(d.Names, name)
}

// HasTurns reports whether the debate has a turn other than a person's remark.
func (d *Debate) HasTurns() bool {
	return slices.ContainsFunc(d.Turns, func(t transcript.Turn) bool {
		return t.Kind != transcript.Remark
	})
}

// CanConclude reports whether there is something to conclude: a speech, or the topic alone in a debate of judges.
func (d *Debate) CanConclude() bool {
	if len(d.Participants)+len(d.Dropped) == 0 {
		return true
	}
	return slices.ContainsFunc(d.Turns, func(t transcript.Turn) bool {
		return t.Kind == transcript.Speech
	})
}

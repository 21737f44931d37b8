package prompting

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// Said returns the turns that a person may read before a step, with the names that the person sees.
func (d *Debate) Said(s *protocol.Step) (list []transcript.Turn) {
	m := d.Pseudonyms(s)
	for _, i := range d.read(s, m) {
		t := &d.Turns[i]
		seen := transcript.Turn{
			Key:       t.Key,
			Kind:      t.Kind,
			Seq:       t.Seq,
			Text:      m.Hide(t.Text),
			Citations: citationsFor(t, m),
		}
		seen.Actor = m.Of(headingOf(t.Actor))
		seen.Target = m.Of(t.Target)
		if slices.Contains(t.Flags, transcript.Refused) {
			seen.Flags = []transcript.Flag{transcript.Refused}
		}
		list = append(list, seen)
	}
	return list
}

// Messages returns what Said returns as messages of a prompt.
func (d *Debate) Messages(s *protocol.Step) (list []providers.Message) {
	m := d.Pseudonyms(s)
	for _, i := range d.read(s, m) {
		said := step.Message(providers.User, d.saidIn(i, m).text)
		if t := &d.Turns[i]; t.Actor == s.Actor {
			said = step.Message(providers.Assistant, m.Hide(t.Text))
		}
		list = append(list, said)
	}
	return list
}

// read returns the indexes of the turns that a person may read before a step. The next call of Visible overwrites them.
func (d *Debate) read(s *protocol.Step, m *judge.Pseudonyms) []int {
	shown, _ := d.Visible(s)
	m.Sort(d.Turns, shown)
	return shown
}

// Question holds what a person is asked in a step.
type Question struct {
	Task        string
	Fields      string          // description of the fields of the reply; empty for free text
	Schema      json.RawMessage // of the reply; nil for free text
	Attachments []string        // descriptions
	Documents   []string
}

// Ask returns what a person is asked in a step. The contract of the reply is nil for free text.
func (d *Debate) Ask(s *protocol.Step, seat transcript.Profile, contract *reply.Contract) (q Question, err error) {
	b, err := d.fixed(s, seat)
	if err != nil {
		return q, err
	}
	for _, a := range d.Settings.Actors.AttachmentsOf(s.Actor) {
		a.Name = b.Pseudonyms.Hide(a.Name)
		q.Attachments = append(q.Attachments, a.String())
	}
	for _, x := range d.Settings.Actors.DocumentsOf(s.Actor) {
		x.Name = b.Pseudonyms.Hide(x.Name)
		q.Documents = append(q.Documents, x.String())
	}
	active, own := d.NamesFor(s)
	if contract != nil {
		contract = d.form(contract, b.Pseudonyms, active, own)
		q.Fields = contract.Outline()
		q.Schema = contract.Schema()
	}
	q.Task, err = d.task(s, b, active)
	return q, err
}

// maxDescribed limits, in bytes, the descriptions of criteria in the form of a judge, which has them for each participant.
const maxDescribed = 32 << 10

// form returns a contract with the fields of a form for a person: participants in their order, and criteria in the order of
// the rubric, with their descriptions.
func (d *Debate) form(c *reply.Contract, m *judge.Pseudonyms, active, own []string) *reply.Contract {
	c = d.WithNames(c, m, active, own)
	if own == nil {
		own = NamesOf(d.Profiles)
	}
	for kind, list := range map[string][]string{"participants": own, "active": active} {
		var named []reply.Named
		for _, name := range m.SortedPseudonyms(list) {
			named = append(named, reply.Named{Name: name})
		}
		c = c.ForPerson(kind, named)
	}
	var criteria []reply.Named
	size := 0
	for _, x := range m.Rubric(d.Settings.Rubric.Shares()) {
		size += len(x.Description) * len(active)
		if size > maxDescribed {
			x.Description = ""
		}
		criteria = append(criteria, reply.Named{
			Name:  x.Name,
			About: x.Description,
		})
	}
	return c.ForPerson("criteria", criteria)
}

// Brief returns what a person must know to reply to a step.
func (d *Debate) Brief(s *protocol.Step, seat transcript.Profile) (b journal.Briefing, err error) {
	set := d.Settings.Templates
	m := d.Pseudonyms(s)
	b = journal.Briefing{
		Topic:      m.Hide(d.Topic),
		Background: m.Hide(d.Settings.Background),
		Reference:  m.Hide(d.referenceFor(s.Actor)),
		Me:         m.OwnProfile(seat),
	}
	for _, o := range m.Profiles(d.others(seat.Name)) {
		b.Others = append(b.Others, transcript.Profile{
			Name:     o.Name,
			Role:     o.Role,
			Side:     o.Side,
			Position: o.Position,
		})
	}
	if slices.Contains(d.Judges, s.Actor) && set.ReadsCriteria(s.Prompt) {
		b.Rubric = m.Rubric(d.Settings.Rubric.Shares())
	}
	b.Rules, err = set.System(s.Prompt, prompts.Data{
		Me: transcript.Profile{
			Name:  seat.Name,
			Human: true,
		},
		Vars:  m.HideValues(s.Vars),
		Blind: s.Blind,
	})
	if err != nil { // a template of the user's needs more
		fixed, err := d.fixed(s, seat)
		if err != nil {
			return b, err
		}
		b.Rules = fixed.System
	}
	return b, nil
}

// Given returns the turn of a step with a reply that a person gives, which has so many tokens, or what is wrong with the reply: it
// is blank, it has more than most tokens, or it does not follow the contract. The contract is nil for free text.
func (d *Debate) Given(
	s *protocol.Step, contract *reply.Contract, text string, tokens, most int,
) (t transcript.Turn, wrong []string, err error) {
	m := d.Pseudonyms(s)
	switch {
	case characters.IsBlank(text):
		return t, []string{"it is blank"}, nil
	case tokens > most:
		return t, []string{fmt.Sprintf("about %d tokens are too long, use at most %d", tokens, most)}, nil
	case contract == nil:
		return d.Reply(s, m.Reveal(text), nil), nil, nil
	}
	list, own := d.NamesFor(s)
	named := step.Named{
		Names:      list,
		Left:       d.Left(s),
		Pseudonyms: m,
		Blind:      s.Blind,
	}
	said, err := named.Parse(d.WithNames(contract, m, list, own), text)
	if invalid, ok := errors.AsType[*reply.Invalid](err); ok {
		return t, invalid.Violations, nil
	}
	return d.Reply(s, said.Text, said.Data), nil, err
}

// Reply returns the turn of a step with a reply that no model gave.
func (d *Debate) Reply(s *protocol.Step, text string, data json.RawMessage) transcript.Turn {
	return transcript.Turn{
		Key:        s.Key,
		Kind:       s.Kind,
		Order:      s.Order,
		VisibleSeq: s.VisibleSeq,
		Contract:   s.Contract,
		Text:       text,
		Data:       data,
		Tokens:     d.Env.Count("", text),
		Seq:        d.Seq + 1,
	}
}

// Remark returns the turn of a person's remark.
func (d *Debate) Remark(id, from, text string) transcript.Turn {
	return transcript.Turn{
		Key: transcript.Key{
			Run:    d.Cursor.Run,
			Phase:  "remark",
			Actor:  from,
			Target: id,
		},
		Kind:       transcript.Remark,
		Order:      d.RemarkOrder(),
		Seq:        d.Seq + 1,
		VisibleSeq: d.Seq,
		Text:       text,
		Tokens:     d.Env.Count("", text),
	}
}

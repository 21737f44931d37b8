package debate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/internal/briefing"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// put sets a value of a map, which may be nil.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// maxDescribed limits, in bytes, the descriptions of criteria in the form of a judge, which has them for each participant.
const maxDescribed = 32 << 10

// newAsked returns what a person is asked in a step.
func newAsked(r *record, s *protocol.Step) (q Asked, err error) {
	who, seat, _ := r.actor(s.Actor)
	q = Asked{Key: s.Key, Kind: s.Kind, Contract: s.Contract, Tokens: who.MaxTokens}
	if !promptSet(r).Has(s.Prompt) {
		return q, &unsupported{[]string{fmt.Sprintf("prompt %q is unknown, add it to Options.Prompts", s.Prompt)}}
	}
	b, err := fixedPromptFor(r, promptSet(r), *s, seat, "")
	if err != nil {
		return q, err
	}
	for _, a := range attachmentsFor(r.config, s.Actor) {
		q.Attachments = append(q.Attachments, a.shownAs(b.pseudonyms.Hide(a.Name)).String())
	}
	for _, d := range documentsFor(r.config, s.Actor) {
		d.Name = b.pseudonyms.Hide(d.Name)
		q.Documents = append(q.Documents, d.String())
	}
	active, own := namesFor(r, s)
	contract, err := contractFor(r, s)
	if err != nil {
		return q, err
	}
	if contract != nil {
		contract = asForm(r, withNames(r, contract, b.pseudonyms, active, own), b.pseudonyms, active, own)
		q.Fields, q.Schema = contract.Outline(), contract.Schema()
	}
	q.Task, err = promptSet(r).User(s.Prompt, promptData(r, s, b, active))
	return q, err
}

// brief sets what the actor of a next step may read and must know, as in a prompt for a model.
func brief(r *record, q *Asked) (err error) {
	q.Said, q.Briefing = nil, nil // no entry of the journal has them
	at := slices.IndexFunc(r.next(), func(s protocol.Step) bool { return s.Key == q.Key })
	if at < 0 {
		return nil
	}
	s := &r.next()[at]
	m := pseudonymsFor(r, s)
	shown, _ := visibleTurns(r, s, m)
	m.Sort(r.Turns, shown)
	for _, i := range shown {
		t := &r.Turns[i]
		seen := transcript.Turn{Key: t.Key, Kind: t.Kind, Seq: t.Seq, Text: m.Hide(t.Text)}
		seen.Actor, seen.Target = m.Of(cmp.Or(systemHeadings[t.Actor], t.Actor)), m.Of(t.Target)
		q.Said = append(q.Said, seen)
	}
	if promptSet(r).Has(s.Prompt) {
		q.Briefing, err = newBriefing(r, s)
	}
	return err
}

// asForm returns a contract with the fields of a form for a person: participants in their order, and criteria in the order of
// the rubric, with their descriptions.
func asForm(r *record, c *reply.Contract, m *judge.Pseudonyms, active, own []string) *reply.Contract {
	if own == nil {
		own = names(r.profiles)
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
	for _, x := range m.Rubric(r.config.Rubric.Shares()) {
		if size += len(x.Description) * len(active); size > maxDescribed {
			x.Description = ""
		}
		criteria = append(criteria, reply.Named{Name: x.Name, About: x.Description})
	}
	return c.ForPerson("criteria", criteria)
}

// newBriefing returns what a person must know to reply to a step.
func newBriefing(r *record, s *protocol.Step) (*Briefing, error) {
	_, seat, _ := r.actor(s.Actor)
	set, m := promptSet(r), pseudonymsFor(r, s)
	b := &Briefing{
		Topic: m.Hide(r.config.Topic), Background: m.Hide(r.config.Background), Me: m.OwnProfile(seat),
	}
	for _, o := range m.Profiles(others(r, seat.Name)) {
		b.Others = append(b.Others, transcript.Profile{Name: o.Name, Role: o.Role, Side: o.Side, Position: o.Position})
	}
	if slices.Contains(r.Judges, s.Actor) && set.ReadsCriteria(s.Prompt) {
		b.Rubric = m.Rubric(r.config.Rubric.Shares())
	}
	var err error
	b.Rules, err = set.System(s.Prompt, prompts.Data{
		Me: transcript.Profile{Name: seat.Name, Human: true}, Vars: m.HideValues(s.Vars), Blind: s.Blind,
	})
	if err != nil { // a template of the user's needs more
		fixed, err := fixedPromptFor(r, set, *s, seat, "")
		if err != nil {
			return nil, err
		}
		b.Rules = fixed.system
	}
	return b, nil
}

// Text returns the briefing as plain text. Each line of what users or models wrote begins with "> ", apart from names, roles,
// sides and criteria, which have one line. So no text can pass for another part. Empty parts are left out.
func (b *Briefing) Text() string { return briefing.Data(*b).Text() }

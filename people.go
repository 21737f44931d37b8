package debate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/delimit"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// The limits of what people add to a debate, so that its results, pages and reports stay small.
const (
	maxNotes        = 100
	maxNoteName     = 128      // bytes
	maxNote         = 16 << 10 // bytes of a value
	maxAllNotes     = 64 << 10 // bytes of all names and values
	maxNotesWritten = 4 << 20  // bytes in the journal, with notes that were replaced
	noteEntry       = 64       // bytes that an entry of the journal takes besides
	maxRemarks      = 1000     // in a run
	maxAllRemarks   = 1 << 20  // bytes of the texts of all remarks in a run
	maxRemarkID     = 128      // bytes
	maxLabels       = 64       //
	maxLabelName    = 128      // bytes
	maxLabel        = 4096     // bytes of a value
	maxAllLabels    = 16 << 10 // bytes of all names and values
)

// checkNote returns everything that is wrong with a new note.
func checkNote(r *record, name string, value json.RawMessage) []protocol.Problem {
	l := &problemList{}
	switch {
	case characters.IsBlank(name):
		l.add("name", "it is blank")
	case len(name) > maxNoteName:
		l.add("name", "it has %d bytes, use at most %d", len(name), maxNoteName)
	case !characters.IsPlain(name):
		l.add("name", "%q is not valid, remove control characters", name)
	}
	if len(value) > maxNote {
		l.add("value", "it has %d bytes, use at most %d", len(value), maxNote)
	}
	_, replaced := r.notes.values[name]
	if n := len(r.notes.values); n >= maxNotes && !replaced {
		l.add("name", "the debate has %d notes already, which is the most: replace one of them", n)
	}
	all := len(name) + len(value)
	for other, v := range r.notes.values {
		if other != name {
			all += len(other) + len(v)
		}
	}
	if all > maxAllNotes {
		l.add("value", "all notes would have %d bytes, use at most %d", all, maxAllNotes)
	}
	if all := r.notes.written + len(name) + len(value) + noteEntry; all > maxNotesWritten {
		l.add("value", "all notes that were ever stored would have %d bytes, use at most %d", all, maxNotesWritten)
	}
	return l.problems
}

// shownNotes returns the notes that a result has. It leaves out those that are too large, which earlier versions have
// accepted, and says so in a warning.
func shownNotes(r *record) (shown map[string]json.RawMessage, warning string) {
	var left []string
	all := 0
	for _, name := range slices.Sorted(maps.Keys(r.notes.values)) {
		value := r.notes.values[name]
		size := len(name) + len(value)
		if len(name) > maxNoteName || len(value) > maxNote || all+size > maxAllNotes || len(shown) == maxNotes {
			left = append(left, fmt.Sprintf("%q with %d bytes", cutText(name, maxNoteName), len(value)))
			continue
		}
		all += size
		put(&shown, name, slices.Clone(value))
	}
	const named = 3
	switch n := len(left); {
	case n == 0:
		return shown, ""
	case n > named:
		left = append(left[:named], fmt.Sprintf("%d more", n-named))
	}
	return shown, "notes are left out, because they are too large: " + listOf(left)
}

// checkRemark returns everything that is wrong with the ID and the length of a new remark.
func checkRemark(r *record, id, from, text string) []protocol.Problem {
	l := &problemList{}
	if len(id) > maxRemarkID || !characters.IsPlain(id) {
		l.add("id", "it is not valid, use at most %d bytes of UTF-8 without control characters", maxRemarkID)
	}
	n, all := 0, len(text)
	for i := range r.Turns {
		if t := &r.Turns[i]; t.Kind == transcript.Remark {
			if t.Actor == from && t.Target == id { // it is there already
				return l.problems
			}
			n++
			all += len(t.Text)
		}
	}
	if n >= maxRemarks {
		l.add("text", "the debate has %d remarks already, which is the most", n)
	}
	if all > maxAllRemarks {
		l.add("text", "it has %d bytes, and all remarks would have %d, use at most %d", len(text), all, maxAllRemarks)
	}
	return l.problems
}

// checkLabels adds a problem for each label of a new debate that is not valid.
func checkLabels(l *problemList, labels map[string]string) {
	all := 0
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		value := labels[name]
		all += len(name) + len(value)
		switch {
		case len(name) > maxLabelName:
			l.add("labels", "a name has %d bytes, use at most %d", len(name), maxLabelName)
		case !characters.IsPlain(name) || !characters.IsPlain(value):
			l.add("labels", "%q is not valid, remove control characters", name)
		case len(value) > maxLabel:
			l.add("labels", "%s: the value has %d bytes, use at most %d", name, len(value), maxLabel)
		}
	}
	if n := len(labels); n > maxLabels {
		l.add("labels", "there are %d, use at most %d", n, maxLabels)
	}
	if all > maxAllLabels {
		l.add("labels", "all names and values have %d bytes, use at most %d", all, maxAllLabels)
	}
}

// cutText returns text, cut to at most that many bytes without breaking a character.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most -= len("…"); most > 0 && !utf8.RuneStart(text[most]); {
		most--
	}
	return text[:most] + "…"
}

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
func (b *Briefing) Text() string {
	var parts []string
	add := func(title, text string) {
		if !characters.IsBlank(text) {
			parts = append(parts, title+":\n"+text)
		}
	}
	add("Topic", quoted(b.Topic))
	add("Your seat", profileText(&b.Me))
	add("Your persona", quoted(b.Me.Persona))
	add("Your key arguments", quoted(strings.Join(b.Me.KeyArguments, "\n")))
	add("Your instructions", quoted(b.Me.Instructions))
	var others []string
	for i := range b.Others {
		others = append(others, profileText(&b.Others[i]))
	}
	add("Participants", strings.Join(others, "\n"))
	if len(b.Rubric) > 0 {
		add("Criteria for each participant, with their weights", b.Rubric.Outline())
	}
	add("Format and rules", b.Rules)
	add("Background", quoted(b.Background))
	return strings.Join(parts, "\n\n")
}

// quoted marks the lines of a text. It returns "" for a blank text.
func quoted(text string) string {
	if characters.IsBlank(text) {
		return ""
	}
	return delimit.Mark(text)
}

// profileText describes a participant: a line with the name, the role and the side, and the marked lines of the position.
func profileText(p *transcript.Profile) string {
	line := "- " + delimit.Line("", p.Name)
	if p.Role != "" {
		line += ", " + delimit.Line("", p.Role)
	}
	if p.Side != "" {
		line += ", side: " + delimit.Line("", p.Side)
	}
	if position := quoted(p.Position); position != "" {
		line += "\n" + position
	}
	return line
}

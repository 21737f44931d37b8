package debate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/additions"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Rejudge says how the judges of a debate are asked again. The zero Rejudge asks the same judges the same. It is plain data
// and survives JSON.
type Rejudge struct {
	// ID identifies the new debate. Defaults to a new UUID of version 7.
	ID string `json:"id,omitempty"`
	// Labels are the labels of the new debate. Defaults to those of its parent.
	Labels map[string]string `json:"labels,omitzero"`
	// Judges judge in place of the debate's judges. Defaults to these.
	Judges []Participant `json:"judges,omitempty"`
	// Rubric replaces the criteria by which judges score, and Prompts the name of the templates. Default to the debate's own.
	Rubric  judge.Rubric `json:"rubric,omitempty"`
	Prompts string       `json:"prompts,omitempty"`
	// Prices replaces the prices of models, which new judges may need. Defaults to those of the debate.
	Prices price.Prices `json:"prices,omitempty"`
	// Omit is left out of the prompts of the judges who decide.
	Omit Omission `json:"omit,omitzero"`
	// Swap shows each judge who is asked only once in a phase, and who knows the participants by pseudonyms, the participants in
	// the opposite order.
	Swap bool `json:"swap,omitempty"`
}

// config returns the configuration of the new debate, or nil if it is that of the parent at the entry from.
func (again *Rejudge) config(e *Engine, events []Event, from int64) (*Config, error) {
	changed := again.Judges != nil || again.Rubric != nil || again.Prompts != "" || again.Prices != nil
	var last ConfigChanged
	for _, ev := range events {
		if c, ok := ev.(ConfigChanged); ok {
			last, changed = c, changed || c.Seq > from
		}
	}
	if !changed {
		return nil, nil
	}
	c, err := e.ParseConfig(last.Config)
	if err != nil {
		return nil, err
	}
	if again.Judges != nil {
		c.Judges = slices.Clone(again.Judges)
	}
	if again.Rubric != nil {
		c.Rubric = slices.Clone(again.Rubric)
	}
	if again.Prompts != "" {
		c.Prompts = again.Prompts
	}
	if again.Prices != nil {
		c.Prices = maps.Clone(again.Prices)
	}
	if again.Labels != nil {
		c.Labels = maps.Clone(again.Labels)
	}
	return &c, nil
}

// courseOf returns the course that a rejudged debate has of its parent.
func courseOf(r *record, events []Event, again *Rejudge) (*storedCourse, error) {
	l := &problemList{}
	l.checkID(again.ID)
	l.problems = append(l.problems, additions.CheckLabels(again.Labels)...)
	c := &storedCourse{Omit: again.Omit, Swap: again.Swap}
	decider, ok := r.config.Protocol.(protocol.Decider)
	if ok {
		c.Phases = decider.Deciding()
	}
	c.From = int64(firstDecision(events, c.Phases))
	switch {
	case !ok:
		l.add("id", "the protocol %s does not say which steps decide, see protocol.Decider", r.config.Protocol.Name())
	case r.lifecycle.State == fsm.Canceled:
		l.add("id", "the debate was canceled, so there is nothing to judge")
	case !r.lifecycle.State.Final():
		l.add("id", "the debate has not ended, it is %s", r.lifecycle.State)
	case c.From == 0:
		l.add("id", "no judge decides the debate")
	}
	if err := problemsOf("rejudge", l.problems); err != nil {
		return nil, err
	}
	again.checkOmission(r, l)
	again.checkTools(l, r, events[c.From:], c.Phases)
	if err := problemsOf("rejudge", l.problems); err != nil {
		return nil, err
	}
	for _, ev := range events[c.From:] {
		raw, err := json.Marshal(ev)
		if err != nil {
			return nil, err
		}
		c.Entries = append(c.Entries, raw)
	}
	return c, nil
}

// firstDecision returns the number of entries before the first phase of the last run in which judges decide, or 0 if there is
// none.
func firstDecision(events []Event, phases []string) (first int) {
	for i, ev := range events {
		switch ev := ev.(type) {
		case PhaseStarted:
			if first == 0 && ev.Summary == nil && slices.Contains(phases, ev.Phase) {
				first = i
			}
		case StateChanged:
			if ev.On == fsm.Reset {
				first = 0
			}
		}
	}
	return first
}

// checkOmission adds a problem for each turn, seat and document that cannot be left out.
func (again *Rejudge) checkOmission(r *record, l *problemList) {
	for i, key := range again.Omit.Turns {
		switch t, ok := r.Find(key); {
		case !ok:
			l.add(fmt.Sprintf("omit.turns[%d]", i), "the debate has no turn %s", key)
		case t.Kind != transcript.Speech && t.Kind != transcript.Remark:
			l.add(fmt.Sprintf("omit.turns[%d]", i), "%s is no speech or remark, but a turn of kind %s", key, t.Kind)
		}
	}
	for i, name := range again.Omit.Seats {
		if findParticipant(r.config.Participants, name) == nil {
			l.add(fmt.Sprintf("omit.seats[%d]", i), "%q is not a participant", name)
		}
	}
	for i, name := range again.Omit.Documents {
		document := slices.ContainsFunc(r.config.Documents, func(d evidence.Document) bool { return d.Name == name })
		if !document && !slices.ContainsFunc(r.config.Attachments, func(a Attachment) bool { return a.Name == name }) {
			l.add(fmt.Sprintf("omit.documents[%d]", i), "the debate has no document or attachment %q", name)
		}
	}
}

// checkTools adds a problem if new judges could find sources whose numbers are those of sources that participants have found
// later.
func (again *Rejudge) checkTools(l *problemList, r *record, rest []Event, phases []string) {
	judges := again.Judges
	if judges == nil {
		judges = r.config.Judges
	}
	called := slices.ContainsFunc(rest, func(ev Event) bool {
		t, ok := ev.(ToolsCalled)
		return ok && !slices.Contains(phases, t.Key.Phase)
	})
	for i := range judges {
		if called && len(judges[i].Tools) > 0 {
			l.add(indexed("judges", i), "%q has tools, but others called tools after the first decision, and the numbers of sources must stay; use a judge without tools", judges[i].Name)
		}
	}
}

// beforeRejudging returns the entries of the debate that a rejudged debate has judged again, as far as the debate keeps them. It
// returns entries unchanged if the debate does not repeat the turn with that key.
func beforeRejudging(entries []store.Entry, key transcript.Key) ([]store.Entry, error) {
	at := slices.IndexFunc(entries, func(e store.Entry) bool { return e.Key == key.String() })
	if at < 0 {
		return entries, nil
	}
	if ev, err := decodeEntry(entries[at]); err != nil || ev.Meta().Repeats == 0 {
		return entries, err
	}
	ev, err := decodeEntry(entries[0])
	if err != nil {
		return nil, err
	}
	first := ev.(ConfigChanged)
	c, err := newCourse(first.course)
	if err != nil {
		return nil, err
	}
	first.course = nil
	list := slices.Clone(entries[:c.From])
	list[0].Data = dataOf(first)
	return append(list, entriesOf(c.events)...), nil
}

package debate

import (
	"slices"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// next is what may run now, paused or not. It is the same until another entry is applied.
func (r *record) next() []protocol.Step {
	if r.asked == r.Seq {
		return r.steps
	}
	r.asked, r.steps = r.Seq, nil
	if r.Cursor.Stage != "" && (r.Cursor.Stage != transcript.Conclusion || r.spoken()) { // on nothing there is no conclusion
		r.steps = protocol.Next(r.rules(), &r.Record)
	}
	for i := range r.steps {
		if r.steps[i].Actor == protocol.Embedding {
			r.steps[i].Kind = transcript.Vectors
		}
	}
	if r.wanted != nil {
		r.steps = []protocol.Step{r.summary()}
	}
	return r.steps
}

// open says whether a step may still be committed.
func (r *record) open(k transcript.Key) bool {
	return slices.ContainsFunc(r.next(), func(s protocol.Step) bool { return s.Key == k })
}

func (r *record) spoken() bool {
	return slices.ContainsFunc(r.Turns, func(t transcript.Turn) bool { return t.Kind == transcript.Speech })
}

// phases are those of another stage of the round at hand.
func (r *record) phases(stage transcript.Kind) []protocol.Phase {
	was := r.Cursor.Stage
	r.Cursor.Stage = stage
	defer func() { r.Cursor.Stage = was }()
	return r.rules().Phases(&r.Record)
}

// rules are the debate's protocol, and what is to be measured beside.
func (r *record) rules() protocol.Protocol {
	if r.config.embeds() {
		return embedding{r.config.Protocol}
	}
	return r.config.Protocol
}

// facts are what guards read, but for AssessmentDue, which is costly and asked for by one event only.
func (r *record) facts() fsm.Facts {
	return fsm.Facts{
		ValidConfig: r.valid,
		Ending:      r.Ending.Outcome != "",
		Recoverable: r.failure != nil && r.failure.Recoverable,
		Decided:     r.question == nil,
	}
}

// actor is who performs a step, with the seat that its prompts speak of.
func (r *record) actor(name string) (*Participant, transcript.Seat, bool) {
	who := r.config.who(name)
	if who == nil {
		return nil, transcript.Seat{}, false
	}
	for i := range r.everyone {
		if r.everyone[i].Name == name {
			return who, r.everyone[i], true
		}
	}
	if slices.Contains(helpers, name) {
		return who, transcript.Seat{Name: name, Instructions: who.Instructions}, true
	}
	return who, who.seat(), true
}

// who is the model behind a participant, a judge or a helper; nil: nobody has that name.
func (c *Config) who(name string) *Participant {
	switch name {
	case protocol.Casting:
		return &c.Casting
	case protocol.Summarizing:
		return &c.Summarizer
	case protocol.Retrieving:
		return &c.Retriever
	case protocol.Embedding:
		return &c.Embedder
	}
	if p := find(c.Participants, name); p != nil {
		return p
	}
	return find(c.Judges, name)
}

// find is who has a name; nil: nobody.
func find(list []Participant, name string) *Participant {
	for i := range list {
		if list[i].Name == name && !list[i].Disabled {
			return &list[i]
		}
	}
	return nil
}

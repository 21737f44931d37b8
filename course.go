package debate

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/omission"
	"github.com/elenchus-go/debate/internal/silence"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// forkPoint says what a debate is a fork of. It is zero for other debates.
type forkPoint struct {
	transcript.Parent

	idle   bool // nobody has started the fork
	silent silence.List
}

// begins reports whether an event is the first one that the fork does not have from its parent.
func (f forkPoint) begins(ev Event) bool { return f.ID != "" && ev.Meta().Seq == f.Seq+1 }

// course holds what a rejudged debate keeps of its parent: the entries after those that it begins with. The debate repeats them,
// except the steps of the judges who decide. Methods of a nil course tell that the debate was not rejudged.
type course struct {
	*storedCourse

	events []Event // of the parent, after the first ones
	keeps  []int   // the indexes of the events that are repeated, or that begin a phase in which judges decide
	at     int     // in keeps
	begun  bool    // the debate has all entries that it begins with
	over   bool    // a budget or a person has ended the debate elsewhere
	state  fsm.State
	round  int       // of the debate after the last entry of the course
	seqs   []seqPair // of the entries that were repeated

	departures []Departure
	remains    []transcript.Key
}

// seqPair holds the seq of an entry of the parent, and of the entry that repeats it.
type seqPair struct{ parent, own int64 }

// newCourse decodes a course. It returns nil if there is none.
func newCourse(stored *storedCourse) (*course, error) {
	if stored == nil {
		return nil, nil
	}
	c := &course{storedCourse: stored}
	for i, raw := range stored.Entries {
		ev, err := ParseEvent(raw)
		if err != nil {
			return nil, fmt.Errorf("read entry %d of the course: %w", stored.From+int64(i)+1, err)
		}
		c.events = append(c.events, ev)
	}
	c.plan()
	return c, nil
}

// plan selects the events to repeat: turns of participants, of judges who do not decide and of people, and the transitions and
// phases between them. Pauses and failures from which the debate came back are left out.
func (c *course) plan() {
	deciding, back := false, -1 // back is the index of the transition that ends a detour
	for i, ev := range c.events {
		keep := false
		switch ev := ev.(type) {
		case StateChanged:
			if i <= back {
				break
			}
			if ev.On == fsm.Pause || ev.On == fsm.Fail {
				back = c.detour(i)
			}
			if keep = i > back && ev.On != fsm.Pause; keep {
				deciding = false
			}
		case PhaseStarted:
			if ev.Summary == nil {
				deciding = c.decides(ev.Phase)
			}
			keep = i > back && (ev.Summary == nil || !deciding)
		case TurnDone:
			keep = !c.decides(ev.Turn.Phase) && (ev.Turn.Kind != transcript.Summary || !deciding)
		case ToolsCalled:
			keep = !c.decides(ev.Key.Phase)
		case Dropped:
			keep = true
		}
		if keep {
			c.keeps = append(c.keeps, i)
		}
	}
}

// detour returns the index of the transition after which the debate is where it was before the transition i, or -1 if there is
// none.
func (c *course) detour(i int) int {
	from := c.events[i].(StateChanged)
	for j := i + 1; j < len(c.events); j++ {
		if ev, ok := c.events[j].(StateChanged); ok && ev.To == from.From && ev.Round == from.Round {
			return j
		}
	}
	return -1
}

// decides reports whether judges decide in a phase.
func (c *course) decides(phase string) bool { return slices.Contains(c.Phases, phase) }

// hide returns a configuration in which judges do not see the documents that are left out.
func (c *course) hide(of *Config) *Config {
	if c == nil || !c.begun || len(c.Omit.Documents) == 0 {
		return of
	}
	own := *of
	own.hidden = c.Omit.Documents
	return &own
}

// leads reports whether the debate follows the course.
func (c *course) leads() bool { return c != nil && c.begun && !c.over && c.at < len(c.keeps) }

// asks reports whether judges decide next.
func (c *course) asks() bool {
	ev, ok := c.events[c.keeps[c.at]].(PhaseStarted)
	return ok && c.decides(ev.Phase)
}

// next returns the next event to repeat, or nil if there is none. The judges have been asked before it. Of those who were
// dropped, it has the participants.
func (c *course) next(isParticipating func(string) bool) Event {
	for _, i := range c.keeps[c.at:] {
		switch ev := c.events[i].(type) {
		case PhaseStarted:
			if !c.decides(ev.Phase) {
				return ev
			}
		case Dropped:
			if isParticipating(ev.Name) {
				return ev
			}
		default:
			return ev
		}
	}
	return nil
}

// follow notes an entry that was added. state and round are those of the debate after it. It reports
// whether the judges see other documents from here on.
func (c *course) follow(ev Event, state fsm.State, round int) (began bool) {
	if c == nil {
		return false
	}
	meta := ev.Meta()
	if !c.begun {
		if c.begun = meta.Seq == c.From; c.begun {
			c.state, c.round = state, round
		}
		return c.begun && len(c.Omit.Documents) > 0
	}
	if meta.Repeats > 0 {
		for c.at < len(c.keeps) && c.events[c.keeps[c.at]].Meta().Seq <= meta.Repeats {
			c.at++
		}
		c.seqs = append(c.seqs, seqPair{meta.Repeats, meta.Seq})
		c.state, c.round = state, round
	}
	switch ev := ev.(type) {
	case TurnDone:
		if ev.Remains {
			c.remains = append(c.remains, ev.Turn.Key)
		}
	case StateChanged:
		if ev.Instead != nil {
			c.departures = append(c.departures, Departure{Round: round, Kept: ev.Ending, Instead: *ev.Instead})
		}
		if meta.Repeats == 0 && slices.Contains([]fsm.Event{fsm.Stop, fsm.Cancel, fsm.Reset, fsm.Advance, fsm.Concluded}, ev.On) {
			c.over = true
		}
	}
	return false
}

// departed reports whether the new judges would have left the course in a round.
func (c *course) departed(round int) bool {
	return slices.ContainsFunc(c.departures, func(d Departure) bool { return d.Round == round })
}

// seqOf returns the seq of the last entry that the debate has of the parent's entries up to seq.
func (c *course) seqOf(seq int64) int64 {
	if seq <= c.From {
		return seq
	}
	for _, pair := range slices.Backward(c.seqs) {
		if pair.parent <= seq {
			return pair.own
		}
	}
	return c.From
}

// summary returns the plan of a summary of the parent with the seqs of the debate.
func (c *course) summary(p *window.SummaryPlan) *window.SummaryPlan {
	if p == nil {
		return nil
	}
	own := *p
	own.Base, own.Covers = c.seqOf(p.Base), nil
	for _, seq := range p.Covers {
		own.Covers = append(own.Covers, c.seqOf(seq))
	}
	return &own
}

// adapt returns the phases of a debate with what its course changes for the judges who decide: they do not see what is left
// out, may see the participants in the opposite order, and are not reminded of what another judge of the same name has said.
func (c *course) adapt(r *protocol.Record, phases []protocol.Phase) []protocol.Phase {
	if c == nil || !c.begun {
		return phases
	}
	phases = slices.Clone(phases)
	for i := range phases {
		if !c.decides(phases[i].Name) {
			continue
		}
		steps := slices.Clone(phases[i].Steps)
		for j := range steps {
			c.adaptStep(r, &steps[j], phases[i].Steps)
		}
		phases[i].Steps = steps
	}
	return phases
}

func (c *course) adaptStep(r *protocol.Record, s *protocol.Step, phase []protocol.Step) {
	if show := s.Show; !c.Omit.IsZero() {
		s.Show = func(t *transcript.Turn) bool {
			if show == nil && t.Kind != transcript.Speech && t.Kind != transcript.Remark {
				return false
			}
			return !c.Omit.has(t) && (show == nil || show(t))
		}
	}
	again := func(x protocol.Step) bool { return x.Actor == s.Actor && x.Swap != s.Swap }
	if c.Swap && s.Blind && !slices.ContainsFunc(phase, again) {
		s.Swap = !s.Swap
	}
	if slices.ContainsFunc(r.Turns, func(t transcript.Turn) bool { return t.Actor == s.Actor && !c.decides(t.Phase) }) {
		s.Doubt = nil
	}
}

// result returns what the result of the debate says of the course.
func (c *course) result() *Rejudged {
	if c == nil {
		return nil
	}
	return &Rejudged{
		Omit: Omission{Turns: slices.Clone(c.Omit.Turns), Seats: slices.Clone(c.Omit.Seats), Documents: slices.Clone(c.Omit.Documents)}, Swap: c.Swap,
		Departures: slices.Clone(c.departures), Remains: slices.Clone(c.remains),
	}
}

// warnings says in words where the new judges would have taken another course, and where words of what was left out remain.
func (c *course) warnings() (list []string) {
	if c == nil {
		return nil
	}
	decided := func(e transcript.Ending) string {
		if e.Outcome == "" {
			return "go on"
		}
		return fmt.Sprintf("end it with %s", e.Outcome)
	}
	for _, d := range c.departures {
		list = append(list, fmt.Sprintf("round %d: the new judges would have had the debate %s; the course, which was to %s, is kept", d.Round, decided(d.Instead), decided(d.Kept)))
	}
	for _, k := range c.remains {
		list = append(list, fmt.Sprintf("round %d, %s of %s: the prompt has words of a turn that was left out", k.Round, k.Phase, k.Actor))
	}
	return list
}

// remainsIn reports whether the prompt of a step holds words of a turn that is left out of it.
// documents holds the texts of documents that are left out.
func (c *course) remainsIn(r *protocol.Record, s *protocol.Step, prompt []providers.Message, documents []string) bool {
	if c == nil || !c.begun || c.Omit.IsZero() || !c.decides(s.Phase) {
		return false
	}
	var omitted []string
	for i := range r.Turns {
		if t := &r.Turns[i]; c.Omit.has(t) {
			omitted = append(omitted, t.Text)
		}
	}
	omitted = append(omitted, documents...)
	return omission.Remains(omitted, prompt)
}

// Package forks says what a fork does otherwise than its parent: which steps are silent, and, if it is judged again, which course it
// repeats of its parent and where new judges would have left that course.
package forks

import (
	"fmt"
	"slices"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/transcript"
)

// Place says where a debate stands.
type Place struct {
	State fsm.State
	Round int
}

// phaseOf returns the phase that an event belongs to, and whether it is that of a summary. Transitions and drops have none.
func phaseOf(ev journal.Event) (phase string, summary bool) {
	switch ev := ev.(type) {
	case journal.PhaseStarted:
		return ev.Phase, ev.Summary != nil
	case journal.TurnDone:
		return ev.Turn.Phase, ev.Turn.Kind == transcript.Summary
	case journal.ToolsCalled:
		return ev.Key.Phase, false
	}
	return "", false
}

// startsPhase reports whether an event is the start of a phase.
func startsPhase(ev journal.Event) bool {
	_, ok := ev.(journal.PhaseStarted)
	return ok
}

// Course holds what a debate keeps of its parent: the entries after those that it begins with. The debate repeats them, except the
// steps of the judges who decide. A debate that was not judged again has a nil course, of which only Begun, Before, Events, Result
// and Warnings may be called.
type Course struct {
	Given *journal.Course // as the first entry of the debate has it

	Departures []journal.Departure
	Remaining  []transcript.Key // steps whose prompts held words of what was left out

	entries []journal.Event // of the parent, after the first ones
	keeps   []int           // the indexes of the entries that are repeated, or that begin a phase in which judges decide
	at      int             // in keeps
	begun   bool            // the debate has all entries that it begins with
	over    bool            // a budget or a person has ended the debate elsewhere
	place   Place           // of the debate after the last entry of the course
	seqs    []seqPair
	had     []seqPair // of turns that the debate has without repeating them
}

// seqPair holds the seq of an entry of the parent, and of the entry that repeats it.
type seqPair struct{ parent, own int64 }

// ReadCourse returns the course that the first entry of a journal has, or nil if it has none.
func ReadCourse(stored *journal.Course) (*Course, error) {
	if stored == nil {
		return nil, nil
	}
	var events []journal.Event
	for i, raw := range stored.Entries {
		ev, err := journal.ParseEvent(raw)
		if err != nil {
			return nil, fmt.Errorf("read entry %d of the course: %w", stored.From+int64(i)+1, err)
		}
		events = append(events, ev)
	}
	return NewCourse(stored, events), nil
}

// NewCourse returns the course of a debate. entries are those of its parent after the first ones.
//
// The course repeats turns of participants, of judges who do not decide and of people, and the transitions and phases between
// them. Pauses and failures from which the parent came back are left out.
func NewCourse(given *journal.Course, entries []journal.Event) *Course {
	c := &Course{Given: given, entries: entries}
	deciding := false
	back := -1 // index of the transition that ends a detour
	for i, ev := range entries {
		phase, summary := phaseOf(ev)
		keep := false
		switch ev := ev.(type) {
		case journal.StateChanged:
			if i <= back {
				break
			}
			if ev.On == fsm.Pause || ev.On == fsm.Fail {
				back = c.detour(i)
			}
			keep = i > back && ev.On != fsm.Pause
			if keep {
				deciding = false
			}
		case journal.PhaseStarted:
			if !summary {
				deciding = given.Decides(phase)
			}
			keep = i > back && (!summary || !deciding)
		case journal.TurnDone:
			keep = !given.Decides(phase) && (!summary || !deciding)
		case journal.ToolsCalled:
			keep = !given.Decides(phase)
		case journal.Dropped:
			keep = true
		}
		if keep {
			c.keeps = append(c.keeps, i)
		}
	}
	return c
}

// detour returns the index of the transition after which the debate is where it was before the transition i, or -1 if there is
// none.
func (c *Course) detour(i int) int {
	from := c.entries[i].(journal.StateChanged)
	for j := i + 1; j < len(c.entries); j++ {
		x, ok := c.entries[j].(journal.StateChanged)
		if ok && x.To == from.From && x.Round == from.Round {
			return j
		}
	}
	return -1
}

// Events returns the entries of the parent after those that the debate begins with.
func (c *Course) Events() []journal.Event {
	if c == nil {
		return nil
	}
	return c.entries
}

// Begun reports whether the debate has all entries that it begins with.
func (c *Course) Begun() bool { return c != nil && c.begun }

// Before returns the number of the first entries, which may repeat a course that the debate does not have. forked is the number of
// those that it has of its parent.
func (c *Course) Before(forked int64) int64 {
	if c == nil {
		return forked
	}
	return c.Given.From
}

// Leads reports whether the debate follows the course.
func (c *Course) Leads() bool { return c.Begun() && !c.over && c.at < len(c.keeps) }

// GoesOn reports whether the course goes on where the debate is.
func (c *Course) GoesOn(at Place) bool { return c.Leads() && c.place == at }

// Asks reports whether judges decide next, after drops that the course does not repeat. The course must lead.
func (c *Course) Asks(takesPart func(name string) bool) bool {
	for _, i := range c.keeps[c.at:] {
		dropped, drop := c.entries[i].(journal.Dropped)
		if !drop || takesPart(dropped.Name) {
			return c.asksAt(i)
		}
	}
	return false
}

// asksAt reports whether the entry with an index starts a phase in which judges decide.
func (c *Course) asksAt(i int) bool {
	started, ok := c.entries[i].(journal.PhaseStarted)
	return ok && c.Given.Decides(started.Phase)
}

// Next returns the next entry to repeat, or nil if there is none. The judges have been asked before it. The course repeats only
// the drops of those who take part.
func (c *Course) Next(takesPart func(name string) bool) journal.Event {
	for _, i := range c.keeps[c.at:] {
		dropped, drop := c.entries[i].(journal.Dropped)
		if !c.asksAt(i) && (!drop || takesPart(dropped.Name)) {
			return c.entries[i]
		}
	}
	return nil
}

// Repeat returns an event of the course as the debate has it after the entry last. stamp returns the meta of the next entry.
func (c *Course) Repeat(ev journal.Event, stamp func(kind string) journal.EventMeta, now time.Time, last int64) journal.Event {
	meta := stamp(ev.Meta().Type)
	meta.Repeats = ev.Meta().Seq
	switch ev := ev.(type) {
	case journal.StateChanged:
		ev.EventMeta = meta
		ev.At = now
		return ev
	case journal.PhaseStarted:
		ev.EventMeta = meta
		ev.At = now
		ev.Summary = c.Summary(ev.Summary)
		return ev
	case journal.TurnDone:
		visible := c.SeqOf(ev.Turn.VisibleSeq)
		if ev.Turn.Kind == transcript.Remark {
			visible = last
		}
		ev.EventMeta = meta
		ev.At = now
		ev.PromptSeq = c.SeqOf(ev.PromptSeq)
		ev.Turn.Seq = ev.Seq
		ev.Turn.VisibleSeq = visible
		return ev
	case journal.Dropped:
		ev.EventMeta = meta
		ev.At = now
		return ev
	case journal.ToolsCalled:
		ev.EventMeta = meta
		ev.At = now
		ev.VisibleSeq = c.SeqOf(ev.VisibleSeq)
		return ev
	}
	return nil
}

// Result returns what the result of the debate says of the course, or nil if there is no course. It shares no memory with it.
func (c *Course) Result() *journal.Rejudged {
	if c == nil {
		return nil
	}
	return &journal.Rejudged{
		Omit:       deepcopy.Of(c.Given.Omit),
		Swap:       c.Given.Swap,
		Remains:    slices.Clone(c.Remaining),
		Departures: slices.Clone(c.Departures),
	}
}

// Follow notes an entry that was added. at is where the debate is after it. It reports whether the judges see other documents
// from here on.
func (c *Course) Follow(ev journal.Event, at Place) (began bool) {
	meta := ev.Meta()
	if !c.begun {
		if meta.Seq != c.Given.From {
			return false
		}
		c.begun = true
		c.place = at
		return len(c.Given.Omit.Documents) > 0
	}
	if meta.Repeats > 0 {
		for c.at < len(c.keeps) && c.entries[c.keeps[c.at]].Meta().Seq <= meta.Repeats {
			c.at++
		}
		c.seqs = append(c.seqs, seqPair{meta.Repeats, meta.Seq})
		c.place = at
	}
	switch ev := ev.(type) {
	case journal.TurnDone:
		if ev.Remains {
			c.Remaining = append(c.Remaining, ev.Turn.Key)
		}
		if meta.Repeats == 0 && !c.Given.Decides(ev.Turn.Phase) {
			c.skip(ev)
		}
	case journal.StateChanged:
		if ev.Instead != nil {
			c.Departures = append(c.Departures, journal.Departure{
				Round:   at.Round,
				Kept:    ev.Ending,
				Instead: *ev.Instead,
			})
		}
		leaves := []fsm.Event{fsm.Stop, fsm.Cancel, fsm.Reset, fsm.Advance, fsm.Concluded}
		if meta.Repeats == 0 && slices.Contains(leaves, ev.On) {
			c.over = true
		}
	}
	return false
}

// skip takes the turn with the key of one that the debate has out of the rest of the course: a remark, or a summary with its phase.
func (c *Course) skip(has journal.TurnDone) {
	for at := c.at; at < len(c.keeps); at++ {
		turn, ok := c.entries[c.keeps[at]].(journal.TurnDone)
		if !ok || turn.Turn.Key != has.Turn.Key {
			continue
		}
		c.had = append(c.had, seqPair{turn.Seq, has.Seq})
		c.keeps = slices.Delete(c.keeps, at, at+1)
		_, summary := phaseOf(turn)
		for before := at - 1; summary && before >= c.at; before-- {
			p := c.entries[c.keeps[before]]
			if _, of := phaseOf(p); of && startsPhase(p) {
				c.keeps = slices.Delete(c.keeps, before, before+1)
				break
			}
		}
		return
	}
}

// departed reports whether the new judges would have left the course in a round.
func (c *Course) departed(round int) bool {
	return slices.ContainsFunc(c.Departures, func(d journal.Departure) bool { return d.Round == round })
}

// Instead returns what the new judges would have decided after a round, or nil if it is what the debate keeps, if only the limit of
// rounds makes a difference, or if they have already left the course in this round.
func (c *Course) Instead(round int, kept, is transcript.Ending) *transcript.Ending {
	byLimit := is.Outcome == transcript.RoundLimit && kept.Outcome == "" ||
		is.Outcome == "" && kept.Outcome == transcript.RoundLimit
	if is.Outcome == kept.Outcome || byLimit || c.departed(round) {
		return nil
	}
	is.Round = round
	return &is
}

// SeqOf returns the seq of the last entry that the debate has of the parent's entries up to seq.
func (c *Course) SeqOf(seq int64) int64 {
	if seq <= c.Given.From {
		return seq
	}
	for _, pair := range slices.Backward(c.seqs) {
		if pair.parent <= seq {
			return pair.own
		}
	}
	return c.Given.From
}

// Summary returns the plan of a summary of the parent with the seqs of the debate.
func (c *Course) Summary(p *window.SummaryPlan) *window.SummaryPlan {
	if p == nil {
		return nil
	}
	own := *p
	own.Base = c.seqOfTurn(p.Base)
	own.Covers = nil
	for _, seq := range p.Covers {
		own.Covers = append(own.Covers, c.seqOfTurn(seq))
	}
	return &own
}

// seqOfTurn returns the seq that a turn of the parent has in the debate.
func (c *Course) seqOfTurn(seq int64) int64 {
	if at := slices.IndexFunc(c.had, func(p seqPair) bool { return p.parent == seq }); at >= 0 {
		return c.had[at].own
	}
	return c.SeqOf(seq)
}

// Warnings says in words where the new judges would have taken another course, and where words of what was left out remain.
func (c *Course) Warnings() (list []string) {
	if c == nil {
		return nil
	}
	decided := func(e transcript.Ending) string {
		if e.Outcome == "" {
			return "go on"
		}
		return fmt.Sprintf("end it with %s", e.Outcome)
	}
	for _, d := range c.Departures {
		const text = "round %d: the new judges would have had the debate %s; the course, which was to %s, is kept"
		list = append(list, fmt.Sprintf(text, d.Round, decided(d.Instead), decided(d.Kept)))
	}
	for _, k := range c.Remaining {
		const text = "round %d, %s of %s: the prompt has words of a turn that was left out"
		list = append(list, fmt.Sprintf(text, k.Round, k.Phase, k.Actor))
	}
	return list
}

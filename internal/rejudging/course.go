// Package rejudging holds the course of a debate that is judged again: what the new debate repeats of its parent, and where new
// judges would have left that course.
package rejudging

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/transcript"
)

// Kind says what an entry of a journal is.
type Kind int

// The kinds of entries that a course knows. Any other entry has the kind 0.
const (
	Transition Kind = iota + 1
	Phase           // the start of a phase
	Turn
	Calls // of tools
	Drop
)

// Entry holds what a course needs of an entry of a journal.
type Entry struct {
	Kind    Kind
	Seq     int64
	Repeats int64 // seq of the entry of the parent that it repeats; 0 if it repeats none

	Phase   string         // of a phase, a turn or calls
	Summary bool           // the phase or the turn is a summary
	Key     transcript.Key // of a turn
	Remains bool           // the prompt of the turn held words of what was left out
	Name    string         // who was dropped

	// Of a transition.
	On       fsm.Event
	From, To fsm.State
	Round    int
	Ending   transcript.Ending
	Instead  *transcript.Ending // what the new judges would have decided
}

// Place says where a debate stands.
type Place struct {
	State fsm.State
	Round int
}

// Departure names a round in which new judges would have taken another course.
type Departure struct {
	Round         int
	Kept, Instead transcript.Ending
}

// Plan says how the judges of a debate are asked again.
type Plan struct {
	From   int64 // number of entries that the debate begins with
	Omit   Omission
	Swap   bool
	Phases []string // in which the judges decide
}

// Decides reports whether judges decide in a phase.
func (p *Plan) Decides(phase string) bool { return slices.Contains(p.Phases, phase) }

// Course holds what a debate keeps of its parent: the entries after those that it begins with. The debate repeats them, except the
// steps of the judges who decide. A debate that was not judged again has a nil course; Begun, Before, Leads, GoesOn, Adapt,
// RemainsIn and Warnings, and no other methods, may be called on it.
type Course struct {
	Plan

	Departures []Departure
	Remaining  []transcript.Key // steps whose prompts held words of what was left out

	entries []Entry // of the parent, after the first ones
	keeps   []int   // the indexes of the entries that are repeated, or that begin a phase in which judges decide
	at      int     // in keeps
	begun   bool    // the debate has all entries that it begins with
	over    bool    // a budget or a person has ended the debate elsewhere
	place   Place   // of the debate after the last entry of the course
	seqs    []seqPair
	had     []seqPair // of turns that the debate has without repeating them
}

// seqPair holds the seq of an entry of the parent, and of the entry that repeats it.
type seqPair struct{ parent, own int64 }

// New returns the course of a debate. entries are those of its parent after the first ones.
//
// The course repeats turns of participants, of judges who do not decide and of people, and the transitions and phases between
// them. Pauses and failures from which the parent came back are left out.
func New(p Plan, entries []Entry) *Course {
	c := &Course{Plan: p, entries: entries}
	deciding, back := false, -1 // back is the index of the transition that ends a detour
	for i := range entries {
		keep := false
		switch x := &entries[i]; x.Kind {
		case Transition:
			if i <= back {
				break
			}
			if x.On == fsm.Pause || x.On == fsm.Fail {
				back = c.detour(i)
			}
			if keep = i > back && x.On != fsm.Pause; keep {
				deciding = false
			}
		case Phase:
			if !x.Summary {
				deciding = c.Decides(x.Phase)
			}
			keep = i > back && (!x.Summary || !deciding)
		case Turn:
			keep = !c.Decides(x.Phase) && (!x.Summary || !deciding)
		case Calls:
			keep = !c.Decides(x.Phase)
		case Drop:
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
	from := c.entries[i]
	for j := i + 1; j < len(c.entries); j++ {
		if x := &c.entries[j]; x.Kind == Transition && x.To == from.From && x.Round == from.Round {
			return j
		}
	}
	return -1
}

// Begun reports whether the debate has all entries that it begins with.
func (c *Course) Begun() bool { return c != nil && c.begun }

// Before returns the number of the first entries, which may repeat a course that the debate does not have. forked is the number of
// those that it has of its parent.
func (c *Course) Before(forked int64) int64 {
	if c == nil {
		return forked
	}
	return c.From
}

// Leads reports whether the debate follows the course.
func (c *Course) Leads() bool { return c.Begun() && !c.over && c.at < len(c.keeps) }

// GoesOn reports whether the course goes on where the debate is.
func (c *Course) GoesOn(at Place) bool { return c.Leads() && c.place == at }

// Asks reports whether judges decide next, after drops that the course does not repeat. The course must lead.
func (c *Course) Asks(takesPart func(name string) bool) bool {
	for _, i := range c.keeps[c.at:] {
		if x := &c.entries[i]; x.Kind != Drop || takesPart(x.Name) {
			return x.Kind == Phase && c.Decides(x.Phase)
		}
	}
	return false
}

// Next returns the index of the next entry to repeat, or -1 if there is none. The judges have been asked before it. The course
// repeats only the drops of those who take part.
func (c *Course) Next(takesPart func(name string) bool) int {
	for _, i := range c.keeps[c.at:] {
		switch x := &c.entries[i]; {
		case x.Kind == Phase && c.Decides(x.Phase):
		case x.Kind == Drop && !takesPart(x.Name):
		default:
			return i
		}
	}
	return -1
}

// Follow notes an entry that was added. at is where the debate is after it. It reports whether the judges see other documents
// from here on.
func (c *Course) Follow(x *Entry, at Place) (began bool) {
	if !c.begun {
		if c.begun = x.Seq == c.From; c.begun {
			c.place = at
		}
		return c.begun && len(c.Omit.Documents) > 0
	}
	if x.Repeats > 0 {
		for c.at < len(c.keeps) && c.entries[c.keeps[c.at]].Seq <= x.Repeats {
			c.at++
		}
		c.seqs = append(c.seqs, seqPair{x.Repeats, x.Seq})
		c.place = at
	}
	switch x.Kind { //nolint:exhaustive // nothing else is noted
	case Turn:
		if x.Remains {
			c.Remaining = append(c.Remaining, x.Key)
		}
		if x.Repeats == 0 && !c.Decides(x.Phase) {
			c.skip(x)
		}
	case Transition:
		if x.Instead != nil {
			c.Departures = append(c.Departures, Departure{Round: at.Round, Kept: x.Ending, Instead: *x.Instead})
		}
		if x.Repeats == 0 && slices.Contains([]fsm.Event{fsm.Stop, fsm.Cancel, fsm.Reset, fsm.Advance, fsm.Concluded}, x.On) {
			c.over = true
		}
	}
	return false
}

// skip takes the turn with the key of one that the debate has out of the rest of the course: a remark, or a summary with its phase.
func (c *Course) skip(has *Entry) {
	for at := c.at; at < len(c.keeps); at++ {
		x := &c.entries[c.keeps[at]]
		if x.Kind != Turn || x.Key != has.Key {
			continue
		}
		c.had = append(c.had, seqPair{x.Seq, has.Seq})
		c.keeps = slices.Delete(c.keeps, at, at+1)
		for before := at - 1; x.Summary && before >= c.at; before-- {
			if p := &c.entries[c.keeps[before]]; p.Kind == Phase && p.Summary {
				c.keeps = slices.Delete(c.keeps, before, before+1)
				break
			}
		}
		return
	}
}

// departed reports whether the new judges would have left the course in a round.
func (c *Course) departed(round int) bool {
	return slices.ContainsFunc(c.Departures, func(d Departure) bool { return d.Round == round })
}

// Instead returns what the new judges would have decided after a round, or nil if it is what the debate keeps, if only the limit of
// rounds makes a difference, or if they have already left the course in this round.
func (c *Course) Instead(round int, kept, is transcript.Ending) *transcript.Ending {
	byLimit := is.Outcome == transcript.RoundLimit && kept.Outcome == "" || is.Outcome == "" && kept.Outcome == transcript.RoundLimit
	if is.Outcome == kept.Outcome || byLimit || c.departed(round) {
		return nil
	}
	is.Round = round
	return &is
}

// SeqOf returns the seq of the last entry that the debate has of the parent's entries up to seq.
func (c *Course) SeqOf(seq int64) int64 {
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

// Summary returns the plan of a summary of the parent with the seqs of the debate.
func (c *Course) Summary(p *window.SummaryPlan) *window.SummaryPlan {
	if p == nil {
		return nil
	}
	own := *p
	own.Base, own.Covers = c.seqOfTurn(p.Base), nil
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
		list = append(list, fmt.Sprintf("round %d: the new judges would have had the debate %s; the course, which was to %s, is kept", d.Round, decided(d.Instead), decided(d.Kept)))
	}
	for _, k := range c.Remaining {
		list = append(list, fmt.Sprintf("round %d, %s of %s: the prompt has words of a turn that was left out", k.Round, k.Phase, k.Actor))
	}
	return list
}

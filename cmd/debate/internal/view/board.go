package view

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/report/progress"
	"github.com/elenchus-go/debate/transcript"
)

// board holds what a view knows about a debate.
type board struct {
	progress.Hooks
	cast    []string          // names of participants and judges, in order
	sides   map[string]string // sides of participants
	streams []*stream         // replies in flight
	asked   []transcript.Key  // steps of people who have not replied
	used    transcript.Usage  // of all steps so far
	scores  scores            // of the last round that has scores
	failed  map[failureID]bool
	calls   map[string]string // what was shown of each call of a tool, by its ID
	// waitsFor is the message of the last failed attempt if it made its step wait, otherwise empty.
	waitsFor string
	columns  int   // most columns of a line of text
	hidden   bool  // show no text of replies and no scores
	seq      int64 // sequence number of the last durable event
}

// gutterColumns holds the length of what precedes each line of a turn.
const gutterColumns = 2

// isNew reports whether an event was not recorded before.
func (b *board) isNew(ev debate.Event) bool {
	m := ev.Meta()
	if m.Live {
		return true
	}
	if m.Seq <= b.seq {
		return false
	}
	b.seq = m.Seq
	return true
}

// record records a new event.
func (b *board) record(ev debate.Event) {
	b.Observe(ev)
	switch ev := ev.(type) {
	case debate.ConfigChanged:
		b.setCast(ev.Config)
	case debate.TurnStarted:
		b.end(ev.Key)
		b.begin(newStream(ev.Attempt, b.columns-gutterColumns, b.hidden))
	case debate.Chunk:
		if i := b.streamOf(ev.Key); i >= 0 {
			b.streams[i].add(ev.Offset, ev.Text)
		}
	case debate.TurnFailed:
		if ev.RetryIn < 0 {
			b.end(ev.Key)
		} else if i := b.streamOf(ev.Key); i >= 0 {
			b.streams[i].waits = ev.RetryIn > 0
		}
	case debate.TurnDone:
		b.end(ev.Turn.Key)
		b.used = b.used.Add(ev.Turn.Usage)
		if !b.hidden {
			b.scores.add(ev.Turn)
		}
	case debate.Asked:
		b.asked = append(b.asked, ev.Key)
	case debate.Decided:
		b.asked = slices.DeleteFunc(b.asked, func(k transcript.Key) bool { return k == ev.Key })
	case debate.Dropped:
		b.streams = slices.DeleteFunc(b.streams, func(s *stream) bool { return s.Key.Actor == ev.Name })
		b.asked = slices.DeleteFunc(b.asked, func(k transcript.Key) bool { return k.Actor == ev.Name })
		b.addFailures(ev.Failure)
		b.addFailures(ev.OtherFailures...)
	case debate.StateChanged:
		if ev.To.Final() || ev.On == fsm.Reset { // a pause ends no reply in flight
			b.streams, b.asked = nil, nil
		}
		if ev.On == fsm.Reset {
			b.scores = scores{}
		}
		b.addFailures(ev.Failure)
		b.addFailures(ev.OtherFailures...)
		if ev.Question != nil {
			b.addFailures(ev.Question.Failure)
		}
	}
}

// setCast reads the names and sides of a configuration.
func (b *board) setCast(config json.RawMessage) {
	var c struct {
		Participants, Judges []struct{ Name, Side string }
	}
	if json.Unmarshal(config, &c) != nil {
		return // shows names without their sides
	}
	b.sides = map[string]string{}
	for _, p := range append(c.Participants, c.Judges...) {
		b.place(p.Name)
		b.sides[p.Name] = p.Side
	}
}

// place returns the place of a speaker among all speakers. Somebody new gets the last place.
func (b *board) place(name string) int {
	i := slices.Index(b.cast, name)
	if i < 0 {
		i, b.cast = len(b.cast), append(b.cast, name)
	}
	return i
}

// begin adds a reply to the replies in flight, in the order of the cast.
func (b *board) begin(s *stream) {
	i := slices.IndexFunc(b.streams, func(other *stream) bool { return b.place(other.Key.Actor) > b.place(s.Key.Actor) })
	if i < 0 {
		i = len(b.streams)
	}
	b.streams = slices.Insert(b.streams, i, s)
}

func (b *board) streamOf(k transcript.Key) int {
	return slices.IndexFunc(b.streams, func(s *stream) bool { return s.Key == k })
}

// end removes a step from the replies in flight and from the replies that people are asked for.
func (b *board) end(k transcript.Key) {
	b.streams = slices.DeleteFunc(b.streams, func(s *stream) bool { return s.Key == k })
	b.asked = slices.DeleteFunc(b.asked, func(a transcript.Key) bool { return a == k })
}

// failureID identifies a failure, which several events can name.
type failureID struct {
	key transcript.Key
	at  time.Time
}

// addFailures adds the usage of failed steps.
func (b *board) addFailures(list ...*debate.Failure) {
	for _, f := range list {
		if f == nil || b.failed[failureID{f.Key, f.At}] {
			continue
		}
		if b.failed == nil {
			b.failed = map[failureID]bool{}
		}
		b.failed[failureID{f.Key, f.At}] = true
		for _, a := range f.AttemptDetails {
			b.used = b.used.Add(a.Usage)
		}
	}
}

// resize sets the number of columns of text.
func (b *board) resize(columns int) {
	if columns == b.columns {
		return
	}
	b.columns = columns
	for _, s := range b.streams {
		s.rewrap(columns - gutterColumns)
	}
}

// title returns the round or, outside of the rounds, the stage. It returns "" before the first phase.
func (b *board) title() string {
	phases := b.Phases()
	if len(phases) == 0 {
		return ""
	}
	switch m := phases[len(phases)-1]; {
	case m.Stage == transcript.Setup || m.Stage == transcript.Conclusion:
		return string(m.Stage)
	case m.Rounds == 0:
		return fmt.Sprintf("round %d", m.Round)
	default:
		return fmt.Sprintf("round %d of %d", m.Round, m.Rounds)
	}
}

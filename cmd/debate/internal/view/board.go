package view

import (
	"slices"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/readmodel"
	"github.com/elenchus-go/debate/report/progress"
	"github.com/elenchus-go/debate/transcript"
)

// board holds what a view knows about a debate.
type board struct {
	progress.Hooks
	readmodel.Teller
	streams []*stream        // replies in flight
	asked   []transcript.Key // steps of people who have not replied
	used    transcript.Usage // of all steps so far
	scores  scores           // of the last round that has scores
	failed  map[failureID]bool
	columns int // most columns of a line of text
}

// gutterColumns holds the length of what precedes each line of a turn.
const gutterColumns = 2

// record records a new event.
func (b *board) record(ev debate.Event) {
	b.Observe(ev)
	b.Record(ev)
	switch ev := ev.(type) {
	case debate.TurnStarted:
		b.end(ev.Key)
		b.begin(newStream(ev.Attempt, b.columns-gutterColumns, b.HideTexts))
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
		if !b.HideTexts {
			b.scores.add(&ev.Turn)
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

// begin adds a reply to the replies in flight, in the order of the cast.
func (b *board) begin(s *stream) {
	i := slices.IndexFunc(b.streams, func(other *stream) bool { return b.Place(other.Key.Actor) > b.Place(s.Key.Actor) })
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

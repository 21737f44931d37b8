package report

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/transcript"
)

// Collect reads a debate from its store and returns a report on it. The debate may continue meanwhile; the report shows
// one point in its history. For runs that a reset ended, the report has only the state transitions.
func Collect(ctx context.Context, d *debate.Debate) (*Report, error) {
	r := &Report{Format: formatVersion}
	var last *debate.Snapshot
	for m, err := range d.Replay(ctx) {
		if err != nil {
			return nil, fmt.Errorf("collect report of debate %s: %w", d.ID(), err)
		}
		r.addEvent(m.Event)
		last = m
	}
	if last == nil {
		return nil, fmt.Errorf("collect report of debate %s: the journal is empty", d.ID())
	}
	r.Result, r.Waiting = *last.Result(), last.Status().Waiting
	return r.normalized()
}

// addEvent adds an event from the journal.
func (r *Report) addEvent(ev debate.Event) {
	switch ev := ev.(type) {
	case debate.ConfigChanged:
		r.Config, r.Attachments = withoutContent(ev.Config)
	case debate.StateChanged:
		r.Transitions = append(r.Transitions, ev)
		if ev.On == fsm.Reset {
			r.Dropped, r.Tools = nil, nil
		}
	case debate.Decided:
		r.Decisions = append(r.Decisions, ev)
	case debate.Dropped:
		r.Dropped = append(r.Dropped, ev)
	case debate.ToolsCalled:
		r.addTools(ev)
	}
}

// normalized returns a copy of the report that shares no memory with the store and equals what its JSON decodes to.
func (r *Report) normalized() (*Report, error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode report of debate %s: %w", r.Result.ID, err)
	}
	s := &Report{}
	err = json.Unmarshal(raw, s)
	for _, f := range s.allFailures() {
		f.Stack = "" // it is for the program's authors
	}
	res := &s.Result
	res.Turns = mapSlice(res.Turns, withoutOpaque)
	res.Assessments = mapSlice(res.Assessments, withoutOpaque)
	res.Verdict = mapPointer(res.Verdict, withoutOpaque)
	s.Summary = s.summarize()
	return s, err
}

// withoutOpaque returns a turn without the reasoning that only the model's service can read.
func withoutOpaque(t transcript.Turn) transcript.Turn {
	if t.Reasoning != nil && t.Reasoning.Text != "" {
		t.Reasoning = &transcript.Reasoning{Text: t.Reasoning.Text}
	} else {
		t.Reasoning = nil
	}
	return t
}

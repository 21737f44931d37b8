// Package report renders a debate as a document for readers: Markdown, a single HTML file, or JSON.
//
// Collect a report while the debate runs or after it has ended, and render it:
//
//	func save(ctx context.Context, d *debate.Debate, w io.Writer) error {
//		r, err := report.Collect(ctx, d)
//		if err != nil {
//			return err
//		}
//		return report.HTML(w, r.Redact())
//	}
//
// A [Report] is plain data. [Markdown] and [HTML] render the outcome with its evidence, the answer, dissent, scores by
// round, findings, tokens and cost, the state transitions, the times of the turns, the transcript, and failures. To
// store a report, encode it as JSON; the decoded report renders to the same document. [Report.Redact] removes the text
// of prompts and errors.
//
// # Untrusted text
//
// A report contains text from models and users. [Markdown] and [HTML] remove control characters, including those that
// change the direction of text, and escape everything else, so that no text becomes markup. The HTML contains no scripts
// and loads nothing, and its content security policy forbids both.
//
// # Export and import
//
// You cannot continue a debate from a report. To move a debate to another store, with its prompts and its whole history,
// use package archive.
package report

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/transcript"
)

// formatVersion is the version of the report format that this package reads and writes.
const formatVersion = 1

// Report describes a debate at one point in its history. [Collect] fills it.
type Report struct {
	Format   int             `json:"format"`             // version of the report format, 1
	Redacted bool            `json:"redacted,omitempty"` // true if Redact made the report
	Config   json.RawMessage `json:"config,omitempty"`   // current configuration; debate.Engine.ParseConfig reads it
	Result   debate.Result   `json:"result"`
	// Transitions holds all state transitions, including those of runs that a reset ended.
	Transitions []debate.StateChanged `json:"transitions"`
	Decisions   []debate.Decided      `json:"decisions,omitempty"` // answers that people gave to the debate's questions
	Dropped     []debate.Dropped      `json:"dropped,omitempty"`   // participants who dropped out of the current run
}

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
	r.Result = *last.Result()
	return r.normalized()
}

// addEvent adds an event from the journal.
func (r *Report) addEvent(ev debate.Event) {
	switch ev := ev.(type) {
	case debate.ConfigChanged:
		r.Config = ev.Config
	case debate.StateChanged:
		r.Transitions = append(r.Transitions, ev)
		if ev.On == fsm.Reset {
			r.Dropped = nil
		}
	case debate.Decided:
		r.Decisions = append(r.Decisions, ev)
	case debate.Dropped:
		r.Dropped = append(r.Dropped, ev)
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
	res.Turns, res.Assessments, res.Verdict = mapSlice(res.Turns, withoutOpaque), mapSlice(res.Assessments, withoutOpaque), mapPointer(res.Verdict, withoutOpaque)
	return s, err
}

// mapSlice returns a new list with f applied to each item, or nil for a nil list.
func mapSlice[T any](list []T, f func(T) T) []T {
	if list == nil {
		return nil
	}
	made := make([]T, len(list))
	for i, x := range list {
		made[i] = f(x)
	}
	return made
}

// mapPointer returns a pointer to f(*p), or nil if p is nil.
func mapPointer[T any](p *T, f func(T) T) *T {
	if p == nil {
		return nil
	}
	v := f(*p)
	return &v
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

// allFailures returns all failures in the report. Some are the same.
func (r *Report) allFailures() (list []*debate.Failure) {
	add := func(failures ...*debate.Failure) {
		for _, f := range failures {
			if f != nil {
				list = append(list, f)
			}
		}
	}
	for _, s := range r.Transitions {
		add(s.Failure)
		if s.Question != nil {
			add(s.Question.Failure)
		}
		add(s.OtherFailures...)
	}
	for _, d := range r.Dropped {
		add(d.Failure)
		add(d.OtherFailures...)
	}
	add(r.Result.Failure)
	if r.Result.Question != nil {
		add(r.Result.Question.Failure)
	}
	return list
}

// UnmarshalJSON decodes a report. It returns an error that wraps debate.ErrUnsupported if the format is newer than the one
// that this version knows.
func (r *Report) UnmarshalJSON(b []byte) error {
	type plain Report // without methods
	if err := checkFormat(b); err != nil {
		return err
	}
	return json.Unmarshal(b, (*plain)(r))
}

// checkFormat returns an error if the format of a report is newer than the one that this version knows.
func checkFormat(b []byte) error {
	var file struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(b, &file); err != nil {
		return fmt.Errorf("read report: %w", err)
	}
	if file.Format > formatVersion {
		return fmt.Errorf("read report: format is %d, this version of the library reads formats up to %d: %w",
			file.Format, formatVersion, debate.ErrUnsupported)
	}
	return nil
}

// shownConfig holds the fields of the configuration that a report shows.
type shownConfig struct {
	Seed     string `json:"seed"`
	Protocol struct {
		Jury json.RawMessage `json:"jury"`
	} `json:"protocol"`
	Participants []debate.Participant       `json:"participants"`
	Judges       []debate.Participant       `json:"judges"`
	Prices       map[string]json.RawMessage `json:"prices"`
}

// shownConfig decodes the fields of the configuration that a report shows.
func (r *Report) shownConfig() (s shownConfig) {
	_ = json.Unmarshal(r.Config, &s) // the report leaves out fields that cannot be decoded
	return s
}

// decodeOrZero decodes data, and returns the zero value if that fails.
func decodeOrZero[T any](data json.RawMessage) (v T) {
	if err := json.Unmarshal(data, &v); err != nil {
		return *new(T)
	}
	return v
}

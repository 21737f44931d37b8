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
// A [Report] is plain data. [Markdown], [HTML] and its JSON have the same order: the topic, what is degraded, the answer
// in one sentence with a picture, the reasons, the transcript by round, and last usage, models, states, failures and the
// configuration. To store a report, encode it as JSON; the decoded report renders to the same document. [Report.Redact]
// removes the text of prompts and errors.
//
// # Untrusted text
//
// A report contains text from models and users. [Markdown] and [HTML] remove control characters, including those that
// change the direction of text. [HTML] renders the Markdown of models, without HTML and images, and with the host of each
// link next to it; a name or an error never becomes markup. [Markdown] escapes all markup. The HTML contains no scripts
// and loads nothing, and its content security policy forbids both.
//
// # Export and import
//
// You cannot continue a debate from a report. To move a debate to another store, with its prompts and its whole history,
// use package archive.
package report

import (
	"encoding/json"
	"fmt"

	"github.com/elenchus-go/debate"
)

// formatVersion names the version of the report format that this package reads and writes.
const formatVersion = 1

// Report describes a debate at one point in its history, in the order in which readers need it: what it came to and why,
// what was said, and last how it ran. [Collect] fills it.
type Report struct {
	Format   int  `json:"format"`             // version of the report format, 1
	Redacted bool `json:"redacted,omitempty"` // true if Redact made the report
	// Summary is derived from the other fields. Markdown and HTML derive it again. It is zero in older files.
	Summary Summary       `json:"summary"`
	Result  debate.Result `json:"result"`
	Waiting []string      `json:"waiting,omitempty"` // names of the people whose replies the debate waits for
	// Transitions holds all state transitions, including those of runs that a reset ended.
	Transitions []debate.StateChanged `json:"transitions"`
	Decisions   []debate.Decided      `json:"decisions,omitempty"` // answers that people gave to the debate's questions
	Dropped     []debate.Dropped      `json:"dropped,omitempty"`   // participants who dropped out of the current run
	// Tools holds the rounds of tool calls of the current run, without the models' messages. Arguments and results are cut at 2 KiB,
	// and sources have no text. Steps that read a private document are not among them.
	Tools  []debate.ToolsCalled `json:"tools,omitempty"`
	Config json.RawMessage      `json:"config,omitempty"` // current configuration; debate.Engine.ParseConfig reads it
	// Attachments describes each attachment: its name, its media type and its size. The report does not have their content.
	Attachments []string `json:"attachments,omitempty"`
}

// Summary is the first screen of a report: the topic, the answer in one sentence, and the reasons.
type Summary struct {
	Topic   string   `json:"topic"`             // the topic of the debate
	Notices []string `json:"notices,omitempty"` // what a reader should know before relying on the answer, one sentence each
	Answer  string   `json:"answer"`            // the decision, by how much, how sure it is and who dissents; or how far the debate has come
	Text    string   `json:"text,omitempty"`    // the answer or its summary, in Markdown by a model
	Reasons []Reason `json:"reasons,omitempty"`
}

// Reason holds points for or against the answer, such as the key points of a participant, open disputes or dissent.
type Reason struct {
	Title  string   `json:"title"`          // what the points are, such as "Key points"
	Name   string   `json:"name,omitempty"` // whose points they are; empty if they are not one participant's
	Points []string `json:"points"`         // in Markdown by models
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
		Jury     json.RawMessage `json:"jury"`
		ByScores bool            `json:"by_scores"`
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

// Package report shows what became of a debate: as Markdown, as one HTML file that needs nothing else, and as JSON.
//
// [Collect] gathers a [Report] from a debate in whatever state it is. A report is plain data, and what its JSON says is
// all that it says. [Markdown] and [HTML] render one: the outcome with its evidence, the answer, dissent, scores a round,
// tokens and cost, the path through the states, the times of the turns, the transcript, and what failed.
//
// What models say is untrusted, and so are the topic, names and whatever else stands in a report. The renderings strip
// control characters and those that turn the direction of writing, and escape the rest: nothing in it becomes markup. The
// HTML has no script, loads nothing, and its content policy allows neither.
//
// To put a debate whole, prompts and all, into another store and drive it there, use package archive.
package report

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
)

// format is the newest format of reports that this version reads and writes.
const format = 1

// Report is a debate as far as it has come. The zero Report is that of a debate of which nothing is known.
type Report struct {
	Format   int             `json:"format"`             // of reports, 1
	Redacted bool            `json:"redacted,omitempty"` // see Redact
	Config   json.RawMessage `json:"config,omitempty"`   // as it is in force; see debate.Engine.ParseConfig
	Result   debate.Result   `json:"result"`
	// Path are all transitions, those of earlier runs too, and Decided the answers of people to its questions.
	Path    []debate.StateChanged `json:"path"`
	Decided []debate.Decided      `json:"decided,omitempty"`
	Dropped []debate.Dropped      `json:"dropped,omitempty"` // participants who dropped out, of this run
}

// Collect gathers what is stored of a debate, as of one moment: it may go on meanwhile. Of runs that ended in a reset only
// the path is told.
func Collect(ctx context.Context, d *debate.Debate) (*Report, error) {
	r := &Report{Format: format}
	var last *debate.Moment
	for m, err := range d.Replay(ctx) {
		if err != nil {
			return nil, fmt.Errorf("collect report of debate %s: %w", d.ID(), err)
		}
		r.note(m.Event)
		last = m
	}
	if last == nil {
		return nil, fmt.Errorf("collect report of debate %s: its journal is empty", d.ID())
	}
	r.Result = *last.Result()
	return r.settled()
}

// note adds an event of the journal.
func (r *Report) note(ev debate.Event) {
	switch ev := ev.(type) {
	case debate.ConfigChanged:
		r.Config = ev.Config
	case debate.StateChanged:
		r.Path = append(r.Path, ev)
		if ev.On == fsm.Reset {
			r.Dropped = nil
		}
	case debate.Decided:
		r.Decided = append(r.Decided, ev)
	case debate.Dropped:
		r.Dropped = append(r.Dropped, ev)
	}
}

// settled is the report as its JSON reads: it shares nothing with the store, and is the same when it is read back.
func (r *Report) settled() (*Report, error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode report of debate %s: %w", r.Result.ID, err)
	}
	s := &Report{}
	return s, json.Unmarshal(raw, s)
}

// UnmarshalJSON refuses reports of a newer format.
func (r *Report) UnmarshalJSON(b []byte) error {
	type plain Report // without methods
	if err := newer(b); err != nil {
		return err
	}
	return json.Unmarshal(b, (*plain)(r))
}

// newer is the error about a file whose format is newer than those that this version knows.
func newer(b []byte) error {
	var file struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(b, &file); err != nil {
		return fmt.Errorf("read report: %w", err)
	}
	if file.Format > format {
		return fmt.Errorf("read report: its format is %d, this version of the library knows formats up to %d: %w",
			file.Format, format, debate.ErrUnsupported)
	}
	return nil
}

// settings are what a report shows of the configuration.
type settings struct {
	Protocol struct {
		Bench json.RawMessage `json:"bench"`
	} `json:"protocol"`
	Participants []debate.Participant       `json:"participants"`
	Judges       []debate.Participant       `json:"judges"`
	Prices       map[string]json.RawMessage `json:"prices"`
}

// settings are as far as they can be read.
func (r *Report) settings() (s settings) {
	_ = json.Unmarshal(r.Config, &s) // what cannot be read is not shown
	return s
}

// read is data as a type; the zero value where it is none.
func read[T any](data json.RawMessage) (v T) {
	if err := json.Unmarshal(data, &v); err != nil {
		return *new(T)
	}
	return v
}

package debate

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/elenchus-go/debate/detect"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// Result is what is known of a debate: so far, or as it ended.
type Result struct {
	ID         string            `json:"id"`
	Topic      string            `json:"topic"`
	Background string            `json:"background,omitempty"`
	Protocol   string            `json:"protocol"` // name and version
	State      fsm.State         `json:"state"`
	Ending     transcript.Ending `json:"ending,omitzero"` // why it ended, with the evidence
	Round      int               `json:"round"`           // the round at hand, or the last

	Turns       []transcript.Turn `json:"turns"`                 // of this run, in order
	Assessments []transcript.Turn `json:"assessments,omitempty"` // of Turns; decode each by its Output, such as into judge.Assessment
	Verdict     *transcript.Turn  `json:"verdict,omitempty"`     // the last of the last phase of the conclusion, if possible one without defaults in its place; decode it by its Output. Nil where nothing concludes
	Answer      protocol.Answer   `json:"answer,omitzero"`       // what the debate came to: by its protocol, else the verdict
	Findings    []detect.Finding  `json:"findings,omitempty"`    // what Config.Detect found, in order

	Participants []ParticipantStatus        `json:"participants"` // in order, those who dropped out too
	Total        Totals                     `json:"total"`
	Sides        map[string]Totals          `json:"sides"`              // by side; of participants without one by name, of all others ""
	Rounds       []Totals                   `json:"rounds"`             // by round; 0 is what came before the first
	Warnings     []string                   `json:"warnings,omitempty"` // judges of a participant's model, prompts that were cut, replies that were cut or replaced
	Annotations  map[string]json.RawMessage `json:"annotations,omitempty"`
	Question     *Question                  `json:"question,omitempty"` // that waits for a person
	Failure      *Failure                   `json:"failure,omitempty"`  // that the debate is in error for

	RunningTime time.Duration `json:"running_time"` // in nanoseconds; pauses do not count
	Created     time.Time     `json:"created"`
	Started     time.Time     `json:"started,omitzero"`
	Updated     time.Time     `json:"updated"`
	Completed   time.Time     `json:"completed,omitzero"`
}

// Totals sum up turns.
type Totals struct {
	Turns        int              `json:"turns"`
	Usage        transcript.Usage `json:"usage"`         // also of steps that failed for good
	Duration     time.Duration    `json:"duration"`      // from the begin to the end of each turn, in nanoseconds
	OmittedTurns int              `json:"omitted_turns"` // turns whose prompt left a part of the history out
}

// ParticipantStatus is how a participant fares.
type ParticipantStatus struct {
	Name string `json:"name"`
	// State is "active", "rate_limited" where the last turn had to wait for the service, "context_exceeded" where its
	// prompt had to leave a part of the history out, or "dropped" where it failed for good.
	State    string   `json:"state"`
	Attempts int      `json:"attempts"`
	Errors   []string `json:"errors,omitempty"` // of attempts that failed, in order
}

// addFailure adds what a step used that failed for good.
func (r *Result) addFailure(f *Failure, side string) {
	used := f.usage()
	of := r.Sides[side]
	of.Usage = of.Usage.Add(used)
	r.Sides[side] = of
	r.Rounds[f.Key.Round].Usage = r.Rounds[f.Key.Round].Usage.Add(used)
	r.Total.Usage = r.Total.Usage.Add(used)
}

// turnWarnings are what a user should know of a turn.
func turnWarnings(t *transcript.Turn) (list []string) {
	if w := t.Window; w != nil && w.Omitted > 0 {
		list = append(list, fmt.Sprintf("the prompt left out %d of %d turns to fit: %d of %d tokens are used", w.Omitted, w.Omitted+w.Kept, w.Used, w.Limit))
	} else if w != nil && w.Percent >= 80 {
		list = append(list, fmt.Sprintf("the history takes %d %% of the room in the window", w.Percent))
	}
	for _, f := range t.Flags {
		switch f {
		case transcript.Truncated:
			list = append(list, "the reply was cut at its token cap")
		case transcript.Filtered:
			list = append(list, "the service held back the rest of the reply")
		case transcript.Defaulted:
			list = append(list, "no valid reply came, safe defaults stand for it")
		case transcript.Partial:
			list = append(list, "the model failed, this is as far as it came")
		case transcript.Substituted:
			list = append(list, "another model gave the reply, since the judge's own failed")
		case transcript.Reasked, transcript.Repaired: // came right
		}
	}
	return list
}

func (a Totals) add(t *transcript.Turn) Totals {
	a.Turns++
	a.Usage = a.Usage.Add(t.Usage)
	a.Duration += t.Ended.Sub(t.Started)
	if t.Window != nil && t.Window.Omitted > 0 {
		a.OmittedTurns++
	}
	return a
}

func (s *ParticipantStatus) addAttempts(list []transcript.Attempt) {
	for _, a := range list {
		s.Attempts++
		if a.ErrorKind != "" {
			s.Errors = append(s.Errors, a.ErrorMessage)
		}
		if a.ErrorKind == string(providers.RateLimit) {
			s.State = "rate_limited"
		}
		if a.ErrorKind == string(providers.ContextOverflow) {
			s.State = "context_exceeded"
		}
	}
}

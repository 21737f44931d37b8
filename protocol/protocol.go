// Package protocol defines what a debate protocol is: it decides who speaks when, and when a debate ends.
//
//	for steps := protocol.Next(p, r); len(steps) > 0; steps = protocol.Next(p, r) {
//		for _, s := range steps {
//			r.Apply(call(s)) // call returns the transcript.Turn of a step
//		}
//	}
//
// A [Protocol] is a plain struct with four pure methods. Its exported fields are its parameters. It returns the phases
// of the current stage and round. [Next] compares them with the [Record], which holds the committed turns, and returns
// the steps that may run now. A protocol calls no model, reads no clock and keeps no state, so any process can continue
// a debate at any point.
//
// The packages below this one are the protocols of the library. Read protocol/procon as a short example of one.
// docs/protocols.md explains how to write your own.
package protocol

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/elenchus-go/debate/transcript"
)

// Protocol is a way to debate. It is a plain struct: its exported fields are stored with the debate as JSON.
type Protocol interface {
	// Name is the protocol's name and the version of its rules, such as "panel/1". It is stored with each debate:
	// give changed rules a new version.
	Name() string
	// Check says everything that is wrong with the parameters, seats, judges and limits. It is asked before the
	// debate starts, and again when a participant drops out, with those that remain.
	Check(r *Record) []Problem
	// Phases are the phases of the stage and round in r.Cursor, in order; none skips the stage. They may depend on turns
	// of earlier phases, never on their own: a phase that has begun stays as it is, but for participants who drop out.
	Phases(r *Record) []Phase
	// End is asked when a round is complete; the zero Ending goes on. It is not asked before the debate's MinRounds,
	// and the limits of a debate need no mention in it.
	End(r *Record) transcript.Ending
}

// Phase is a group of steps.
type Phase struct {
	Name     string // unique within the round, whatever the stage
	Parallel bool   // all at once, and none sees another; else one after the other
	Steps    []Step
}

// Step is one call of a model. A protocol sets Actor, Prompt and what else it needs; [Next] sets the rest.
type Step struct {
	transcript.Key                   // the protocol sets Actor and, where the step is about someone, Target
	Kind           transcript.Kind   // set by Next: the stage
	Order          int               // set by Next: the place in its phase
	VisibleSeq     int64             // set by Next: the prompt shows nothing later
	Prompt         string            // the name of its template
	Contract       string            // the contract of its reply, such as "assessment/1"; empty: free text
	Vars           map[string]string // what the template reads of the protocol's parameters; not to be changed
	// Show says which earlier turns the prompt shows; nil: every speech and remark. It does not change them.
	Show func(*transcript.Turn) bool
	// Blind shows a judge the participants under neutral labels, here and in all texts. The reply is mapped back.
	Blind bool
	// Swap shows them in the opposite order of another step of the same judge, which is Blind as well.
	Swap bool
}

// The actors of steps that no participant and no judge performs. None of those may have such a name.
const (
	PersonaAssigner string = "personas"   // assigns personas
	Summarizer      string = "summarizer" // sums up what was said
	Retriever       string = "retriever"  // finds documents for the topic
	Embedder        string = "embedder"   // makes vectors of texts
)

// Defaulter is an optional power of a protocol: its own defaults for what a configuration leaves out.
type Defaulter interface{ Defaults() Defaults }

// Defaults are a protocol's. A zero field leaves the library's own in place.
type Defaults struct {
	MinRounds, MaxRounds    int
	Time                    time.Duration
	OutputTokens            int
	StepTokens, JudgeTokens int
	Temperatures            []float64 // of the participants, in order; the last is that of all further ones
	JudgeTemperature        *float64
}

// Answerer is an optional power of a protocol: what a debate came to, computed from what was said. It is asked of a
// debate that has ended, and of one that goes on. The answer of other protocols is their last turn of the conclusion.
type Answerer interface{ Answer(r *Record) Answer }

// Answer is what a debate came to. The zero Answer means that it came to nothing yet.
type Answer struct {
	Text string          `json:"text,omitempty"` // for readers
	Data json.RawMessage `json:"data,omitempty"` // for programs; each protocol says what it is
}

// Problem is one thing that is wrong with a debate's configuration.
type Problem struct {
	Field  string `json:"field"`  // its path as in JSON, such as "participants[1].name"
	Reason string `json:"reason"` // which value is wrong, and what would be right
}

// String reads "field: reason".
func (p Problem) String() string { return p.Field + ": " + p.Reason }

// Problemf makes a problem from a field and a format.
func Problemf(field, format string, args ...any) Problem {
	return Problem{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// Next is what may run now: what is missing of the first phase that is not complete. It is empty when the stage is done.
func Next(p Protocol, r *Record) []Step {
	for _, phase := range p.Phases(r) {
		if open := missing(phase, r); len(open) > 0 {
			return open
		}
	}
	return nil
}

func missing(phase Phase, r *Record) (open []Step) {
	horizon := r.Seq
	if since, begun := r.phaseSince(phase.Name); begun && phase.Parallel {
		horizon = since
	}
	for i, s := range phase.Steps {
		s.Key = r.currentKey(phase.Name, s.Actor, s.Target)
		if _, done := r.turnIndex[s.Key]; done {
			continue
		}
		s.Kind, s.Order, s.VisibleSeq = r.Cursor.Stage, i, horizon
		if !phase.Parallel {
			return []Step{s}
		}
		open = append(open, s)
	}
	return open
}

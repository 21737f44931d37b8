// Package protocol defines debate protocols. A protocol decides who speaks when, and when a debate ends.
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
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elenchus-go/debate/transcript"
)

// Protocol decides who speaks when and when a debate ends. Implement it with a plain struct: its exported fields are
// stored with the debate as JSON.
//
// Before the first call, the engine builds the prompt of each step that Phases returns for any stage and round of a record
// without turns. If Phases asks for other prompts or contracts after some turns, declare them with another method:
//
//	Steps(r *Record) []Step
//
// It returns a step for each of them, with Actor, Phase, Prompt, Contract and Vars.
//
// The reply to a step may name all active participants. If it may name others, list them with another method:
//
//	Names(r *Record, s Step) []string
//
// It returns nil for all other steps.
type Protocol interface {
	// Name returns the name of the protocol and the version of its rules, such as "panel/1". It is stored with each
	// debate. If you change the rules, increase the version.
	Name() string
	// Check returns every problem with the parameters, participants, judges and limits. The engine calls it before the
	// debate starts, and again with the remaining participants when one drops out.
	Check(r *Record) []Problem
	// Phases returns the phases of the stage and round in r.Cursor, in order. If there are none, the stage is skipped.
	// A phase may depend on the turns of earlier phases but not on its own turns: once it has begun, only a participant
	// who drops out may change it.
	Phases(r *Record) []Phase
	// End reports whether the debate ends after a complete round, and why. The zero Ending continues the debate. The
	// engine does not call End before MinRounds rounds are complete, and it enforces the limits itself.
	End(r *Record) transcript.Ending
}

// Phase is a group of steps that run in sequence or in parallel.
type Phase struct {
	Name     string // unique within the round, across all stages
	Parallel bool   // whether steps run at once and do not see one another; otherwise they run in order
	Steps    []Step
}

// Step is one turn that a model is to produce. The protocol sets Actor, Prompt and the optional fields that it needs.
// [Next] sets the fields that are marked so.
type Step struct {
	transcript.Key                   // the protocol sets Actor and, if the step is about someone, Target
	Kind           transcript.Kind   // set by Next: the stage, unless the step is one of embeddings or silent
	Order          int               // set by Next: the position in the phase, from 0
	VisibleSeq     int64             // set by Next: the prompt shows no turn with a later seq
	Prompt         string            // name of the prompt template
	Contract       string            // contract of the reply, such as "assessment/1"; empty for free text
	Vars           map[string]string // parameters for the template; must not be modified
	// Check is an additional check of a reply that follows the contract; see WithCheck of package judge/reply. It may shorten
	// the reply to the part that the protocol uses.
	Check func(v any) []string
	// Doubt returns what is doubtful about a valid reply, such as a contradiction of what the actor said before. v is a pointer
	// to the value of a reply with a contract, and the text of any other. If it returns anything, the model is asked once more,
	// with what it returned. The second reply stands, whatever Doubt says of it; if there is no valid second reply, the first
	// one stands. Doubt must only use what does not change after Phases has returned, because it is called when the reply
	// arrives. People are not asked again.
	Doubt func(v any) []string
	// Show reports whether the prompt shows an earlier turn. It must not modify the turn. If Show is nil, the prompt
	// shows every speech and remark.
	Show func(*transcript.Turn) bool
	// Blind replaces the names of participants by pseudonyms in everything that the actor sees. The names in the reply are
	// mapped back. A participant keeps its own name: it sees pseudonyms of the others only.
	Blind bool
	// Swap reverses the order of the participants, compared with another Blind step of the same judge.
	Swap bool
}

// The system actors, which perform steps that belong to no participant or judge. No participant or judge may have one
// of these names.
const (
	PersonaAssigner string = "personas"   // assigns personas
	Summarizer      string = "summarizer" // summarizes turns
	Retriever       string = "retriever"  // retrieves documents for the topic
	Embedder        string = "embedder"   // computes embedding vectors of texts
)

// Passages is the Target of a step of the [Retriever] that finds passages in Record.Documents. The engine performs it without a
// model, and the reply is like that of other retrievers, with the name of the document as the title. It is also the name in Vars
// of passages that the system prompt of a step shows, with the numbers of their sources.
const Passages string = "passages"

// Defaulter is an optional interface of a protocol that has its own defaults for fields that a configuration omits.
type Defaulter interface{ Defaults() Defaults }

// Defaults are the defaults of a protocol. A zero field keeps the default of the library.
type Defaults struct {
	MinRounds, MaxRounds    int
	Time                    time.Duration
	OutputTokens            int
	StepTokens, JudgeTokens int
	Temperatures            []float64 // by participant, in order; the last value applies to all further ones
	JudgeTemperature        *float64
}

// Answerer is an optional interface of a protocol that computes the answer of a debate from its turns. Answer may be
// called while the debate continues and after it has ended. The answer of any other protocol is its last turn of the
// conclusion stage.
type Answerer interface{ Answer(r *Record) Answer }

// Decider is an optional interface of a protocol that computes its answer from what judges say. Deciding returns the names of
// the phases in which they say it. In a debate that is rejudged, only the steps of judges in these phases are asked again. No
// speech belongs to such a phase.
type Decider interface{ Deciding() []string }

// Answer is the result of a debate. The zero Answer means that there is none yet.
type Answer struct {
	Text string          `json:"text,omitempty"` // for readers
	Data json.RawMessage `json:"data,omitempty"` // for programs; each protocol of the library has a function DecodeAnswer
	// Type is the type of Data. If the protocol leaves it empty, the engine sets the name of the protocol. If the protocol
	// computes no answer, it is the contract of the last turn.
	Type string `json:"type,omitempty"`
	// Warnings say what a reader should know before relying on the answer, one sentence each.
	Warnings []string `json:"warnings,omitempty"`
}

// Decode decodes the data into the value to which v points. It returns an error if there is no answer yet, or if the
// answer has another type. Protocols use it for their own accessors, such as vote.DecodeAnswer.
func (a Answer) Decode(typ string, v any) error {
	switch {
	case a.Type == "":
		return errors.New("decode answer: there is none yet")
	case a.Type != typ:
		return fmt.Errorf("decode answer: its type is %q, want %q", a.Type, typ)
	}
	if err := json.Unmarshal(a.Data, v); err != nil {
		return fmt.Errorf("decode answer of type %q: %w", typ, err)
	}
	return nil
}

// Problem is one error in the configuration of a debate.
type Problem struct {
	Field  string `json:"field"`  // JSON path of the field, such as "participants[1].name"
	Reason string `json:"reason"` // the wrong value, and what a correct value is
}

// String returns the problem as "field: reason".
func (p Problem) String() string { return p.Field + ": " + p.Reason }

// Problemf returns a problem whose reason is formatted with [fmt.Sprintf].
func Problemf(field, format string, args ...any) Problem {
	return Problem{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// Problems collects problems in the order in which they are found.
type Problems []Problem

// Add adds a problem, as [Problemf] does.
func (l *Problems) Add(field, format string, args ...any) {
	*l = append(*l, Problemf(field, format, args...))
}

// AddAll adds a problem of a field for each of the reasons.
func (l *Problems) AddAll(field string, reasons []string) {
	for _, reason := range reasons {
		*l = append(*l, Problem{Field: field, Reason: reason})
	}
}

// FurtherJudges returns a problem for each judge after the first. A protocol with tasks for only one judge calls it in
// Check.
func (r *Record) FurtherJudges() (problems []Problem) {
	for i, name := range r.Judges {
		if i > 0 {
			problems = append(problems, Problemf(fmt.Sprintf("judges[%d]", i),
				"%q has no task, the protocol takes one judge; move a replacement for %q to substitutes", name, r.Judges[0]))
		}
	}
	return problems
}

// ParticipantNames returns the names of the active participants, in order.
func (r *Record) ParticipantNames() []string {
	list := make([]string, len(r.Participants))
	for i := range r.Participants {
		list[i] = r.Participants[i].Name
	}
	return list
}

// UnknownNames returns a problem with a field for each of the names that is not an active participant. A protocol whose
// parameters have names of participants calls it in Check.
func (r *Record) UnknownNames(field string, names ...string) (problems []Problem) {
	known := r.ParticipantNames()
	for _, name := range names {
		if !slices.Contains(known, name) {
			problems = append(problems, Problemf(field, "%q is not a participant, the participants are %q", name, known))
		}
	}
	return problems
}

// Next returns the steps that may run now: the missing steps of the first incomplete phase, or only the first of them if
// the phase is sequential. It returns nothing when all phases of the stage are complete.
func Next(p Protocol, r *Record) []Step {
	for _, phase := range p.Phases(r) {
		if open := missing(phase, r); len(open) > 0 {
			return open
		}
	}
	return nil
}

// missing returns the steps of a phase that may run now.
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
		if s.Kind != transcript.Embeddings && s.Kind != transcript.Silence { // they are of no stage
			s.Kind = r.Cursor.Stage
		}
		s.Order = i
		s.VisibleSeq = horizon
		if !phase.Parallel {
			return []Step{s}
		}
		open = append(open, s)
	}
	return open
}

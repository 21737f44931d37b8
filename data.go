package debate

import (
	"errors"
	"fmt"
	"time"

	"github.com/elenchus-go/debate/internal/core"

	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// This file gives the data of package journal names of this package, and has the errors of an engine.

// Config defines a debate. It is plain data; see [journal.Config].
type Config = journal.Config

// Participant configures an actor of a debate and the model that speaks for it; see [journal.Participant].
type Participant = journal.Participant

// Limits bound a debate; see [journal.Limits].
type Limits = journal.Limits

// Attachment is a picture or a PDF document that is part of the question; see [journal.Attachment].
type Attachment = journal.Attachment

// FailurePolicy says what happens when a model has failed after all attempts; see [journal.FailurePolicy].
type FailurePolicy = journal.FailurePolicy

// The failure policies. Config lists those that each of its fields accepts.
const (
	Degrade           = journal.Degrade           // keep what there is of the reply, or go on without the actor
	Ask               = journal.Ask               // pause with a Question
	Continue          = journal.Continue          // use the default reply
	DropJudge         = journal.DropJudge         // go on without the judge
	End               = journal.End               // end the debate with the turns so far
	OverflowSummarize = journal.OverflowSummarize // summarize the older half of the history
	OverflowTruncate  = journal.OverflowTruncate  // leave out the older half of the history
)

// Problems lists everything that is wrong with a configuration, a remark, an annotation or the edits of a fork, field by field.
type Problems = journal.Problems

// Failure describes why a step failed after all attempts; see [journal.Failure].
type Failure = journal.Failure

// Question asks a person for a decision. The debate is paused until Debate.Decide answers it.
type Question = journal.Question

// Choice is a possible answer to a question.
type Choice = journal.Choice

// Event is something that happened in a debate: a value of one of the types below, never a pointer. See [journal.Event].
//
// Durable events are the entries of the debate's journal, and [Debate.Watch] can show them again. Live events are not stored:
// [TurnStarted], [Chunk], [TurnFailed], [Warning] and [Ended].
type Event = journal.Event

// EventMeta holds the fields that all events have.
type EventMeta = journal.EventMeta

// Rules name what shapes a debate besides its configuration, its models and the templates of its prompts.
type Rules = journal.Rules

// ConfigChanged is the durable event of a configuration: the first one, and one for each edit.
type ConfigChanged = journal.ConfigChanged

// StateChanged is the durable event of a transition of the lifecycle.
type StateChanged = journal.StateChanged

// PhaseStarted is the durable event that announces the steps of a phase.
type PhaseStarted = journal.PhaseStarted

// TurnDone is the durable event of a turn, such as a speech, an assessment, a verdict or a remark.
type TurnDone = journal.TurnDone

// Dropped is the durable event of a participant or a judge who takes no further part.
type Dropped = journal.Dropped

// Decided is the durable event of a person's decision.
type Decided = journal.Decided

// Asked is the durable event that asks a person for the reply of a step.
type Asked = journal.Asked

// ToolsCalled is the durable event of a round of tool calls in a step.
type ToolsCalled = journal.ToolsCalled

// Annotated is the durable event of a note on the debate, such as a rating.
type Annotated = journal.Annotated

// Briefing is what a person must know to reply to a step.
type Briefing = journal.Briefing

// TurnStarted is the live event before each attempt of a step.
type TurnStarted = journal.TurnStarted

// Chunk is the live event of a piece of a reply while it streams.
type Chunk = journal.Chunk

// TurnFailed is the live event of an attempt that failed, or whose reply is doubtful.
type TurnFailed = journal.TurnFailed

// Warning is the live event of something that a user should know.
type Warning = journal.Warning

// Ended is the last event of a debate that has ended. It is live.
type Ended = journal.Ended

// Attempt identifies one call of a model for a step.
type Attempt = journal.Attempt

// Result holds everything about a debate, while it runs or after it has ended; see [journal.Result].
type Result = journal.Result

// Totals are sums over turns.
type Totals = journal.Totals

// ToolUse says how often an actor has called a tool.
type ToolUse = journal.ToolUse

// ParticipantStatus is the status of one participant.
type ParticipantStatus = journal.ParticipantStatus

// Rejudged says how the judges of a rejudged debate were asked; see [Engine.Rejudge].
type Rejudged = journal.Rejudged

// Departure is a point at which new judges would have taken another course than the debate that they judge again.
type Departure = journal.Departure

// Omission names what is left out: what judges do not see, or what is silent in a fork.
type Omission = journal.Omission

// Remark is a person's contribution between turns; see [journal.Remark].
type Remark = journal.Remark

// Estimate says what a debate costs before anybody is called; see [journal.Estimate].
type Estimate = journal.Estimate

// SeatEstimate is the part of a participant, a judge or a system actor in an [Estimate].
type SeatEstimate = journal.SeatEstimate

// Expense is a number of calls with what they use.
type Expense = journal.Expense

// ParseEvent decodes an event from its JSON.
func ParseEvent(b []byte) (Event, error) { return journal.ParseEvent(b) }

// errProtocol reports that a protocol returned an impossible step. A retry cannot help.
var errProtocol = errors.New("invalid protocol")

// errUnfinished reports that the goroutine of a drive or of a step ended before its work did.
var errUnfinished = errors.New("the goroutine ended early")

var (
	// ErrBusy reports that this engine already drives the debate.
	ErrBusy = errors.New("the debate is already being driven")
	// ErrClosed reports that the engine was closed.
	ErrClosed = errors.New("the engine is closed")
	// ErrUnsupported reports that this engine lacks something that the debate needs, such as its protocol, a provider,
	// a prompt or a reply contract. The engine leaves the debate as it is, because another engine may have what is missing.
	// The debate can be listed, watched and, except for an unknown protocol, controlled. It is also the cause of a
	// [NewerFormat].
	ErrUnsupported = core.ErrUnsupported
	// ErrTaken reports that the store has another debate with the id.
	ErrTaken = errors.New("the id is taken")
	// ErrAnswered reports that a step of a person has another reply.
	ErrAnswered = errors.New("the step has another reply")
	// ErrNotAsked reports that the debate does not wait for a person's reply to a step, or no longer does.
	ErrNotAsked = errors.New("the debate does not ask for this step")
)

// missingIn returns what an engine lacks if err is an ErrUnsupported, otherwise nil.
func missingIn(err error) []string {
	if u, ok := errors.AsType[*core.Unsupported](err); ok {
		return u.Missing
	}
	if errors.Is(err, core.ErrUnsupported) {
		return []string{err.Error()}
	}
	return nil
}

// catchFailure sets an error to the failure for a panic of a protocol or a hook in the function that defers it.
func catchFailure(err *error, key transcript.Key) {
	if v := recover(); v != nil {
		*err = core.PanicFailure(panics.New(v), key, time.Now())
	}
}

// NewerFormat reports that a newer version of the library has written the journal of a debate. The engine leaves the debate alone:
// it neither reads nor changes the journal, and only Delete and DeleteAll remove it. The cause is ErrUnsupported, because an engine
// of the newer version can go on.
type NewerFormat struct {
	ID     string // of the debate
	Format int    // of its journal, higher than store.Format
}

// Error says which format the journal has, and which one this version reads.
func (n *NewerFormat) Error() string {
	return fmt.Sprintf(
		"the journal of debate %s has format %d, this version of the library reads format %d",
		n.ID,
		n.Format,
		store.Format,
	)
}

// Unwrap returns ErrUnsupported.
func (n *NewerFormat) Unwrap() error { return core.ErrUnsupported }

func warningsOf(ev Event) (list []Warning) {
	switch ev := ev.(type) {
	case StateChanged:
		return ev.Warnings
	case TurnDone:
		for _, text := range turns.Warnings(&ev.Turn) {
			list = append(list, Warning{
				EventMeta: core.LiveMeta("warning"),
				Key:       ev.Turn.Key,
				Text:      text,
			})
		}
	}
	return list
}

// restamp returns a live event with the seq of the durable event that was shown before it.
func restamp(ev Event, seq int64) Event {
	if ev.Meta().Seq == seq {
		return ev
	}
	switch ev := ev.(type) {
	case Chunk:
		ev.EventMeta = &EventMeta{
			Type: ev.Type,
			Seq:  seq,
			Live: true,
		}
		return ev
	case TurnStarted:
		ev.Seq = seq
		return ev
	case TurnFailed:
		ev.Seq = seq
		return ev
	case Warning:
		ev.Seq = seq
		return ev
	}
	return ev
}

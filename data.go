package debate

import "github.com/elenchus-go/debate/journal"

// This file gives the data of package journal names of this package.

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

// ParseEvent decodes an event from its JSON.
func ParseEvent(b []byte) (Event, error) { return journal.ParseEvent(b) }

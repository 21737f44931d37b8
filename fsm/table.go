package fsm

import (
	"slices"
	"strings"
)

// State is a state of a debate.
type State string

// The states of a debate, in the order of its life.
const (
	Configuring       State = "configuring"                // The configuration can be changed.
	Validating        State = "validating"                 // The configuration, its models and their keys are being checked.
	Ready             State = "ready"                      // The configuration was accepted. The debate can start.
	Initializing      State = "initializing"               // The steps before the first round are running.
	AwaitingResponses State = "running.awaiting_responses" // The participants are responding.
	Judging           State = "running.judging"            // The judges are assessing the round.
	RoundComplete     State = "running.round_complete"     // The round is over. The next round begins, or the debate ends.
	Paused            State = "paused"                     // No new step starts until the debate is resumed.
	Completing        State = "completing"                 // The steps of the conclusion are running.
	Completed         State = "completed"                  // The debate has a conclusion.
	Canceled          State = "canceled"                   // The debate was canceled. It has no conclusion.
	Error             State = "error"                      // The debate failed. It can be retried, reset or canceled.
)

const (
	running     State = "running"   // as a source: each of its leaves, which are the states named running.*
	pausedState State = "(history)" // as a target: the state that was paused
)

var states = []State{
	Configuring, Validating, Ready, Initializing, AwaitingResponses, Judging, RoundComplete,
	Paused, Completing, Completed, Canceled, Error,
}

// Event is an event in the life of a debate.
type Event string

// The events of a debate, in the order of the table.
const (
	Edit        Event = "edit"        // A caller changes the configuration.
	Validate    Event = "validate"    // A caller requests a check of the configuration.
	Accept      Event = "accept"      // The check found no problems.
	Reject      Event = "reject"      // The check found problems and lists them.
	Start       Event = "start"       // A caller starts the debate.
	Initialized Event = "initialized" // All steps before the first round are committed.
	Responded   Event = "responded"   // All responses of the round are committed.
	Assessed    Event = "assessed"    // All assessments of the round are committed.
	Advance     Event = "advance"     // The round is closed. The debate continues with the next round or the conclusion.
	Pause       Event = "pause"       // A caller pauses the debate, or it waits for a person, or it is a new fork.
	Resume      Event = "resume"      // A caller continues a paused debate in the state in which it was paused.
	Stop        Event = "stop"        // A caller or a limit ends the debate with a conclusion from the turns so far.
	Concluded   Event = "concluded"   // The conclusion is committed.
	Fail        Event = "fail"        // A failure prevents the debate from continuing.
	Retry       Event = "retry"       // A caller continues a failed debate; committed steps do not run again.
	Reset       Event = "reset"       // A caller restarts a failed debate from its configuration.
	Cancel      Event = "cancel"      // A caller cancels the debate, without a conclusion.
)

// Facts is everything that guards read. The caller that fires an event provides them.
type Facts struct {
	ValidConfig    bool // ValidConfig reports that the configuration was accepted and has not changed since.
	AssessmentDue  bool // AssessmentDue reports that the round is to be judged.
	HasOutcome     bool // HasOutcome reports that the debate has an outcome, so no further round begins.
	Recoverable    bool // Recoverable reports that a retry may fix the failure.
	NoOpenQuestion bool // NoOpenQuestion reports that no question to a person is open.
	AwaitsPeople   bool // AwaitsPeople reports that nothing can happen before a person replies.
}

// guard is a condition on a row. Errors and diagrams show its name. A row with the guard otherwise follows a row with
// a condition.
type guard struct {
	name  string
	holds func(Facts) bool
}

var (
	hasValidConfig = &guard{"hasValidConfig", func(f Facts) bool { return f.ValidConfig }}
	assessmentDue  = &guard{"assessmentDue", func(f Facts) bool { return f.AssessmentDue }}
	shouldEnd      = &guard{"shouldEnd", func(f Facts) bool { return f.HasOutcome }}
	canContinue    = &guard{"canContinue", func(f Facts) bool { return !f.HasOutcome }}
	isRecoverable  = &guard{"isRecoverable", func(f Facts) bool { return f.Recoverable }}
	canProceed     = &guard{"canProceed", func(f Facts) bool { return f.NoOpenQuestion && !f.AwaitsPeople }}
	otherwise      = &guard{"otherwise", func(Facts) bool { return true }}
	always         = &guard{"", func(Facts) bool { return true }}
)

// row is one row of the table: in any of the from states, the event leads to the target if the guard holds.
type row struct {
	from []State
	on   Event
	when *guard
	to   State
}

// table is the lifecycle. For one state and event, the first row whose guard holds applies.
var table = []row{
	{[]State{Configuring, Ready}, Edit, always, Configuring},
	{[]State{Configuring}, Validate, always, Validating},
	{[]State{Validating}, Accept, always, Ready},
	{[]State{Validating}, Reject, always, Configuring},
	{[]State{Ready}, Start, hasValidConfig, Initializing},
	{[]State{Initializing}, Initialized, shouldEnd, Completing},
	{[]State{Initializing}, Initialized, otherwise, AwaitingResponses},
	{[]State{AwaitingResponses}, Responded, assessmentDue, Judging},
	{[]State{AwaitingResponses}, Responded, otherwise, RoundComplete},
	{[]State{Judging}, Assessed, shouldEnd, Completing},
	{[]State{Judging}, Assessed, otherwise, RoundComplete},
	{[]State{RoundComplete}, Advance, canContinue, AwaitingResponses},
	{[]State{RoundComplete}, Advance, otherwise, Completing},
	{[]State{Validating, Initializing, running, Completing}, Pause, always, Paused},
	{[]State{Paused}, Resume, canProceed, pausedState},
	{[]State{Validating, Initializing, running, Paused}, Stop, always, Completing},
	{[]State{Completing}, Concluded, always, Completed},
	{[]State{Initializing, running, Completing}, Fail, always, Error},
	{[]State{Error}, Retry, isRecoverable, Ready},
	{[]State{Error}, Reset, always, Configuring},
	{[]State{Configuring, Validating, Ready, Initializing, running, Paused, Completing, Error}, Cancel, always, Canceled},
}

// Active returns the states in which a driver has work, in the order of a debate's life.
func Active() []State {
	return slices.DeleteFunc(slices.Clone(states), func(s State) bool { return !s.Active() })
}

// Final reports whether a debate in this state is over for good.
func (s State) Final() bool { return s == Completed || s == Canceled }

// Active reports whether a driver has work in this state.
func (s State) Active() bool {
	return s == Validating || s == Initializing || s == Completing || s.in(running)
}

// in reports whether s is the state c or a leaf of the compound state c.
func (s State) in(c State) bool {
	return s == c || strings.HasPrefix(string(s), string(c)+".")
}

// Position is the complete state of the lifecycle. A debate can continue from it without anything else.
type Position struct {
	State      State `json:"state"`                 // State is the current state of the debate.
	PausedFrom State `json:"paused_from,omitempty"` // PausedFrom is the paused state, or empty unless paused.
}

// engineName returns the state's name in looplab/fsm. A pause has a different name for each state that was paused.
func (s Position) engineName() string {
	if s.PausedFrom == "" {
		return string(s.State)
	}
	return string(s.State) + "(" + string(s.PausedFrom) + ")"
}

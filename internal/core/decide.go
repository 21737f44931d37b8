package core

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/agenda"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// mustStop reports whether the debate must stop. The step can only succeed with another key, account, model or program,
// when the provider can be reached again, or after a long wait. Dropping the actor would hide that.
func mustStop(f *journal.Failure) bool {
	return step.Fatal(f.Kind) || f.Unreachable || f.RetryAfter > 0
}

// An Act holds what leads to a change of a debate, with what somebody has given: a person, a model, a service or a clock.
type Act struct {
	Kind    journal.Act
	Given   journal.Event        // what was given, as the first entry has it; nil if the entries follow from the kind alone
	Remark  *journal.TurnDone    // given with a decision; otherwise nil
	Check   journal.StateChanged // what an engine's check of the configuration has found
	Failure *journal.Failure     // of a step, or of what plans it
	Lost    []*journal.Failure   // of other steps of the same plan

	Prompts *prompting.Debate // has the first prompts of a debate whose configuration was checked; nil if nobody has built them
}

// Decide makes the change that an act leads to: it adds what was given, and every event that follows until a model or a person is
// needed. Whoever changes a debate calls it, and whoever verifies the change later. It reads the state, the act and the time of the
// transaction, and nothing else.
func (c *Change) Decide(a *Act) error {
	c.Act = a.Kind
	question := c.State.Decisions.Question
	if a.Given != nil {
		if err := c.give(a.Given); err != nil {
			return err
		}
	}
	switch a.Kind {
	case journal.ActTurn, journal.ActDrive:
		return c.Settle()
	case journal.ActTools:
		if callQuestion(c.State, c.State.Next()) == nil {
			return nil
		}
		return c.Settle()
	case journal.ActAnswer, journal.ActDecline:
		return c.GoOn()
	case journal.ActDecide:
		return c.answer(a, question)
	case journal.ActEdit:
		return c.Fire(fsm.Edit, journal.StateChanged{})
	case journal.ActCheck:
		return c.checked(a)
	case journal.ActFailure:
		return c.applyFailurePolicy(a.Failure, a.Lost)
	case journal.ActClock:
		return c.stop(journal.StateChanged{
			OtherFailures: a.Lost,
			Ending:        timeEndingInCall,
		})
	case journal.ActBroken:
		return c.fail(a.Failure)
	case journal.ActCreate, journal.ActRemark, journal.ActAnnotate, journal.ActWait, journal.ActSign:
		return nil
	default:
		return c.control(a.Kind)
	}
}

// give adds what was given, or what the journal has of it.
func (c *Change) give(ev journal.Event) error {
	if c.Take == nil {
		return c.Add(ev)
	}
	c.Act = ""
	return c.Take(ev)
}

// controls has what a person asks for with the acts that give nothing. Each of them adds nothing if that is done already.
var controls = map[journal.Act]func(*Change) error{
	journal.ActStart:  (*Change).start,
	journal.ActPause:  (*Change).pause,
	journal.ActResume: (*Change).release,
	journal.ActStop:   (*Change).end,
	journal.ActCancel: (*Change).cancel,
	journal.ActRetry:  (*Change).retry,
	journal.ActReset:  (*Change).reset,
}

// control makes the change that a person asks for with an act.
func (c *Change) control(kind journal.Act) error {
	change := controls[kind]
	if change == nil {
		return fmt.Errorf("the act %q is unknown", kind)
	}
	return change(c)
}

// cancel ends the debate without a conclusion.
func (c *Change) cancel() error {
	if c.State.Lifecycle.State == fsm.Canceled {
		return nil
	}
	return c.Fire(fsm.Cancel, journal.StateChanged{Ending: transcript.Ending{
		Outcome:  transcript.Canceled,
		Evidence: "a person canceled the debate",
	}})
}

// retry makes a debate in error ready again.
func (c *Change) retry() error {
	state := c.State.Lifecycle.State
	if state == fsm.Ready || state.Active() {
		return nil
	}
	return c.Fire(fsm.Retry, journal.StateChanged{})
}

// reset takes a debate in error back to configuring.
func (c *Change) reset() error {
	if c.State.Lifecycle.State == fsm.Configuring {
		return nil
	}
	return c.Fire(fsm.Reset, journal.StateChanged{})
}

// pause pauses the debate, or holds one that has paused because it waits for people.
func (c *Change) pause() error {
	r := c.State
	switch {
	case r.Lifecycle.State == fsm.Paused && r.Decisions.Question == nil && !r.People.held:
		return c.addDecided(journal.Decided{Action: ActionHold})
	case r.Lifecycle.State == fsm.Paused:
		return nil
	}
	return c.Fire(fsm.Pause, journal.StateChanged{})
}

// release continues a debate that was paused, or releases one that waits for people.
func (c *Change) release() error {
	r := c.State
	if r.Lifecycle.State.Active() {
		return nil
	}
	if q := r.Decisions.Question; q != nil {
		_, err := fsm.Next(r.Lifecycle, fsm.Resume, r.Facts())
		return fmt.Errorf("a question is open, call Decide with one of %s: %w", strings.Join(ActionsOf(q), ", "), err)
	}
	if r.People.held && r.awaitsPeople() {
		return c.addDecided(journal.Decided{Action: ActionRelease})
	}
	return c.resume()
}

// end ends the debate with a conclusion. If the conclusion waits for people, they are no longer asked.
func (c *Change) end() error {
	r := c.State
	switch {
	case r.Cursor.Stage == transcript.Conclusion:
		return c.stopWaiting()
	case r.Lifecycle.State == fsm.Completed:
		return nil
	}
	return c.stop(journal.StateChanged{Ending: transcript.Ending{
		Outcome:  transcript.Stopped,
		Evidence: stoppedByPerson,
	}})
}

// answer carries out the answer to a question. The remark that a person gives with it comes after it.
func (c *Change) answer(a *Act, q *journal.Question) error {
	if a.Remark != nil {
		said := *a.Remark
		said.EventMeta = c.Stamp("turn")
		said.Turn.Seq = said.Seq
		said.Turn.VisibleSeq = c.State.Seq
		if err := c.give(said); err != nil {
			return err
		}
	}
	if err := c.ApplyDecision(a.Given.(journal.Decided).Action, q); err != nil {
		return err
	}
	return c.GoOn() // people whom the debate waits for may have replied or declined meanwhile
}

// checked starts a debate whose configuration was checked, or takes it back to configuring if that has problems.
func (c *Change) checked(a *Act) error {
	if a.Check.Problems != nil {
		return c.Fire(fsm.Reject, a.Check)
	}
	if err := c.Fire(fsm.Accept, a.Check); err != nil {
		return err
	}
	if err := c.Fire(fsm.Start, journal.StateChanged{}); err != nil {
		return err
	}
	if a.Prompts != nil {
		c.State.Adopt(a.Prompts)
	}
	return c.Settle()
}

// startEvents lists the events that start a debate whose configuration has been checked, by the state of the debate.
var startEvents = map[fsm.State][]fsm.Event{
	fsm.Validating: {fsm.Accept, fsm.Start},
	fsm.Ready:      {fsm.Start},
}

// fail ends the debate with a failure that belongs to no call. It may have happened during the start, which was not committed then.
func (c *Change) fail(f *journal.Failure) error {
	for _, on := range startEvents[c.State.Lifecycle.State] {
		if err := c.Fire(on, journal.StateChanged{}); err != nil {
			return err
		}
	}
	if !c.State.Lifecycle.State.Active() {
		return nil
	}
	if f.Key == (transcript.Key{}) {
		own := *f
		own.Key = c.State.position()
		f = &own
	}
	return c.Fire(fsm.Fail, journal.StateChanged{Failure: f})
}

// A Change is a change that is not committed yet. Each event is added to the state at once, so the state is the one after it. If the
// change is not committed, its state is of no more use.
//
// Whoever makes a change calls Decide once, which adds what has happened, such as a turn, and what follows from it until a model or a
// person is needed. All of that is committed at once.
type Change struct {
	State  *State
	Now    time.Time
	Events []journal.Event
	room   [4]journal.Event // backing array of events, which are rarely more
	Act    journal.Act      // of the next event; empty if it follows from that of an earlier one
	// When a change is made again to verify it, Match compares each event with the one that the journal has, and Take takes what was
	// given. Otherwise they are nil.
	Match, Take func(journal.Event) error
}

// NewChange returns a change of a state, made at a time.
func NewChange(r *State, at time.Time) *Change {
	c := &Change{}
	c.Begin(r, at)
	return c
}

// Begin makes a change ready for a state, at a time. One that was committed may begin again.
func (c *Change) Begin(r *State, at time.Time) {
	now := at.UTC().Truncate(time.Microsecond) // the precision of databases
	if now.Before(r.Times.Updated) {           // the clock went back, or another machine's clock is ahead
		now = r.Times.Updated
	}
	*c = Change{State: r, Now: now}
	c.Events = c.room[:0]
}

// Stamp returns the fields that all events have for the next event of the given type.
func (c *Change) Stamp(kind string) journal.EventMeta {
	m := journal.EventMeta{
		Type: kind,
		Seq:  c.State.Seq + 1,
		Act:  c.Act,
	}
	if rules := c.State.Engine.Rules; *rules != c.State.writer {
		m.Rules = rules
	}
	return m
}

// StampFor returns the same fields for the first event that follows from an act.
func (c *Change) StampFor(kind journal.Act, eventType string) journal.EventMeta {
	c.Act = kind
	return c.Stamp(eventType)
}

// Add adds an event to the change and to its state. It checks the quotes of a turn that has none checked.
func (c *Change) Add(ev journal.Event) error {
	if done, ok := ev.(journal.TurnDone); ok && done.Turn.Citations == nil && done.Repeats == 0 &&
		HasSources(c.State.Config) {
		done.Turn.Citations = c.State.Sources.Cite(&done.Turn, nil).Check(c.State.Engine.Texts)
		ev = done
	}
	if c.Match != nil {
		if err := c.Match(ev); err != nil {
			return err
		}
	}
	c.Act = ""
	c.Events = append(c.Events, ev)
	return c.State.Apply(ev, c.Now)
}

// Fire adds the transition that the lifecycle defines for an event, or returns an error if there is none.
func (c *Change) Fire(on fsm.Event, with journal.StateChanged) error {
	facts := c.State.Facts()
	facts.HasOutcome = facts.HasOutcome || with.Ending.Outcome != ""
	facts.AssessmentDue = on == fsm.Responded && len(c.State.Phases(transcript.Assessment)) > 0
	next, err := fsm.Next(c.State.Lifecycle, on, facts)
	if err != nil {
		return err
	}
	if with.Ending.Outcome != "" {
		with.Ending.Round = c.State.Cursor.Round
	}
	with.EventMeta = c.Stamp("state")
	with.At = c.Now
	with.From = c.State.Lifecycle.State
	with.On = on
	with.To = next.State
	with.Round = c.State.roundAfter(on, next.State)
	if with.Question != nil {
		with.Question.ID = QuestionID(with.Seq)
	}
	return c.Add(with)
}

// Settle adds every event that needs no model call, such as transitions out of states whose work is done, and the start of a
// phase.
func (c *Change) Settle() error {
	if err := c.State.CanContinue(); err != nil {
		return err
	}
	for c.State.Lifecycle.State.Active() && c.State.Lifecycle.State != fsm.Validating {
		more, err := c.proceedSafely()
		if p, ok := errors.AsType[*panics.Error](err); ok {
			return c.Fire(fsm.Fail, journal.StateChanged{Failure: PanicFailure(p, c.State.position(), c.Now)})
		}
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// proceedSafely calls proceed and returns a panic of the protocol or of a hook as a *panics.Error.
func (c *Change) proceedSafely() (more bool, err error) {
	defer panics.Catch(&err)
	return c.proceed()
}

// proceed adds the next event that needs no model call, and reports whether there may be another one. It asks the protocol what comes
// next: if no step is missing, the state of the debate ends; otherwise the first missing step belongs to the phase at hand, or begins
// the next one. A step of a model then waits for a driver.
func (c *Change) proceed() (more bool, err error) {
	r := c.State
	ev := r.Agenda.Given(&r.Record, r.Next, c.Stamp, c.Now)
	if ev != nil {
		return true, c.Add(ev)
	}
	if r.Lifecycle.State == fsm.RoundComplete {
		if c.Now.Before(r.NextRoundAt()) {
			return false, nil
		}
		return true, c.Fire(fsm.Advance, journal.StateChanged{Ending: r.Agenda.Ending(&r.Record)})
	}
	steps := r.Next()
	switch {
	case len(steps) == 0:
		return true, c.endStage()
	case steps[0].Phase == r.Cursor.Phase:
		return c.continuePhase(steps)
	}
	return c.beginPhase(steps)
}

// endStage fires the transition out of a state whose steps are done.
func (c *Change) endStage() error {
	r := c.State
	switch r.Lifecycle.State {
	case fsm.Judging:
		found := r.Agenda.Find(&r.Record, true)
		return c.Fire(fsm.Assessed, journal.StateChanged{
			Findings: found,
			Ending:   r.Agenda.Ending(&r.Record, found...),
		})
	case fsm.AwaitingResponses:
		return c.Fire(fsm.Responded, journal.StateChanged{Findings: r.Agenda.Find(&r.Record, false)})
	case fsm.Completing:
		return c.Fire(fsm.Concluded, journal.StateChanged{})
	default:
		return c.Fire(fsm.Initialized, journal.StateChanged{})
	}
}

// continuePhase does what the missing steps of the phase at hand need besides models: empty turns, summaries, and the questions to
// people.
func (c *Change) continuePhase(steps []protocol.Step) (more bool, err error) {
	r := c.State
	if at := slices.IndexFunc(steps, agenda.IsEmpty); at >= 0 {
		t := r.Reply(&steps[at], "", nil)
		t.Started = c.Now
		t.Ended = c.Now
		return true, c.Add(journal.TurnDone{
			EventMeta: c.Stamp("turn"),
			At:        c.Now,
			Turn:      t,
		})
	}
	if !r.Parallel { // a parallel phase has its summaries before it begins
		if w := summaryNeeded(r, steps); w != nil {
			return c.startSummary(w)
		}
	}
	if q := callQuestion(r, steps); q != nil {
		return false, c.Fire(fsm.Pause, journal.StateChanged{Question: q})
	}
	return c.askPeople(steps)
}

// beginPhase begins the phase of the given steps, unless it stops at a gate, needs a summary first, or cannot be paid for. There may
// be more to do then if people have steps in the phase, or turns are empty.
func (c *Change) beginPhase(steps []protocol.Step) (more bool, err error) {
	r := c.State
	if q := gateQuestion(r); q != nil {
		return false, c.Fire(fsm.Pause, journal.StateChanged{Question: q})
	}
	if w := summaryNeeded(r, steps); w != nil {
		return c.startSummary(w)
	}
	phase := r.Agenda.Phase(&r.Record, steps[0].Phase)[0]
	if e := budgetEnding(r, phase); e.Outcome != "" {
		return true, c.conclude(journal.StateChanged{Ending: e})
	}
	return r.Config.HasPeople() || slices.ContainsFunc(steps, agenda.IsEmpty), c.Add(journal.PhaseStarted{
		EventMeta: c.Stamp("phase"),
		At:        c.Now,
		Stage:     r.Cursor.Stage,
		Round:     steps[0].Round,
		Rounds:    r.MaxRounds,
		Phase:     phase.Name,
		Parallel:  phase.Parallel,
		Steps:     len(phase.Steps),
		Callers:   CallersOf(r.Config, &phase),
	})
}

func (c *Change) startSummary(w *window.SummaryPlan) (more bool, err error) {
	phase := c.State.SummaryPhase()
	if e := budgetEnding(c.State, phase); e.Outcome != "" {
		return true, c.conclude(journal.StateChanged{Ending: e})
	}
	return false, c.Add(journal.PhaseStarted{
		EventMeta: c.Stamp("phase"),
		At:        c.Now,
		Stage:     c.State.Cursor.Stage,
		Round:     c.State.Cursor.Round,
		Rounds:    c.State.MaxRounds,
		Phase:     phase.Name,
		Steps:     1,
		Summary:   w,
	})
}

// askPeople asks people for the replies of their open steps. If nothing else can happen before they reply, it pauses the
// debate. The step of a person who has declined is not open for long: see applyDeclines.
func (c *Change) askPeople(steps []protocol.Step) (more bool, err error) {
	r := c.State
	for i := range steps {
		s := &steps[i]
		if !r.MustAsk(*s) {
			continue
		}
		ev, err := NewAsked(r, s)
		switch {
		case errors.Is(err, ErrUnsupported): // another engine asks
			return false, nil
		case err != nil:
			return false, c.Fire(fsm.Fail, journal.StateChanged{Failure: &journal.Failure{
				Key:         s.Key,
				Kind:        providers.InvalidRequest,
				At:          c.Now,
				Message:     err.Error(),
				Recoverable: true,
				Cause:       err,
			}})
		}
		ev.EventMeta = c.Stamp("asked")
		ev.At = c.Now
		if err := c.Add(ev); err != nil {
			return false, err
		}
	}
	if !r.awaitsPeople() {
		return false, nil
	}
	return false, c.Fire(fsm.Pause, journal.StateChanged{ForPeople: true})
}

// stop ends the debate and settles.
func (c *Change) stop(with journal.StateChanged) error {
	if c.State.Ending.Outcome != "" { // the ending is decided once, also if its conclusion has failed and the debate was edited since
		with.Ending = transcript.Ending{}
	}
	if err := c.conclude(with); err != nil {
		return err
	}
	return c.Settle()
}

// conclude ends the debate, which then concludes. If nobody has spoken, there is nothing to conclude: the debate fails, for the
// reason that it ends, unless a person ends it.
func (c *Change) conclude(with journal.StateChanged) error {
	if c.State.CanConclude() ||
		with.Ending.Outcome == "" ||
		with.Ending.Outcome == transcript.Stopped {
		return c.Fire(fsm.Stop, with)
	}
	f := with.Failure
	if f == nil {
		f = &journal.Failure{
			Key:         c.State.position(),
			Kind:        providers.InvalidRequest,
			At:          c.Now,
			Message:     with.Ending.Evidence,
			Recoverable: true,
		}
	}
	if c.State.Lifecycle.State == fsm.Paused { // a person has decided to go on
		if err := c.Fire(fsm.Resume, journal.StateChanged{}); err != nil {
			return err
		}
	}
	return c.Fire(fsm.Fail, journal.StateChanged{
		Failure:       f,
		OtherFailures: with.OtherFailures,
	})
}

// AdvanceToSteps advances a state to its next steps, as whoever starts and drives it would who knows these windows.
func AdvanceToSteps(r *State, windows map[string]int, at time.Time) error {
	c := NewChange(r, at)
	ahead := map[fsm.State]*Act{
		fsm.Error:       {Kind: journal.ActRetry},
		fsm.Configuring: {Kind: journal.ActStart},
		fsm.Validating: {
			Kind:  journal.ActCheck,
			Check: journal.StateChanged{Windows: windows},
		},
		fsm.Ready: {Kind: journal.ActStart},
	}
	for a := ahead[r.Lifecycle.State]; a != nil; a = ahead[r.Lifecycle.State] {
		delete(ahead, r.Lifecycle.State) // a debate that fails again stays in error
		if err := c.Decide(a); err != nil {
			return err
		}
	}
	if r.Lifecycle.State == fsm.RoundComplete && c.Now.Before(r.NextRoundAt()) {
		c.Now = r.NextRoundAt()
	}
	return c.Decide(&Act{Kind: journal.ActDrive})
}

// stoppedByPerson holds the evidence of an ending by a person.
const stoppedByPerson = "a person stopped the debate"

// timeEndingInCall holds the ending of a debate whose time is used up during a call.
var timeEndingInCall = transcript.Ending{
	Outcome:  transcript.TimeBudget,
	Evidence: "the time budget for rounds was used up during a call",
}

// CanDrop reports whether the debate can continue without the participant that failed.
func CanDrop(r *State, f *journal.Failure) (can bool) {
	if mustStop(f) || !r.Participates(f.Key.Actor) {
		return false
	}
	left := r.Record
	left.Drop(f.Key.Actor)
	if len(left.Judges) == 0 { // if all judges were dropped, that was a decision
		left.Judges = namesOf(r.Config.Judges)
	}
	_ = r.Safely(func(r *State) { can = len(r.Agenda.Check(&left)) == 0 }) // if the protocol panics, it cannot
	return can
}

// failurePolicy returns the debate's policy for a step that failed.
func failurePolicy(r *State, f *journal.Failure) journal.FailurePolicy {
	switch {
	case slices.Contains(r.Judges, f.Key.Actor):
		return r.Config.OnJudgeFailure
	case f.Key.Actor == protocol.Retriever:
		return r.Config.OnRetrievalFailure
	}
	return r.Config.OnFailure
}

// applyFailurePolicy applies the debate's policy to a step that failed after all attempts. lost are the failures of other steps of the
// same plan.
func (c *Change) applyFailurePolicy(f *journal.Failure, lost []*journal.Failure) error {
	r := c.State
	policy := failurePolicy(r, f)
	running := r.Ending.Outcome == ""
	switch {
	case f.OutOfTime:
		return c.stop(journal.StateChanged{
			Failure:       f,
			OtherFailures: lost,
			Ending:        timeEndingInCall,
		})
	case running && f.Kind == providers.ContextOverflow && r.Config.OnOverflow == journal.End:
		return c.stopAfter(transcript.EarlyStop, f, lost)
	case policy == journal.Ask:
		return c.Fire(fsm.Pause, journal.StateChanged{
			Question:      questionAbout(r, f),
			OtherFailures: lost,
		})
	case mustStop(f):
		return c.Fire(fsm.Fail, journal.StateChanged{
			Failure:       f,
			OtherFailures: lost,
		})
	case slices.Contains(r.Judges, f.Key.Actor) && policy == journal.End:
		if err := c.drop(f, nil); err != nil {
			return err
		}
		return c.EndAfterDrop(f, lost)
	case policy == journal.DropJudge, CanDrop(r, f):
		return c.dropAndSettle(f, lost)
	case running && r.Cursor.Round > 1 && r.Participates(f.Key.Actor):
		return c.stopAfter(transcript.QuorumLost, f, lost)
	}
	return c.Fire(fsm.Fail, journal.StateChanged{
		Failure:       f,
		OtherFailures: lost,
	})
}

// stopAfter stops the debate because of a failure, which is the evidence of its ending.
func (c *Change) stopAfter(outcome transcript.Outcome, f *journal.Failure, lost []*journal.Failure) error {
	return c.stop(journal.StateChanged{
		Ending: transcript.Ending{
			Outcome:  outcome,
			Evidence: f.Error(),
		},
		Failure:       f,
		OtherFailures: lost,
	})
}

// GoOn continues the debate after a person has replied, declined or decided, unless it is held, or waits for something
// else.
func (c *Change) GoOn() error {
	switch r := c.State; {
	case r.Lifecycle.State.Active():
		return c.applyDeclines()
	case r.Lifecycle.State == fsm.Paused && !r.People.held && r.Decisions.Question == nil &&
		!r.awaitsPeople():
		return c.resume()
	}
	return nil
}

// resume continues a paused debate.
func (c *Change) resume() error {
	if err := c.Fire(fsm.Resume, journal.StateChanged{}); err != nil {
		return err
	}
	return c.applyDeclines()
}

// start starts a debate that is configuring or ready, or a fork that nobody has started.
func (c *Change) start() error {
	switch {
	case c.State.Lifecycle.State == fsm.Configuring:
		return c.Fire(fsm.Validate, journal.StateChanged{})
	case c.State.Fork.Idle:
		return c.resume()
	}
	if err := c.Fire(fsm.Start, journal.StateChanged{}); err != nil {
		return err
	}
	return c.Settle()
}

// applyDeclines applies the debate's policy to the steps that people have declined, and settles.
func (c *Change) applyDeclines() error {
	for c.State.Lifecycle.State.Active() && len(c.State.People.Declined) > 0 {
		steps := c.State.Next()
		at := slices.IndexFunc(
			steps,
			func(s protocol.Step) bool {
				return c.State.People.Declined[s.Key] != nil && !agenda.IsEmpty(s)
			},
		)
		if at < 0 {
			break
		}
		if err := c.applyDecline(&steps[at]); err != nil {
			return err
		}
	}
	return c.Settle()
}

// applyDecline applies the debate's policy to a step that its person has declined.
func (c *Change) applyDecline(s *protocol.Step) error {
	r := c.State
	d := c.State.People.Declined[s.Key]
	message := cmp.Or(d.By, s.Actor) + " declined"
	if d.Reason != "" {
		message += ": " + d.Reason
	}
	f := &journal.Failure{
		Key:         s.Key,
		Kind:        providers.Declined,
		At:          d.At,
		Message:     message,
		Recoverable: true,
	}
	contract := r.Contract(s.Contract)
	if slices.Contains(r.Judges, s.Actor) &&
		r.Config.OnJudgeFailure == journal.Continue &&
		contract != nil {
		list, _ := r.NamesFor(s)
		if safe, ok := contract.Default(list); ok {
			t := r.Reply(s, safe.Text, safe.Data)
			t.Flags = []transcript.Flag{transcript.Defaulted}
			t.Started = d.At
			t.Ended = d.At
			t.By = d.By
			return c.Add(journal.TurnDone{
				EventMeta: c.Stamp("turn"),
				At:        c.Now,
				Turn:      t,
			})
		}
	}
	return c.applyFailurePolicy(f, nil)
}

func (c *Change) addDecided(ev journal.Decided) error {
	ev.EventMeta = c.Stamp("decided")
	ev.At = c.Now
	return c.Add(ev)
}

// stopWaiting declines the steps of people for whom the conclusion waits. It changes nothing at a gate, because the
// conclusion has not begun.
func (c *Change) stopWaiting() error {
	r := c.State
	if q := r.Decisions.Question; q != nil && q.Gate != "" {
		return nil
	}
	for again := true; again; again = len(r.Waiting()) > 0 { // people speak one after another
		for _, a := range r.Waiting() {
			if err := c.addDecided(journal.Decided{
				Action: ActionDecline,
				Key:    a.Key,
				Reason: stoppedByPerson,
			}); err != nil {
				return err
			}
		}
		if r.Lifecycle.State == fsm.Paused {
			if err := c.stop(journal.StateChanged{}); err != nil {
				return err
			}
		}
		if err := c.applyDeclines(); err != nil {
			return err
		}
	}
	return nil
}

// applyGate carries out a person's decision at a gate.
func (c *Change) applyGate(action string, q *journal.Question) error {
	switch evidence := "a person ended the debate at a gate: " + q.Cause; {
	case action != ActionStop:
		return nil
	case c.State.Lifecycle.PausedFrom == fsm.Completing:
		return c.Fire(fsm.Cancel, journal.StateChanged{Ending: transcript.Ending{
			Outcome:  transcript.Canceled,
			Evidence: evidence,
		}})
	default:
		return c.stop(journal.StateChanged{Ending: transcript.Ending{
			Outcome:  transcript.Stopped,
			Evidence: evidence,
		}})
	}
}

func (c *Change) dropAndSettle(f *journal.Failure, lost []*journal.Failure) error {
	own := slices.DeleteFunc(slices.Clone(lost), func(l *journal.Failure) bool {
		return l.Key.Actor != f.Key.Actor
	})
	if err := c.drop(f, own); err != nil {
		return err
	}
	return c.Settle()
}

func (c *Change) drop(f *journal.Failure, lost []*journal.Failure) error {
	return c.Add(journal.Dropped{
		EventMeta:     c.Stamp("dropped"),
		At:            c.Now,
		Name:          f.Key.Actor,
		Failure:       f,
		OtherFailures: lost,
	})
}

// EndAfterDrop ends the debate after the drop of a judge that failed.
func (c *Change) EndAfterDrop(f *journal.Failure, lost []*journal.Failure) error {
	if c.State.Ending.Outcome != "" { // the judge failed in the conclusion
		return c.Settle()
	}
	return c.stop(journal.StateChanged{
		Ending: transcript.Ending{
			Outcome:  transcript.QuorumLost,
			Evidence: f.Error(),
		},
		OtherFailures: lost,
	})
}

func questionAbout(r *State, f *journal.Failure) *journal.Question {
	q := &journal.Question{
		Cause:   f.Error(),
		Failure: f,
		Choices: []journal.Choice{
			{
				Action:      ActionRetry,
				Label:       "Try again",
				Description: fmt.Sprintf("call %s again", f.Key.Actor),
			},
		},
	}
	if CanDrop(r, f) || slices.Contains(r.Judges, f.Key.Actor) {
		q.Choices = append(q.Choices, journal.Choice{
			Action:      ActionDrop,
			Label:       "Continue without",
			Description: fmt.Sprintf("%s takes no further part", f.Key.Actor),
		})
	}
	if r.Ending.Outcome == "" { // otherwise it is already concluding
		q.Choices = append(q.Choices, journal.Choice{
			Action:      ActionEnd,
			Label:       "End here",
			Description: "conclude with the turns so far",
		})
	}
	return q
}

// ApplyDecision carries out a person's decision, except that the debate goes on.
func (c *Change) ApplyDecision(action string, q *journal.Question) error {
	switch {
	case q.Gate != "":
		return c.applyGate(action, q)
	case action == ActionEnd:
		return c.stop(journal.StateChanged{Ending: transcript.Ending{
			Outcome: transcript.Stopped, Evidence: "a person ended the debate after a question: " + q.Cause,
		}})
	case action == ActionDrop && q.Failure == nil:
		return errors.New("the question has no actor to drop")
	}
	steps := c.State.Next()
	if action == ActionRetry && len(steps) > 0 { // failed attempts may have used up a budget
		if e := budgetEnding(c.State, protocol.Phase{
			Name:     steps[0].Phase,
			Parallel: len(steps) > 1,
			Steps:    steps,
		}); e.Outcome != "" {
			return c.stop(journal.StateChanged{Ending: e})
		}
	}
	if action == ActionDrop {
		return c.drop(q.Failure, nil)
	}
	return nil
}

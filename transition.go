package debate

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/findings"
	"github.com/elenchus-go/debate/internal/forks"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// transaction is a change that is not committed yet. Each event is added to the record at once, so the record shows
// the state after it. If the transaction is not committed, its record is discarded.
type transaction struct {
	rec    *record
	now    time.Time
	after  int64
	events []Event
	room   [4]Event // backing array of events, which are rarely more
	// schedule commits the status even if there are no events, so that a store that schedules debates creates a job
	// for the plan.
	schedule bool
	undo     func() // takes back what the change did outside of the record, if it is not committed; may be nil
	// match compares each event with the one that the journal has, when a change is made again to verify it; otherwise nil.
	match func(Event) error
}

func newTransaction(r *record) *transaction {
	c := &transaction{}
	c.begin(r)
	return c
}

// begin makes a transaction ready for a record. One that was committed may begin again.
func (c *transaction) begin(r *record) {
	now := time.Now().UTC().Truncate(time.Microsecond) // the precision of databases
	if now.Before(r.times.updated) {                   // the clock went back, or another machine's clock is ahead
		now = r.times.updated
	}
	*c = transaction{
		rec:   r,
		now:   now,
		after: r.Seq,
	}
	c.events = c.room[:0]
}

// stamp returns the fields that all events have for the next event of the given type.
func (c *transaction) stamp(kind string) EventMeta {
	m := EventMeta{Type: kind, Seq: c.rec.Seq + 1}
	if rules := c.rec.env.rules; *rules != c.rec.writer {
		m.Rules = rules
	}
	return m
}

func (c *transaction) add(ev Event) error {
	if done, ok := ev.(TurnDone); ok && done.Turn.Citations == nil && done.Repeats == 0 &&
		hasSources(c.rec.config) {
		done.Turn.Citations = c.rec.Sources.Cite(&done.Turn, nil).Check(c.rec.env.texts)
		ev = done
	}
	if c.match != nil {
		if err := c.match(ev); err != nil {
			return err
		}
	}
	c.events = append(c.events, ev)
	return c.rec.apply(ev, c.now)
}

// fire adds the transition that the lifecycle defines for an event, or returns an error if there is none.
func (c *transaction) fire(on fsm.Event, with StateChanged) error {
	facts := c.rec.facts()
	facts.HasOutcome = facts.HasOutcome || with.Ending.Outcome != ""
	facts.AssessmentDue = on == fsm.Responded && len(c.rec.phases(transcript.Assessment)) > 0
	next, err := fsm.Next(c.rec.lifecycle, on, facts)
	if err != nil {
		return err
	}
	if with.Ending.Outcome != "" {
		with.Ending.Round = c.rec.Cursor.Round
	}
	with.EventMeta = c.stamp("state")
	with.At = c.now
	with.From = c.rec.lifecycle.State
	with.On = on
	with.To = next.State
	with.Round = c.rec.roundAfter(on, next.State)
	if with.Question != nil {
		with.Question.ID = questionID(with.Seq)
	}
	return c.add(with)
}

// settle adds every event that needs no model call, such as transitions out of states whose work is done, and the start of a
// phase.
func (c *transaction) settle() error {
	if err := c.rec.canContinue(); err != nil {
		return err
	}
	for c.rec.lifecycle.State.Active() && c.rec.lifecycle.State != fsm.Validating {
		more, err := c.proceedSafely()
		if p, ok := errors.AsType[*panics.Error](err); ok {
			return c.fire(fsm.Fail, StateChanged{Failure: panicFailure(p, c.rec.position())})
		}
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// proceedSafely calls proceed and returns a panic of the protocol or of a hook as a *panics.Error.
func (c *transaction) proceedSafely() (more bool, err error) {
	defer panics.Catch(&err)
	return c.proceed()
}

func (c *transaction) proceed() (more bool, err error) {
	r := c.rec
	if ev := c.repetition(); ev != nil {
		return true, c.add(ev)
	}
	if r.lifecycle.State == fsm.RoundComplete {
		if c.now.Before(r.nextRoundAt()) {
			return false, nil
		}
		return true, c.fire(fsm.Advance, StateChanged{Ending: r.ending()})
	}
	steps := r.next()
	switch {
	case len(steps) == 0 && r.lifecycle.State == fsm.Judging:
		found := newFindings(r, true)
		return true, c.fire(fsm.Assessed, StateChanged{Findings: found, Ending: r.ending(found...)})
	case len(steps) == 0 && r.lifecycle.State == fsm.AwaitingResponses:
		return true, c.fire(fsm.Responded, StateChanged{Findings: newFindings(r, false)})
	case len(steps) == 0 && r.lifecycle.State == fsm.Completing:
		return true, c.fire(fsm.Concluded, StateChanged{})
	case len(steps) == 0:
		return true, c.fire(fsm.Initialized, StateChanged{})
	}
	open := steps[0].Phase == r.Cursor.Phase
	if q := gateQuestion(r); !open && q != nil {
		return false, c.fire(fsm.Pause, StateChanged{Question: q})
	}
	if at := slices.IndexFunc(steps, forks.IsSilent); open && at >= 0 {
		t := r.Reply(&steps[at], "", nil)
		t.Started = c.now
		t.Ended = c.now
		return true, c.add(TurnDone{
			EventMeta: c.stamp("turn"),
			At:        c.now,
			Turn:      t,
		})
	}
	if !open || !r.Parallel { // a parallel phase has its summaries before it begins
		if w := summaryNeeded(r, steps); w != nil {
			return c.startSummary(w)
		}
	}
	if q := callQuestion(r, steps); open && q != nil {
		return false, c.fire(fsm.Pause, StateChanged{Question: q})
	}
	if open {
		return c.askPeople(steps)
	}
	phase := r.phaseNamed(steps[0].Phase)[0]
	if e := budgetEnding(r, phase); e.Outcome != "" {
		return true, c.conclude(StateChanged{Ending: e})
	}
	return r.config.HasPeople() || r.fork.silent != nil, c.add(PhaseStarted{
		EventMeta: c.stamp("phase"),
		At:        c.now,
		Stage:     r.Cursor.Stage,
		Round:     steps[0].Round,
		Rounds:    r.MaxRounds,
		Phase:     phase.Name,
		Parallel:  phase.Parallel,
		Steps:     len(phase.Steps),
		Callers:   callersOf(r.config, &phase),
	})
}

// repetition returns the next entry of the course of a rejudged debate, as the debate has it. It is nil if the judges must be
// asked first, and in any other debate.
func (c *transaction) repetition() Event {
	r := c.rec
	if !r.onCourse() || r.lifecycle.State == fsm.Paused ||
		r.course.Asks(r.Participates) && len(r.next()) > 0 {
		return nil
	}
	ev := r.course.Next(r.Participates)
	if ev == nil {
		return nil
	}
	if s, ok := ev.(StateChanged); ok {
		s.From = r.lifecycle.State
		s.Instead = nil
		if (s.On == fsm.Assessed || s.On == fsm.Advance) && r.Ending.Outcome == "" {
			s.Instead = r.course.Instead(r.Cursor.Round, s.Ending, r.ending(s.Findings...))
		}
		ev = s
	}
	return r.course.Repeat(ev, c.stamp, c.now, r.Seq)
}

func (c *transaction) startSummary(w *window.SummaryPlan) (more bool, err error) {
	phase := c.rec.SummaryPhase()
	if e := budgetEnding(c.rec, phase); e.Outcome != "" {
		return true, c.conclude(StateChanged{Ending: e})
	}
	return false, c.add(PhaseStarted{
		EventMeta: c.stamp("phase"),
		At:        c.now,
		Stage:     c.rec.Cursor.Stage,
		Round:     c.rec.Cursor.Round,
		Rounds:    c.rec.MaxRounds,
		Phase:     phase.Name,
		Steps:     1,
		Summary:   w,
	})
}

// newFindings returns the findings of a round whose speeches (or assessments, if judged is set) are complete. It returns
// them only once.
func newFindings(r *record, judged bool) []detect.Finding {
	return r.findings.New(findings.Source{
		Record:   &r.Record,
		Protocol: r.config.Protocol,
		Rules:    r.config.Detect,
		Answer:   r.answerOf,
		Vectors:  findings.Vectors,
	}, judged)
}

// askPeople asks people for the replies of their open steps. If nothing else can happen before they reply, it pauses the
// debate. The step of a person who has declined is not open for long: see applyDeclines.
func (c *transaction) askPeople(steps []protocol.Step) (more bool, err error) {
	r := c.rec
	for i := range steps {
		s := &steps[i]
		if !r.mustAsk(*s) {
			continue
		}
		ev, err := newAsked(r, s)
		switch {
		case errors.Is(err, ErrUnsupported): // another engine asks
			return false, nil
		case err != nil:
			return false, c.fire(fsm.Fail, StateChanged{Failure: &Failure{
				Key:         s.Key,
				Kind:        providers.InvalidRequest,
				At:          c.now,
				Message:     err.Error(),
				Recoverable: true,
				Cause:       err,
			}})
		}
		ev.EventMeta = c.stamp("asked")
		ev.At = c.now
		if err := c.add(ev); err != nil {
			return false, err
		}
	}
	if !r.awaitsPeople() {
		return false, nil
	}
	return false, c.fire(fsm.Pause, StateChanged{ForPeople: true})
}

// stop ends the debate and settles.
func (c *transaction) stop(with StateChanged) error {
	if c.rec.Ending.Outcome != "" { // the ending is decided once, also if its conclusion has failed and the debate was edited since
		with.Ending = transcript.Ending{}
	}
	if err := c.conclude(with); err != nil {
		return err
	}
	return c.settle()
}

// conclude ends the debate, which then concludes. If nobody has spoken, there is nothing to conclude: the debate fails, for the
// reason that it ends, unless a person ends it.
func (c *transaction) conclude(with StateChanged) error {
	if c.rec.CanConclude() || with.Ending.Outcome == "" || with.Ending.Outcome == transcript.Stopped {
		return c.fire(fsm.Stop, with)
	}
	f := with.Failure
	if f == nil {
		f = &Failure{
			Key:         c.rec.position(),
			Kind:        providers.InvalidRequest,
			At:          c.now,
			Message:     with.Ending.Evidence,
			Recoverable: true,
		}
	}
	if c.rec.lifecycle.State == fsm.Paused { // a person has decided to go on
		if err := c.fire(fsm.Resume, StateChanged{}); err != nil {
			return err
		}
	}
	return c.fire(fsm.Fail, StateChanged{Failure: f, OtherFailures: with.OtherFailures})
}

// advanceToSteps advances a record to its next steps, as a driver would that knows these windows.
func advanceToSteps(r *record, windows map[string]int) error {
	c := newTransaction(r)
	path := map[fsm.State][]fsm.Event{
		fsm.Configuring: {fsm.Validate, fsm.Accept, fsm.Start},
		fsm.Validating:  {fsm.Accept, fsm.Start},
		fsm.Ready:       {fsm.Start},
		fsm.Error:       {fsm.Retry, fsm.Start},
	}
	for _, on := range path[r.lifecycle.State] {
		ev := StateChanged{}
		if on == fsm.Accept {
			ev.Windows = windows
		}
		if err := c.fire(on, ev); err != nil {
			return err
		}
	}
	if r.lifecycle.State == fsm.RoundComplete && c.now.Before(r.nextRoundAt()) {
		c.now = r.nextRoundAt()
	}
	return c.settle()
}

// newAsked returns what a person is asked in a step.
func newAsked(r *record, s *protocol.Step) (q Asked, err error) {
	who, seat, _ := r.actor(s.Actor)
	q = Asked{
		Key:      s.Key,
		Kind:     s.Kind,
		Contract: s.Contract,
		Tokens:   who.MaxTokens,
	}
	if !r.Settings.Templates.Has(s.Prompt) {
		return q, &unsupported{[]string{fmt.Sprintf("prompt %q is unknown, add it to Options.Prompts", s.Prompt)}}
	}
	contract, err := contractFor(r, s)
	if err != nil {
		return q, err
	}
	is, err := r.Ask(s, seat, contract)
	q.Task = is.Task
	q.Fields = is.Fields
	q.Schema = is.Schema
	q.Attachments = is.Attachments
	q.Documents = is.Documents
	return q, err
}

// brief sets what the actor of a next step may read and must know, as in a prompt for a model.
func brief(r *record, q *Asked) (err error) {
	q.Said = nil
	q.Briefing = nil // no entry of the journal has them
	s := r.open(q.Key)
	if s == nil {
		return nil
	}
	q.Said = r.Said(s)
	if r.Settings.Templates.Has(s.Prompt) {
		q.Briefing, err = newBriefing(r, s)
	}
	return err
}

// newBriefing returns what a person must know to reply to a step.
func newBriefing(r *record, s *protocol.Step) (*Briefing, error) {
	_, seat, _ := r.actor(s.Actor)
	b, err := r.Brief(s, seat)
	return &b, err
}

// contractFor returns the contract of the reply to a step, with the step's own check, or nil if the reply is free text.
func contractFor(r *record, s *protocol.Step) (*reply.Contract, error) {
	if s.Contract == "" {
		return nil, nil
	}
	c := r.Contract(s.Contract)
	if c == nil {
		return nil, &unsupported{[]string{fmt.Sprintf(
			"reply contract %q is unknown, add it to Options.Contracts",
			s.Contract,
		)}}
	}
	if s.Check != nil {
		c = c.WithCheck(s.Check)
	}
	return c, nil
}

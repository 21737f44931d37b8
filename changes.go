package debate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// next makes the next change. It returns an error if no further entry can be read.
func (x *rederivation) next() error {
	at := x.at
	forks := x.atBoundary()
	err := x.changeSafely()
	var wrong *notNext
	switch {
	case errors.Is(err, errBoundary):
		return x.readAgain()
	case errors.Is(err, errNoEntry):
		return nil
	case (errors.As(err, &wrong) || err == nil && x.at == at) && x.insideFork():
		if err := x.readAgain(); err != nil {
			return err
		}
		x.label = ""
		again := x.at
		switch forked := x.settleFork(); {
		case x.at > again && forked == nil:
			return nil
		case x.at > again &&
			(errors.Is(forked, errBoundary) ||
				x.insideFork() && errors.As(forked, &wrong)): // or another fork begins here
			return x.readAgain()
		}
	}
	if _, damaged := errors.AsType[*store.Damaged](err); damaged {
		return err
	}
	if err == nil && (x.at > at || forks) {
		return nil
	}
	reason := "no act leads to it"
	verdict := EntryWrong
	if err != nil {
		reason = err.Error()
	}
	if _, panicked := errors.AsType[*panics.Error](err); panicked || errors.Is(err, ErrUnsupported) {
		verdict = EntryNotDerivable
	}
	if x.at == len(x.entries) {
		return &store.Damaged{
			ID:  x.journal.id,
			Seq: int64(x.at),
			Err: errors.New(reason),
		}
	}
	return x.accept(x.judge(rulesOf(x.entries[x.at].Meta(), x.writer), verdict, reason))
}

// changeSafely makes the next change. It returns a panic of the protocol or of a hook as a *panics.Error.
func (x *rederivation) changeSafely() (err error) {
	defer panics.Catch(&err)
	x.label = ""
	if r := x.journal.rec; x.at > 0 && r.lacksProtocol() != nil {
		return x.accept(EntryNotDerivable, fmt.Sprintf("the engine lacks the protocol %s", r.config.Protocol.Name()))
	}
	if x.at > 0 && x.repeatsUnknown() {
		return x.accept(EntryNotDerivable, noCourse)
	}
	if x.atBoundary() {
		x.forked = true
		return x.settleFork()
	}
	return x.change()
}

// change makes the change that begins with the next entry.
func (x *rederivation) change() error {
	c := x.transaction()
	r := x.journal.rec
	switch ev := x.entries[x.at].(type) {
	case ConfigChanged:
		return x.configure(c, r.Seq == 0)
	case TurnDone:
		return x.turn(c, &ev)
	case Decided:
		return x.decide(c, &ev)
	case ToolsCalled:
		if err := x.input("a model's calls, and the results of tools"); err != nil ||
			callQuestion(r, r.next()) == nil {
			return err
		}
	case Annotated:
		return x.input("a note")
	case Dropped:
		lost := ev.OtherFailures
		if x.at+1 < len(x.entries) {
			if s, ok := x.entries[x.at+1].(StateChanged); ok && s.On == fsm.Stop &&
				len(s.OtherFailures) > 0 {
				lost = s.OtherFailures
			}
		}
		return c.applyFailurePolicy(ev.Failure, lost)
	case StateChanged:
		return x.transition(c, &ev)
	}
	return c.settle()
}

func (x *rederivation) configure(c *transaction, first bool) error {
	r := x.journal.rec
	if first {
		return x.input("the configuration")
	}
	was := r.config
	if err := x.input("an edit of the configuration"); err != nil {
		return err
	}
	if s := r.lifecycle.State; s != fsm.Configuring && s != fsm.Ready {
		return nil
	}
	is := *r.config
	r.config = was
	frozen := problemsError(frozenFields(r, is))
	r.config = &is
	if err := c.fire(fsm.Edit, StateChanged{}); err != nil || frozen == nil {
		return err
	}
	x.spoil(frozen)
	return nil
}

// turn takes a turn, and what follows from it.
func (x *rederivation) turn(c *transaction, ev *TurnDone) error {
	r := x.journal.rec
	switch {
	case ev.Turn.Kind == transcript.Remark:
		return x.input("a person's remark")
	case ev.Turn.Kind == transcript.Silence:
		return c.settle()
	case r.isHuman(ev.Turn.Actor):
		s := r.open(ev.Turn.Key)
		wrong := s != nil && !slices.Contains(ev.Turn.Flags, transcript.Edited) &&
			ev.Remains != r.remains(s, r.Messages(s))
		if err := x.input("a person's reply"); err != nil {
			return err
		}
		if wrong {
			x.spoil(errors.New(otherRemains))
		}
		return c.goOn()
	}
	if err := x.input("a model's reply"); err != nil {
		return err
	}
	return c.settle()
}

// decide takes a person's decision, and what follows from it.
func (x *rederivation) decide(c *transaction, ev *Decided) error {
	r := x.journal.rec
	q := r.decisions.question
	if ev.Action == actionDecline && ev.By == "" && ev.Reason == stoppedByPerson &&
		r.Cursor.Stage == transcript.Conclusion {
		x.label = stoppedByPerson
		return c.stopWaiting()
	}
	if err := x.input("a person's decision"); err != nil {
		return err
	}
	switch {
	case ev.Action == actionHold || ev.Action == actionRelease:
		return nil
	case ev.Action == actionDecline:
		return c.goOn()
	case q == nil || !slices.Contains(actionsOf(q), ev.Action):
		x.spoil(errors.New("no question has this answer"))
		return nil
	}
	if ev.Action == actionEdit {
		if err := x.input("a person's remark"); err != nil {
			return err
		}
	}
	if err := c.applyDecision(ev.Action, q); err != nil {
		return err
	}
	return c.goOn()
}

// transition takes a transition that nothing before it in the same change has led to.
func (x *rederivation) transition(c *transaction, ev *StateChanged) error {
	r := x.journal.rec
	switch ev.On {
	case fsm.Validate:
		x.label = "the debate was started"
		return c.start()
	case fsm.Start:
		x.label = "the debate was started"
		return c.start()
	case fsm.Resume:
		x.label = "the debate was resumed"
		return c.resume()
	case fsm.Accept:
		return x.acceptConfig(c, ev)
	case fsm.Reject:
		return x.fire(c, ev, "an engine's check of the configuration", StateChanged{Problems: ev.Problems})
	case fsm.Cancel:
		return x.fire(c, ev, "a person canceled the debate", StateChanged{Ending: transcript.Ending{
			Outcome:  transcript.Canceled,
			Evidence: canceledByPerson,
		}})
	case fsm.Retry, fsm.Reset:
		return x.fire(c, ev, "a person's decision", StateChanged{})
	case fsm.Pause:
		return x.pause(c, ev)
	case fsm.Fail:
		return x.fail(c, ev)
	case fsm.Stop:
		return x.stop(c, ev)
	case fsm.Edit, fsm.Initialized, fsm.Responded, fsm.Assessed, fsm.Advance, fsm.Concluded:
	}
	if r.lifecycle.State == fsm.Ready && ev.On == fsm.Edit { // a fork that would start
		return x.fire(c, ev, "the debate was forked", StateChanged{})
	}
	return c.settle()
}

// fire makes a transition that somebody has asked for.
func (x *rederivation) fire(c *transaction, ev *StateChanged, label string, with StateChanged) error {
	x.label = label
	return c.fire(ev.On, with)
}

// acceptConfig takes the result of an engine's check of the configuration. The windows are what it was told by providers.
func (x *rederivation) acceptConfig(c *transaction, ev *StateChanged) error {
	r := x.journal.rec
	first := x.engine.preflight(r.seats(), ev.Windows)
	switch {
	case first.lacks != nil:
		return first.lacks
	case len(first.problems) > 0:
		return &notNext{fmt.Sprintf("the configuration must be refused: %v", problemsError(first.problems))}
	}
	warnings := slices.Concat(
		r.configWarnings(),
		startWarnings(first.record.config, r.Cursor.Run, ev.Windows, first.limits),
	)
	// Warnings about judges that use the model of a participant depend on the names of providers.
	if len(x.engine.lacks(r.seats())) > 0 {
		warnings = ev.Warnings
	}
	if err := x.fire(c, ev, "an engine's check of the configuration", StateChanged{
		Warnings:    warnings,
		ReplyTokens: first.limits,
		Windows:     ev.Windows,
	}); err != nil {
		return err
	}
	if err := c.fire(fsm.Start, StateChanged{}); err != nil {
		return err
	}
	return c.settle()
}

func (x *rederivation) pause(c *transaction, ev *StateChanged) error {
	switch {
	case ev.Question != nil && ev.Question.Failure != nil:
		return c.applyFailurePolicy(ev.Question.Failure, ev.OtherFailures)
	case ev.Question == nil && !ev.ForPeople && !ev.Fork:
		return x.fire(c, ev, "a person paused the debate", StateChanged{})
	}
	return c.settle()
}

func (x *rederivation) fail(c *transaction, ev *StateChanged) error {
	if ev.Failure == nil {
		return errors.New("it has no failure")
	}
	if x.journal.rec.open(ev.Failure.Key) != nil &&
		ev.Failure.Attempts > 0 { // otherwise no call has failed, but a plan
		return c.applyFailurePolicy(ev.Failure, ev.OtherFailures)
	}
	return x.fire(c, ev, "a failure", StateChanged{Failure: ev.Failure, OtherFailures: ev.OtherFailures})
}

func (x *rederivation) stop(c *transaction, ev *StateChanged) error {
	byPerson := transcript.Ending{Outcome: transcript.Stopped, Evidence: stoppedByPerson}
	switch {
	case ev.Ending.Outcome == transcript.TimeBudget && (ev.Failure != nil || len(ev.OtherFailures) > 0):
		x.label = "an engine's clock"
		return c.stop(StateChanged{
			Failure:       ev.Failure,
			OtherFailures: ev.OtherFailures,
			Ending:        timeEndingInCall,
		})
	case ev.Failure != nil:
		return c.applyFailurePolicy(ev.Failure, ev.OtherFailures)
	case ev.Ending.Evidence == stoppedByPerson || ev.Ending.Outcome == "":
		x.label = stoppedByPerson
		return c.stop(StateChanged{Ending: byPerson})
	}
	return c.settle()
}

// settleFork makes the change that makes a fork: of this debate, or of the one that it is a fork of.
func (x *rederivation) settleFork() error {
	c := x.transaction()
	f := x.fork
	if _, ok := x.entries[x.at].(ConfigChanged); ok {
		if err := x.configure(c, false); err != nil || x.at == len(x.entries) {
			return err
		}
	}
	if t, ok := x.entries[x.at].(TurnDone); ok && slices.Contains(t.Turn.Flags, transcript.Edited) {
		if err := x.input("a reply that was edited in a fork"); err != nil {
			return err
		}
		f.pendingDecision = pendingDecision{}
	}
	return f.settle(c)
}

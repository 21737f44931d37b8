package debate

import (
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/transcript"
)

// An act holds what leads to a change of a debate, with what somebody has given: a person, a model, a service or a clock.
type act struct {
	kind    journal.Act
	given   Event        // what was given, as the first entry has it; nil if the entries follow from the kind alone
	remark  *TurnDone    // given with a decision; otherwise nil
	check   StateChanged // what an engine's check of the configuration has found
	failure *Failure     // of a step, or of what plans it
	lost    []*Failure   // of other steps of the same plan

	prompts *prompting.Debate // has the first prompts of a debate whose configuration was checked; nil if nobody has built them
}

// decide makes the change that an act leads to: it adds what was given, and every event that follows until a model or a person is
// needed. Whoever changes a debate calls it, and whoever verifies the change later. It reads the record, the act and the time of the
// transaction, and nothing else.
func (c *transaction) decide(a *act) error {
	c.act = a.kind
	question := c.rec.decisions.question
	if a.given != nil {
		if err := c.give(a.given); err != nil {
			return err
		}
	}
	switch a.kind {
	case journal.ActTurn, journal.ActDrive:
		return c.settle()
	case journal.ActTools:
		if callQuestion(c.rec, c.rec.next()) == nil {
			return nil
		}
		return c.settle()
	case journal.ActAnswer, journal.ActDecline:
		return c.goOn()
	case journal.ActDecide:
		return c.answer(a, question)
	case journal.ActEdit:
		return c.fire(fsm.Edit, StateChanged{})
	case journal.ActCheck:
		return c.checked(a)
	case journal.ActFailure:
		return c.applyFailurePolicy(a.failure, a.lost)
	case journal.ActClock:
		return c.stop(StateChanged{OtherFailures: a.lost, Ending: timeEndingInCall})
	case journal.ActBroken:
		return c.fail(a.failure)
	case journal.ActCreate, journal.ActRemark, journal.ActAnnotate, journal.ActWait, journal.ActSign:
		return nil
	default:
		return c.control(a.kind)
	}
}

// give adds what was given, or what the journal has of it.
func (c *transaction) give(ev Event) error {
	if c.take == nil {
		return c.add(ev)
	}
	c.act = ""
	return c.take(ev)
}

// control makes the change that a person asks for with one of the acts that give nothing. It adds nothing if that is done already.
func (c *transaction) control(kind journal.Act) error {
	r := c.rec
	state := r.lifecycle.State
	switch kind {
	case journal.ActStart:
		return c.start()
	case journal.ActPause:
		return c.pause()
	case journal.ActResume:
		return c.release()
	case journal.ActStop:
		return c.end()
	case journal.ActCancel:
		if state == fsm.Canceled {
			return nil
		}
		ending := transcript.Ending{Outcome: transcript.Canceled, Evidence: "a person canceled the debate"}
		return c.fire(fsm.Cancel, StateChanged{Ending: ending})
	case journal.ActRetry:
		if state == fsm.Ready || state.Active() {
			return nil
		}
		return c.fire(fsm.Retry, StateChanged{})
	case journal.ActReset:
		if state == fsm.Configuring {
			return nil
		}
		return c.fire(fsm.Reset, StateChanged{})
	default:
		return fmt.Errorf("the act %q is unknown", kind)
	}
}

// pause pauses the debate, or holds one that has paused because it waits for people.
func (c *transaction) pause() error {
	r := c.rec
	switch {
	case r.lifecycle.State == fsm.Paused && r.decisions.question == nil && !r.people.held:
		return c.addDecided(Decided{Action: actionHold})
	case r.lifecycle.State == fsm.Paused:
		return nil
	}
	return c.fire(fsm.Pause, StateChanged{})
}

// release continues a debate that was paused, or releases one that waits for people.
func (c *transaction) release() error {
	r := c.rec
	if r.lifecycle.State.Active() {
		return nil
	}
	if q := r.decisions.question; q != nil {
		_, err := fsm.Next(r.lifecycle, fsm.Resume, r.facts())
		return fmt.Errorf("a question is open, call Decide with one of %s: %w", strings.Join(actionsOf(q), ", "), err)
	}
	if r.people.held && r.awaitsPeople() {
		return c.addDecided(Decided{Action: actionRelease})
	}
	return c.resume()
}

// end ends the debate with a conclusion. If the conclusion waits for people, they are no longer asked.
func (c *transaction) end() error {
	r := c.rec
	switch {
	case r.Cursor.Stage == transcript.Conclusion:
		return c.stopWaiting()
	case r.lifecycle.State == fsm.Completed:
		return nil
	}
	return c.stop(StateChanged{Ending: transcript.Ending{Outcome: transcript.Stopped, Evidence: stoppedByPerson}})
}

// answer carries out the answer to a question. The remark that a person gives with it comes after it.
func (c *transaction) answer(a *act, q *Question) error {
	if a.remark != nil {
		said := *a.remark
		said.EventMeta = c.stamp("turn")
		said.Turn.Seq = said.Seq
		said.Turn.VisibleSeq = c.rec.Seq
		if err := c.give(said); err != nil {
			return err
		}
	}
	if err := c.applyDecision(a.given.(Decided).Action, q); err != nil {
		return err
	}
	return c.goOn() // people whom the debate waits for may have replied or declined meanwhile
}

// checked starts a debate whose configuration was checked, or takes it back to configuring if that has problems.
func (c *transaction) checked(a *act) error {
	if a.check.Problems != nil {
		return c.fire(fsm.Reject, a.check)
	}
	if err := c.fire(fsm.Accept, a.check); err != nil {
		return err
	}
	if err := c.fire(fsm.Start, StateChanged{}); err != nil {
		return err
	}
	if a.prompts != nil {
		c.rec.Adopt(a.prompts)
	}
	return c.settle()
}

// startEvents lists the events that start a debate whose configuration has been checked, by the state of the debate.
var startEvents = map[fsm.State][]fsm.Event{fsm.Validating: {fsm.Accept, fsm.Start}, fsm.Ready: {fsm.Start}}

// fail ends the debate with a failure that belongs to no call. It may have happened during the start, which was not committed then.
func (c *transaction) fail(f *Failure) error {
	for _, on := range startEvents[c.rec.lifecycle.State] {
		if err := c.fire(on, StateChanged{}); err != nil {
			return err
		}
	}
	if !c.rec.lifecycle.State.Active() {
		return nil
	}
	if f.Key == (transcript.Key{}) {
		own := *f
		own.Key = c.rec.position()
		f = &own
	}
	return c.fire(fsm.Fail, StateChanged{Failure: f})
}

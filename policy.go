package debate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/forks"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// The evidence of endings by people.
const (
	stoppedByPerson  = "a person stopped the debate"
	canceledByPerson = "a person canceled the debate"
)

// timeEndingInCall is the ending of a debate whose time is used up during a call.
var timeEndingInCall = transcript.Ending{
	Outcome:  transcript.TimeBudget,
	Evidence: "the time budget for rounds was used up during a call",
}

// canDrop reports whether the debate can continue without the participant that failed.
func canDrop(r *record, f *Failure) (can bool) {
	if mustStop(f) || !r.Participates(f.Key.Actor) {
		return false
	}
	left := r.Record
	left.Drop(f.Key.Actor)
	if len(left.Judges) == 0 { // if all judges were dropped, that was a decision
		left.Judges = namesOf(r.config.Judges)
	}
	names := left.ParticipantNames()
	if n := len(r.fork.silent.Remaining(r.Seq, names)); n < 2 && n < len(names) { // too few speak
		return false
	}
	_ = r.ask(func(r *record) { can = len(r.config.Protocol.Check(&left)) == 0 }) // if the protocol panics, it cannot
	return can
}

// applyFailurePolicy applies the debate's policy to a step that failed after all attempts.
func (c *transaction) applyFailurePolicy(f *Failure, lost []*Failure) error {
	judge := slices.Contains(c.rec.Judges, f.Key.Actor)
	policy := c.rec.config.OnFailure
	switch {
	case judge:
		policy = c.rec.config.OnJudgeFailure
	case f.Key.Actor == protocol.Retriever:
		policy = c.rec.config.OnRetrievalFailure
	}
	switch {
	case f.OutOfTime:
		return c.stop(StateChanged{
			Failure:       f,
			OtherFailures: lost,
			Ending:        timeEndingInCall,
		})
	case f.Kind == providers.ContextOverflow && c.rec.config.OnOverflow == End &&
		c.rec.Ending.Outcome == "":
		return c.stop(StateChanged{
			Ending:        transcript.Ending{Outcome: transcript.EarlyStop, Evidence: f.Error()},
			Failure:       f,
			OtherFailures: lost,
		})
	case policy == Ask:
		return c.fire(fsm.Pause, StateChanged{Question: questionAbout(c.rec, f), OtherFailures: lost})
	case judge && policy == DropJudge && !mustStop(f):
		return c.dropAndSettle(f, lost)
	case judge && policy == End && !mustStop(f):
		if err := c.drop(f, nil); err != nil {
			return err
		}
		return c.endAfterDrop(f, lost)
	case canDrop(c.rec, f):
		return c.dropAndSettle(f, lost)
	case c.rec.Participates(f.Key.Actor) && c.rec.Cursor.Round > 1 && c.rec.Ending.Outcome == "" &&
		!mustStop(f):
		return c.stop(StateChanged{
			Ending:        transcript.Ending{Outcome: transcript.QuorumLost, Evidence: f.Error()},
			Failure:       f,
			OtherFailures: lost,
		})
	}
	return c.fire(fsm.Fail, StateChanged{Failure: f, OtherFailures: lost})
}

// goOn continues the debate after a person has replied, declined or decided, unless it is held, or waits for something
// else.
func (c *transaction) goOn() error {
	switch r := c.rec; {
	case r.lifecycle.State.Active():
		return c.applyDeclines()
	case r.lifecycle.State == fsm.Paused && !r.people.held && r.decisions.question == nil &&
		!r.awaitsPeople():
		return c.resume()
	}
	return nil
}

// resume continues a paused debate.
func (c *transaction) resume() error {
	if err := c.fire(fsm.Resume, StateChanged{}); err != nil {
		return err
	}
	return c.applyDeclines()
}

// start starts a debate that is configuring or ready, or a fork that nobody has started.
func (c *transaction) start() error {
	switch {
	case c.rec.lifecycle.State == fsm.Configuring:
		return c.fire(fsm.Validate, StateChanged{})
	case c.rec.fork.idle:
		return c.resume()
	}
	if err := c.fire(fsm.Start, StateChanged{}); err != nil {
		return err
	}
	return c.settle()
}

// applyDeclines applies the debate's policy to the steps that people have declined, and settles.
func (c *transaction) applyDeclines() error {
	for c.rec.lifecycle.State.Active() && len(c.rec.people.declined) > 0 {
		steps := c.rec.next()
		at := slices.IndexFunc(
			steps,
			func(s protocol.Step) bool { return c.rec.people.declined[s.Key] != nil && !forks.IsSilent(s) },
		)
		if at < 0 {
			break
		}
		if err := c.applyDecline(&steps[at]); err != nil {
			return err
		}
	}
	return c.settle()
}

// applyDecline applies the debate's policy to a step that its person has declined.
func (c *transaction) applyDecline(s *protocol.Step) error {
	r := c.rec
	d := c.rec.people.declined[s.Key]
	message := cmp.Or(d.By, s.Actor) + " declined"
	if d.Reason != "" {
		message += ": " + d.Reason
	}
	f := &Failure{
		Key:         s.Key,
		Kind:        providers.Declined,
		At:          d.At,
		Message:     message,
		Recoverable: true,
	}
	contract := r.Contract(s.Contract)
	if slices.Contains(r.Judges, s.Actor) && r.config.OnJudgeFailure == Continue && contract != nil {
		list, _ := r.NamesFor(s)
		if safe, ok := contract.Default(list); ok {
			t := r.Reply(s, safe.Text, safe.Data)
			t.Flags = []transcript.Flag{transcript.Defaulted}
			t.Started = d.At
			t.Ended = d.At
			t.By = d.By
			return c.add(TurnDone{
				EventMeta: c.stamp("turn"),
				At:        c.now,
				Turn:      t,
			})
		}
	}
	return c.applyFailurePolicy(f, nil)
}

func (c *transaction) decide(ev Decided) error {
	ev.EventMeta = c.stamp("decided")
	ev.At = c.now
	return c.add(ev)
}

// stopWaiting declines the steps of people for whom the conclusion waits. It changes nothing at a gate, because the
// conclusion has not begun.
func (c *transaction) stopWaiting() error {
	r := c.rec
	if q := r.decisions.question; q != nil && q.Gate != "" {
		return nil
	}
	for again := true; again; again = len(r.waiting()) > 0 { // people speak one after another
		for _, a := range r.waiting() {
			if err := c.decide(Decided{
				Action: actionDecline,
				Key:    a.Key,
				Reason: stoppedByPerson,
			}); err != nil {
				return err
			}
		}
		if r.lifecycle.State == fsm.Paused {
			if err := c.stop(StateChanged{}); err != nil {
				return err
			}
		}
		if err := c.applyDeclines(); err != nil {
			return err
		}
	}
	return nil
}

// givenTurn returns the turn of a step with a reply that a person gives, which has so many tokens. If the reply is blank,
// invalid or has more than most tokens, givenTurn returns *Problems about the subject.
func givenTurn(r *record, s *protocol.Step, subject, text string, tokens, most int) (t transcript.Turn, err error) {
	contract, err := contractFor(r, s)
	if err != nil {
		return t, err
	}
	t, wrong, err := r.Given(s, contract, text, tokens, most)
	l := &problemList{}
	for _, reason := range wrong {
		l.add("reply", "%s", reason)
	}
	return t, cmp.Or(problemsOf(subject, l.problems), err)
}

// applyGate carries out a person's decision at a gate.
func (c *transaction) applyGate(action string, q *Question) error {
	switch evidence := "a person ended the debate at a gate: " + q.Cause; {
	case action != actionStop:
		return nil
	case c.rec.lifecycle.PausedFrom == fsm.Completing:
		return c.fire(fsm.Cancel, StateChanged{Ending: transcript.Ending{Outcome: transcript.Canceled, Evidence: evidence}})
	default:
		return c.stop(StateChanged{Ending: transcript.Ending{Outcome: transcript.Stopped, Evidence: evidence}})
	}
}

func (c *transaction) dropAndSettle(f *Failure, lost []*Failure) error {
	own := slices.DeleteFunc(slices.Clone(lost), func(l *Failure) bool { return l.Key.Actor != f.Key.Actor })
	if err := c.drop(f, own); err != nil {
		return err
	}
	return c.settle()
}

func (c *transaction) drop(f *Failure, lost []*Failure) error {
	return c.add(Dropped{
		EventMeta:     c.stamp("dropped"),
		At:            c.now,
		Name:          f.Key.Actor,
		Failure:       f,
		OtherFailures: lost,
	})
}

// endAfterDrop ends the debate after the drop of a judge that failed.
func (c *transaction) endAfterDrop(f *Failure, lost []*Failure) error {
	if c.rec.Ending.Outcome != "" { // the judge failed in the conclusion
		return c.settle()
	}
	return c.stop(StateChanged{
		Ending:        transcript.Ending{Outcome: transcript.QuorumLost, Evidence: f.Error()},
		OtherFailures: lost,
	})
}

func questionAbout(r *record, f *Failure) *Question {
	q := &Question{
		Cause:   f.Error(),
		Failure: f,
		Choices: []Choice{
			{
				Action:      actionRetry,
				Label:       "Try again",
				Description: fmt.Sprintf("call %s again", f.Key.Actor),
			},
		},
	}
	if canDrop(r, f) || slices.Contains(r.Judges, f.Key.Actor) {
		q.Choices = append(q.Choices, Choice{
			Action:      actionDrop,
			Label:       "Continue without",
			Description: fmt.Sprintf("%s takes no further part", f.Key.Actor),
		})
	}
	if r.Ending.Outcome == "" { // otherwise it is already concluding
		q.Choices = append(q.Choices, Choice{
			Action:      actionEnd,
			Label:       "End here",
			Description: "conclude with the turns so far",
		})
	}
	return q
}

// applyDecision carries out a person's decision, except that the debate goes on.
func (c *transaction) applyDecision(action string, q *Question) error {
	switch {
	case q.Gate != "":
		return c.applyGate(action, q)
	case action == actionEnd:
		return c.stop(StateChanged{Ending: transcript.Ending{
			Outcome: transcript.Stopped, Evidence: "a person ended the debate after a question: " + q.Cause,
		}})
	case action == actionDrop && q.Failure == nil:
		return errors.New("the question has no actor to drop")
	}
	if steps := c.rec.next(); action == actionRetry &&
		len(steps) > 0 { // failed attempts may have used up a budget
		if e := budgetEnding(c.rec, protocol.Phase{
			Name:     steps[0].Phase,
			Parallel: len(steps) > 1,
			Steps:    steps,
		}); e.Outcome != "" {
			return c.stop(StateChanged{Ending: e})
		}
	}
	if action == actionDrop {
		return c.drop(q.Failure, nil)
	}
	return nil
}

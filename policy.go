package debate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// canDrop reports whether the debate can continue without the participant that failed.
func canDrop(r *record, f *Failure) (can bool) {
	defer func() {
		if recover() != nil { // of the protocol
			can = false
		}
	}()
	if f.mustStop() || !r.isParticipating(f.Key.Actor) {
		return false
	}
	left := r.Record
	left.Drop(f.Key.Actor)
	if len(left.Judges) == 0 { // if all judges were dropped, that was a decision
		left.Judges = names(judgeProfiles(*r.config))
	}
	return len(r.config.Protocol.Check(&left)) == 0
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
	case f.Kind == providers.ContextOverflow && c.rec.config.OnOverflow == End && c.rec.Ending.Outcome == "":
		return c.stop(StateChanged{Ending: transcript.Ending{Outcome: transcript.EarlyStop, Evidence: f.Error()}, Failure: f, OtherFailures: lost})
	case policy == Ask:
		return c.fire(fsm.Pause, StateChanged{Question: questionAbout(c.rec, f), OtherFailures: lost})
	case judge && policy == DropJudge && !f.mustStop():
		return c.dropAndSettle(f, lost)
	case judge && policy == End && !f.mustStop():
		return c.endWithoutJudge(f, lost)
	case canDrop(c.rec, f):
		return c.dropAndSettle(f, lost)
	case c.rec.isParticipating(f.Key.Actor) && c.rec.Cursor.Round > 1 && c.rec.Ending.Outcome == "" && !f.mustStop():
		return c.stop(StateChanged{Ending: transcript.Ending{Outcome: transcript.QuorumLost, Evidence: f.Error()}, Failure: f, OtherFailures: lost})
	}
	return c.fire(fsm.Fail, StateChanged{Failure: f, OtherFailures: lost})
}

func (c *transaction) dropAndSettle(f *Failure, lost []*Failure) error {
	own := slices.DeleteFunc(slices.Clone(lost), func(l *Failure) bool { return l.Key.Actor != f.Key.Actor })
	if err := c.drop(f, own); err != nil {
		return err
	}
	return c.settle()
}

func (c *transaction) drop(f *Failure, lost []*Failure) error {
	return c.add(Dropped{EventMeta: c.stamp("dropped"), At: c.now, Name: f.Key.Actor, Failure: f, OtherFailures: lost})
}

// endWithoutJudge drops the judge that failed and ends the debate.
func (c *transaction) endWithoutJudge(f *Failure, lost []*Failure) error {
	if err := c.drop(f, nil); err != nil {
		return err
	}
	if c.rec.Ending.Outcome != "" { // the judge failed in the conclusion
		return c.settle()
	}
	return c.stop(StateChanged{Ending: transcript.Ending{Outcome: transcript.QuorumLost, Evidence: f.Error()}, OtherFailures: lost})
}

func questionAbout(r *record, f *Failure) *Question {
	q := &Question{Cause: f.Error(), Failure: f, Choices: []Choice{
		{actionRetry, "Try again", fmt.Sprintf("call %s again", f.Key.Actor)},
	}}
	if canDrop(r, f) || slices.Contains(r.Judges, f.Key.Actor) {
		q.Choices = append(q.Choices, Choice{actionDrop, "Continue without", fmt.Sprintf("%s takes no further part", f.Key.Actor)})
	}
	if r.Ending.Outcome == "" { // otherwise it is already concluding
		q.Choices = append(q.Choices, Choice{actionEnd, "End here", "conclude with the turns so far"})
	}
	return q
}

// applyDecision carries out a person's decision.
func (c *transaction) applyDecision(action string, q *Question) error {
	switch {
	case action == actionEnd:
		return c.stop(StateChanged{Ending: transcript.Ending{
			Outcome: transcript.Stopped, Evidence: "a person ended the debate after a question: " + q.Cause,
		}})
	case action == actionDrop && q.Failure == nil:
		return errors.New("the question has no actor to drop")
	}
	if e := budgetEnding(c.rec, c.rec.next()); action == actionRetry && e.Outcome != "" { // failed attempts may have used up a budget
		return c.stop(StateChanged{Ending: e})
	}
	if err := c.fire(fsm.Resume, StateChanged{}); err != nil {
		return err
	}
	if action == actionDrop {
		return c.dropAndSettle(q.Failure, nil)
	}
	return c.settle()
}

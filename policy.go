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

// canDrop says whether the debate can go on without the participant who failed.
func canDrop(r *record, f *Failure) bool {
	if f.wrong() || !r.seated(f.Key.Actor) {
		return false
	}
	left := r.Record
	left.Drop(f.Key.Actor)
	if len(left.Judges) == 0 { // that there is none was somebody's decision
		left.Judges = names(judges(*r.config))
	}
	return len(r.config.Protocol.Check(&left)) == 0
}

// degrade answers a step that failed for good, by the debate's policy.
func (c *change) degrade(f *Failure, lost []*Failure) error {
	judge := slices.Contains(c.rec.Judges, f.Key.Actor)
	policy := c.rec.config.OnFailure
	switch {
	case judge:
		policy = c.rec.config.OnJudgeFailure
	case f.Key.Actor == protocol.Retrieving:
		policy = c.rec.config.OnRetrievalFailure
	}
	switch {
	case f.Kind == providers.ContextOverflow && c.rec.config.OnOverflow == End && c.rec.Ending.Outcome == "":
		return c.stop(StateChanged{Ending: transcript.Ending{Outcome: transcript.EarlyStop, Evidence: f.Error()}, Failure: f, Lost: lost})
	case policy == Ask:
		return c.fire(fsm.Pause, StateChanged{Question: questionAbout(c.rec, f), Lost: lost})
	case judge && policy == WithoutJudge && !f.wrong():
		return c.dropOut(f, lost)
	case judge && policy == End && !f.wrong():
		return c.endWithout(f, lost)
	case canDrop(c.rec, f):
		return c.dropOut(f, lost)
	case c.rec.seated(f.Key.Actor) && c.rec.Cursor.Round > 1 && c.rec.Ending.Outcome == "" && !f.wrong():
		return c.stop(StateChanged{Ending: transcript.Ending{Outcome: transcript.QuorumLost, Evidence: f.Error()}, Failure: f, Lost: lost})
	}
	return c.fire(fsm.Fail, StateChanged{Failure: f, Lost: lost})
}

func (c *change) dropOut(f *Failure, lost []*Failure) error {
	own := slices.DeleteFunc(slices.Clone(lost), func(l *Failure) bool { return l.Key.Actor != f.Key.Actor })
	if err := c.drop(f, own); err != nil {
		return err
	}
	return c.settle()
}

func (c *change) drop(f *Failure, lost []*Failure) error {
	return c.add(Dropped{Stamp: c.stamp("dropped"), At: c.now, Name: f.Key.Actor, Failure: f, Lost: lost})
}

// endWithout ends the debate without the judge that failed.
func (c *change) endWithout(f *Failure, lost []*Failure) error {
	if err := c.drop(f, nil); err != nil {
		return err
	}
	if c.rec.Ending.Outcome != "" { // it was to give the verdict
		return c.settle()
	}
	return c.stop(StateChanged{Ending: transcript.Ending{Outcome: transcript.QuorumLost, Evidence: f.Error()}, Lost: lost})
}

func questionAbout(r *record, f *Failure) *Question {
	q := &Question{Cause: f.Error(), Failure: f, Choices: []Choice{
		{actRetry, "Try again", fmt.Sprintf("call %s again", f.Key.Actor)},
	}}
	if canDrop(r, f) || slices.Contains(r.Judges, f.Key.Actor) {
		q.Choices = append(q.Choices, Choice{actDrop, "Go on without", fmt.Sprintf("%s takes no further part", f.Key.Actor)})
	}
	if r.Ending.Outcome == "" { // else it is concluding already
		q.Choices = append(q.Choices, Choice{actEnd, "End here", "conclude with what was said so far"})
	}
	return q
}

// act does what a person decided.
func (c *change) act(action string, q *Question) error {
	switch {
	case action == actEnd:
		return c.stop(StateChanged{Ending: transcript.Ending{
			Outcome: transcript.Stopped, Evidence: "a person ended the debate after a question: " + q.Cause,
		}})
	case action == actDrop && q.Failure == nil:
		return errors.New("the question names nobody who could drop out")
	}
	if e := budgetEnding(c.rec, c.rec.next()); action == actRetry && e.Outcome != "" { // what failed has used its share
		return c.stop(StateChanged{Ending: e})
	}
	if err := c.fire(fsm.Resume, StateChanged{}); err != nil {
		return err
	}
	if action == actDrop {
		return c.dropOut(q.Failure, nil)
	}
	return c.settle()
}

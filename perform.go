package debate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/live"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/step/prompting"
)

// message is what the goroutine of a call sends to the driver's goroutine: an event to show, or the end of the call.
type message struct {
	index int
	event Event
	seq   int64 // seq that the event carries
	ended bool
	err   error
}

func ended(m message) int {
	if m.ended {
		return 1
	}
	return 0
}

// post returns a function that sends an event to the driver's goroutine.
func (x *execution) post(i int, inbox chan<- message) func(Event, int64) error {
	return func(ev Event, seq int64) error {
		x.run.Viewing(true)
		defer x.run.Viewing(false)
		if x.ctx.Err() != nil { // the end of a canceled call is still shown
			inbox <- message{
				index: i,
				event: ev,
				seq:   seq,
			}
			return nil
		}
		select {
		case inbox <- message{
			index: i,
			event: ev,
			seq:   seq,
		}:
			return nil
		case <-x.ctx.Done():
			return context.Cause(x.ctx)
		}
	}
}

// runParallel runs a call of a parallel phase on its own goroutine. The driver waits until it has ended, so it tells also if the
// goroutine ends: then the step has failed.
func (x *execution) runParallel(i int, inbox chan<- message) {
	finished := false
	defer func() {
		if !finished {
			x.err = x.unfinished()
		}
		over := x.over // the driver reuses x
		inbox <- message{
			index: i,
			ended: true,
			err:   x.err,
		}
		close(over) // not before: the turns of an actor are committed in the order of its calls
	}()
	if x.after != nil { // an actor makes one call at a time
		<-x.after
		select {
		case <-x.run.Plan.Hold.Paused(): // nothing new starts
			x.err = step.ErrSuperseded
			finished = true
			return
		default:
		}
		x.run.Late(time.Since(x.launched))
	}
	_ = x.perform()
	finished = true
}

// perform runs the steps of a plan and commits each turn when it is complete. It runs a single step on this
// goroutine, so that chunks go from the model to the viewer directly.
func (dr *driver) perform(p plan) error {
	calls := p.executions
	defer func() {
		dr.finish(calls)
		for _, c := range calls {
			c.release()
		}
	}()
	dr.launch(calls)
	if dr.outdated(p) { // the plan became outdated before its calls could be canceled
		dr.recheck()
	}
	if len(calls) > 1 {
		dr.parallel(calls)
		return dr.handleFailures(calls)
	}
	c := calls[0]
	c.err = dr.commitTurn(c, c.perform())
	return dr.handleFailures(calls)
}

// launch prepares the calls: their contexts, feeds and viewers.
func (dr *driver) launch(calls []*execution) {
	dr.mu.Lock()
	defer dr.mu.Unlock()
	if len(calls) > 1 {
		chainByActor(calls)
	}
	dr.pause.Set(false) // if that is no longer true, the calls are reviewed
	for _, c := range calls {
		c.launched = time.Now()
		c.ctx, c.cancel = context.WithCancelCause(dr.within)
		c.feed = dr.feed
		c.run.Plan.Hold = &dr.pause
		c.run.Plan.FirstRun = &dr.firstRun
		c.commits = dr
		if dr.out.Yield != nil {
			c.emit = c.shown
			c.show = dr.show
		}
		dr.running = append(dr.running, c)
	}
}

// chainByActor makes each call wait for the previous call of the same actor.
func chainByActor(calls []*execution) {
	last := map[string]*execution{}
	for _, c := range calls {
		c.over = make(chan struct{})
		if before := last[c.key().Actor]; before != nil {
			c.after = before.over
		}
		last[c.key().Actor] = c
	}
}

// finish releases what launch has set up.
func (dr *driver) finish(calls []*execution) {
	dr.mu.Lock()
	defer dr.mu.Unlock()
	for _, c := range calls {
		c.cancel(live.ErrLeft)
		dr.feed.End(c.key())
		dr.remove(c)
	}
}

// remove takes an execution from those that are running. The driver's mutex is held.
func (dr *driver) remove(x *execution) {
	if i := slices.Index(dr.running, x); i >= 0 {
		dr.running = slices.Delete(dr.running, i, i+1)
	}
}

// parallel runs each call on its own goroutine. Events are shown and turns committed on the caller's goroutine.
func (dr *driver) parallel(calls []*execution) {
	inbox := make(chan message)
	pending := len(calls)
	dr.out.Timing = true
	dr.out.Viewed = 0 // measured, because all calls wait for one viewer
	defer func() {    // if the viewer panics, the calls end first
		if pending > 0 {
			dr.cancel(live.ErrLeft)
		}
		dr.out.Timing = false
		for ; pending > 0; pending -= ended(<-inbox) {
		}
	}()
	for i, c := range calls {
		if dr.out.Yield != nil {
			c.emit = c.post(i, inbox)
		}
		go c.runParallel(i, inbox)
	}
	for pending > 0 {
		m := <-inbox
		pending -= ended(m)
		if m.ended {
			calls[m.index].err = dr.commitTurn(calls[m.index], m.err)
		} else {
			_ = dr.out.Show(m.event, m.seq) // if the viewer has left, all calls are canceled
		}
		dr.out.Flush()
	}
}

// commitTurn commits the turn of a call that succeeded, and returns the error of one that failed.
func (dr *driver) commitTurn(c *execution, err error) error {
	switch {
	case dr.ctx.Err() != nil:
		return context.Cause(dr.ctx)
	case errors.Is(err, step.ErrSuperseded):
		return nil
	case err != nil:
		return err
	}
	dr.mu.Lock()
	dr.remove(c)
	dr.mu.Unlock()
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	defer func() { dr.out.Viewed = 0 }()
	return dr.journal.change(dr.ctx, func(ch *transaction) error {
		if !c.isWanted(ch.rec) { // another process was first, or the debate has moved on
			return nil
		}
		stamp := ch.stamp("turn")
		turn := *c.turn
		turn.Seq = stamp.Seq
		if dr.out.Timing { // measured, in place of the timer's estimate
			turn.ViewerTime = dr.out.Viewed
		}
		ch.rec.extract(&turn)
		q := &c.run.Plan.Prompt
		remains := ch.rec.remains(&c.run.Plan.Step, c.run.Plan.Prompt.Messages)
		if err := ch.add(TurnDone{
			EventMeta: stamp,
			At:        ch.now,
			Turn:      turn,
			PromptSeq: c.promptSeq,
			Templates: q.Set.Version(),
			Remains:   remains,
		}); err != nil {
			return err
		}
		return ch.settle()
	})
}

// commitRound implements committer.
func (dr *driver) commitRound(f func(*transaction) error) error {
	if dr.ctx.Err() != nil {
		return context.Cause(dr.ctx)
	}
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	return dr.journal.change(dr.ctx, f)
}

// read implements committer.
func (dr *driver) read(f func(*record)) {
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	if r := dr.journal.rec; r != nil {
		f(r)
	} else {
		f(newRecord(dr.journal.id, dr.engine.env))
	}
}

// handleFailures handles the failures of calls when all calls of the plan have ended. It returns errors other than
// failures of calls: the end of driving, or an error of the store.
func (dr *driver) handleFailures(calls []*execution) error {
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	for i, c := range calls {
		if err := dr.handleFailure(c, calls[i+1:]); err != nil {
			return err
		}
	}
	return nil
}

// handleFailure handles the failure of a call. If that stops the debate, its entry has the failures of the later calls
// too. The journal's mutex is held.
func (dr *driver) handleFailure(c *execution, later []*execution) error {
	failed := c.failure()
	switch {
	case failed != nil || errors.Is(c.err, step.ErrOutOfTime):
		return dr.journal.change(dr.ctx, func(ch *transaction) error {
			if ch.rec.lifecycle.State == fsm.Paused || !c.isWanted(ch.rec) {
				return nil // a resumed debate repeats the call
			}
			if failed != nil {
				return ch.applyFailurePolicy(failed, failures(later))
			}
			return ch.stop(StateChanged{OtherFailures: failures(later), Ending: timeEndingInCall})
		})
	case errors.Is(c.err, step.ErrNextJob):
		err := dr.journal.change(dr.ctx, func(ch *transaction) error {
			if !c.isWanted(ch.rec) { // another call has ended the debate
				c.err = nil
				return nil
			}
			return c.noteWait(ch)
		})
		return errors.Join(c.err, err)
	}
	return c.err
}

// lacksDocument returns an ErrUnsupported if the engine cannot read a private document of the debate. It checks each
// configuration once, before the driver adds anything to the journal.
func (dr *driver) lacksDocument() error {
	dr.journal.mu.Lock()
	r := dr.journal.rec
	if r == nil || r.config == dr.readable || !r.drivable() {
		dr.journal.mu.Unlock()
		return nil
	}
	c := r.config
	dr.journal.mu.Unlock()
	for _, d := range privateOnes(c.Documents) {
		if _, err := dr.engine.readDocument(dr.ctx, dr.journal.id, c.Labels, d); err != nil {
			return fmt.Errorf("drive debate %s: %w", dr.journal.id, err)
		}
	}
	dr.readable = c
	return nil
}

// giveDocuments gives the models of steps the texts of the private documents that their actors read. If one cannot be read,
// no step begins.
func (dr *driver) giveDocuments(list []*execution) error {
	for _, x := range list {
		if x.documents == nil {
			continue
		}
		texts := make([]string, len(x.documents))
		for i, d := range x.documents {
			var err error
			texts[i], err = dr.engine.readDocument(dr.ctx, x.debate, x.labels, d)
			if err != nil {
				return fmt.Errorf("drive debate %s: %w", x.debate, err)
			}
		}
		p := &x.run.Plan
		p.Model.Client = prompting.PrivateClient(p.Model.Client, x.documents, texts, p.Pseudonyms)
		for i := range p.Substitutes {
			p.Substitutes[i].Client = prompting.PrivateClient(p.Substitutes[i].Client, x.documents, texts, p.Pseudonyms)
		}
		for i := range x.documents { // to check quotes
			x.documents[i].Text = texts[i]
		}
	}
	return nil
}

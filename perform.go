package debate

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/transcript"
)

// note has the journal know of a rate limit that is being sat out, so that the time counts.
func (c *call) note(ch *change) error {
	value, err := json.Marshal(map[string]string{"actor": c.step.Actor, "provider": c.model.providerName, "phase": c.step.Phase})
	if err != nil || !ch.rec.snap.State.Active() {
		return err
	}
	return ch.add(Annotated{Stamp: ch.stamp("annotated"), At: ch.now, Name: "rate_limit", Value: value})
}

// message is what the goroutine of a call sends to the driver's: an event to show, or how the call ended.
type message struct {
	index  int
	event  Event
	seq    int64 // that the event was stamped with
	landed bool
	err    error
	panic  any
}

func landed(m message) int {
	if m.landed {
		return 1
	}
	return 0
}

// post hands an event to the driver's goroutine.
func (c *call) post(i int, inbox chan<- message) func(Event, int64) error {
	return func(ev Event, seq int64) error {
		c.timing.timer.Viewing(true)
		defer c.timing.timer.Viewing(false)
		if c.ctx.Err() != nil { // how a call was cut is shown all the same
			inbox <- message{index: i, event: ev, seq: seq}
			return nil
		}
		select {
		case inbox <- message{index: i, event: ev, seq: seq}:
			return nil
		case <-c.ctx.Done():
			return context.Cause(c.ctx)
		}
	}
}

func (c *call) fly(i int, inbox chan<- message) {
	m := message{index: i, landed: true, err: errors.New("the call left its goroutine")} // stands after runtime.Goexit
	defer func() {
		m.panic = recover()
		close(c.over)
		inbox <- m
	}()
	if c.after != nil { // a participant makes one call at a time
		<-c.after
		c.shorten(time.Since(c.timing.launched))
	}
	m.err = c.perform()
}

// beside are the failures among the ends of calls, and what those used that the debate's time has ended.
func beside(calls []*call, errs []error) (list []*Failure) {
	for i, err := range errs {
		f, failed := errors.AsType[*Failure](err)
		if !failed && errors.Is(err, errOutOfTime) {
			f = calls[i].spent()
		}
		if f != nil {
			list = append(list, f)
		}
	}
	return list
}

// perform runs the steps of a plan and commits each as it is done. A single one runs on this goroutine, so that a chunk
// goes from the model to the viewer without a hop.
func (dr *drive) perform(p plan) error {
	calls := p.calls
	defer func() {
		dr.ground(calls)
		for _, c := range calls {
			executions.Put(c)
		}
	}()
	dr.launch(calls)
	if dr.moved(p) { // while there were no flights yet to be cancelled
		dr.recheck()
	}
	if len(calls) == 1 {
		return dr.answer(calls, []error{dr.land(calls[0], calls[0].perform())})
	}
	return dr.answer(calls, dr.parallel(calls))
}

// launch gives the calls their contexts and clocks.
func (dr *drive) launch(calls []*call) {
	dr.mu.Lock()
	defer dr.mu.Unlock()
	if len(calls) > 1 {
		chain(calls)
	}
	for _, c := range calls {
		c.timing.launched = time.Now()
		c.ctx, c.cancel = context.WithCancelCause(dr.ctx)
		c.feed = dr.feed
		if dr.out.yield != nil {
			c.emit = func(ev Event, seq int64) error {
				c.timing.timer.Viewing(true)
				defer c.timing.timer.Viewing(false)
				return dr.out.show(ev, seq)
			}
		}
		dr.flights[c.step.Key] = c
	}
}

// chain has an actor's calls wait for one another.
func chain(calls []*call) {
	last := map[string]*call{}
	for _, c := range calls {
		c.over = make(chan struct{})
		if before := last[c.step.Actor]; before != nil {
			c.after = before.over
		}
		last[c.step.Actor] = c
	}
}

// ground ends what launch began.
func (dr *drive) ground(calls []*call) {
	dr.mu.Lock()
	defer dr.mu.Unlock()
	for _, c := range calls {
		if c.timing.timer != nil {
			c.timing.timer.Stop()
		}
		c.cancel(errGone)
		dr.feed.end(c.step.Key)
		delete(dr.flights, c.step.Key)
	}
}

// parallel runs each call on a goroutine of its own. Events are shown and turns committed on this one.
func (dr *drive) parallel(calls []*call) []error {
	inbox := make(chan message)
	pending := len(calls)
	dr.out.timing, dr.out.viewed = true, 0 // by the clock: here a chunk is handed over anyway, and the calls wait for one viewer
	defer func() {                         // where the viewer panics, the calls end first
		if pending > 0 {
			dr.cancel(errGone)
		}
		dr.out.timing = false
		for ; pending > 0; pending -= landed(<-inbox) {
		}
	}()
	for i, c := range calls {
		if dr.out.yield != nil {
			c.emit = c.post(i, inbox)
		}
		go c.fly(i, inbox)
	}
	errs := make([]error, len(calls))
	for pending > 0 {
		m := <-inbox
		switch pending -= landed(m); {
		case m.panic != nil:
			panic(m.panic)
		case m.landed:
			errs[m.index] = dr.land(calls[m.index], m.err)
		default:
			_ = dr.out.show(m.event, m.seq) // when the viewer has gone, all calls are cancelled
		}
		dr.out.flush()
	}
	return errs
}

// land commits the turn of a call that succeeded, and gives the error of one that did not.
func (dr *drive) land(c *call, err error) error {
	switch {
	case dr.ctx.Err() != nil:
		return context.Cause(dr.ctx)
	case errors.Is(err, errSuperseded):
		return nil
	case err != nil:
		return err
	}
	dr.mu.Lock()
	delete(dr.flights, c.step.Key)
	dr.mu.Unlock()
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	defer func() { dr.out.viewed = 0 }()
	return dr.journal.change(dr.ctx, func(ch *change) error {
		if !c.wanted(ch.rec) { // another was first, or the debate has moved on
			return nil
		}
		stamp := ch.stamp("turn")
		turn := c.turn.commit(stamp.Seq, dr.out.viewed, dr.out.timing)
		if err := ch.add(TurnDone{Stamp: stamp, At: ch.now, Turn: turn}); err != nil {
			return err
		}
		return ch.settle()
	})
}

// answer sees to the failures of calls once all others of the plan have landed. It returns what is no call's failure:
// the end of the driving, or a store that failed.
func (dr *drive) answer(calls []*call, errs []error) error {
	if !slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
		return nil
	}
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	for i, err := range errs {
		var failed *Failure
		switch {
		case err == nil:
			continue
		case errors.As(err, &failed) || errors.Is(err, errOutOfTime):
			err = dr.journal.change(dr.ctx, func(ch *change) error {
				if ch.rec.snap.State == fsm.Paused || !calls[i].wanted(ch.rec) {
					return nil // resume calls again
				}
				if failed == nil {
					return ch.stop(StateChanged{Failure: calls[i].spent(), Lost: beside(calls[i+1:], errs[i+1:]), Ending: transcript.Ending{
						Outcome: transcript.TimeBudget, Evidence: "the time for rounds was over during a call",
					}})
				}
				return ch.degrade(failed, beside(calls[i+1:], errs[i+1:]))
			})
		case errors.Is(err, errResting):
			err = errors.Join(err, dr.journal.change(dr.ctx, calls[i].note))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

package debate

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
)

// control commits a change from outside of the driver. Doing what was done before is no error.
func (d *Debate) control(ctx context.Context, verb string, f func(*transaction) error) error {
	d.journal.mu.Lock()
	defer d.journal.mu.Unlock()
	if err := d.journal.change(ctx, f); err != nil {
		return fmt.Errorf("%s debate %s: %w", verb, d.ID(), err)
	}
	if d.journal.driver != nil { // of this handle: what it made itself the store need not tell it
		d.journal.driver.recheck()
	}
	return nil
}

// Debate is a handle on one debate. Many handles, in many processes, may name the same debate; each is safe for
// concurrent use.
type Debate struct {
	engine  *Engine
	journal *openRows
}

// Start asks for the debate to be driven, and has this engine drive it in the background until it has ended or failed,
// through pauses; where the store schedules, workers do. Watch follows it. It is no error to start a debate that is
// running; one that is paused wants Resume. Where the configuration was not accepted yet and names what Options do not
// have, Start returns *Problems and changes nothing, unless workers drive, who have Options of their own.
func (d *Debate) Start(ctx context.Context) error {
	workers := d.engine.schedules
	err := d.control(ctx, "start", func(c *transaction) error {
		c.schedule = workers
		switch s := c.rec.lifecycle.State; {
		case s.Active() && workers:
			return nil
		case s.Active():
			return c.rec.drivable()
		case s == fsm.Configuring && !workers:
			if err := problemsError(d.engine.missingNames(*c.rec.config)); err != nil {
				return err
			}
		}
		return c.start()
	})
	if err != nil || workers {
		return err
	}
	return d.engine.startBackground(context.WithoutCancel(ctx), d.engine.journal(d.ID()), false)
}

// startBackground drives in the background, at once or when who drives now has left: it may be on its way out.
func (e *Engine) startBackground(ctx context.Context, j *openRows, late bool) error {
	for {
		dr, err := engage(ctx, e, j, nil)
		switch {
		case errors.Is(err, ErrBusy) && !e.afterDriver(j.id, func() { _ = e.startBackground(ctx, j, true) }):
			continue
		case errors.Is(err, ErrBusy):
			return nil
		case err != nil:
			return err
		case late && !dr.state().Active() && dr.state() != fsm.Paused: // what was asked for is done
			dr.release()
			return nil
		}
		go dr.runBackground()
		return nil
	}
}

func (dr *driver) runBackground() {
	defer dr.release()
	again := minBackoff
	for {
		more, err := dr.advance()
		if err != nil && !dr.logError(err) {
			return
		}
		switch s := dr.state(); {
		case err != nil: // the store's: it may come back
			dr.sleep(again)
			again = min(2*again, maxBackoff)
			continue
		case more:
		case s == fsm.Paused:
			if dr.sleep(-1); dr.restarted() {
				return
			}
		case s != "" && !s.Active(): // else somebody resumed since
			return
		}
		again = minBackoff
	}
}

// restarted says whether the debate stands at its beginning: it was deleted meanwhile, and another has its id, or it was reset.
// Nobody has asked for that to be driven.
func (dr *driver) restarted() bool {
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	return dr.journal.refresh(dr.ctx) == nil && dr.journal.rec.lifecycle.State == fsm.Configuring
}

// logError says what went wrong, and whether it may be better later.
func (dr *driver) logError(err error) (later bool) {
	if errors.Is(err, ErrClosed) {
		return false
	}
	dr.engine.log.WarnContext(dr.ctx, "drive debate", "debate", dr.journal.id, "error", err)
	_, rejected := errors.AsType[*Problems](err)
	_, failed := errors.AsType[*Failure](err)
	return !rejected && !failed && dr.ctx.Err() == nil && !errors.Is(err, ErrUnsupported) && !errors.Is(err, store.ErrNotFound)
}

// ID is the debate's id.
func (d *Debate) ID() string { return d.journal.id }

// Status sums up where the debate stands.
func (d *Debate) Status(ctx context.Context) (store.Status, error) {
	d.journal.mu.Lock()
	defer d.journal.mu.Unlock()
	if err := d.journal.refresh(ctx); err != nil {
		return store.Status{}, err
	}
	return statusOf(d.journal.rec), nil
}

// Result is the debate so far, or as it ended.
func (d *Debate) Result(ctx context.Context) (*Result, error) {
	d.journal.mu.Lock()
	defer d.journal.mu.Unlock()
	if err := d.journal.refresh(ctx); err != nil {
		return nil, err
	}
	return resultOf(d.journal.rec), nil
}

// Run drives the debate and yields what happens, until the debate ends, pauses or fails: a result comes in the last
// event of a debate that has ended, the cause of a failure or rejection as an error, last and once.
//
// Breaking out, or the end of ctx, which is yielded as an error, ends the driving and never the debate: calls in flight
// are cancelled and nothing more is committed. A later Run, Do or Start goes on from the last committed turn. The loop's
// body runs while a model waits to be read: a slow one slows the debate down, but trips no timeout. A second Run in one
// engine gets ErrBusy; in another process it is safe, but pays twice.
//
// To end a debate in memory when the program is interrupted, with what there was, run it with a context that does not
// end, and call Cancel or Stop when the program's own does: context.AfterFunc is made for that.
func (d *Debate) Run(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		dr, err := engage(ctx, d.engine, d.journal, yield)
		if err != nil {
			yield(nil, err)
			return
		}
		defer dr.release()
		for more := true; more && err == nil && !dr.out.gone; {
			more, err = dr.advance()
		}
		switch {
		case dr.out.gone:
		case err != nil:
			yield(nil, err)
		default:
			dr.showEnd()
		}
	}
}

// RunOnce runs what may run now, one step or all that is missing of a parallel phase, commits it and says whether there is
// more to do: the unit of a worker. It returns false when the debate has ended or is paused, and the cause when it
// failed or was rejected. It does not go beyond the plan that it finds in the debate's head; where the store schedules
// it does nothing where there is none.
func (d *Debate) RunOnce(ctx context.Context) (more bool, err error) {
	dr, err := engage(ctx, d.engine, d.journal, nil)
	if err != nil {
		return false, err
	}
	defer dr.release()
	if dr.only = dr.key(); dr.only == "" && d.engine.schedules { // nobody has asked for it to be driven
		_, err := dr.hasMore()
		return false, err
	}
	return dr.advance()
}

// showEnd shows the last event of a debate that has ended.
func (dr *driver) showEnd() {
	dr.journal.mu.Lock()
	r := dr.journal.rec
	if r == nil || !r.lifecycle.State.Final() {
		dr.journal.mu.Unlock()
		return
	}
	ev := Ended{EventMeta: EventMeta{Type: "ended", Seq: r.Seq, Live: true}, Result: resultOf(r)}
	dr.journal.mu.Unlock()
	dr.out.present(ev)
}

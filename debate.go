package debate

import (
	"context"
	"iter"

	"github.com/elenchus-go/debate/store"
)

// ID is the debate's id.
func (d *Debate) ID() string { return d.id }

// Head sums up where the debate stands.
func (d *Debate) Head(ctx context.Context) (store.Head, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.refresh(ctx); err != nil {
		return store.Head{}, err
	}
	return d.rec.head(), nil
}

// Result is the debate so far, or as it ended.
func (d *Debate) Result(ctx context.Context) (*Result, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.refresh(ctx); err != nil {
		return nil, err
	}
	return d.rec.result(), nil
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
		dr, err := d.engage(ctx, yield)
		if err != nil {
			yield(nil, err)
			return
		}
		defer dr.release()
		for more := true; more && err == nil && !dr.gone; {
			more, err = dr.unit()
		}
		switch {
		case dr.gone:
		case err != nil:
			yield(nil, err)
		default:
			dr.end()
		}
	}
}

// Do runs what may run now, one step or all that is missing of a parallel phase, commits it and says whether there is
// more to do: the unit of a worker. It returns false when the debate has ended or is paused, and the cause when it
// failed or was rejected. It does not go beyond the plan that it finds in the debate's head; where the store schedules
// it does nothing where there is none.
func (d *Debate) Do(ctx context.Context) (more bool, err error) {
	dr, err := d.engage(ctx, nil)
	if err != nil {
		return false, err
	}
	defer dr.release()
	if dr.only = dr.key(); dr.only == "" && d.engine.workers { // nobody has asked for it to be driven
		_, err := dr.rest()
		return false, err
	}
	return dr.unit()
}

package debate

import (
	"context"
	"errors"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
)

// Start asks for the debate to be driven, and has this engine drive it in the background until it has ended or failed,
// through pauses; where the store schedules, workers do. Watch follows it. It is no error to start a debate that is
// running; one that is paused wants Resume. Where the configuration was not accepted yet and names what Options do not
// have, Start returns *Problems and changes nothing, unless workers drive, who have Options of their own.
func (d *Debate) Start(ctx context.Context) error {
	workers := d.engine.workers
	err := d.control(ctx, "start", func(c *change) error {
		c.schedule = workers
		switch s := c.rec.snap.State; {
		case s.Active() && workers:
			return nil
		case s.Active():
			return c.rec.drivable()
		case s == fsm.Configuring && !workers:
			if err := problems(d.engine.unbound(*c.rec.config)); err != nil {
				return err
			}
		}
		return c.start()
	})
	if err != nil || workers {
		return err
	}
	return (&Debate{engine: d.engine, id: d.id}).detach(context.WithoutCancel(ctx), false)
}

// detach drives in the background, at once or when who drives now has left: it may be on its way out.
func (d *Debate) detach(ctx context.Context, late bool) error {
	for {
		dr, err := d.engage(ctx, nil)
		switch {
		case errors.Is(err, ErrBusy) && !d.engine.after(d.id, func() { _ = d.detach(ctx, true) }):
			continue
		case errors.Is(err, ErrBusy):
			return nil
		case err != nil:
			return err
		case late && !dr.state().Active() && dr.state() != fsm.Paused: // what was asked for is done
			dr.release()
			return nil
		}
		go dr.detached()
		return nil
	}
}

func (dr *drive) detached() {
	defer dr.release()
	again := shortest
	for {
		more, err := dr.unit()
		if err != nil && !dr.log(err) {
			return
		}
		switch s := dr.state(); {
		case err != nil: // the store's: it may come back
			dr.sleep(again)
			again = min(2*again, longest)
			continue
		case more:
		case s == fsm.Paused:
			if dr.sleep(-1); dr.anew() {
				return
			}
		case s != "" && !s.Active(): // else somebody resumed since
			return
		}
		again = shortest
	}
}

// anew says whether the debate stands at its beginning: it was deleted meanwhile, and another has its id, or it was reset.
// Nobody has asked for that to be driven.
func (dr *drive) anew() bool {
	dr.d.mu.Lock()
	defer dr.d.mu.Unlock()
	return dr.d.refresh(dr.ctx) == nil && dr.d.rec.snap.State == fsm.Configuring
}

// log says what went wrong, and whether it may be better later.
func (dr *drive) log(err error) (later bool) {
	if errors.Is(err, ErrClosed) {
		return false
	}
	dr.d.engine.log.WarnContext(dr.ctx, "drive debate", "debate", dr.d.id, "error", err)
	_, rejected := errors.AsType[*Problems](err)
	_, failed := errors.AsType[*Failure](err)
	return !rejected && !failed && dr.ctx.Err() == nil && !errors.Is(err, ErrUnsupported) && !errors.Is(err, store.ErrNotFound)
}

package debate

import (
	"context"
	"errors"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
)

// startBackground drives the debate in the background. If it already has a driver, startBackground starts again when
// that driver has left, because it may be about to leave.
func startBackground(ctx context.Context, e *Engine, j *openJournal, late bool) error {
	for {
		dr, err := engage(ctx, e, j, nil)
		switch {
		case errors.Is(err, ErrBusy) &&
			!e.drivers.After(j.id, func() { _ = startBackground(ctx, e, j, true) }):
			continue
		case errors.Is(err, ErrBusy):
			return nil
		case err != nil:
			return err
		case late && !dr.state().Active() && dr.state() != fsm.Paused: // the previous driver has finished
			dr.release()
			return nil
		}
		dr.background = true
		dr.signs = true
		dr.turn = e.admission.Join()
		go dr.runBackground() //nolint:contextcheck // see fail
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
		case err != nil: // a store error, which may be temporary
			dr.sleep(again)
			again = min(2*again, maxBackoff)
			continue
		case more:
		case s == fsm.Paused:
			dr.unobserve(nil)
			dr.yieldTurn()
			dr.engine.heartbeats.Announce(dr.ctx, dr.journal.id) // tells whoever resumes it that it is driven here
			dr.sleep(-1)
			if dr.restarted() {
				return
			}
		case s != "" && !s.Active(): // it may be active again after a concurrent resume
			return
		}
		again = minBackoff
	}
}

// restarted reports whether the debate is back in its first state, because it was reset, or deleted and created again
// under the same id. Nobody has started that debate yet.
func (dr *driver) restarted() bool {
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	return dr.journal.refresh(dr.ctx) == nil && dr.journal.rec.lifecycle.State == fsm.Configuring
}

// logError logs an error and reports whether driving may succeed later.
func (dr *driver) logError(err error) (later bool) {
	if errors.Is(err, ErrClosed) {
		return false
	}
	dr.engine.log.WarnContext(dr.ctx, "drive debate", "debate", dr.journal.id, "error", dr.engine.reports.shown(err))
	_, rejected := errors.AsType[*Problems](err)
	_, failed := errors.AsType[*Failure](err)
	return !rejected && !failed && dr.ctx.Err() == nil && !errors.Is(err, ErrUnsupported) &&
		!errors.Is(err, store.ErrNotFound)
}

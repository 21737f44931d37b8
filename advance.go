package debate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
)

// newExecutions returns the executions of the steps that may run now.
func (dr *driver) newExecutions(r *record) ([]*execution, *Failure) {
	calls := dr.executions[:0]
	twice := duplicateStep(r.Cursor.Phase, r.next())
	for _, s := range r.next() {
		if twice != "" {
			return nil, &Failure{Key: s.Key, Kind: providers.InvalidRequest, At: time.Now().UTC(), Message: twice, cause: errProtocol}
		}
		c, err := dr.engine.newExecution(r, s)
		if err == nil {
			c.model.providerName, c.model.provider, err = dr.engine.bind(c.model.actor.Provider)
		}
		if err != nil {
			return nil, &Failure{
				Key: s.Key, Kind: providers.InvalidRequest, At: time.Now().UTC(), Message: err.Error(), Recoverable: !errors.Is(err, errProtocol), cause: err,
			}
		}
		calls = append(calls, c)
	}
	dr.executions = calls
	return calls, nil
}

// advance does what can be done now and reports whether there is more to do.
func (dr *driver) advance() (more bool, err error) {
	p, err := dr.plan()
	if dr.out.flush(); dr.out.gone || err != nil {
		return false, err
	}
	switch {
	case p.check != nil:
		err = dr.validate(*p.check)
	case p.wait > 0:
		dr.sleep(p.wait)
	case len(p.executions) > 0 && !dr.outdated(p): // otherwise it is planned again
		err = dr.perform(p)
	}
	if dr.out.flush(); dr.out.gone || err != nil {
		return false, err
	}
	if dr.ctx.Err() != nil {
		return false, context.Cause(dr.ctx)
	}
	return dr.hasMore()
}

// hasMore reports whether there is more to do. If the debate is in error, it returns the failure.
func (dr *driver) hasMore() (more bool, err error) {
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	r := dr.journal.rec
	if r != nil && r.lifecycle.State == fsm.Error {
		return false, deepcopy.Of(r.failure)
	}
	return r == nil || r.lifecycle.State.Active(), nil
}

func (dr *driver) plan() (p plan, err error) {
	j := dr.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if dr.engine.isClosed() {
		return p, ErrClosed
	}
	p.newest = dr.newest.Load()
	if j.rec == nil || j.rec.supported() != nil || dr.behind(j.rec.Seq) || !j.rec.phaseOpen() {
		if err := j.change(dr.ctx, dr.prepare); err != nil {
			return p, err
		}
	}
	p.known = dr.known.Load()
	switch r := j.rec; {
	case dr.only != "" && dr.only != planOf(r).Key: // the plan is done
	case r.lifecycle.State == fsm.Validating:
		p.check = r.config
	case r.lifecycle.State == fsm.RoundComplete:
		p.wait = max(time.Until(r.nextRoundAt()), 1)
	case r.lifecycle.State.Active():
		var broken *Failure
		if p.executions, broken = dr.newExecutions(r); broken != nil {
			return p, j.change(dr.ctx, func(c *transaction) error {
				if !c.rec.phaseOpen() { // another process was first
					return nil
				}
				return c.fire(fsm.Fail, StateChanged{Failure: broken})
			})
		}
	}
	return p, nil
}

// prepare advances the debate as far as possible without a model call.
func (dr *driver) prepare(c *transaction) error {
	if err := c.rec.drivable(); err != nil {
		return fmt.Errorf("drive debate %s: %w", c.rec.ID, err)
	}
	switch c.rec.lifecycle.State {
	case fsm.Configuring, fsm.Ready:
		return c.start()
	default:
		return c.settle()
	}
}

// validate checks what only a driver can check. It then starts the debate or returns it to configuring.
func (dr *driver) validate(cfg Config) error {
	found := append(dr.engine.missingNames(cfg), dr.checkProviders(cfg)...)
	if dr.ctx.Err() != nil {
		return context.Cause(dr.ctx)
	}
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	var warnings []Warning
	err := dr.journal.change(dr.ctx, func(c *transaction) error {
		warnings = nil
		switch {
		case c.rec.lifecycle.State != fsm.Validating: // another process has done it
			return nil
		case len(found) > 0:
			return c.fire(fsm.Reject, StateChanged{Problems: found})
		}
		warnings = c.rec.configWarnings()
		if err := c.fire(fsm.Accept, StateChanged{Warnings: warnings}); err != nil {
			return err
		}
		if err := c.fire(fsm.Start, StateChanged{}); err != nil {
			return err
		}
		return c.settle()
	})
	if err != nil {
		return err
	}
	for _, w := range warnings {
		dr.engine.log.WarnContext(dr.ctx, "check configuration", "debate", dr.journal.id, "warning", w.Text)
	}
	return problemsError(slices.Clone(found)) // the journal has the list
}

// checkProviders has the engine check the providers. The check is canceled if it is superseded.
func (dr *driver) checkProviders(cfg Config) []protocol.Problem {
	ctx, cancel := context.WithTimeout(dr.ctx, cfg.Limits.StepTimeout)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	set := func(f context.CancelCauseFunc) {
		dr.mu.Lock()
		defer dr.mu.Unlock()
		dr.cancelCheck = f
	}
	set(stop)
	defer set(nil)
	defer stop(nil)
	return dr.engine.checkProviders(ctx, cfg)
}

// sleep waits until something changes, the engine closes, or the given time has passed. If wait is negative, it waits
// without a limit.
func (dr *driver) sleep(wait time.Duration) {
	var over <-chan time.Time
	if wait >= 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-over:
	case <-dr.woken:
	case <-dr.engine.closing:
	case <-dr.ctx.Done():
	}
}

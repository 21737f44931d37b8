package debate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/budget"
	"github.com/elenchus-go/debate/internal/clients"
	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
)

// newExecutions returns the executions of the steps that may run now. The error is a *Failure if a step can never run
// as its protocol returned it.
func (dr *driver) newExecutions(r *record) ([]*execution, error) {
	calls := dr.executions[:0]
	twice := budget.DuplicateStep(r.Cursor.Phase, r.next())
	for _, s := range r.next() {
		if r.mustAsk(s) { // this engine cannot
			_, err := newAsked(r, &s)
			return nil, err
		}
		if r.isHuman(s.Actor) {
			continue
		}
		if twice != "" {
			return nil, &Failure{
				Key:     s.Key,
				Kind:    providers.InvalidRequest,
				At:      time.Now().UTC(),
				Message: twice,
				Cause:   errProtocol,
			}
		}
		c, err := dr.newExecution(r, s)
		if p, ok := errors.AsType[*panics.Error](err); ok {
			return nil, panicFailure(p, s.Key)
		}
		if errors.Is(err, ErrUnsupported) {
			return nil, err
		}
		if err != nil {
			return nil, &Failure{
				Key:         s.Key,
				Kind:        providers.InvalidRequest,
				At:          time.Now().UTC(),
				Message:     err.Error(),
				Recoverable: !errors.Is(err, errProtocol),
				Cause:       err,
			}
		}
		calls = append(calls, c)
	}
	dr.executions = calls
	return calls, nil
}

// newExecution returns the execution of a step. It returns a panic of the protocol or of a hook as a *panics.Error.
func (dr *driver) newExecution(r *record, s protocol.Step) (c *execution, err error) {
	defer panics.Catch(&err)
	c, err = dr.engine.newExecution(r, s)
	if err == nil {
		if m := &c.run.Plan.Model; m.Client == nil {
			m.Provider, m.Client, err = dr.engine.providers.Bind(m.Provider)
		}
	}
	return c, err
}

// advance does what can be done now and reports whether there is more to do. If code that it calls panics, the debate
// fails. A panic of the viewer passes through.
func (dr *driver) advance() (more bool, err error) {
	err = errUnfinished // unless step returns
	defer func() { dr.failed = err }()
	defer func() {
		if dr.out.Viewing { // the viewer has panicked, or has ended the goroutine
			err = nil
			return
		}
		if v := recover(); v != nil {
			more = false
			err = dr.fail(panics.New(v))
		}
	}()
	return dr.step()
}

// fail commits the failure for a panic, unless the debate has stopped already. It returns why the debate is in error.
func (dr *driver) fail(p *panics.Error) error {
	j := dr.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(dr.ctx), failTimeout) // the panic may have canceled all calls
	defer cancel()
	err := j.change(ctx, func(c *transaction) error {
		for _, on := range startEvents[c.rec.lifecycle.State] { // it happened during the start, which was not committed
			if err := c.fire(on, StateChanged{}); err != nil {
				return err
			}
		}
		if !c.rec.lifecycle.State.Active() {
			return nil
		}
		return c.fire(fsm.Fail, StateChanged{Failure: panicFailure(p, c.rec.position())})
	})
	if err != nil {
		return err
	}
	if j.rec.lifecycle.State == fsm.Error {
		return deepcopy.Of(j.rec.losses.failure)
	}
	return nil
}

// failTimeout limits the time of a commit that reports a panic.
const failTimeout = 30 * time.Second

// startEvents lists the events that start a debate whose configuration has been checked, by the state of the debate.
var startEvents = map[fsm.State][]fsm.Event{fsm.Validating: {fsm.Accept, fsm.Start}, fsm.Ready: {fsm.Start}}

// step does what can be done now and reports whether there is more to do.
func (dr *driver) step() (more bool, err error) {
	var p plan
	err = checkReadable(dr)
	if err == nil {
		p, err = dr.plan()
	}
	if err == nil {
		err = giveDocuments(dr, p.executions)
	}
	dr.engine.heartbeats.Lack(dr.ctx, dr.journal.id, lackedBy(err))
	dr.out.Flush()
	if dr.out.Gone || err != nil {
		return false, err
	}
	if p.check != nil || len(p.executions) > 0 {
		if !dr.admitted() {
			if dr.ctx.Err() != nil {
				return false, context.Cause(dr.ctx)
			}
			return dr.hasMore() // it is planned again
		}
		dr.observe() // in the background, a drive begins again after a pause
	}
	switch {
	case p.check != nil:
		err = dr.validate(p)
	case p.wait > 0:
		dr.yieldTurn()
		dr.sleep(p.wait)
	case len(p.executions) > 0 && !dr.outdated(p): // otherwise it is planned again
		if dr.signs {
			dr.engine.heartbeats.Sign(dr.ctx, dr.journal.id)
		}
		err = dr.perform(p)
	}
	dr.out.Flush()
	if dr.out.Gone || err != nil {
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
		return false, deepcopy.Of(r.losses.failure)
	}
	return r == nil || r.lifecycle.State.Active(), nil
}

func (dr *driver) plan() (p plan, err error) {
	j := dr.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if dr.engine.drivers.Closed() {
		return p, ErrClosed
	}
	p.newest = dr.newest.Load()
	if j.rec == nil || dr.behind(j.rec.Seq) || !j.rec.phaseOpen() {
		if err := j.change(dr.ctx, dr.prepare); err != nil {
			return p, err
		}
	}
	if err := dr.checkSupport(j.rec); err != nil {
		return p, err
	}
	p.known = dr.known.Load()
	dr.firstRun.Store(dr.out.Yield != nil && !j.rec.HasTurns())
	switch r := j.rec; {
	case dr.only != "" && dr.only != planOf(r).Key: // the plan is done
	case r.lifecycle.State == fsm.Validating:
		p.check = r.config
		p.hidden = r.hidden
	case r.lifecycle.State == fsm.RoundComplete:
		p.wait = max(time.Until(r.nextRoundAt()), 1)
	case r.lifecycle.State.Active():
		p.executions, err = dr.newExecutions(r)
		if broken, ok := errors.AsType[*Failure](err); ok {
			return p, j.change(dr.ctx, func(c *transaction) error {
				if !c.rec.phaseOpen() { // another process was first
					return nil
				}
				return c.fire(fsm.Fail, StateChanged{Failure: broken})
			})
		}
	}
	return p, err
}

// checkSupport returns an ErrUnsupported if the engine lacks what the debate needs to be driven. It checks each
// configuration once.
func (dr *driver) checkSupport(r *record) error {
	if dr.checked == r.config {
		return nil
	}
	if err := dr.engine.supports(r); err != nil {
		return fmt.Errorf("drive debate %s: %w", r.ID, err)
	}
	dr.checked = r.config
	return nil
}

// supported returns an ErrUnsupported if this engine cannot plan the debate's next step, and tells the store why.
func (dr *driver) supported() error {
	dr.journal.mu.Lock()
	var err error
	if dr.journal.rec.lifecycle.State.Active() {
		err = dr.checkSupport(dr.journal.rec)
	}
	dr.journal.mu.Unlock()
	dr.engine.heartbeats.Lack(dr.ctx, dr.journal.id, lackedBy(err))
	return err
}

// prepare advances the debate as far as possible without a model call.
func (dr *driver) prepare(c *transaction) error {
	if err := dr.checkSupport(c.rec); err != nil {
		return err
	}
	if s := c.rec.lifecycle.State; s == fsm.Configuring || s == fsm.Ready || c.rec.fork.idle {
		return c.start()
	}
	return c.settle()
}

// validate checks what only a driver can check. It then starts the debate or returns it to configuring.
func (dr *driver) validate(p plan) error {
	problems, windows, superseded := dr.checkProviders(p)
	if dr.ctx.Err() != nil {
		return context.Cause(dr.ctx)
	}
	if superseded { // the debate was paused, stopped or canceled; if it validates again, the check is repeated
		return nil
	}
	var limits map[string]int
	var planned *record
	if len(problems) == 0 {
		var lacks error
		problems, limits, planned, lacks = dr.engine.preflight(seatSettings{config: p.check, hidden: p.hidden}, windows)
		if lacks != nil {
			dr.engine.heartbeats.Lack(dr.ctx, dr.journal.id, lackedBy(lacks))
			return fmt.Errorf("drive debate %s: %w", dr.journal.id, lacks)
		}
	}
	var found []protocol.Problem // what the journal has
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	err := dr.journal.change(dr.ctx, func(c *transaction) error {
		found = nil
		switch {
		case c.rec.lifecycle.State != fsm.Validating: // another process has done it
			return nil
		case len(problems) > 0:
			found = problems
			return c.fire(fsm.Reject, StateChanged{Problems: found})
		}
		cfg := planned.config
		warnings := slices.Concat(c.rec.configWarnings(), startWarnings(cfg, c.rec.Cursor.Run, windows, limits),
			warningsAbout(
				c.rec.Cursor.Run,
				clients.WarnOfBiases(cfg.Actors(), c.rec.env.sets[cfg.Prompts].Version(), c.rec.env.audits),
			))
		if err := c.fire(fsm.Accept, StateChanged{
			Warnings:    warnings,
			ReplyTokens: limits,
			Windows:     windows,
		}); err != nil {
			return err
		}
		if err := c.fire(fsm.Start, StateChanged{}); err != nil {
			return err
		}
		c.rec.Adopt(&planned.Debate)
		return c.settle()
	})
	if err != nil {
		return err
	}
	return problemsError(slices.Clone(found)) // the journal has the list
}

// checkProviders checks the keys and models of the providers, and returns the windows of StateChanged.Windows. It reports whether
// a control superseded the check, which then ended early.
func (dr *driver) checkProviders(p plan) (problems []protocol.Problem, windows map[string]int, superseded bool) {
	ctx, cancel := context.WithTimeout(dr.within, p.check.Limits.StepTimeout)
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
	if dr.outdated(p) { // the plan became outdated before its check could be canceled
		dr.recheck()
	}
	actors := dr.engine.clientsOf(p.check)
	ask := dr.engine.asker()
	problems = slices.Concat(ask.Access(ctx, actors), ask.Settings(ctx, actors))
	return problems, ask.Windows(ctx, actors), errors.Is(context.Cause(ctx), step.ErrSuperseded)
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

func (dr *driver) showEnd() {
	for {
		dr.out.Flush()
		ev, waits := dr.ended()
		switch {
		case waits: // another goroutine has committed something
		case ev == nil:
			return
		default:
			dr.out.Present(*ev)
			return
		}
	}
}

// ended returns the last event of a debate that has ended, or nil. It reports whether others wait to be shown before it.
func (dr *driver) ended() (ev *Ended, waits bool) {
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	r := dr.journal.rec
	if dr.out.Waits() {
		return nil, true
	}
	if dr.out.Gone || r == nil || !r.lifecycle.State.Final() {
		return nil, false
	}
	return new(endedOf(r)), false
}

func endedOf(r *record) Ended {
	return Ended{EventMeta: EventMeta{
		Type: "ended",
		Seq:  r.Seq,
		Live: true,
	}, Result: resultOf(r)}
}

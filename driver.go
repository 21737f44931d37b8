package debate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// calls are what may run now, each with all that it needs of the record.
func (dr *drive) calls(r *record) ([]*call, *Failure) {
	var calls []*call
	for _, s := range r.next() {
		c, err := dr.d.engine.call(r, s)
		if err == nil {
			c.name, c.provider, err = dr.d.engine.bind(c.who.Provider)
		}
		if err != nil {
			return nil, &Failure{
				Key: s.Key, Kind: providers.Validation, At: time.Now().UTC(), Message: err.Error(), Recoverable: !errors.Is(err, errProtocol), cause: err,
			}
		}
		calls = append(calls, c)
	}
	return calls, nil
}

// engage makes d driven, until release.
func (d *Debate) engage(ctx context.Context, yield func(Event, error) bool) (*drive, error) {
	dr := &drive{d: d, yield: yield, woken: make(chan struct{}, 1), flights: map[transcript.Key]*call{}}
	dr.ctx, dr.cancel = context.WithCancelCause(ctx)
	release, err := d.engine.drive(d.id, dr.cancel)
	if err != nil {
		dr.cancel(err)
		return nil, err
	}
	closed := context.AfterFunc(d.engine.ctx, func() { dr.cancel(ErrClosed) }) //nolint:contextcheck // Close ends drivers, whatever their own context
	var leave func()
	dr.feed, leave = d.engine.join(d.id)
	dr.stop = []func(){d.engine.store.Watch(d.id, dr.wake), func() { closed() }, leave, release}
	if err := dr.enter(); err != nil {
		dr.release()
		return nil, err
	}
	return dr, nil
}

func (dr *drive) enter() error {
	dr.d.mu.Lock()
	defer dr.d.mu.Unlock()
	if err := dr.d.refresh(dr.ctx); err != nil {
		return err
	}
	dr.d.drive, dr.shown = dr, dr.d.rec.Seq
	dr.known.Store(dr.d.rec.Seq)
	return nil
}

func (dr *drive) release() {
	dr.cancel(errGone)
	dr.mu.Lock()
	dr.over = true
	dr.mu.Unlock()
	dr.reviews.Wait()
	dr.d.mu.Lock()
	dr.d.drive = nil
	dr.d.mu.Unlock()
	for _, stop := range dr.stop {
		stop()
	}
}

// key names the plan at hand.
func (dr *drive) key() string {
	dr.d.mu.Lock()
	defer dr.d.mu.Unlock()
	return dr.d.rec.plan().Key
}

func (dr *drive) state() fsm.State {
	dr.d.mu.Lock()
	defer dr.d.mu.Unlock()
	if dr.d.rec == nil {
		return ""
	}
	return dr.d.rec.snap.State
}

// unit does what may be done now.
func (dr *drive) unit() (more bool, err error) {
	p, err := dr.plan()
	if dr.flush(); dr.gone || err != nil {
		return false, err
	}
	switch {
	case p.check != nil:
		if err = dr.validate(*p.check); err == nil {
			dr.warn(p.check)
		}
	case p.wait > 0:
		dr.sleep(p.wait)
	case len(p.calls) > 0 && !dr.moved(p): // else it is planned anew
		err = dr.perform(p)
	}
	if dr.flush(); dr.gone || err != nil {
		return false, err
	}
	if dr.ctx.Err() != nil {
		return false, context.Cause(dr.ctx)
	}
	return dr.rest()
}

// rest says whether there is more to do, and gives the failure that the debate stopped with.
func (dr *drive) rest() (more bool, err error) {
	dr.d.mu.Lock()
	defer dr.d.mu.Unlock()
	r := dr.d.rec
	if r != nil && r.snap.State == fsm.Error {
		return false, r.failure
	}
	return r == nil || r.snap.State.Active(), nil
}

func (dr *drive) plan() (p plan, err error) {
	d := dr.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.engine.isClosed() {
		return p, ErrClosed
	}
	p.newest = dr.newest.Load()
	if d.rec == nil || d.rec.supported() != nil || dr.behind(d.rec.Seq) || !d.rec.begun() {
		if err := d.change(dr.ctx, dr.prepare); err != nil {
			return p, err
		}
	}
	p.known = dr.known.Load()
	switch r := d.rec; {
	case dr.only != "" && dr.only != r.plan().Key: // what it was to do is done
	case r.snap.State == fsm.Validating:
		p.check = r.config
	case r.snap.State == fsm.RoundComplete:
		p.wait = max(time.Until(r.due()), 1)
	case r.snap.State.Active():
		var broken *Failure
		if p.calls, broken = dr.calls(r); broken != nil {
			return p, d.change(dr.ctx, func(c *change) error {
				if !c.rec.begun() { // somebody was faster
					return nil
				}
				return c.fire(fsm.Fail, StateChanged{Failure: broken})
			})
		}
	}
	return p, nil
}

// prepare takes the debate as far as it comes without work.
func (dr *drive) prepare(c *change) error {
	if err := c.rec.drivable(); err != nil {
		return fmt.Errorf("drive debate %s: %w", c.rec.ID, err)
	}
	switch c.rec.snap.State {
	case fsm.Configuring, fsm.Ready:
		return c.start()
	default:
		return c.settle()
	}
}

// validate checks what only a driver can, and starts the debate or takes it back to configuring.
func (dr *drive) validate(cfg Config) error {
	found := append(cfg.check(), dr.d.engine.unbound(cfg)...)
	if len(found) == 0 {
		found = dr.probe(cfg)
	}
	if dr.ctx.Err() != nil {
		return context.Cause(dr.ctx)
	}
	dr.d.mu.Lock()
	defer dr.d.mu.Unlock()
	err := dr.d.change(dr.ctx, func(c *change) error {
		switch {
		case c.rec.snap.State != fsm.Validating: // somebody else did
			return nil
		case len(found) > 0:
			return c.fire(fsm.Reject, StateChanged{Problems: found})
		}
		if err := c.fire(fsm.Accept, StateChanged{}); err != nil {
			return err
		}
		if err := c.fire(fsm.Start, StateChanged{}); err != nil {
			return err
		}
		return c.settle()
	})
	if err == nil {
		err = problems(found)
	}
	return err
}

// warn tells of what is allowed, but not wise.
func (dr *drive) warn(cfg *Config) {
	for _, w := range cfg.kinship(dr.d.engine.named) {
		dr.d.engine.log.WarnContext(dr.ctx, "check configuration", "debate", dr.d.id, "warning", w)
		if dr.yield != nil && !dr.gone {
			_ = dr.show(Warning{Stamp: live("warning"), Text: w}, dr.shown) // a viewer who leaves is seen to
		}
	}
}

// probe asks the providers, until it is not wanted any more.
func (dr *drive) probe(cfg Config) []protocol.Problem {
	ctx, cancel := context.WithTimeout(dr.ctx, cfg.Limits.StepTimeout)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	set := func(f context.CancelCauseFunc) {
		dr.mu.Lock()
		defer dr.mu.Unlock()
		dr.checking = f
	}
	set(stop)
	defer set(nil)
	defer stop(nil)
	return dr.d.engine.probe(ctx, cfg)
}

// sleep waits until something changes, the engine closes, or, unless it is negative, so much time has passed.
func (dr *drive) sleep(wait time.Duration) {
	var over <-chan time.Time
	if wait >= 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-over:
	case <-dr.woken:
	case <-dr.d.engine.closing:
	case <-dr.ctx.Done():
	}
}

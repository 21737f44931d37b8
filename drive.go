package debate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// errGone says that the viewer of a Run broke out; errSuperseded, that a call's step may not be committed any more.
var (
	errGone       = errors.New("the viewer has gone")
	errSuperseded = errors.New("the step is no longer wanted")
)

// drive is one driver of one debate: it plans what may run now, has it performed and commits what comes of it. Run, Do
// and Start all use it; they differ in who watches.
type drive struct {
	d      *Debate
	ctx    context.Context
	cancel context.CancelCauseFunc
	yield  func(Event, error) bool // nil: nobody watches
	gone   bool                    // yield has returned false
	timing bool                    // whether the viewer's time is measured
	viewed time.Duration           // that it took since the last commit, while timing
	shown  int64                   // seq of the last durable event that was shown
	only   string                  // the key of the plan that it does; empty: all there is
	feed   *feed
	stop   []func() // in order

	known  atomic.Int64 // seq of the last entry that this driver made or read
	newest atomic.Int64 // seq of the last entry that the store told of
	woken  chan struct{}

	queue []Event // durable events that are still to be shown; guarded by d.mu
	spare []Event // the last queue, to be filled again

	mu       sync.Mutex
	over     bool
	flights  map[transcript.Key]*call
	checking context.CancelCauseFunc // of the check of a configuration; nil: none is going on
	reviews  sync.WaitGroup
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

// plan is what to do next: one of its fields, or nothing.
type plan struct {
	check *Config       // a configuration to be checked
	calls []*call       // steps to be performed
	wait  time.Duration // before anything may run

	known, newest int64 // what the driver knew, and was told of, when the plan was made
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

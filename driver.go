package debate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/live"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/store"
)

// driver drives one debate: it plans the steps that may run, runs them and commits their turns. Run, RunOnce and
// Start use the same driver; they differ in who watches.
type driver struct {
	engine     *Engine
	journal    *openJournal
	ctx        context.Context
	cancel     context.CancelCauseFunc
	within     context.Context // of the drive, as the observer has derived it
	endDrive   func(Outcome)   // ends the drive; nil if nobody observes it or the debate is paused
	failed     error           // why driving ended
	only       string          // key of the plan to run; empty for any plan
	checked    *Config         // the configuration of which the engine lacks nothing; nil if none was checked yet
	readable   *Config         // the configuration whose private documents can be read; nil if none was checked yet
	feed       *live.Feed[Event]
	out        live.Delivery[Event]
	background bool          // Start drives the debate
	signs      bool          // a heartbeat has the chosen name of the engine before the first call
	turn       chan struct{} // closed when a debate in the background may be driven; nil if it does not wait for that
	stop       []func()      // called in order by leave

	executions []*execution // reused for each plan
	pause      step.Hold
	show       func(ev Event, seq int64) error // out.show
	firstRun   atomic.Bool                     // Run drives a debate that has no turn

	known  atomic.Int64 // seq of the last entry that this driver has written or read
	newest atomic.Int64 // seq of the last entry that the store has announced
	woken  chan struct{}

	mu          sync.Mutex
	released    bool
	running     []*execution
	cancelCheck context.CancelCauseFunc // cancels the check of a configuration; nil if there is none
	reviews     sync.WaitGroup
}

// plan is what to do next. At most one of the first three fields is set.
type plan struct {
	check      *Config       // configuration to check
	hidden     []string      // what its judges do not see
	executions []*execution  // steps to run
	wait       time.Duration // wait before anything may run

	known, newest int64 // the driver's known and newest when the plan was made
}

// wake is called by the store after each commit, with the last seq. If another writer has committed while calls are
// in flight, the driver cancels those whose steps were superseded. 0 means that the debate was deleted: then
// everything is read again.
func (dr *driver) wake(last int64) {
	if last == 0 {
		last = math.MaxInt64
	}
	for n := dr.newest.Load(); last > n && !dr.newest.CompareAndSwap(n, last); n = dr.newest.Load() {
	}
	if last > dr.known.Load() {
		dr.recheck()
	}
}

func (dr *driver) recheck() {
	live.Signal(dr.woken)
	dr.mu.Lock()
	defer dr.mu.Unlock()
	if !dr.released && (len(dr.running) > 0 || dr.cancelCheck != nil) {
		dr.reviews.Go(func() { _ = panics.Call(dr.review) }) // the driver meets a panic of the protocol too, and reports it
	}
}

func (dr *driver) review() {
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	err := dr.journal.refresh(dr.ctx)
	newer, isNewer := errors.AsType[*NewerFormat](err)
	switch {
	case errors.Is(err, store.ErrNotFound):
		dr.cancel(fmt.Errorf("drive debate %s: it was deleted: %w", dr.journal.id, err))
	case isNewer:
		dr.cancel(fmt.Errorf("drive debate %s: %w", dr.journal.id, newer))
	}
	if err != nil {
		if dr.ctx.Err() == nil { // there may be no further notification, and the call may take long
			time.AfterFunc(minBackoff, dr.recheck)
		}
		return
	}
	dr.mu.Lock()
	defer dr.mu.Unlock()
	if dr.cancelCheck != nil && dr.journal.rec.lifecycle.State != fsm.Validating {
		dr.cancelCheck(step.ErrSuperseded)
	}
	dr.pause.Set(dr.journal.rec.lifecycle.State == fsm.Paused)
	for _, call := range dr.running {
		if !call.isWanted(dr.journal.rec) {
			call.cancel(step.ErrSuperseded)
		}
	}
}

// The waits before the store is tried again, which double.
const (
	minBackoff = time.Second
	maxBackoff = time.Minute
)

// behind reports whether the store has announced entries after seq.
func (dr *driver) behind(seq int64) bool { return dr.newest.Load() > seq }

// outdated reports whether the journal has changed since a plan was made.
func (dr *driver) outdated(p plan) bool {
	newest := dr.newest.Load()
	return dr.known.Load() != p.known || newest != p.newest && newest > p.known
}

// writing implements follower.
func (dr *driver) writing(last int64) { dr.known.Store(last) }

// committed implements follower. It queues the event until it can be shown.
func (dr *driver) committed(ev Event) {
	if t, ok := ev.(TurnDone); ok {
		dr.feed.End(t.Turn.Key)
		dr.firstRun.Store(false)
	}
	dr.out.Enqueue(ev)
	dr.known.Store(max(ev.Meta().Seq, dr.known.Load()))
	dr.engine.reports.queue.Read(dr.journal.id, ev.Meta().Seq)
}

// engage starts driving a debate. The caller must call release.
func engage(ctx context.Context, e *Engine, j *openJournal, yield func(Event, error) bool) (*driver, error) {
	dr := &driver{
		engine:  e,
		journal: j,
		woken:   make(chan struct{}, 1),
	}
	dr.ctx, dr.cancel = context.WithCancelCause(ctx)
	dr.within = dr.ctx
	dr.out = live.Delivery[Event]{
		Kind:  kind{},
		Yield: yield,
		Leave: func() { dr.cancel(live.ErrLeft) },
		Known: &dr.known,
		Lock:  &j.mu,
	}
	dr.show = dr.out.Show
	release := e.drivers.Enter(j.id)
	if release == nil {
		err := ErrBusy
		if e.drivers.Closed() {
			err = ErrClosed
		}
		dr.cancel(err)
		return nil, fmt.Errorf("drive debate %s: %w", j.id, err)
	}
	e.heartbeats.Begin(j.id)
	closed := context.AfterFunc(e.ctx, func() { dr.cancel(ErrClosed) }) //nolint:contextcheck // Close ends drivers, whatever their own context
	var leave func()
	dr.feed, leave = e.feeds.Join(j.id)
	dr.stop = []func(){e.store.Watch(j.id, dr.wake), func() { closed() }, leave, release}
	if err := dr.enter(); err != nil {
		e.tellLack(ctx, j.id, err)
		return nil, err
	}
	return dr, nil
}

// enter reads the journal. If that fails, or ends the goroutine, enter releases the driver.
func (dr *driver) enter() (err error) {
	entered := false
	defer func() {
		if !entered {
			dr.release()
		}
	}()
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	if err := dr.journal.refresh(dr.ctx); err != nil {
		return err
	}
	dr.journal.driver = dr
	dr.out.Shown = dr.journal.rec.Seq
	dr.known.Store(dr.journal.rec.Seq)
	dr.feed.Attach(&dr.known)
	dr.engine.reports.queue.Enter(dr.journal.id, dr.journal.rec.Seq)
	entered = true
	return nil
}

// admitted reports whether the debate may be driven. If it may not, admitted waits until that changes or there is something
// new.
func (dr *driver) admitted() bool {
	if !dr.background {
		return true
	}
	if dr.turn == nil {
		dr.turn = dr.engine.admission.Join()
	}
	select {
	case <-dr.turn:
		return true
	default:
	}
	select {
	case <-dr.turn:
	case <-dr.woken:
	case <-dr.engine.closing:
	case <-dr.ctx.Done():
	}
	return false
}

// yieldTurn lets another debate be driven.
func (dr *driver) yieldTurn() {
	if dr.turn != nil {
		dr.engine.admission.Leave(dr.turn)
		dr.turn = nil
	}
}

// observe begins a drive for the observer, unless it has begun.
func (dr *driver) observe() {
	if dr.endDrive == nil {
		dr.within, dr.endDrive = dr.engine.reports.observe(dr.ctx, Step{Debate: dr.journal.id})
	}
}

// unobserve ends the drive for the observer. err is why it ended, or nil.
func (dr *driver) unobserve(err error) {
	end := dr.endDrive
	if end == nil {
		return
	}
	dr.within = dr.ctx
	dr.endDrive = nil
	o := Outcome{Err: err, Status: dr.status()}
	o.Status.ID = dr.journal.id
	end(o)
}

// release ends driving. It is deferred, so that others can go on whatever ends the goroutine.
func (dr *driver) release() {
	defer dr.leave() // also if the observer ends the goroutine
	dr.cancel(live.ErrLeft)
	dr.yieldTurn()
	if errors.Is(dr.failed, errUnfinished) {
		dr.engine.log.WarnContext(dr.ctx, "drive debate", "debate", dr.journal.id, "error", dr.failed)
	}
	dr.unobserve(dr.failed)
}

// leave lets others drive the debate.
func (dr *driver) leave() {
	dr.mu.Lock()
	dr.released = true
	dr.mu.Unlock()
	dr.reviews.Wait()
	state := dr.state()
	dr.engine.heartbeats.End(
		dr.ctx,
		dr.journal.id,
		dr.engine.drivers.Closed() && (state.Active() || state == fsm.Paused && dr.background),
	)
	dr.journal.mu.Lock()
	dr.journal.driver = nil
	dr.journal.mu.Unlock()
	dr.engine.reports.queue.Leave(dr.journal.id)
	for _, stop := range dr.stop {
		stop()
	}
}

// status returns the present status. It is zero if the journal could not be read.
func (dr *driver) status() (s store.Status) {
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	if r := dr.journal.rec; r != nil {
		s = statusOf(r)
	}
	return s
}

func (dr *driver) state() fsm.State {
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	if dr.journal.rec == nil {
		return ""
	}
	return dr.journal.rec.lifecycle.State
}

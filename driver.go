package debate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elenchus-go/debate/internal/core"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/budget"
	"github.com/elenchus-go/debate/internal/clients"
	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/internal/live"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// driver drives one debate: it plans the steps that may run, runs them and commits their turns. Run, RunOnce and
// Start use the same driver; they differ in who watches.
//
// A step travels in a circle. engage reads the journal into a record. advance, again and again, calls step: nextTask asks the record
// which steps are missing, and makes an execution for each, with its request. perform runs the executions, each on a goroutine of its own
// if there are several. The reply comes back as a turn, which commitTurn adds to the journal, together with every event that follows
// from it without a model. The journal calls committed for each event, and Flush shows it. The record, changed by the events, then
// has other steps missing.
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

	executions []*execution // reused for each task
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

// A task holds what a driver does next. At most one of the first three fields is set.
type task struct {
	check      *Config       // configuration to check
	hidden     []string      // what its judges do not see
	executions []*execution  // steps to run
	wait       time.Duration // wait before anything may run

	known, newest int64 // the driver's known and newest when the task was made
}

// calls reports whether the task calls providers.
func (t *task) calls() bool { return t.check != nil || len(t.executions) > 0 }

// wake is called by the store after each commit, with the last seq. If another writer has committed while calls are
// in flight, the driver cancels those whose steps were superseded. 0 means that the debate was deleted: then
// everything is read again.
func (dr *driver) wake(last int64) {
	if last == 0 {
		last = math.MaxInt64
	}
	for n := dr.newest.Load(); n < last; n = dr.newest.Load() {
		dr.newest.CompareAndSwap(n, last) // if it fails, another goroutine has changed it
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
	if dr.cancelCheck != nil && dr.journal.rec.Lifecycle.State != fsm.Validating {
		dr.cancelCheck(step.ErrSuperseded)
	}
	dr.pause.Set(dr.journal.rec.Lifecycle.State == fsm.Paused)
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

// outdated reports whether the journal has changed since a task was made.
func (dr *driver) outdated(t task) bool {
	newest := dr.newest.Load()
	return dr.known.Load() != t.known || newest != t.newest && newest > t.known
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
	await(dr, dr.turn)
	return false
}

// await waits until something changes, the engine closes, or over is closed or has a value.
func await[T any](dr *driver, over <-chan T) {
	select {
	case <-over:
	case <-dr.woken:
	case <-dr.engine.closing:
	case <-dr.ctx.Done():
	}
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
		s = core.StatusOf(r)
	}
	return s
}

func (dr *driver) state() fsm.State {
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	if dr.journal.rec == nil {
		return ""
	}
	return dr.journal.rec.Lifecycle.State
}

// newExecutions returns the executions of the steps that may run now. The error is a *Failure if a step can never run
// as its protocol returned it.
func (dr *driver) newExecutions(r *core.State) ([]*execution, error) {
	calls := dr.executions[:0]
	twice := budget.DuplicateStep(r.Cursor.Phase, r.Next())
	for _, s := range r.Next() {
		if r.MustAsk(s) { // this engine cannot
			_, err := core.NewAsked(r, &s)
			return nil, err
		}
		if r.IsHuman(s.Actor) {
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
			return nil, core.PanicFailure(p, s.Key, time.Now())
		}
		if errors.Is(err, core.ErrUnsupported) {
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
func (dr *driver) newExecution(r *core.State, s protocol.Step) (c *execution, err error) {
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
		return c.Decide(&core.Act{
			Kind:    journal.ActBroken,
			Failure: core.PanicFailure(p, transcript.Key{}, time.Now()),
		})
	})
	if err != nil {
		return err
	}
	if j.rec.Lifecycle.State == fsm.Error {
		return deepcopy.Of(j.rec.Losses.Failure)
	}
	return nil
}

// failTimeout limits the time of a commit that reports a panic.
const failTimeout = 30 * time.Second

// step does what can be done now and reports whether there is more to do. It takes one task and carries it out. Events that are
// committed meanwhile are shown in between, when the journal is free.
func (dr *driver) step() (more bool, err error) {
	t, err := dr.taskWithDocuments()
	dr.engine.tellLack(dr.ctx, dr.journal.id, err)
	dr.out.Flush()
	if dr.out.Gone || err != nil {
		return false, err
	}
	if t.calls() {
		admitted := dr.admitted()
		if !admitted {
			if dr.ctx.Err() != nil {
				return false, context.Cause(dr.ctx)
			}
			return dr.hasMore() // it is planned again
		}
		dr.observe() // in the background, a drive begins again after a pause
	}
	err = dr.carryOut(t)
	dr.out.Flush()
	if dr.out.Gone || err != nil {
		return false, err
	}
	if dr.ctx.Err() != nil {
		return false, context.Cause(dr.ctx)
	}
	return dr.hasMore()
}

// taskWithDocuments returns the next task. Its executions have the texts of the private documents that they need.
func (dr *driver) taskWithDocuments() (t task, err error) {
	if err := dr.lacksDocument(); err != nil {
		return t, err
	}
	t, err = dr.nextTask()
	if err != nil {
		return t, err
	}
	return t, dr.giveDocuments(t.executions)
}

// carryOut does a task. It runs no step of a task that is outdated: that is planned again.
func (dr *driver) carryOut(t task) error {
	switch {
	case t.check != nil:
		return dr.validate(t)
	case t.wait > 0:
		dr.yieldTurn()
		dr.sleep(t.wait)
	case len(t.executions) > 0 && !dr.outdated(t):
		if dr.signs {
			dr.engine.heartbeats.Sign(dr.ctx, dr.journal.id)
		}
		return dr.perform(t)
	}
	return nil
}

// hasMore reports whether there is more to do. If the debate is in error, it returns the failure.
func (dr *driver) hasMore() (more bool, err error) {
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	r := dr.journal.rec
	if r != nil && r.Lifecycle.State == fsm.Error {
		return false, deepcopy.Of(r.Losses.Failure)
	}
	return r == nil || r.Lifecycle.State.Active(), nil
}

// nextTask says what is next, after it has brought the record up to date and has added what needs no model. If the protocol asks for
// a step that can never run, it commits that failure, and the task is empty.
func (dr *driver) nextTask() (t task, err error) {
	j := dr.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if dr.engine.drivers.Closed() {
		return t, ErrClosed
	}
	t.newest = dr.newest.Load()
	if j.rec == nil || dr.behind(j.rec.Seq) || !j.rec.PhaseOpen() {
		if err := j.change(dr.ctx, dr.prepare); err != nil {
			return t, err
		}
	}
	if err := dr.lacks(j.rec); err != nil {
		return t, err
	}
	t.known = dr.known.Load()
	dr.firstRun.Store(dr.out.Yield != nil && !j.rec.HasTurns())
	switch r := j.rec; {
	case dr.only != "" && dr.only != core.PlanOf(r).Key: // the plan is done
	case r.Lifecycle.State == fsm.Validating:
		t.check = r.Config
		t.hidden = r.Hidden
	case r.Lifecycle.State == fsm.RoundComplete:
		t.wait = max(time.Until(r.NextRoundAt()), 1)
	case r.Lifecycle.State.Active():
		t.executions, err = dr.newExecutions(r)
		if broken, ok := errors.AsType[*Failure](err); ok {
			return t, j.change(dr.ctx, func(c *transaction) error {
				if !c.State.PhaseOpen() { // another process was first
					return nil
				}
				return c.Decide(&core.Act{
					Kind:    journal.ActBroken,
					Failure: broken,
				})
			})
		}
	}
	return t, err
}

// lacks returns an ErrUnsupported if the engine lacks what the debate needs to be driven. It checks each configuration once.
func (dr *driver) lacks(r *core.State) error {
	if dr.checked == r.Config || !r.Drivable() {
		return nil
	}
	if err := core.LackError(dr.engine.lacks(r.ActorSettings())); err != nil {
		return fmt.Errorf("drive debate %s: %w", r.ID, err)
	}
	dr.checked = r.Config
	return nil
}

// lacksForPlan returns an ErrUnsupported if this engine cannot plan the debate's next step, and tells the store why.
func (dr *driver) lacksForPlan() error {
	dr.journal.mu.Lock()
	var err error
	if dr.journal.rec.Lifecycle.State.Active() {
		err = dr.lacks(dr.journal.rec)
	}
	dr.journal.mu.Unlock()
	dr.engine.tellLack(dr.ctx, dr.journal.id, err)
	return err
}

// prepare advances the debate as far as possible without a model call.
func (dr *driver) prepare(c *transaction) error {
	if err := dr.lacks(c.State); err != nil {
		return err
	}
	if c.State.NotStarted() || c.State.Fork.Idle {
		return c.Decide(&core.Act{Kind: journal.ActStart})
	}
	return c.Decide(&core.Act{Kind: journal.ActDrive})
}

// validate checks what only a driver can check. It then starts the debate or returns it to configuring.
func (dr *driver) validate(t task) error {
	problems, windows, superseded := dr.checkProviders(t)
	if dr.ctx.Err() != nil {
		return context.Cause(dr.ctx)
	}
	if superseded { // the debate was paused, stopped or canceled; if it validates again, the check is repeated
		return nil
	}
	var first preflight
	if len(problems) == 0 {
		first = dr.engine.preflight(core.Seats{
			Config: t.check,
			Hidden: t.hidden,
		}, windows)
		problems = first.problems
		if first.lacks != nil {
			dr.engine.tellLack(dr.ctx, dr.journal.id, first.lacks)
			return fmt.Errorf("drive debate %s: %w", dr.journal.id, first.lacks)
		}
	}
	var found []protocol.Problem // what the journal has
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	err := dr.journal.change(dr.ctx, func(c *transaction) error {
		found = nil
		switch {
		case c.State.Lifecycle.State != fsm.Validating: // another process has done it
			return nil
		case len(problems) > 0:
			found = problems
			return c.Decide(&core.Act{
				Kind:  journal.ActCheck,
				Check: StateChanged{Problems: found},
			})
		}
		cfg := first.record.Config
		warnings := slices.Concat(c.State.ConfigWarnings(), core.StartWarnings(cfg, c.State.Cursor.Run, windows, first.limits),
			core.WarningsAbout(
				c.State.Cursor.Run,
				clients.WarnOfBiases(cfg.Actors(), c.State.Engine.Sets[cfg.Prompts].Version(), c.State.Engine.Audits),
			))
		return c.Decide(&core.Act{
			Kind: journal.ActCheck,
			Check: StateChanged{
				Warnings:    warnings,
				ReplyTokens: first.limits,
				Windows:     windows,
			},
			Prompts: &first.record.Debate,
		})
	})
	if err != nil {
		return err
	}
	return core.ProblemsError(slices.Clone(found)) // the journal has the list
}

// checkProviders checks the keys and models of the providers, and returns the windows of StateChanged.Windows. It reports whether
// a control superseded the check, which then ended early.
func (dr *driver) checkProviders(t task) (problems []protocol.Problem, windows map[string]int, superseded bool) {
	ctx, cancel := context.WithTimeout(dr.within, t.check.Limits.StepTimeout)
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
	if dr.outdated(t) { // the task became outdated before its check could be canceled
		dr.recheck()
	}
	actors := dr.engine.clientsOf(t.check)
	ask := dr.engine.asker()
	problems = slices.Concat(ask.Access(ctx, actors), ask.Settings(ctx, actors))
	return problems, ask.Windows(ctx, actors), errors.Is(context.Cause(ctx), step.ErrSuperseded)
}

// sleep waits until something changes, the engine closes, or the given time has passed.
func (dr *driver) sleep(wait time.Duration) {
	t := time.NewTimer(wait)
	defer t.Stop()
	await(dr, t.C)
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
	if dr.out.Gone || r == nil || !r.Lifecycle.State.Final() {
		return nil, false
	}
	return new(endedOf(r)), false
}

func endedOf(r *core.State) Ended {
	return Ended{EventMeta: EventMeta{
		Type: "ended",
		Seq:  r.Seq,
		Live: true,
	}, Result: core.ResultOf(r)}
}

// A message goes from the goroutine of a call to the driver's: an event to show, or the end of the call.
type message struct {
	index int
	event Event
	seq   int64 // seq that the event carries
	ended bool
	err   error
}

func ended(m message) int {
	if m.ended {
		return 1
	}
	return 0
}

// post returns a function that sends an event to the driver's goroutine.
func (x *execution) post(i int, inbox chan<- message) func(Event, int64) error {
	return func(ev Event, seq int64) error {
		x.run.Viewing(true)
		defer x.run.Viewing(false)
		if x.ctx.Err() != nil { // the end of a canceled call is still shown
			inbox <- message{
				index: i,
				event: ev,
				seq:   seq,
			}
			return nil
		}
		select {
		case inbox <- message{
			index: i,
			event: ev,
			seq:   seq,
		}:
			return nil
		case <-x.ctx.Done():
			return context.Cause(x.ctx)
		}
	}
}

// runParallel runs a call of a parallel phase on its own goroutine. The driver waits until it has ended, so it tells also if the
// goroutine ends: then the step has failed.
func (x *execution) runParallel(i int, inbox chan<- message) {
	finished := false
	defer func() {
		if !finished {
			x.err = x.unfinished()
		}
		over := x.over // the driver reuses x
		inbox <- message{
			index: i,
			ended: true,
			err:   x.err,
		}
		close(over) // not before: the turns of an actor are committed in the order of its calls
	}()
	if x.after != nil { // an actor makes one call at a time
		<-x.after
		select {
		case <-x.run.Plan.Hold.Paused(): // nothing new starts
			x.err = step.ErrSuperseded
			finished = true
			return
		default:
		}
		x.run.Late(time.Since(x.launched))
	}
	_ = x.perform()
	finished = true
}

// perform runs the steps of a task and commits each turn when it is complete. It runs a single step on this
// goroutine, so that chunks go from the model to the viewer directly.
func (dr *driver) perform(t task) error {
	calls := t.executions
	defer func() {
		dr.finish(calls)
		for _, c := range calls {
			c.release()
		}
	}()
	dr.launch(calls)
	if dr.outdated(t) { // the task became outdated before its calls could be canceled
		dr.recheck()
	}
	if len(calls) > 1 {
		dr.parallel(calls)
		return dr.handleFailures(calls)
	}
	c := calls[0]
	c.err = dr.commitTurn(c, c.perform())
	return dr.handleFailures(calls)
}

// launch prepares the calls: their contexts, feeds and viewers.
func (dr *driver) launch(calls []*execution) {
	dr.mu.Lock()
	defer dr.mu.Unlock()
	if len(calls) > 1 {
		chainByActor(calls)
	}
	dr.pause.Set(false) // if that is no longer true, the calls are reviewed
	for _, c := range calls {
		c.launched = time.Now()
		c.ctx, c.cancel = context.WithCancelCause(dr.within)
		c.feed = dr.feed
		c.run.Plan.Hold = &dr.pause
		c.run.Plan.FirstRun = &dr.firstRun
		c.commits = dr
		if dr.out.Yield != nil {
			c.emit = c.shown
			c.show = dr.show
		}
		dr.running = append(dr.running, c)
	}
}

// chainByActor makes each call wait for the previous call of the same actor.
func chainByActor(calls []*execution) {
	last := map[string]*execution{}
	for _, c := range calls {
		c.over = make(chan struct{})
		if before := last[c.key().Actor]; before != nil {
			c.after = before.over
		}
		last[c.key().Actor] = c
	}
}

// finish releases what launch has set up.
func (dr *driver) finish(calls []*execution) {
	dr.mu.Lock()
	defer dr.mu.Unlock()
	for _, c := range calls {
		c.cancel(live.ErrLeft)
		dr.feed.End(c.key())
		dr.remove(c)
	}
}

// remove takes an execution from those that are running. The driver's mutex is held.
func (dr *driver) remove(x *execution) {
	if i := slices.Index(dr.running, x); i >= 0 {
		dr.running = slices.Delete(dr.running, i, i+1)
	}
}

// parallel runs each call on its own goroutine. Events are shown and turns committed on the caller's goroutine.
func (dr *driver) parallel(calls []*execution) {
	inbox := make(chan message)
	pending := len(calls)
	dr.out.Timing = true
	dr.out.Viewed = 0 // measured, because all calls wait for one viewer
	defer func() {    // if the viewer panics, the calls end first
		if pending > 0 {
			dr.cancel(live.ErrLeft)
		}
		dr.out.Timing = false
		for pending > 0 {
			m := <-inbox
			pending -= ended(m)
		}
	}()
	for i, c := range calls {
		if dr.out.Yield != nil {
			c.emit = c.post(i, inbox)
		}
		go c.runParallel(i, inbox)
	}
	for pending > 0 {
		m := <-inbox
		pending -= ended(m)
		if m.ended {
			calls[m.index].err = dr.commitTurn(calls[m.index], m.err)
		} else {
			_ = dr.out.Show(m.event, m.seq) // if the viewer has left, all calls are canceled
		}
		dr.out.Flush()
	}
}

// commitTurn commits the turn of a call that succeeded, and returns the error of one that failed.
func (dr *driver) commitTurn(c *execution, err error) error {
	switch {
	case dr.ctx.Err() != nil:
		return context.Cause(dr.ctx)
	case errors.Is(err, step.ErrSuperseded):
		return nil
	case err != nil:
		return err
	}
	dr.mu.Lock()
	dr.remove(c)
	dr.mu.Unlock()
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	defer func() { dr.out.Viewed = 0 }()
	return dr.journal.change(dr.ctx, func(ch *transaction) error {
		if !c.isWanted(ch.State) { // another process was first, or the debate has moved on
			return nil
		}
		stamp := ch.StampFor(journal.ActTurn, "turn")
		turn := *c.turn
		turn.Seq = stamp.Seq
		if dr.out.Timing { // measured, in place of the timer's estimate
			turn.ViewerTime = dr.out.Viewed
		}
		ch.State.Extract(&turn)
		q := &c.run.Plan.Prompt
		remains := core.Remains(ch.State, &c.run.Plan.Step, c.run.Plan.Prompt.Messages)
		return ch.Decide(&core.Act{Kind: journal.ActTurn, Given: TurnDone{
			EventMeta: stamp,
			At:        ch.Now,
			Turn:      turn,
			PromptSeq: c.promptSeq,
			Templates: q.Set.Version(),
			Remains:   remains,
		}})
	})
}

// commitRound implements committer.
func (dr *driver) commitRound(f func(*transaction) error) error {
	if dr.ctx.Err() != nil {
		return context.Cause(dr.ctx)
	}
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	return dr.journal.change(dr.ctx, f)
}

// read implements committer.
func (dr *driver) read(f func(*core.State)) {
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	if r := dr.journal.rec; r != nil {
		f(r)
	} else {
		f(core.NewState(dr.journal.id, dr.engine.env))
	}
}

// handleFailures handles the failures of calls when all calls of the task have ended. It returns errors other than
// failures of calls: the end of driving, or an error of the store.
func (dr *driver) handleFailures(calls []*execution) error {
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	for i, c := range calls {
		if err := dr.handleFailure(c, calls[i+1:]); err != nil {
			return err
		}
	}
	return nil
}

// handleFailure handles the failure of a call. If that stops the debate, its entry has the failures of the later calls
// too. The journal's mutex is held.
func (dr *driver) handleFailure(c *execution, later []*execution) error {
	failed := c.failure()
	switch {
	case failed != nil || errors.Is(c.err, step.ErrOutOfTime):
		return dr.journal.change(dr.ctx, func(ch *transaction) error {
			if ch.State.Lifecycle.State == fsm.Paused || !c.isWanted(ch.State) {
				return nil // a resumed debate repeats the call
			}
			a := &core.Act{
				Kind:    journal.ActClock,
				Failure: failed,
				Lost:    failures(later),
			}
			if failed != nil {
				a.Kind = journal.ActFailure
			}
			return ch.Decide(a)
		})
	case errors.Is(c.err, step.ErrNextJob):
		err := dr.journal.change(dr.ctx, func(ch *transaction) error {
			if !c.isWanted(ch.State) { // another call has ended the debate
				c.err = nil
				return nil
			}
			return c.noteWait(ch)
		})
		return errors.Join(c.err, err)
	}
	return c.err
}

// lacksDocument returns an ErrUnsupported if the engine cannot read a private document of the debate. It checks each
// configuration once, before the driver adds anything to the journal.
func (dr *driver) lacksDocument() error {
	dr.journal.mu.Lock()
	r := dr.journal.rec
	if r == nil || r.Config == dr.readable || !r.Drivable() {
		dr.journal.mu.Unlock()
		return nil
	}
	c := r.Config
	dr.journal.mu.Unlock()
	for _, d := range core.PrivateOnes(c.Documents) {
		if _, err := dr.engine.readDocument(dr.ctx, dr.journal.id, c.Labels, d); err != nil {
			return fmt.Errorf("drive debate %s: %w", dr.journal.id, err)
		}
	}
	dr.readable = c
	return nil
}

// giveDocuments gives the models of steps the texts of the private documents that their actors read. If one cannot be read,
// no step begins.
func (dr *driver) giveDocuments(list []*execution) error {
	for _, x := range list {
		if x.documents == nil {
			continue
		}
		texts := make([]string, len(x.documents))
		for i, d := range x.documents {
			var err error
			texts[i], err = dr.engine.readDocument(dr.ctx, x.debate, x.labels, d)
			if err != nil {
				return fmt.Errorf("drive debate %s: %w", x.debate, err)
			}
		}
		p := &x.run.Plan
		p.Model.Client = prompting.PrivateClient(p.Model.Client, x.documents, texts, p.Pseudonyms)
		for i := range p.Substitutes {
			p.Substitutes[i].Client = prompting.PrivateClient(p.Substitutes[i].Client, x.documents, texts, p.Pseudonyms)
		}
		for i := range x.documents { // to check quotes
			x.documents[i].Text = texts[i]
		}
	}
	return nil
}

// startBackground drives the debate in the background. If it already has a driver, startBackground starts again when
// that driver has left, because it may be about to leave.
func startBackground(ctx context.Context, e *Engine, j *openJournal, late bool) error {
	for {
		dr, err := engage(ctx, e, j, nil)
		if errors.Is(err, ErrBusy) {
			waits := e.drivers.After(j.id, func() {
				_ = startBackground(ctx, e, j, true)
			})
			if waits {
				return nil
			}
			continue // the driver has just left
		}
		if err != nil {
			return err
		}
		state := dr.state()
		if late && !state.Active() && state != fsm.Paused { // the previous driver has finished
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

// runBackground drives the debate until it has ended or failed. It stays through pauses, and through errors of the store, which may be
// temporary.
func (dr *driver) runBackground() {
	defer dr.release()
	again := minBackoff
	for {
		more, err := dr.advance()
		if err != nil {
			later := dr.logError(err)
			if !later {
				return
			}
			dr.sleep(again)
			again = min(2*again, maxBackoff)
			continue
		}
		again = minBackoff
		if !more && !dr.stays() {
			return
		}
	}
}

// stays waits while the debate is paused. It reports whether the driver of a debate in the background stays, with nothing to do at
// present.
func (dr *driver) stays() bool {
	s := dr.state()
	if s != fsm.Paused {
		return s == "" || s.Active() // a concurrent resume may have made it active again
	}
	dr.unobserve(nil)
	dr.yieldTurn()
	dr.engine.heartbeats.Announce(dr.ctx, dr.journal.id) // tells whoever resumes it that it is driven here
	await(dr, dr.ctx.Done())                             // without a limit
	return !dr.restarted()
}

// restarted reports whether the debate is back in its first state, because it was reset, or deleted and created again
// under the same id. Nobody has started that debate yet.
func (dr *driver) restarted() bool {
	dr.journal.mu.Lock()
	defer dr.journal.mu.Unlock()
	return dr.journal.refresh(dr.ctx) == nil && dr.journal.rec.Lifecycle.State == fsm.Configuring
}

// logError logs an error and reports whether driving may succeed later.
func (dr *driver) logError(err error) (later bool) {
	if errors.Is(err, ErrClosed) {
		return false
	}
	dr.engine.log.WarnContext(dr.ctx, "drive debate", "debate", dr.journal.id, "error", dr.engine.reports.shown(err))
	_, rejected := errors.AsType[*Problems](err)
	_, failed := errors.AsType[*Failure](err)
	return !rejected && !failed && dr.ctx.Err() == nil && !errors.Is(err, core.ErrUnsupported) &&
		!errors.Is(err, store.ErrNotFound)
}

package debate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Debate is a handle on one debate. Many handles, in many processes, may name the same debate; each is safe for
// concurrent use.
type Debate struct {
	engine *Engine
	id     string

	mu      sync.Mutex
	rec     *record      // the journal as far as it was read; nil: to be read anew
	machine *fsm.Machine // executes what the record holds
	drive   *drive       // that this handle serves, if it does
}

// refresh reads what is new in the journal.
func (d *Debate) refresh(ctx context.Context) error {
	after := int64(0)
	if d.rec != nil {
		after = d.rec.Seq
	}
	head, entries, err := d.engine.store.Load(ctx, d.id, after)
	if err != nil {
		return err
	}
	if d.rec != nil && (head.Seq < d.rec.Seq || head.Created.Sub(d.rec.created).Abs() > time.Millisecond) {
		// another debate under the id of one that was deleted, or a head that is wrong
		d.rec = nil
		return d.refresh(ctx)
	}
	if d.rec == nil {
		if err := d.begin(); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if _, err := d.read(e); err != nil {
			d.rec = nil
			return err
		}
	}
	d.rec.planned = head.Plan
	if after == 0 || head.Seq != d.rec.Seq {
		d.repair(ctx, head)
	}
	return nil
}

// begin makes a record for the journal to be read into.
func (d *Debate) begin() (err error) {
	d.rec = d.engine.record(d.id, d.engine.parse)
	d.machine, err = fsm.New(d.rec.snap)
	return err
}

// repair replaces a stored head that is not what the journal amounts to. Where it cannot, the next reader will.
func (d *Debate) repair(ctx context.Context, stored store.Head) {
	if d.rec.supported() != nil { // what a newer version means by its entries is not known
		return
	}
	is, err1 := json.Marshal(stored)
	want, err2 := json.Marshal(d.rec.head())
	if err1 == nil && err2 == nil && bytes.Equal(is, want) {
		return
	}
	err := d.engine.store.Commit(ctx, store.Change{ID: d.id, After: d.rec.Seq, Head: d.rec.head()})
	d.engine.log.WarnContext(ctx, "the stored head was wrong and is replaced", "debate", d.id, "was", string(is), "is", string(want), "error", err)
}

// read folds an entry in, and gives the event that it holds; nil: one of a newer version's that this one does not know.
func (d *Debate) read(e store.Entry) (Event, error) {
	ev, err := decode(e)
	if err != nil && d.rec.supported() != nil { // what this version understands can be read
		d.rec.Seq = e.Seq
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read entry %d of debate %s: %w", e.Seq, d.id, err)
	}
	if err := d.rec.apply(ev, e.At); err != nil {
		return nil, err
	}
	return ev, d.follow(ev)
}

// follow has the machine execute a committed transition, and shows the driver's viewer what is new.
func (d *Debate) follow(ev Event) error {
	if s, ok := ev.(StateChanged); ok {
		to := fsm.Snapshot{State: s.To}
		if s.To == fsm.Paused {
			to.Left = s.From
		}
		if err := d.machine.Follow(s.On, to); err != nil {
			return fmt.Errorf("read entry %d of debate %s: %w", s.Seq, d.id, err)
		}
	}
	if d.drive != nil {
		d.drive.enqueue(ev)
	}
	return nil
}

// change reads what is new, adds events as f says and commits them, again where another writer was first.
func (d *Debate) change(ctx context.Context, f func(*change) error) error {
	for {
		err := d.attempt(ctx, f)
		if _, lost := errors.AsType[*store.Conflict](err); !lost {
			return err
		}
		if d.drive != nil {
			d.drive.recheck()
		}
	}
}

func (d *Debate) attempt(ctx context.Context, f func(*change) error) error {
	if d.rec == nil || d.drive == nil || d.drive.behind(d.rec.Seq) {
		if err := d.refresh(ctx); err != nil {
			return err
		}
	}
	if err := d.rec.supported(); err != nil {
		return err
	}
	c := begin(d.rec)
	d.rec = nil // until f has returned: a change that is half made is thrown away, also where a protocol panics
	err := f(c)
	if len(c.events) == 0 || err == nil {
		d.rec = c.rec
	}
	if err != nil {
		return err
	}
	return d.commit(ctx, c)
}

func (d *Debate) commit(ctx context.Context, c *change) error {
	if len(c.events) == 0 && !c.schedule {
		return nil
	}
	entries := make([]store.Entry, len(c.events))
	for i, ev := range c.events {
		s := ev.Event()
		entries[i] = store.Entry{Seq: s.Seq, Type: s.Type, At: c.now, Data: ev}
		if t, ok := ev.(TurnDone); ok {
			entries[i].Key = t.Turn.Key.String()
		}
	}
	if d.drive != nil {
		d.drive.known.Store(c.rec.Seq)
	}
	err := d.engine.store.Commit(ctx, store.Change{ID: d.id, After: c.after, Entries: entries, Head: c.rec.head()})
	if err != nil {
		d.rec = nil // it holds what was not committed
		if d.drive != nil {
			d.drive.known.Store(c.after)
		}
		return err
	}
	for _, ev := range c.events {
		if err := d.follow(ev); err != nil {
			return err
		}
	}
	return nil
}

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

// plan is what to do next: one of its fields, or nothing.
type plan struct {
	check *Config       // a configuration to be checked
	calls []*call       // steps to be performed
	wait  time.Duration // before anything may run

	known, newest int64 // what the driver knew, and was told of, when the plan was made
}

// wake is told by the store of each commit. When another writer was at work while calls are in flight, those that are
// no longer wanted are cancelled. After a deletion, of which 0 tells, nothing that was read counts any more.
func (dr *drive) wake(last int64) {
	if last == 0 {
		last = math.MaxInt64
	}
	for n := dr.newest.Load(); last > n && !dr.newest.CompareAndSwap(n, last); n = dr.newest.Load() {
	}
	if last > dr.known.Load() {
		dr.recheck()
	}
}

func (dr *drive) recheck() {
	poke(dr.woken)
	dr.mu.Lock()
	defer dr.mu.Unlock()
	if !dr.over && (len(dr.flights) > 0 || dr.checking != nil) {
		dr.reviews.Go(dr.review)
	}
}

func (dr *drive) review() {
	dr.d.mu.Lock()
	defer dr.d.mu.Unlock()
	err := dr.d.refresh(dr.ctx)
	if errors.Is(err, store.ErrNotFound) {
		dr.cancel(fmt.Errorf("drive debate %s: it was deleted: %w", dr.d.id, err))
	}
	if err != nil {
		if dr.ctx.Err() == nil { // nobody tells again, and the call may take long
			time.AfterFunc(shortest, dr.recheck)
		}
		return
	}
	dr.mu.Lock()
	defer dr.mu.Unlock()
	if dr.checking != nil && dr.d.rec.snap.State != fsm.Validating {
		dr.checking(errSuperseded)
	}
	for _, call := range dr.flights {
		if !call.wanted(dr.d.rec) {
			call.cancel(errSuperseded)
		}
	}
}

// wanted says whether a call's step may still be committed: to its own debate, and not to another under the same id.
func (c *call) wanted(r *record) bool { return r.created.Equal(c.created) && r.open(c.step.Key) }

// behind says whether the store has told of more than what was read.
func (dr *drive) behind(seq int64) bool { return dr.newest.Load() > seq }

// moved says whether the journal has more than a plan was made on.
func (dr *drive) moved(p plan) bool {
	newest := dr.newest.Load()
	return dr.known.Load() != p.known || newest != p.newest && newest > p.known
}

// note has the journal know of a rate limit that is being sat out, so that the time counts.
func (c *call) note(ch *change) error {
	value, err := json.Marshal(map[string]string{"actor": c.step.Actor, "provider": c.name, "phase": c.step.Phase})
	if err != nil || !ch.rec.snap.State.Active() {
		return err
	}
	return ch.add(Annotated{Stamp: ch.stamp("annotated"), At: ch.now, Name: "rate_limit", Value: value})
}

// enqueue keeps a committed event until it can be shown; d.mu is held.
func (dr *drive) enqueue(ev Event) {
	seq := ev.Event().Seq
	if t, ok := ev.(TurnDone); ok {
		dr.feed.end(t.Turn.Key)
	}
	if dr.yield != nil && seq > dr.shown && (len(dr.queue) == 0 || seq > dr.queue[len(dr.queue)-1].Event().Seq) {
		dr.queue = append(dr.queue, ev)
	}
	dr.known.Store(max(seq, dr.known.Load()))
}

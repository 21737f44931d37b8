package debate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
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

func decode(e store.Entry) (Event, error) {
	switch data := e.Data.(type) {
	case Event:
		return data, nil
	case json.RawMessage:
		return ParseEvent(data)
	}
	return nil, fmt.Errorf("decode entry: data is %T, want an event or its JSON", e.Data)
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

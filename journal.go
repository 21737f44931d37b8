package debate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
)

func decodeJSON(e store.Entry) (Event, error) {
	switch data := e.Data.(type) {
	case Event:
		return data, nil
	case json.RawMessage:
		return ParseEvent(data)
	}
	return nil, fmt.Errorf("decode entry: data is %T, want an event or its JSON", e.Data)
}

// openRows is the openRows of one debate as this process has read it. It alone reads what is stored, commits to it and
// repairs it, and has the machine execute each committed transition.
type openRows struct {
	id    string
	store store.Store
	log   *slog.Logger
	env   *environment

	mu      sync.Mutex
	rec     *record      // the journal as far as it was read; nil if it must be read again
	machine *fsm.Machine // executes what the record holds
	driver  follower     // the driver that uses this journal; nil if there is none

	transaction transaction // the one that change makes
}

// A follower is told what becomes of the journal that it drives. The journal's mutex is held during each call.
type follower interface {
	behind(seq int64) bool // reports whether the store has told of entries after seq
	writing(last int64)    // the journal ends, or is about to end, with the entry last
	committed(ev Event)    // ev is the next entry
	recheck()              // somebody else has written: steps in flight may be superseded
}

// journal returns the journal of a debate, of which nothing has been read.
func (e *Engine) journal(id string) *openRows {
	return &openRows{id: id, store: e.store, log: e.log, env: e.env}
}

// refresh reads what is new in the journal.
func (j *openRows) refresh(ctx context.Context) error {
	after := int64(0)
	if j.rec != nil {
		after = j.rec.Seq
	}
	head, entries, err := j.store.Load(ctx, j.id, after)
	if err != nil {
		return err
	}
	if j.rec != nil && (head.Seq < j.rec.Seq || head.Created.Sub(j.rec.times.created).Abs() > time.Millisecond) {
		// another debate under the id of one that was deleted, or a head that is wrong
		j.rec = nil
		return j.refresh(ctx)
	}
	if j.rec == nil {
		if err := j.begin(); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if _, err := j.read(e); err != nil {
			j.rec = nil
			return err
		}
	}
	j.machine.Release()
	j.rec.storedPlan = head.Plan
	if after == 0 || head.Seq != j.rec.Seq {
		j.repair(ctx, head)
	}
	return nil
}

// begin makes a record for the journal to be read into.
func (j *openRows) begin() (err error) {
	j.rec = newRecord(j.id, j.env)
	j.machine, err = fsm.New(j.rec.lifecycle)
	return err
}

// repair replaces a stored head that is not what the journal amounts to. Where it cannot, the next reader will.
func (j *openRows) repair(ctx context.Context, stored store.Status) {
	if j.rec.supported() != nil { // what a newer version means by its entries is not known
		return
	}
	is, err1 := json.Marshal(stored)
	want, err2 := json.Marshal(statusOf(j.rec))
	if err1 == nil && err2 == nil && bytes.Equal(is, want) {
		return
	}
	err := j.store.Commit(ctx, store.Change{ID: j.id, After: j.rec.Seq, Status: statusOf(j.rec)})
	j.log.WarnContext(ctx, "the stored head was wrong and is replaced", "debate", j.id, "was", string(is), "is", string(want), "error", err)
}

// read folds an entry in, and gives the event that it holds; nil: one of a newer version's that this one does not know.
func (j *openRows) read(e store.Entry) (Event, error) {
	ev, err := decodeJSON(e)
	if err != nil && j.rec.supported() != nil { // what this version understands can be read
		j.rec.Seq = e.Seq
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read entry %d of debate %s: %w", e.Seq, j.id, err)
	}
	if err := j.rec.apply(ev, e.At); err != nil {
		return nil, err
	}
	return ev, j.follow(ev)
}

// follow has the machine execute a committed transition, and shows the driver's viewer what is new.
func (j *openRows) follow(ev Event) error {
	if s, ok := ev.(StateChanged); ok {
		to := fsm.Position{State: s.To}
		if s.To == fsm.Paused {
			to.PausedFrom = s.From
		}
		if err := j.machine.Execute(s.On, to); err != nil {
			return fmt.Errorf("read entry %d of debate %s: %w", s.Seq, j.id, err)
		}
	}
	if j.driver != nil {
		j.driver.committed(ev)
	}
	return nil
}

// change reads what is new, adds events as f says and commits them, again where another writer was first.
func (j *openRows) change(ctx context.Context, f func(*transaction) error) error {
	for {
		err := j.attempt(ctx, f)
		if _, lost := errors.AsType[*store.Conflict](err); !lost {
			return err
		}
		if j.driver != nil {
			j.driver.recheck()
		}
	}
}

func (j *openRows) attempt(ctx context.Context, f func(*transaction) error) error {
	if j.rec == nil || j.driver == nil || j.driver.behind(j.rec.Seq) {
		if err := j.refresh(ctx); err != nil {
			return err
		}
	}
	if err := j.rec.supported(); err != nil {
		return err
	}
	c := &j.transaction
	c.begin(j.rec)
	j.rec = nil // until f has returned: a change that is half made is thrown away, also where a protocol panics
	err := f(c)
	if len(c.events) == 0 || err == nil {
		j.rec = c.rec
	}
	if err != nil {
		return err
	}
	return j.commit(ctx, c)
}

func (j *openRows) commit(ctx context.Context, c *transaction) error {
	if len(c.events) == 0 && !c.schedule {
		return nil
	}
	entries := make([]store.Entry, len(c.events))
	for i, ev := range c.events {
		s := ev.Meta()
		entries[i] = store.Entry{Seq: s.Seq, Type: s.Type, At: c.now, Data: ev}
		if t, ok := ev.(TurnDone); ok {
			entries[i].Key = t.Turn.Key.String()
		}
	}
	if j.driver != nil {
		j.driver.writing(c.rec.Seq)
	}
	err := j.store.Commit(ctx, store.Change{ID: j.id, After: c.after, Entries: entries, Status: statusOf(c.rec)})
	if err != nil {
		j.rec = nil // it holds what was not committed
		if j.driver != nil {
			j.driver.writing(c.after)
		}
		return err
	}
	defer j.machine.Release()
	for _, ev := range c.events {
		if err := j.follow(ev); err != nil {
			return err
		}
	}
	return nil
}

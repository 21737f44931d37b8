// Package store defines how debates are stored and provides a store in memory.
//
//	s := store.Memory()
//	err := s.Commit(ctx, store.Change{
//		ID:      "d1",
//		Entries: []store.Entry{{Seq: 1, Type: "config", At: now, Data: config}},
//		Status:  store.Status{ID: "d1", Seq: 1, Created: now, Updated: now},
//	})
//	status, entries, err := s.Load(ctx, "d1", 0)
//
// A store keeps an append-only journal for each debate, and a head that sums the journal up. The journal is
// authoritative. The head is a cache for lists.
//
// [Store.Commit] is the only write. It appends all entries of a change or none, and only if the journal still ends at the
// entry that the change was computed on. [Memory] keeps debates while the process lives. The packages sqlite and postgres
// keep them in databases. To write a store, implement [Store] and test it with the package storetest.
package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/transcript"
)

// Format is the newest format of journals that this version reads and writes.
const Format = 2

// Entry is one durable fact about a debate.
type Entry struct {
	Seq  int64     // 1, 2, ... within a debate
	Type string    // what Data is, such as "turn"
	Key  string    // a turn's key, unique within a debate; else empty
	At   time.Time // never before the previous entry's
	// Data is a value that encodes to JSON. It is read back as itself or as a json.RawMessage of it, and is not to be
	// changed once committed.
	Data any
}

// Status sums up one debate: what its journal amounts to.
type Status struct {
	ID          string            `json:"id"`
	Seq         int64             `json:"seq"` // of the last entry
	State       fsm.State         `json:"state"`
	Cursor      transcript.Cursor `json:"cursor"`
	MaxRounds   int               `json:"max_rounds"` // the limit, to show the cursor's round as a progress
	Ending      transcript.Ending `json:"ending,omitzero"`
	Topic       string            `json:"topic"`
	Protocol    string            `json:"protocol"` // name and version, "panel/1"
	Labels      map[string]string `json:"labels,omitempty"`
	Usage       transcript.Usage  `json:"usage"`
	RunningTime time.Duration     `json:"running_time"` // in nanoseconds; pauses do not count
	Format      int               `json:"format"`       // of the journal
	Created     time.Time         `json:"created"`
	Updated     time.Time         `json:"updated"`
	Plan        Plan              `json:"plan,omitzero"` // what may run next; zero: nothing may
}

// Plan is what may run next in a debate, for who schedules it: a job for each plan.
type Plan struct {
	Key       string        `json:"key"`                 // stays while a part of the plan is to be done, and is another afterwards
	NotBefore time.Time     `json:"not_before,omitzero"` // when it may run; zero: at once
	Timeout   time.Duration `json:"timeout,omitzero"`    // how long it takes at most, in nanoseconds: the timeout of a step
}

// clone is a head that shares nothing.
func (h Status) clone() Status {
	h.Labels = maps.Clone(h.Labels)
	return h
}

// Change is a write: entries with the numbers After+1, After+2, ..., and the head as it is after them. Without entries
// it replaces the head alone: so one that is wrong is put right. Times are in UTC and of whole microseconds.
type Change struct {
	ID      string
	After   int64 // the last entry that the change was computed on; 0 creates the debate
	Entries []Entry
	Status  Status
}

// Check says what is wrong with a change, whatever the journal holds: stores refuse it before they look.
func (c Change) Check() error {
	keys := map[string]bool{"": false}
	for i, e := range c.Entries {
		if want := c.After + 1 + int64(i); e.Seq != want {
			return fmt.Errorf("commit to debate %s: entry %d of the change is numbered %d, want %d", c.ID, i, e.Seq, want)
		}
		if keys[e.Key] {
			return fmt.Errorf("commit to debate %s: the change has turn %s twice", c.ID, e.Key)
		}
		keys[e.Key] = e.Key != ""
	}
	switch want := c.After + int64(len(c.Entries)); {
	case c.ID == "" || c.Status.ID != c.ID:
		return fmt.Errorf("commit to debate %q: the status is that of %q", c.ID, c.Status.ID)
	case want == 0 || c.After < 0:
		return fmt.Errorf("commit to debate %s: it begins with entry 1, the change has none", c.ID)
	case c.Status.Seq != want:
		return fmt.Errorf("commit to debate %s: the status is at entry %d, want %d", c.ID, c.Status.Seq, want)
	}
	return nil
}

// Store keeps debates. It is safe for concurrent use, by many processes where it is a database.
type Store interface {
	// Commit applies the change whole or not at all. It returns a *Conflict when the journal does not end at
	// c.After, or already holds a turn with one of the keys.
	Commit(ctx context.Context, c Change) error
	// Load gives the head and the entries with a seq greater than after, in order and as of one moment; ErrNotFound
	// for an unknown id. An entry that is missing between others or cannot be read is an error that names it. The
	// entries are the truth: a head that is lost or cannot be read is given as a zero one with the ID.
	Load(ctx context.Context, id string, after int64) (Status, []Entry, error)
	// List gives heads, newest first by creation and, where that is equal, by id. A debate whose head is lost is not
	// listed; a head that cannot be read is an error that names its debate, and ends the list.
	List(ctx context.Context, q Query) iter.Seq2[Status, error]
	// Delete removes a debate and its journal; ErrNotFound for an unknown id.
	Delete(ctx context.Context, id string) error
}

// Watcher is an optional power of a store: to tell at once of commits, whoever made them.
type Watcher interface {
	// Watch arranges for wake to be called after each commit of entries to the debate, with the seq of the last one, and
	// with 0 after its deletion, until stop is called; a call that is under way then may still come. What follows in
	// quick succession may be told once, and what stood before may be told too. wake may be called on any goroutine and out of order, must not block and must
	// not call the store.
	Watch(id string, wake func(last int64)) (stop func())
}

// Scheduler is an optional power of a store: to have workers run what a committed head's Plan says. Engine.Start leaves
// the driving to them.
type Scheduler interface {
	// Schedules says whether workers drive.
	Schedules() bool
}

// Query selects debates; the zero Query selects all.
type Query struct {
	States []fsm.State       // any of them; empty: all
	Labels map[string]string // all of them, with these values
	Before time.Time         // created before; zero: any time
	// BeforeID selects, of those that were created at Before, the ones with a lesser id. With Before and BeforeID as
	// Created and ID of a page's last head a query gives the next page.
	BeforeID string
	Limit    int // at most so many; 0: no limit
}

// Matches says whether the query selects the head, Limit apart.
func (q Query) Matches(h Status) bool {
	if !q.Before.IsZero() && !h.Created.Before(q.Before) && (!h.Created.Equal(q.Before) || h.ID >= q.BeforeID) {
		return false
	}
	for k, v := range q.Labels {
		if got, ok := h.Labels[k]; !ok || got != v {
			return false
		}
	}
	return len(q.States) == 0 || slices.Contains(q.States, h.State)
}

// ErrNotFound says that the store has no debate of that id.
var ErrNotFound = errors.New("no such debate")

// Conflict says that another writer was first. The loser loads what is new and decides again.
type Conflict struct {
	ID      string
	After   int64  // what the change was computed on
	LastSeq int64  // where the journal ends
	Key     string // of the turn that stands already; empty where only the version differs
}

// Error says what stands.
func (c *Conflict) Error() string {
	if c.Key != "" {
		return fmt.Sprintf("commit to debate %s: turn %s stands already", c.ID, c.Key)
	}
	return fmt.Sprintf("commit to debate %s: computed on entry %d, the journal ends at %d", c.ID, c.After, c.LastSeq)
}

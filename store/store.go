// Package store keeps debates: for each an append-only journal, and a head that sums it up.
//
// The journal is the truth. [Store.Commit] is the only write: it appends entries whole or not at all, and only where the
// journal still ends at the entry that the change was computed on. The head is a cache of what the journal says, kept
// for lists. [Memory] keeps debates for as long as the process lives.
package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/transcript"
)

// Format is the newest format of journals that this version reads and writes.
const Format = 1

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

// Head sums up one debate: what its journal amounts to.
type Head struct {
	ID       string            `json:"id"`
	Seq      int64             `json:"seq"` // of the last entry
	State    fsm.State         `json:"state"`
	Cursor   transcript.Cursor `json:"cursor"`
	Rounds   int               `json:"rounds"` // the limit, to show the cursor's round as a progress
	Ending   transcript.Ending `json:"ending,omitzero"`
	Topic    string            `json:"topic"`
	Protocol string            `json:"protocol"` // name and version, "panel/1"
	Labels   map[string]string `json:"labels,omitempty"`
	Usage    transcript.Usage  `json:"usage"`
	Running  time.Duration     `json:"running"` // in nanoseconds; pauses do not count
	Format   int               `json:"format"`  // of the journal
	Created  time.Time         `json:"created"`
	Updated  time.Time         `json:"updated"`
}

// Change is a write: entries with the numbers After+1, After+2, ..., and the head as it is after them.
type Change struct {
	ID      string
	After   int64 // the last entry that the change was computed on; 0 creates the debate
	Entries []Entry
	Head    Head
}

// Store keeps debates. It is safe for concurrent use, by many processes where it is a database.
type Store interface {
	// Commit applies the change whole or not at all. It returns a *Conflict when the journal does not end at
	// c.After, or already holds a turn with one of the keys.
	Commit(ctx context.Context, c Change) error
	// Load gives the head and the entries with a seq greater than after, in order; ErrNotFound for an unknown id.
	Load(ctx context.Context, id string, after int64) (Head, []Entry, error)
	// List gives heads, newest first by creation and, where that is equal, by id.
	List(ctx context.Context, q Query) iter.Seq2[Head, error]
	// Delete removes a debate and its journal; ErrNotFound for an unknown id.
	Delete(ctx context.Context, id string) error
}

// Watcher is an optional power of a store: to tell at once of commits, whoever made them.
type Watcher interface {
	// Watch arranges for wake to be called after each commit to the debate, with the seq of the last entry, until stop
	// is called; one that is under way then may still come. wake may be called on any goroutine and out of order, must
	// not block and must not call the store.
	Watch(id string, wake func(last int64)) (stop func())
}

// Query selects debates; the zero Query selects all.
type Query struct {
	States []fsm.State       // any of them; empty: all
	Labels map[string]string // all of them, with these values
	Before time.Time         // created before; zero: any time
	Limit  int               // at most so many; 0: no limit
}

// Match says whether the query selects the head, Limit apart.
func (q Query) Match(h Head) bool {
	if !q.Before.IsZero() && !h.Created.Before(q.Before) {
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
	ID    string
	After int64  // what the change was computed on
	Last  int64  // where the journal ends
	Key   string // of the turn that stands already; empty where only the version differs
}

// Error says what stands.
func (c *Conflict) Error() string {
	if c.Key != "" {
		return fmt.Sprintf("commit to debate %s: turn %s stands already", c.ID, c.Key)
	}
	return fmt.Sprintf("commit to debate %s: computed on entry %d, the journal ends at %d", c.ID, c.After, c.Last)
}

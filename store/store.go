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
// A store keeps an append-only journal and a [Status] for each debate. The journal is authoritative. The status is a
// cache of it, so that lists do not have to read journals.
//
// [Store.Commit] is the only write. It appends all entries of a change or none, and only if the journal still ends at
// the entry that the change was computed on. [Memory] keeps debates until the process exits. The packages sqlite and
// postgres keep them in databases. To write a store, implement [Store] and test it with the package storetest.
package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/transcript"
)

// Format is the number of the format of journals that this version of the library reads and writes. It rises whenever an entry can
// have a field that it did not have before, or a field has another meaning. A configuration, and so the first entry of a journal, has
// the number. An engine leaves a journal with a higher number alone; see debate.NewerFormat.
const Format = 1

// Entry is one durable fact about a debate.
type Entry struct {
	Seq  int64     // position in the journal: 1, 2, ...
	Type string    // kind of Data, such as "turn"
	Key  string    // key of the turn, unique within a debate; empty if the entry is not a turn
	At   time.Time // not before the previous entry's time
	// Data encodes to JSON. Do not change it after the commit. Load returns either the value itself or its encoding
	// as a json.RawMessage.
	Data any
}

// castagnoli is the table of CRC-32C.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C of everything that is stored of an entry of a debate. data is the stored text of e.Data, and
// the other fields of e are those that are stored too. Stores keep it beside the entry. It shows damage by a disk, but
// whoever changes an entry on purpose can compute it too.
func (e Entry) Checksum(debate string, data []byte) uint32 {
	b := make([]byte, 0, 128)
	for _, text := range [...]string{debate, e.Type, e.Key} {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	b = binary.AppendVarint(binary.AppendVarint(b, e.Seq), e.At.UnixMicro())
	return crc32.Update(crc32.Checksum(b, castagnoli), castagnoli, data)
}

// Verify returns a *Damaged if an entry of a debate does not have the checksum that is stored beside it.
func (e Entry) Verify(debate string, data []byte, sum uint32) error {
	if e.Checksum(debate, data) == sum {
		return nil
	}
	return &Damaged{ID: debate, Seq: e.Seq, Err: errors.New("it does not match its checksum: restore the debate from a backup")}
}

// Status summarizes the journal of one debate.
type Status struct {
	ID        string            `json:"id"`
	Seq       int64             `json:"seq"` // seq of the last entry
	State     fsm.State         `json:"state"`
	Cursor    transcript.Cursor `json:"cursor"`
	MaxRounds int               `json:"max_rounds"` // round limit, for viewers that show progress
	Ending    transcript.Ending `json:"ending,omitzero"`
	// FailureKind is the kind of the failure that stopped the debate, such as "rate_limit". It is "rejected" if the last
	// start of the debate was refused. It is empty if no failure stopped the debate, or after a retry. The kinds of failed
	// calls are those of providers.ErrorKind.
	FailureKind  string            `json:"failure_kind,omitempty"`
	FailureCause string            `json:"failure_cause,omitempty"` // text of the failure's error, at most 500 bytes
	Problems     []string          `json:"problems,omitempty"`      // why the last start was refused; empty if it was not
	Waiting      []string          `json:"waiting,omitempty"`       // names of the people whose replies the debate waits for
	Parent       transcript.Parent `json:"parent,omitzero"`         // debate that this one is a fork of; zero if it is none
	Signed       bool              `json:"signed,omitempty"`        // the debate has ended, and its engine has signed it
	Topic        string            `json:"topic"`
	Protocol     string            `json:"protocol"` // name and version, such as "panel/1"
	Labels       map[string]string `json:"labels,omitempty"`
	Usage        transcript.Usage  `json:"usage"`
	RunningTime  time.Duration     `json:"running_time"` // in nanoseconds, pauses excluded
	Format       int               `json:"format"`       // of the journal, see [Format]
	Created      time.Time         `json:"created"`
	Updated      time.Time         `json:"updated"`
	Plan         Plan              `json:"plan,omitzero"` // work that may run next; zero if there is none
	// Driver is the last heartbeat of the debate's driver. It is zero if nobody drives the debate or the store keeps no
	// heartbeats. It is not part of the stored status: Commit ignores it. See [Heartbeats].
	Driver Heartbeat `json:"driver,omitzero"`
}

// Plan describes the work that may run next in a debate. Workers run one job for each plan.
type Plan struct {
	Key       string        `json:"key"`                 // identifies the plan; changes when all its steps are done
	NotBefore time.Time     `json:"not_before,omitzero"` // earliest start; zero if the plan may run at once
	Timeout   time.Duration `json:"timeout,omitzero"`    // longest time that the plan takes, in nanoseconds
}

// clone returns a copy of h that shares no memory with it.
func (h Status) clone() Status {
	h.Labels = maps.Clone(h.Labels)
	h.Problems = slices.Clone(h.Problems)
	h.Driver.Missing = slices.Clone(h.Driver.Missing)
	h.Waiting = slices.Clone(h.Waiting)
	return h
}

// Change is a write to one debate. It appends entries numbered After+1, After+2, and so on, and replaces the status.
// A change without entries replaces only the status, to repair one that does not match the journal. Times are in UTC
// and in whole microseconds.
type Change struct {
	ID      string
	After   int64 // seq of the last entry that the change was computed on; 0 creates the debate
	Entries []Entry
	Status  Status // status after the last entry
}

// Check returns an error if the change is malformed, whatever the journal contains. Every store calls it first.
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
		return fmt.Errorf("commit to debate %q: the status has the id %q", c.ID, c.Status.ID)
	case want == 0 || c.After < 0:
		return fmt.Errorf("commit to debate %s: a new debate needs After 0 and at least one entry", c.ID)
	case c.Status.Seq != want:
		return fmt.Errorf("commit to debate %s: the status is at entry %d, want %d", c.ID, c.Status.Seq, want)
	}
	return nil
}

// Store keeps debates. It is safe for concurrent use. A store on a database is also safe for use by many processes.
type Store interface {
	// Commit applies the whole change or nothing. It returns a *Conflict if the journal does not end at c.After or
	// already has a turn with one of the keys.
	Commit(ctx context.Context, c Change) error
	// Load returns the status and, in order, the entries with a seq greater than after, all from one consistent
	// snapshot. For an unknown id it returns ErrNotFound. If an entry is missing, unreadable or not as it was committed, it
	// returns a *Damaged.
	// If the status is missing or unreadable, Load returns a status that has only the ID, because the entries are
	// authoritative.
	Load(ctx context.Context, id string, after int64) (Status, []Entry, error)
	// List yields statuses, newest first by Created, then by descending ID. It skips debates whose status is
	// missing. If a status is unreadable, List yields a status that has only the ID, with an error, and goes on. Any other
	// error ends the list and comes without an ID.
	List(ctx context.Context, q Query) iter.Seq2[Status, error]
	// Count returns the number of debates that a query selects, by state. It ignores Limit. It omits states without
	// debates, and counts a debate whose status is unreadable by what was last known of it.
	Count(ctx context.Context, q Query) (map[fsm.State]int, error)
	// Delete removes a debate and its journal. If last is not 0, it does so only if the journal ends at the entry
	// last, and otherwise returns a *Conflict. For an unknown id it returns ErrNotFound.
	Delete(ctx context.Context, id string, last int64) error
}

// Watcher is an optional interface of a store that reports commits at once, whichever process made them.
type Watcher interface {
	// Watch calls wake after each commit of entries to the debate, with the seq of the last entry, and with 0 after
	// the debate is deleted. It does so until stop is called; a call already in progress may still finish after that.
	// Several commits in quick succession may cause one call, and an entry committed before Watch may cause a call
	// too. wake is called on any goroutine and possibly out of order. It must not block and must not call the store.
	Watch(id string, wake func(last int64)) (stop func())
}

// Scheduler is an optional interface of a store that has workers run the Plan of each committed status. With such a
// store, Engine.Start leaves running the debate to the workers.
type Scheduler interface {
	// Schedules reports whether workers run the debates.
	Schedules() bool
}

// Query selects debates. The zero Query selects all of them. A query with several conditions selects the debates that
// meet all of them. Times are compared in whole microseconds.
type Query struct {
	States       []fsm.State          // debates in any of these states; all states if empty
	Outcomes     []transcript.Outcome // debates that ended with any of these outcomes
	FailureKinds []string             // debates that a failure of any of these kinds stopped, see Status.FailureKind
	Labels       map[string]string    // debates that have all these labels, with these values
	Waiting      string               // debates that wait for the reply of the person with this name; all if empty
	Parent       string               // forks of the debate with this ID, but not forks of these; all debates if empty

	CreatedSince  time.Time // debates created at this time or later; any time if zero
	CreatedBefore time.Time // debates created before this time; any time if zero
	UpdatedSince  time.Time // debates updated at this time or later; any time if zero
	UpdatedBefore time.Time // debates created and updated before this time; any time if zero

	// BeforeID additionally selects debates created exactly at CreatedBefore whose ID is less than BeforeID. To get
	// the next page, set CreatedBefore and BeforeID to Created and ID of the last status of a page.
	BeforeID string
	Limit    int // largest number of debates; no limit if 0
}

// Matches reports whether the query selects a debate with the status h. It ignores Limit.
func (q Query) Matches(h Status) bool { return q.matches(&h) }

func (q *Query) matches(h *Status) bool {
	if !contains(q.States, h.State) || !contains(q.Outcomes, h.Ending.Outcome) || !contains(q.FailureKinds, h.FailureKind) {
		return false
	}
	for k, v := range q.Labels {
		if got, ok := h.Labels[k]; !ok || got != v {
			return false
		}
	}
	if q.Waiting != "" && !slices.Contains(h.Waiting, q.Waiting) || q.Parent != "" && h.Parent.ID != q.Parent {
		return false
	}
	before, id := q.Start()
	if h.Created.Equal(before) && h.ID < id {
		before = time.Time{} // the debate is on the next page
	}
	return within(q.CreatedSince, before, h.Created) && within(q.UpdatedSince, q.UpdatedBefore, h.Updated)
}

// Start returns where a list of the query begins: with the debates created before a time, and with those created exactly then
// whose ID is less than id. The time is zero if the list begins with the newest debate. Stores call it, so that they do not read
// debates that were created after UpdatedBefore.
func (q Query) Start() (before time.Time, id string) {
	if at := q.UpdatedBefore; !at.IsZero() && (q.CreatedBefore.IsZero() || at.Before(q.CreatedBefore)) {
		return at, ""
	}
	return q.CreatedBefore, q.BeforeID
}

// contains reports whether list contains v or is empty.
func contains[T comparable](list []T, v T) bool { return len(list) == 0 || slices.Contains(list, v) }

// within reports whether at is not before since, and is before the time before. A zero time is no limit.
func within(since, before, at time.Time) bool {
	return !at.Before(since) && (before.IsZero() || at.Before(before))
}

// Delete deletes the debates of s that the query selects, and returns their number. It leaves alone a debate that
// changes after it was selected. To keep debates for 30 days after their last change, call it regularly:
//
//	q := store.Query{States: []fsm.State{fsm.Completed, fsm.Canceled}, UpdatedBefore: time.Now().AddDate(0, 0, -30)}
//	_, err := q.Delete(ctx, s)
//
// Each debate is deleted on its own. If a deletion fails, Delete returns the number deleted so far. It goes on after a debate whose
// status cannot be read, leaves it alone, and returns its error at the end.
func (q Query) Delete(ctx context.Context, s Store) (n int, err error) {
	var unreadable []error
	for h, err := range s.List(ctx, q) {
		if err != nil && h.ID != "" {
			unreadable = append(unreadable, err)
			continue
		}
		if err == nil {
			err = s.Delete(ctx, h.ID, h.Seq)
		}
		if _, changed := errors.AsType[*Conflict](err); changed || errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return n, errors.Join(append(unreadable, err)...)
		}
		n++
	}
	return n, errors.Join(unreadable...)
}

// Totals are sums over debates.
type Totals struct {
	Debates     int              `json:"debates"`
	Usage       transcript.Usage `json:"usage"`        // includes failed steps; forks repeat what they have from their parents
	RunningTime time.Duration    `json:"running_time"` // in nanoseconds, pauses excluded
}

// TotalsBy adds up the debates of s that the query selects, by the value of a label. Those without the label are under "". It
// goes on after a debate whose status cannot be read, leaves it out, and returns its error at the end.
func (q Query) TotalsBy(ctx context.Context, s Store, label string) (map[string]Totals, error) {
	sums := map[string]Totals{}
	var unreadable []error
	for h, err := range s.List(ctx, q) {
		switch {
		case err != nil && h.ID != "":
			unreadable = append(unreadable, err)
		case err != nil:
			return sums, errors.Join(append(unreadable, err)...)
		default:
			sum := sums[h.Labels[label]]
			sum.Debates++
			sum.Usage = sum.Usage.Add(h.Usage)
			sum.RunningTime += h.RunningTime
			sums[h.Labels[label]] = sum
		}
	}
	return sums, errors.Join(unreadable...)
}

// ErrNotFound is returned if the store has no debate with the given ID.
var ErrNotFound = errors.New("no such debate")

// ErrUnavailable is returned if the store cannot be reached or cannot be written at the moment, for example because its disk
// is full. The same call may succeed later.
var ErrUnavailable = errors.New("the store is not available")

// Conflict is returned if another writer committed first. Load the new entries and decide again. An engine does that
// itself, but returns the Conflict if it does not help.
type Conflict struct {
	ID      string
	After   int64  // seq that the change or deletion was computed on
	LastSeq int64  // seq of the last entry of the journal
	Key     string // key of the turn that the journal already has; empty if only After was outdated
}

// Error names the turn that already exists, or the end of the journal.
func (c *Conflict) Error() string {
	if c.Key != "" {
		return fmt.Sprintf("change debate %s: turn %s already exists", c.ID, c.Key)
	}
	return fmt.Sprintf("change debate %s: computed on entry %d, but the journal ends at entry %d", c.ID, c.After, c.LastSeq)
}

// Damaged is returned if a debate cannot be read because one of its entries is missing, damaged or forged.
type Damaged struct {
	ID  string // empty if it is not known
	Seq int64  // seq of the first entry that cannot be read
	Err error  // what is wrong with it; it may quote the entry
}

// Error names the entry and says what is wrong with it.
func (d *Damaged) Error() string {
	if d.ID == "" {
		return fmt.Sprintf("read entry %d: %v", d.Seq, d.Err)
	}
	return fmt.Sprintf("read entry %d of debate %s: %v", d.Seq, d.ID, d.Err)
}

// Unwrap returns what is wrong with the entry.
func (d *Damaged) Unwrap() error { return d.Err }

// Watched returns a store that can be watched: s itself if it is a Watcher, or else a wrapper that polls s every
// second.
func Watched(s Store) interface {
	Store
	Watcher
} {
	if w, ok := s.(interface {
		Store
		Watcher
	}); ok {
		return w
	}
	return polled{s}
}

// polled adds Watch to a store by polling it.
type polled struct{ Store }

const pollEvery = time.Second

// Watch implements [Watcher].
func (p polled) Watch(id string, wake func(last int64)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	go p.poll(ctx, id, wake)
	return cancel
}

func (p polled) poll(ctx context.Context, id string, wake func(last int64)) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for last := int64(-1); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		status, _, err := p.Load(ctx, id, last)
		if gone := errors.Is(err, ErrNotFound); (err == nil || gone) && status.Seq != last {
			last = status.Seq // 0 if the debate was deleted
			wake(last)
		}
	}
}

// Heartbeat is the last that a driver has said about a debate. It is advice for people and for other drivers. It does
// not keep other drivers from committing.
type Heartbeat struct {
	Name string    `json:"name"`        // name of the driver, which is usually a process
	At   time.Time `json:"at,omitzero"` // when it said so; zero if it has stopped driving a debate that is not over
	// Missing lists what the driver lacks to drive the debate, such as a provider. If it is empty, the driver drives it.
	Missing []string `json:"missing,omitempty"`
}

// Heartbeats is an optional interface of a store that keeps the last heartbeat for each debate. Load and List return it
// in Status.Driver. Heartbeats are not part of the journal: they have no seq and wake no watchers. A store may lose
// them.
type Heartbeats interface {
	// Beat stores h for each of the debates, except where a heartbeat of another driver is newer than since and
	// misses nothing. It returns the debates for which it has stored h, in any order. It ignores unknown debates.
	Beat(ctx context.Context, h Heartbeat, since time.Time, ids ...string) (stored []string, err error)
	// Forget removes the heartbeats of a driver for the given debates. It ignores those of other drivers.
	Forget(ctx context.Context, driver string, ids ...string) error
}

// yieldsTo reports whether a newer heartbeat replaces h; see [Heartbeats].
func (h Heartbeat) yieldsTo(newer Heartbeat, since time.Time) bool {
	return h.Name == newer.Name || len(h.Missing) > 0 || !h.At.After(since)
}

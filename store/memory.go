package store

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/elenchus-go/debate/fsm"
)

// Memory returns a store that keeps debates until the process exits. The store is a [Watcher] and keeps [Heartbeats].
func Memory() Store {
	return &memory{debates: map[string]*journal{}, watchers: map[string][]*watcher{}}
}

type memory struct {
	mu       sync.RWMutex
	debates  map[string]*journal
	newest   []*journal            // of all debates, the newest last
	watchers map[string][]*watcher // of debates that exist or may come to; the lists never change, but are replaced
}

type journal struct {
	status  Status // without Driver
	driver  Heartbeat
	entries []Entry
	keys    map[string]struct{}
}

// place returns where the debate stands in lists.
func (j *journal) place() place { return place{j.status.Created, j.status.ID} }

// current returns a copy of the status, with the last heartbeat.
func (j *journal) current() Status {
	h := j.status
	h.Driver = j.driver
	return h.clone()
}

func (m *memory) Commit(ctx context.Context, c Change) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("commit to debate %s: %w", c.ID, err)
	}
	m.mu.Lock()
	err := m.append(c)
	m.mu.Unlock()
	if err == nil && len(c.Entries) > 0 {
		m.notify(c.ID, c.Status.Seq)
	}
	return err
}

// notify wakes the watchers of a debate.
func (m *memory) notify(id string, last int64) {
	m.mu.RLock()
	watchers := m.watchers[id]
	m.mu.RUnlock()
	for _, w := range watchers {
		w.wake(last)
	}
}

func (m *memory) append(c Change) error {
	j := m.debates[c.ID]
	if j == nil {
		j = &journal{entries: make([]Entry, 0, 48)} // most debates have dozens
	}
	if err := j.check(c); err != nil {
		return err
	}
	for _, e := range c.Entries {
		if e.Key == "" {
			continue
		}
		if j.keys == nil {
			j.keys = map[string]struct{}{}
		}
		j.keys[e.Key] = struct{}{}
	}
	known, moves := m.debates[c.ID] != nil, !j.status.Created.Equal(c.Status.Created)
	if known && moves {
		m.unlist(j)
	}
	j.entries, j.status = append(j.entries, c.Entries...), c.Status.clone()
	j.status.Driver = Heartbeat{}
	m.debates[c.ID] = j
	if !known || moves {
		at := m.find(j.place())
		m.newest = slices.Insert(m.newest, at, j)
	}
	return nil
}

// unlist removes a debate from the list.
func (m *memory) unlist(j *journal) {
	at := m.find(j.place())
	m.newest = slices.Delete(m.newest, at, at+1)
}

// A place is where a debate stands in lists.
type place struct {
	created time.Time
	id      string
}

func (p place) compare(q place) int {
	return cmp.Or(p.created.Compare(q.created), cmp.Compare(p.id, q.id))
}

// find returns the index in newest of the first debate that is not before p.
func (m *memory) find(p place) int {
	at, _ := slices.BinarySearchFunc(m.newest, p, func(j *journal, p place) int { return j.place().compare(p) })
	return at
}

func (j *journal) check(c Change) error {
	if err := c.Check(); err != nil {
		return err
	}
	last := int64(len(j.entries))
	for _, e := range c.Entries {
		if _, dup := j.keys[e.Key]; dup {
			return &Conflict{ID: c.ID, After: c.After, LastSeq: last, Key: e.Key}
		}
	}
	if c.After != last {
		return &Conflict{ID: c.ID, After: c.After, LastSeq: last}
	}
	return nil
}

func (m *memory) Load(ctx context.Context, id string, after int64) (Status, []Entry, error) {
	if err := ctx.Err(); err != nil {
		return Status{}, nil, fmt.Errorf("load debate %s: %w", id, err)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	j := m.debates[id]
	if j == nil {
		return Status{}, nil, fmt.Errorf("load debate %s: %w", id, ErrNotFound)
	}
	after = min(max(after, 0), int64(len(j.entries)))
	return j.current(), slices.Clone(j.entries[after:]), nil
}

// pageSize is the number of statuses that List reads at a time. It holds no lock between pages, so that the loop body may
// use the store.
const pageSize = 200

func (m *memory) List(ctx context.Context, q Query) iter.Seq2[Status, error] {
	return func(yield func(Status, error) bool) {
		var page []Status
		var last *place
		left := q.Limit
		for more := true; more; {
			if err := ctx.Err(); err != nil {
				yield(Status{}, fmt.Errorf("list debates: %w", err))
				return
			}
			most := pageSize
			if q.Limit > 0 {
				most = min(left, pageSize)
			}
			page, last, more = m.page(page[:0], q, last, most)
			for _, h := range page {
				if !yield(h, nil) {
					return
				}
			}
			left -= len(page)
			more = more && (q.Limit <= 0 || left > 0)
		}
	}
}

// page appends the first debates that a query selects, after the place where the last page ended, and at most that many.
// It returns where this page ends, and whether there may be more.
func (m *memory) page(page []Status, q Query, last *place, most int) (_ []Status, end *place, more bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	at := m.start(q)
	if last != nil {
		at = m.find(*last)
	}
	for at--; at >= 0 && len(page) < most; at-- {
		if j := m.newest[at]; q.matches(&j.status) {
			page = append(page, j.current())
		}
	}
	if at < 0 {
		return page, nil, false
	}
	return page, new(m.newest[at+1].place()), true
}

// start returns the index after the first debate in newest that a query may select.
func (m *memory) start(q Query) int {
	before, id := q.Start()
	if before.IsZero() {
		return len(m.newest)
	}
	at := m.find(place{before, id})
	return at
}

func (m *memory) Count(ctx context.Context, q Query) (map[fsm.State]int, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("count debates: %w", err)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	counts := map[fsm.State]int{}
	for _, j := range m.newest[:m.start(q)] {
		if q.matches(&j.status) {
			counts[j.status.State]++
		}
	}
	return counts, nil
}

func (m *memory) Delete(ctx context.Context, id string, last int64) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("delete debate %s: %w", id, err)
	}
	if err := m.remove(id, last); err != nil {
		return err
	}
	m.notify(id, 0)
	return nil
}

func (m *memory) remove(id string, last int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	j := m.debates[id]
	if j == nil {
		return fmt.Errorf("delete debate %s: %w", id, ErrNotFound)
	}
	if end := int64(len(j.entries)); last != 0 && last != end {
		return &Conflict{ID: id, After: last, LastSeq: end}
	}
	delete(m.debates, id)
	m.unlist(j)
	return nil
}

// Watch implements [Watcher].
func (m *memory) Watch(id string, wake func(last int64)) (stop func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := &watcher{wake}
	m.watchers[id] = append(slices.Clip(m.watchers[id]), w)
	return func() { m.unwatch(id, w) }
}

// watcher is one call of Watch.
type watcher struct{ wake func(last int64) }

func (m *memory) unwatch(id string, w *watcher) {
	m.mu.Lock()
	defer m.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(m.watchers[id]), func(other *watcher) bool { return other == w })
	m.watchers[id] = left
	if len(left) == 0 {
		delete(m.watchers, id)
	}
}

// Beat implements [Heartbeats].
func (m *memory) Beat(ctx context.Context, h Heartbeat, since time.Time, ids ...string) (stored []string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	h.Missing = slices.Clone(h.Missing)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids {
		if j := m.debates[id]; j != nil && j.driver.yieldsTo(h, since) {
			j.driver = h
			stored = append(stored, id)
		}
	}
	return stored, nil
}

// Forget implements [Heartbeats].
func (m *memory) Forget(ctx context.Context, driver string, ids ...string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids {
		if j := m.debates[id]; j != nil && j.driver.Name == driver {
			j.driver = Heartbeat{}
		}
	}
	return nil
}

package store

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
)

// Memory is a store for as long as the process lives. It is a [Watcher].
func Memory() Store {
	return &memory{debates: map[string]*journal{}, wakes: map[string]map[int]func(int64){}}
}

type memory struct {
	mu      sync.RWMutex
	debates map[string]*journal
	wakes   map[string]map[int]func(int64) // of debates that exist or may come to
	next    int
}

type journal struct {
	head    Head
	entries []Entry
	keys    map[string]struct{}
}

func (m *memory) Commit(ctx context.Context, c Change) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("commit to debate %s: %w", c.ID, err)
	}
	m.mu.Lock()
	err := m.append(c)
	wakes := slices.Collect(maps.Values(m.wakes[c.ID]))
	m.mu.Unlock()
	if err != nil {
		return err
	}
	for _, wake := range wakes {
		wake(c.After + int64(len(c.Entries)))
	}
	return nil
}

func (m *memory) append(c Change) error {
	j := m.debates[c.ID]
	if j == nil {
		j = &journal{keys: map[string]struct{}{}}
	}
	if err := j.check(c); err != nil {
		return err
	}
	for _, e := range c.Entries {
		if e.Key != "" {
			j.keys[e.Key] = struct{}{}
		}
	}
	j.entries, j.head = append(j.entries, c.Entries...), c.Head
	m.debates[c.ID] = j
	return nil
}

func (j *journal) check(c Change) error {
	last := int64(len(j.entries))
	for i, e := range c.Entries {
		_, dup := j.keys[e.Key]
		if e.Key != "" && (dup || slices.ContainsFunc(c.Entries[:i], func(f Entry) bool { return f.Key == e.Key })) {
			return &Conflict{ID: c.ID, After: c.After, Last: last, Key: e.Key}
		}
		if want := c.After + 1 + int64(i); e.Seq != want {
			return fmt.Errorf("commit to debate %s: entry %d is numbered %d, want %d", c.ID, i, e.Seq, want)
		}
	}
	if c.After != last {
		return &Conflict{ID: c.ID, After: c.After, Last: last}
	}
	return nil
}

func (m *memory) Load(_ context.Context, id string, after int64) (Head, []Entry, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	j := m.debates[id]
	if j == nil {
		return Head{}, nil, fmt.Errorf("load debate %q: %w", id, ErrNotFound)
	}
	after = min(max(after, 0), int64(len(j.entries)))
	return j.head, j.entries[after:len(j.entries):len(j.entries)], nil
}

func (m *memory) List(_ context.Context, q Query) iter.Seq2[Head, error] {
	return func(yield func(Head, error) bool) {
		for i, h := range m.heads(q) {
			if q.Limit > 0 && i == q.Limit || !yield(h, nil) {
				return
			}
		}
	}
}

func (m *memory) heads(q Query) (found []Head) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, j := range m.debates {
		if q.Match(j.head) {
			found = append(found, j.head)
		}
	}
	slices.SortFunc(found, func(a, b Head) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.ID, a.ID))
	})
	return found
}

func (m *memory) Delete(_ context.Context, id string) error {
	m.mu.Lock()
	_, found := m.debates[id]
	delete(m.debates, id)
	m.mu.Unlock()
	if !found {
		return fmt.Errorf("delete debate %q: %w", id, ErrNotFound)
	}
	return nil
}

// Watch implements [Watcher].
func (m *memory) Watch(id string, wake func(last int64)) (stop func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next++
	n := m.next
	if m.wakes[id] == nil {
		m.wakes[id] = map[int]func(int64){}
	}
	m.wakes[id][n] = wake
	return func() { m.unwatch(id, n) }
}

func (m *memory) unwatch(id string, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.wakes[id], n)
	if len(m.wakes[id]) == 0 {
		delete(m.wakes, id)
	}
}

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
	m.mu.Unlock()
	if err == nil && len(c.Entries) > 0 {
		m.tell(c.ID, c.Head.Seq)
	}
	return err
}

// tell wakes who watches a debate.
func (m *memory) tell(id string, last int64) {
	m.mu.RLock()
	wakes := slices.Collect(maps.Values(m.wakes[id]))
	m.mu.RUnlock()
	for _, wake := range wakes {
		wake(last)
	}
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
	j.entries, j.head = append(j.entries, c.Entries...), c.Head.clone()
	m.debates[c.ID] = j
	return nil
}

func (j *journal) check(c Change) error {
	if err := c.Check(); err != nil {
		return err
	}
	last := int64(len(j.entries))
	for _, e := range c.Entries {
		if _, dup := j.keys[e.Key]; dup {
			return &Conflict{ID: c.ID, After: c.After, Last: last, Key: e.Key}
		}
	}
	if c.After != last {
		return &Conflict{ID: c.ID, After: c.After, Last: last}
	}
	return nil
}

func (m *memory) Load(ctx context.Context, id string, after int64) (Head, []Entry, error) {
	if err := ctx.Err(); err != nil {
		return Head{}, nil, fmt.Errorf("load debate %s: %w", id, err)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	j := m.debates[id]
	if j == nil {
		return Head{}, nil, fmt.Errorf("load debate %s: %w", id, ErrNotFound)
	}
	after = min(max(after, 0), int64(len(j.entries)))
	return j.head.clone(), slices.Clone(j.entries[after:]), nil
}

func (m *memory) List(ctx context.Context, q Query) iter.Seq2[Head, error] {
	return func(yield func(Head, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(Head{}, fmt.Errorf("list debates: %w", err))
			return
		}
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
			found = append(found, j.head.clone())
		}
	}
	slices.SortFunc(found, func(a, b Head) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.ID, a.ID))
	})
	return found
}

func (m *memory) Delete(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("delete debate %s: %w", id, err)
	}
	m.mu.Lock()
	_, found := m.debates[id]
	delete(m.debates, id)
	m.mu.Unlock()
	if !found {
		return fmt.Errorf("delete debate %s: %w", id, ErrNotFound)
	}
	m.tell(id, 0)
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

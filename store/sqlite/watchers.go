package sqlite

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// watchers are who watches, and what they know.
type watchers struct {
	mu          sync.Mutex
	byDebate    map[string]*subscription // by the debate's id
	lastID      int
	stopPolling context.CancelFunc // of the goroutine that polls; nil: none does
	pollers     sync.WaitGroup
	closed      bool
}

type subscription struct {
	last      entryRef // what was told last, or stood already when the watching began
	callbacks map[int]func(last int64)
}

func (w *watchers) remove(id string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byDebate[id] == nil {
		return
	}
	delete(w.byDebate[id].callbacks, n)
	if len(w.byDebate[id].callbacks) == 0 {
		delete(w.byDebate, id)
	}
	if len(w.byDebate) == 0 && w.stopPolling != nil {
		w.stopPolling()
		w.stopPolling = nil
	}
}

func (w *watchers) close() {
	w.mu.Lock()
	w.closed = true
	if w.stopPolling != nil {
		w.stopPolling()
		w.stopPolling = nil
	}
	w.mu.Unlock()
	w.pollers.Wait()
}

// notify wakes who watches a debate, where its end is news.
func (w *watchers) notify(id string, end entryRef) {
	w.mu.Lock()
	wakes := w.recordEnd(id, end)
	w.mu.Unlock()
	for _, wake := range wakes {
		wake(end.seq)
	}
}

// recordEnd notes where a debate ends, and gives whom to wake. The lock is held.
func (w *watchers) recordEnd(id string, end entryRef) []func(last int64) {
	d := w.byDebate[id]
	if d == nil || d.last == end {
		return nil
	}
	d.last = end
	return slices.Collect(maps.Values(d.callbacks))
}

package sqlite

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// watchers are who watches, and what they know.
type watchers struct {
	mu     sync.Mutex
	of     map[string]*watched // by the debate's id
	next   int
	end    context.CancelFunc // of the goroutine that polls; nil: none does
	polls  sync.WaitGroup
	closed bool
}

type watched struct {
	last  place // what was told last, or stood already when the watching began
	wakes map[int]func(last int64)
}

func (w *watchers) stop(id string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of[id] == nil {
		return
	}
	delete(w.of[id].wakes, n)
	if len(w.of[id].wakes) == 0 {
		delete(w.of, id)
	}
	if len(w.of) == 0 && w.end != nil {
		w.end()
		w.end = nil
	}
}

func (w *watchers) close() {
	w.mu.Lock()
	w.closed = true
	if w.end != nil {
		w.end()
		w.end = nil
	}
	w.mu.Unlock()
	w.polls.Wait()
}

// tell wakes who watches a debate, where its end is news.
func (w *watchers) tell(id string, end place) {
	w.mu.Lock()
	wakes := w.news(id, end)
	w.mu.Unlock()
	for _, wake := range wakes {
		wake(end.seq)
	}
}

// news notes where a debate ends, and gives whom to wake. The lock is held.
func (w *watchers) news(id string, end place) []func(last int64) {
	d := w.of[id]
	if d == nil || d.last == end {
		return nil
	}
	d.last = end
	return slices.Collect(maps.Values(d.wakes))
}

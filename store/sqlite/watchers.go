package sqlite

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// watchers holds the watch callbacks and the journal end that each debate's watchers know.
type watchers struct {
	mu          sync.Mutex
	byDebate    map[string]*subscription // by debate ID
	lastID      int
	stopPolling context.CancelFunc // stops the polling goroutine; nil if there is none
	pollers     sync.WaitGroup
	closed      bool
}

type subscription struct {
	last      entryRef // end that was reported last, or that existed when the watch began
	callbacks map[int]func(last int64)
}

// remove ends the watch n of a debate, and stops the polling if it was the last watch.
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

// close stops the polling and waits for its end.
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

// notify wakes the watchers of a debate if end is new.
func (w *watchers) notify(id string, end entryRef) {
	w.mu.Lock()
	wakes := w.recordEnd(id, end)
	w.mu.Unlock()
	for _, wake := range wakes {
		wake(end.seq)
	}
}

// recordEnd stores the end of a debate's journal and returns the callbacks to call, none if the end is not new. The
// caller holds w.mu.
func (w *watchers) recordEnd(id string, end entryRef) []func(last int64) {
	d := w.byDebate[id]
	if d == nil || d.last == end {
		return nil
	}
	d.last = end
	return slices.Collect(maps.Values(d.callbacks))
}

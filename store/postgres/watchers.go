package postgres

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// watchers are those who are told of commits. Once there was any, somebody listens for what others commit.
type watchers struct {
	mu            sync.Mutex
	byDebate      map[string]*subscription
	lastID        int
	stopListening context.CancelFunc // of who listens; nil: nobody does
	listeners     sync.WaitGroup
	closed        bool
}

// subscription is a debate that somebody watches.
type subscription struct {
	callbacks map[int]func(int64)
	lastSeq   int64 // that was told
	notified  int   // how often something was told
}

const unknownSeq = -1 // was told

func (w *watchers) add(id string, wake func(int64), listen func(context.Context)) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byDebate == nil {
		w.byDebate = map[string]*subscription{}
	}
	if w.stopListening == nil && !w.closed {
		ctx, stop := context.WithCancel(context.Background())
		w.stopListening = stop
		w.listeners.Go(func() { listen(ctx) })
	}
	d := w.byDebate[id]
	if d == nil {
		d = &subscription{callbacks: map[int]func(int64){}, lastSeq: unknownSeq}
		w.byDebate[id] = d
	}
	w.lastID++
	d.callbacks[w.lastID] = wake
	return w.lastID
}

func (w *watchers) remove(id string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.byDebate[id]
	if d == nil {
		return
	}
	if delete(d.callbacks, n); len(d.callbacks) == 0 {
		delete(w.byDebate, id)
	}
}

// close waits until nobody listens any more.
func (w *watchers) close() {
	w.mu.Lock()
	w.closed = true
	if w.stopListening != nil {
		w.stopListening()
	}
	w.mu.Unlock()
	w.listeners.Wait()
}

// notify wakes who watches a debate.
func (w *watchers) notify(id string, last int64) {
	w.mu.Lock()
	var wakes []func(int64)
	if d := w.byDebate[id]; d != nil && d.lastSeq != last {
		d.lastSeq = last
		d.notified++
		wakes = slices.Collect(maps.Values(d.callbacks))
	}
	w.mu.Unlock()
	for _, wake := range wakes {
		wake(last)
	}
}

// notifyCounts says of each watched debate how often something was told.
func (w *watchers) notifyCounts() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	news := map[string]int{}
	for id, d := range w.byDebate {
		news[id] = d.notified
	}
	return news
}

// notifyIfUnchanged tells where a journal ends, as the database said it when of the debate had been told news times. Where more was
// told since, the answer is old.
func (w *watchers) notifyIfUnchanged(id string, last int64, news int) {
	w.mu.Lock()
	d := w.byDebate[id]
	ok := d != nil && d.notified == news
	w.mu.Unlock()
	if ok {
		w.notify(id, last)
	}
}

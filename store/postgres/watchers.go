package postgres

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// watchers holds the watch callbacks. After the first Watch, one goroutine listens for the commits of others.
type watchers struct {
	mu            sync.Mutex
	byDebate      map[string]*subscription
	lastID        int
	stopListening context.CancelFunc // stops the listening goroutine; nil if there is none
	listeners     sync.WaitGroup
	closed        bool
}

// subscription holds the callbacks for one debate.
type subscription struct {
	callbacks map[int]func(int64)
	lastSeq   int64 // last seq that was reported
	notified  int   // number of reports so far
}

const unknownSeq = -1 // no seq was reported yet

// add adds a callback and returns its number. It starts listen on the first call.
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

// remove removes the callback n of a debate.
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

// close stops listening and waits until the listener has returned.
func (w *watchers) close() {
	w.mu.Lock()
	w.closed = true
	if w.stopListening != nil {
		w.stopListening()
	}
	w.mu.Unlock()
	w.listeners.Wait()
}

// notify wakes the watchers of a debate if last is new.
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

// notifyCounts returns the number of reports so far for each watched debate.
func (w *watchers) notifyCounts() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	news := map[string]int{}
	for id, d := range w.byDebate {
		news[id] = d.notified
	}
	return news
}

// notifyIfUnchanged wakes the watchers of a debate with a polled seq, if the debate's report count is still news, its
// count before the poll. After another report, the polled seq may be outdated.
func (w *watchers) notifyIfUnchanged(id string, last int64, news int) {
	w.mu.Lock()
	d := w.byDebate[id]
	ok := d != nil && d.notified == news
	w.mu.Unlock()
	if ok {
		w.notify(id, last)
	}
}

package postgres

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// watchers are those who are told of commits. Once there was any, somebody listens for what others commit.
type watchers struct {
	mu        sync.Mutex
	debates   map[string]*watched
	next      int
	stop      context.CancelFunc // of who listens; nil: nobody does
	listening sync.WaitGroup
	closed    bool
}

// watched is a debate that somebody watches.
type watched struct {
	wakes map[int]func(int64)
	last  int64 // that was told
	news  int   // how often something was told
}

const nothing = -1 // was told

func (w *watchers) add(id string, wake func(int64), listen func(context.Context)) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.debates == nil {
		w.debates = map[string]*watched{}
	}
	if w.stop == nil && !w.closed {
		ctx, stop := context.WithCancel(context.Background())
		w.stop = stop
		w.listening.Go(func() { listen(ctx) })
	}
	d := w.debates[id]
	if d == nil {
		d = &watched{wakes: map[int]func(int64){}, last: nothing}
		w.debates[id] = d
	}
	w.next++
	d.wakes[w.next] = wake
	return w.next
}

func (w *watchers) remove(id string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.debates[id]
	if d == nil {
		return
	}
	if delete(d.wakes, n); len(d.wakes) == 0 {
		delete(w.debates, id)
	}
}

// close waits until nobody listens any more.
func (w *watchers) close() {
	w.mu.Lock()
	w.closed = true
	if w.stop != nil {
		w.stop()
	}
	w.mu.Unlock()
	w.listening.Wait()
}

// tell wakes who watches a debate.
func (w *watchers) tell(id string, last int64) {
	w.mu.Lock()
	var wakes []func(int64)
	if d := w.debates[id]; d != nil && d.last != last {
		d.last = last
		d.news++
		wakes = slices.Collect(maps.Values(d.wakes))
	}
	w.mu.Unlock()
	for _, wake := range wakes {
		wake(last)
	}
}

// news says of each watched debate how often something was told.
func (w *watchers) news() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	news := map[string]int{}
	for id, d := range w.debates {
		news[id] = d.news
	}
	return news
}

// found tells where a journal ends, as the database said it when of the debate had been told news times. Where more was
// told since, the answer is old.
func (w *watchers) found(id string, last int64, news int) {
	w.mu.Lock()
	d := w.debates[id]
	ok := d != nil && d.news == news
	w.mu.Unlock()
	if ok {
		w.tell(id, last)
	}
}

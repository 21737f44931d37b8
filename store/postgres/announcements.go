package postgres

import (
	"maps"
	"sync"
)

// announcements holds what other stores have yet to be told. A goroutine sends it after the commits, because PostgreSQL
// lets only one transaction at a time notify. What is committed meanwhile is sent together.
type announcements struct {
	mu      sync.Mutex
	ends    map[string]int64 // last seq by debate, 0 for a deleted one
	sending bool
	senders sync.WaitGroup
}

// add adds the end of a debate's journal. It starts send unless it is running.
func (a *announcements) add(id string, last int64, send func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ends == nil {
		a.ends = map[string]int64{}
	}
	a.ends[id] = last
	if !a.sending {
		a.sending = true
		a.senders.Go(send)
	}
}

// take removes and returns what is to be sent. If that is nothing, send must end.
func (a *announcements) take() map[string]int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	ends := maps.Clone(a.ends)
	clear(a.ends)
	a.sending = len(ends) > 0
	return ends
}

// Package admission decides which debates an engine drives: how many at once, and each with one driver.
package admission

import (
	"slices"
	"sync"
)

// Queue admits at most Most debates at once. Others wait in order.
type Queue struct {
	Most int // 0 means no limit; set it before the first Join

	mu      sync.Mutex
	driving int
	waiting []chan struct{}
}

// Join returns a channel that is closed when a debate may be driven. The caller must call Leave.
func (q *Queue) Join() chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	turn := make(chan struct{})
	q.waiting = append(q.waiting, turn)
	q.admit()
	return turn
}

// Leave gives up a place or the wait for one.
func (q *Queue) Leave(turn chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, turn); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		return
	}
	q.driving--
	q.admit()
}

// admit closes the channels of the debates that may be driven now. The mutex is held.
func (q *Queue) admit() {
	for len(q.waiting) > 0 && (q.Most <= 0 || q.driving < q.Most) {
		close(q.waiting[0])
		q.waiting = slices.Delete(q.waiting, 0, 1)
		q.driving++
	}
}

package debate

import (
	"slices"
	"sync"
)

// admission limits how many debates an engine drives in the background at once. Others wait in order.
type admission struct {
	most int // 0 means no limit

	mu      sync.Mutex
	driving int
	waiting []chan struct{}
}

// join returns a channel that is closed when a debate may be driven. The caller must call leave.
func (a *admission) join() chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	turn := make(chan struct{})
	a.waiting = append(a.waiting, turn)
	a.admit()
	return turn
}

// leave gives up a place or the wait for one.
func (a *admission) leave(turn chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.Index(a.waiting, turn); i >= 0 {
		a.waiting = slices.Delete(a.waiting, i, i+1)
		return
	}
	a.driving--
	a.admit()
}

// admit closes the channels of the debates that may be driven now. The mutex is held.
func (a *admission) admit() {
	for len(a.waiting) > 0 && (a.most <= 0 || a.driving < a.most) {
		close(a.waiting[0])
		a.waiting = slices.Delete(a.waiting, 0, 1)
		a.driving++
	}
}

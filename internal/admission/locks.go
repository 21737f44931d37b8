package admission

import "sync"

// Locks has a lock for each debate. It keeps only those that are in use.
type Locks struct {
	mu   sync.Mutex
	list map[string]*lock
}

type lock struct {
	sync.Mutex

	users int
}

// Lock makes those who lock the same debate wait for one another until unlock is called.
func (l *Locks) Lock(id string) (unlock func()) {
	l.mu.Lock()
	own := l.list[id]
	if own == nil {
		if l.list == nil {
			l.list = map[string]*lock{}
		}
		own = &lock{}
		l.list[id] = own
	}
	own.users++
	l.mu.Unlock()
	own.Lock()
	return func() {
		own.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		own.users--
		if own.users == 0 {
			delete(l.list, id)
		}
	}
}

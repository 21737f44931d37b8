package debate

import (
	"context"
	"errors"
	"time"

	"github.com/elenchus-go/debate/store"
)

// watched is a store that can be watched: itself, or by asking it once a second.
func watched(s store.Store) interface {
	store.Store
	store.Watcher
} {
	if s == nil {
		s = store.Memory()
	}
	if w, ok := s.(interface {
		store.Store
		store.Watcher
	}); ok {
		return w
	}
	return polled{s}
}

// polled asks a store for news, since it does not tell.
type polled struct{ store.Store }

const pollEvery = time.Second

// Watch implements store.Watcher.
func (p polled) Watch(id string, wake func(last int64)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for last := int64(-1); wait(ctx, pollEvery) == nil; {
			head, _, err := p.Load(ctx, id, last)
			if gone := errors.Is(err, store.ErrNotFound); (err == nil || gone) && head.Seq != last {
				last = head.Seq // 0 where it is gone
				wake(last)
			}
		}
	}()
	return cancel
}

package store

import (
	"context"
	"errors"
	"time"
)

// Watched returns a store that can be watched: s itself if it is a Watcher, or else a wrapper that polls s every
// second.
func Watched(s Store) interface {
	Store
	Watcher
} {
	if w, ok := s.(interface {
		Store
		Watcher
	}); ok {
		return w
	}
	return polled{s}
}

// polled adds Watch to a store by polling it.
type polled struct{ Store }

const pollEvery = time.Second

// Watch implements [Watcher].
func (p polled) Watch(id string, wake func(last int64)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	go p.poll(ctx, id, wake)
	return cancel
}

func (p polled) poll(ctx context.Context, id string, wake func(last int64)) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for last := int64(-1); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		status, _, err := p.Load(ctx, id, last)
		if gone := errors.Is(err, ErrNotFound); (err == nil || gone) && status.Seq != last {
			last = status.Seq // 0 if the debate was deleted
			wake(last)
		}
	}
}

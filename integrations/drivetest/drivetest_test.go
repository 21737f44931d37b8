package drivetest_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/drivetest"
	"github.com/elenchus-go/debate/store"
)

// queue hands ids of debates to processes. It is the smallest program that passes the tests.
type queue struct {
	mu      sync.Mutex
	waiting []string
	added   chan struct{} // closed and replaced when an id is added
}

func newQueue() *queue { return &queue{added: make(chan struct{})} }

func (q *queue) add(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, id)
	close(q.added)
	q.added = make(chan struct{})
}

// take returns the next id, or false when the context ends.
func (q *queue) take(ctx context.Context) (string, bool) {
	for {
		q.mu.Lock()
		added := q.added
		if len(q.waiting) > 0 && ctx.Err() == nil {
			id := q.waiting[0]
			q.waiting = q.waiting[1:]
			q.mu.Unlock()
			return id, true
		}
		q.mu.Unlock()
		select {
		case <-added:
		case <-ctx.Done():
			return "", false
		}
	}
}

// work drives debates until the context ends.
func (q *queue) work(ctx context.Context, e *debate.Engine) {
	for id, ok := q.take(ctx); ok; id, ok = q.take(ctx) {
		again, later := drive(ctx, e, id)
		switch {
		case ctx.Err() != nil: // this process has died: another one drives the debate
			q.add(id)
		case again:
			time.AfterFunc(later, func() { q.add(id) })
		}
	}
}

// drive runs one step of a debate. It reports whether there is more to do, and when.
func drive(ctx context.Context, e *debate.Engine, id string) (again bool, later time.Duration) {
	d, err := e.Open(ctx, id)
	if err == nil {
		again, err = d.RunOnce(ctx)
	}
	var failed *debate.Failure
	var rejected *debate.Problems
	var damaged *store.Damaged
	switch {
	case err == nil:
		return again, 0
	case errors.Is(err, store.ErrNotFound), errors.As(err, &failed), errors.As(err, &rejected), errors.As(err, &damaged):
		return false, 0 // the journal says what happened; a person has to act
	}
	return true, time.Second // another process, or this one later
}

func TestAQueue(t *testing.T) {
	empty := func(t testing.TB) drivetest.System {
		q, s := newQueue(), store.Memory()
		return drivetest.System{
			Store: s,
			Start: func(t testing.TB, o debate.Options) drivetest.Process {
				o.Store = s
				e, err := debate.NewEngine(o)
				require.NoError(t, err)
				ctx, kill := context.WithCancel(context.Background())
				var working sync.WaitGroup
				working.Go(func() { q.work(ctx, e) })
				t.Cleanup(func() {
					kill()
					working.Wait()
					require.NoError(t, e.Close(context.Background()))
				})
				return drivetest.Process{Kill: func() { kill(); working.Wait() }}
			},
			Drive: func(_ testing.TB, id string) { q.add(id) },
			Sleep: time.Sleep,
		}
	}
	for name, test := range drivetest.Cases(empty) {
		t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
	}
}

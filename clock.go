package debate

import (
	"context"
	"sync/atomic"
	"time"
)

// clock is the time limit of a step. It stands still while the viewer of the debate is at work, so that a slow viewer
// trips no timeout. The viewer is entered and left once a chunk, so this costs two readings of the monotonic clock.
type clock struct {
	began   time.Time
	limit   time.Duration
	expire  func()
	timer   *time.Timer
	idle    atomic.Int64 // nanoseconds that the viewer took
	since   atomic.Int64 // when the viewer was entered, in nanoseconds since began; 0: it is not
	parked  atomic.Bool  // the timer waits for the viewer
	stopped atomic.Bool
}

// startClock calls expire on a goroutine of its own once limit has passed without the viewer's time.
func startClock(limit time.Duration, expire func()) *clock {
	k := &clock{began: time.Now(), limit: limit, expire: expire}
	k.timer = time.AfterFunc(time.Duration(1<<63-1), k.ring)
	k.timer.Reset(max(limit, 0))
	return k
}

func (k *clock) now() int64 { return int64(time.Since(k.began)) }

func (k *clock) enter() { k.since.Store(max(k.now(), 1)) }

func (k *clock) leave() {
	k.idle.Add(k.now() - k.since.Load())
	k.since.Store(0)
	if k.parked.Swap(false) {
		k.timer.Reset(k.left())
	}
}

func (k *clock) left() time.Duration {
	return max(k.limit-time.Duration(k.now()-k.idle.Load()), 0)
}

func (k *clock) ring() {
	switch {
	case k.stopped.Load():
	case k.since.Load() != 0:
		k.parked.Store(true)
		if k.since.Load() == 0 && k.parked.Swap(false) { // the viewer has just left, and did not see it parked
			k.timer.Reset(k.left())
		}
	case k.left() > 0:
		k.timer.Reset(k.left())
	default:
		k.expire()
	}
}

func (k *clock) stop() {
	k.stopped.Store(true)
	k.timer.Stop()
}

// wait sleeps for a time, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

package debate

import (
	"context"
	"sync/atomic"
	"time"
)

// clock is the time limit of a step. It stands still while the viewer of the debate is at work, so that a slow viewer
// trips no timeout. A chunk is too short a time to read a clock for, so it samples instead: it looks at what goes on
// at 256 moments, and what lies before a moment in which the viewer is at work does not count.
type clock struct {
	left    time.Duration // of the step's time
	next    time.Duration // from the last moment to the next
	tick    time.Duration
	expire  func()
	timer   *time.Timer
	viewing atomic.Bool
	viewed  atomic.Int64 // nanoseconds that the viewer took
	stopped atomic.Bool
}

// startClock calls expire on a goroutine of its own once limit has passed without the viewer's time.
func startClock(limit time.Duration, expire func()) *clock {
	tick := max(limit/256, 1)
	k := &clock{left: limit, next: tick, tick: tick, expire: expire}
	k.timer = time.AfterFunc(1<<63-1, k.ring)
	k.timer.Reset(k.next)
	return k
}

func (k *clock) ring() {
	if k.viewing.Load() {
		k.viewed.Add(int64(k.next))
	} else {
		k.left -= k.next
	}
	switch {
	case k.stopped.Load():
	case k.left <= 0:
		k.expire()
	default:
		k.next = min(k.tick, k.left)
		k.timer.Reset(k.next)
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

// poke wakes who waits for ch, which holds one token.
func poke(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// The wait before the nth retry is drawn between shortest and a bound that doubles up to longest.
const (
	shortest = time.Second
	longest  = time.Minute
)

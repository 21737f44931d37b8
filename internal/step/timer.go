package step

import (
	"sync/atomic"
	"time"
)

// A timer is the time limit of one step. It stops while the viewer of the debate is busy, so that a slow viewer causes no timeout.
// Reading a clock for each chunk would cost too much, so the timer samples: it checks at 256 moments whether the viewer is busy.
// If the viewer is busy, the time since the previous moment does not count.
type timer struct {
	left    time.Duration // remaining time of the step
	next    time.Duration // time until the next moment
	tick    time.Duration
	expire  func()
	timer   *time.Timer
	viewing atomic.Bool
	viewed  atomic.Int64 // nanoseconds in which the viewer was busy
	stopped atomic.Bool
}

// newTimer returns a running timer. It calls expire on its own goroutine when limit has passed, not counting the
// viewer's time.
func newTimer(limit time.Duration, expire func()) *timer {
	tick := max(limit/256, 1)
	k := &timer{left: limit, next: tick, tick: tick, expire: expire}
	k.timer = time.AfterFunc(1<<63-1, k.ring)
	k.timer.Reset(k.next)
	return k
}

func (k *timer) ring() {
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

// Stop ends the timer. It is safe to call Stop more than once.
func (k *timer) Stop() {
	k.stopped.Store(true)
	k.timer.Stop()
}

// Viewing records whether the viewer is busy.
func (k *timer) Viewing(now bool) { k.viewing.Store(now) }

// Viewed returns how long the viewer was busy, as far as sampled.
func (k *timer) Viewed() time.Duration { return time.Duration(k.viewed.Load()) }

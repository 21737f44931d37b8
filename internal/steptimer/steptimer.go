// Package steptimer limits the time of a step. The timer stands still while the viewer of the debate is at work, so that a
// slow viewer trips no timeout.
package steptimer

import (
	"sync/atomic"
	"time"
)

// A Timer is the time limit of one step. A chunk is too short to read a clock for, so the timer samples: it looks at 256
// moments whether the viewer is at work, and the time before a moment in which it is does not count.
type Timer struct {
	left    time.Duration // of the step's time
	next    time.Duration // from the last moment to the next
	tick    time.Duration
	expire  func()
	timer   *time.Timer
	viewing atomic.Bool
	viewed  atomic.Int64 // nanoseconds that the viewer took
	stopped atomic.Bool
}

// Start returns a running timer, which calls expire on a goroutine of its own once limit has passed without the viewer's time.
func Start(limit time.Duration, expire func()) *Timer {
	tick := max(limit/256, 1)
	k := &Timer{left: limit, next: tick, tick: tick, expire: expire}
	k.timer = time.AfterFunc(1<<63-1, k.ring)
	k.timer.Reset(k.next)
	return k
}

func (k *Timer) ring() {
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

// Stop ends the timer. It is safe to call it twice.
func (k *Timer) Stop() {
	k.stopped.Store(true)
	k.timer.Stop()
}

// Viewing tells the timer whether the viewer is at work.
func (k *Timer) Viewing(now bool) { k.viewing.Store(now) }

// Viewed returns the time that the viewer took.
func (k *Timer) Viewed() time.Duration { return time.Duration(k.viewed.Load()) }

package live

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elenchus-go/debate/transcript"
)

// A Kind knows the events of a debate.
type Kind[E any] interface {
	// Seq returns the seq of an event, and whether it is live: then the seq is that of the durable event before it.
	Seq(ev E) (seq int64, live bool)
	Restamp(ev E, seq int64) E // returns a live event with the seq of the durable event before it, and a durable one unchanged
	Warnings(ev E) []E         // about a durable event
	// Step returns the step that an event is about, and whether it gives the turn of that step.
	Step(ev E) (key transcript.Key, done bool)
}

// ErrLeft reports that a viewer has left.
var ErrLeft = errors.New("the viewer has left")

// A Delivery shows the viewer of a driver what happens: committed events in order, and live events between them. Only its
// creator's goroutine uses it, except Enqueue and Waits.
type Delivery[E any] struct {
	Kind  Kind[E]
	Yield func(E, error) bool // nil if there is no viewer
	Leave func()              // called when Yield has returned false
	Known *atomic.Int64       // seq of the last entry that the driver has written or read
	Lock  *sync.Mutex         // the journal's; guards the queue

	Shown   int64         // seq of the last durable event that was shown
	Gone    bool          // Yield has returned false
	Viewing bool          // the viewer is looking at an event, or has panicked
	Timing  bool          // whether to measure the viewer's time
	Viewed  time.Duration // viewer's time since the last commit, while Timing is set

	queue []E // durable events to be shown
	spare []E // previous queue, for reuse
}

// Enqueue adds a committed event to the queue. The caller holds the lock.
func (d *Delivery[E]) Enqueue(ev E) {
	if seq, _ := d.Kind.Seq(ev); d.Yield != nil && seq > max(d.Shown, d.last(d.queue)) {
		d.queue = append(d.queue, ev)
	}
}

// last returns the seq of the last event, or 0 if there is none.
func (d *Delivery[E]) last(list []E) (seq int64) {
	if len(list) > 0 {
		seq, _ = d.Kind.Seq(list[len(list)-1])
	}
	return seq
}

// Waits reports whether an event waits to be shown. The caller holds the lock.
func (d *Delivery[E]) Waits() bool { return len(d.queue) > 0 && !d.Gone }

// Flush shows the queued events.
func (d *Delivery[E]) Flush() {
	if d.Yield == nil || d.Gone {
		return
	}
	d.Lock.Lock()
	due := d.queue
	d.queue, d.spare = d.spare[:0], nil
	d.Shown = max(d.Shown, d.last(due))
	d.Lock.Unlock()
	for _, ev := range due {
		if !d.presentAll(ev) {
			return
		}
	}
	d.spare = due
}

// presentAll shows a durable event, preceded by the warnings about it.
func (d *Delivery[E]) presentAll(ev E) bool {
	seq, _ := d.Kind.Seq(ev)
	for _, w := range d.Kind.Warnings(ev) {
		if !d.Present(d.Kind.Restamp(w, seq-1)) {
			return false
		}
	}
	return d.Present(ev)
}

// Present shows one event. It returns false if the viewer has left.
func (d *Delivery[E]) Present(ev E) bool {
	if d.Timing {
		began := time.Now()
		defer func() { d.Viewed += time.Since(began) }()
	}
	d.Viewing = true
	more := d.Yield(ev, nil)
	d.Viewing = false // stays true if the viewer panics
	if !more {
		d.Gone = true
		d.Leave()
	}
	return !d.Gone
}

// Show shows a live event, which carries the given seq. It returns ErrLeft if the viewer has left.
func (d *Delivery[E]) Show(ev E, seq int64) error {
	if d.Known.Load() > d.Shown {
		d.Flush()
	}
	if seq != d.Shown {
		ev = d.Kind.Restamp(ev, d.Shown)
	}
	if d.Gone || !d.Present(ev) {
		return ErrLeft
	}
	return nil
}

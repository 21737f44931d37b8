package debate

import (
	"sync"
	"sync/atomic"
	"time"
)

// delivery shows a driver's viewer what happens: committed events in order, and live events between them.
type delivery struct {
	yield   func(Event, error) bool // nil if there is no viewer
	leave   func()                  // called when yield has returned false
	gone    bool                    // yield has returned false
	viewing bool                    // the viewer is looking at an event, or has panicked
	timing  bool                    // whether to measure the viewer's time
	viewed  time.Duration           // viewer's time since the last commit, while timing is set
	shown   int64                   // seq of the last durable event that was shown
	known   *atomic.Int64           // seq of the last entry that the driver has written or read

	lock  *sync.Mutex // the journal's; guards queue and spare
	queue []Event     // durable events to be shown
	spare []Event     // previous queue, for reuse
}

// enqueue adds a committed event to the queue. The caller holds the journal's mutex.
func (v *delivery) enqueue(ev Event) {
	seq := ev.Meta().Seq
	if v.yield != nil && seq > v.shown && (len(v.queue) == 0 || seq > v.queue[len(v.queue)-1].Meta().Seq) {
		v.queue = append(v.queue, ev)
	}
}

// flush shows the queued events.
func (v *delivery) flush() {
	if v.yield == nil || v.gone {
		return
	}
	v.lock.Lock()
	due := v.queue
	v.queue, v.spare = v.spare[:0], nil
	if len(due) > 0 {
		v.shown = due[len(due)-1].Meta().Seq
	}
	v.lock.Unlock()
	for _, ev := range due {
		if !v.presentAll(ev) {
			return
		}
	}
	v.spare = due
}

// presentAll shows a durable event, preceded by the warnings about it.
func (v *delivery) presentAll(ev Event) bool {
	for _, w := range warningsOf(ev) {
		if !v.present(restamp(w, ev.Meta().Seq-1)) {
			return false
		}
	}
	return v.present(ev)
}

// present shows one event. It returns false if the viewer has left.
func (v *delivery) present(ev Event) bool {
	if v.timing {
		began := time.Now()
		defer func() { v.viewed += time.Since(began) }()
	}
	v.viewing = true
	more := v.yield(ev, nil)
	if v.viewing = false; !more { // viewing stays true if the viewer panics
		v.gone = true
		v.leave()
	}
	return !v.gone
}

// show shows a live event, which carries the given seq. It runs on the viewer's goroutine.
func (v *delivery) show(ev Event, seq int64) error {
	if v.known.Load() > v.shown {
		v.flush()
	}
	if seq != v.shown {
		ev = restamp(ev, v.shown)
	}
	if v.gone || !v.present(ev) {
		return errViewerLeft
	}
	return nil
}

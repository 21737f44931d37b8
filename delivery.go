package debate

import (
	"sync"
	"sync/atomic"
	"time"
)

// delivery shows the viewer of a driver what happens: committed events in order, and live ones between them.
type delivery struct {
	yield  func(Event, error) bool // nil: nobody watches
	leave  func()                  // is called once yield has returned false
	gone   bool                    // yield has returned false
	timing bool                    // whether the viewer's time is measured
	viewed time.Duration           // the viewer's time since the last commit, while timing
	shown  int64                   // seq of the last durable event that was shown
	known  *atomic.Int64           // seq of the last entry that the driver made or read

	lock  *sync.Mutex // the journal's; guards queue and spare
	queue []Event     // durable events that are still to be shown
	spare []Event     // the last queue, to be filled again
}

// enqueue keeps a committed event until it can be shown. The journal's mutex is held.
func (v *delivery) enqueue(ev Event) {
	seq := ev.Meta().Seq
	if v.yield != nil && seq > v.shown && (len(v.queue) == 0 || seq > v.queue[len(v.queue)-1].Meta().Seq) {
		v.queue = append(v.queue, ev)
	}
}

// flush shows the durable events that are due.
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
		if !v.present(ev) {
			return
		}
	}
	v.spare = due
}

// present shows one event and reports whether the viewer is still there.
func (v *delivery) present(ev Event) bool {
	if v.timing {
		began := time.Now()
		defer func() { v.viewed += time.Since(began) }()
	}
	if !v.yield(ev, nil) {
		v.gone = true
		v.leave()
	}
	return !v.gone
}

// show shows a live event, which was stamped with seq. It runs on the viewer's goroutine.
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

package debate

import (
	"time"
)

// flush shows the durable events that are due.
func (dr *drive) flush() {
	if dr.yield == nil || dr.gone {
		return
	}
	dr.d.mu.Lock()
	due := dr.queue
	dr.queue, dr.spare = dr.spare[:0], nil
	if len(due) > 0 {
		dr.shown = due[len(due)-1].Event().Seq
	}
	dr.d.mu.Unlock()
	for _, ev := range due {
		if !dr.present(ev) {
			return
		}
	}
	dr.spare = due
}

func (dr *drive) present(ev Event) bool {
	if dr.timing {
		began := time.Now()
		defer func() { dr.viewed += time.Since(began) }()
	}
	if !dr.yield(ev, nil) {
		dr.gone = true
		dr.cancel(errGone)
	}
	return !dr.gone
}

// show has the viewer see a live event, which was stamped with seq; it runs on the viewer's goroutine.
func (dr *drive) show(ev Event, seq int64) error {
	if dr.known.Load() > dr.shown {
		dr.flush()
	}
	if seq != dr.shown {
		ev = restamp(ev, dr.shown)
	}
	if dr.gone || !dr.present(ev) {
		return errGone
	}
	return nil
}

// end shows the last event of a debate that has ended.
func (dr *drive) end() {
	dr.d.mu.Lock()
	r := dr.d.rec
	if r == nil || !r.snap.State.Final() {
		dr.d.mu.Unlock()
		return
	}
	ev := Ended{Stamp: Stamp{Type: "ended", Seq: r.Seq, Live: true}, Result: r.result()}
	dr.d.mu.Unlock()
	dr.present(ev)
}

package debate

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elenchus-go/debate/internal/live"
	"github.com/elenchus-go/debate/transcript"
)

// viewer is a viewer of Watch, who reads the journal and the live events of a debate.
type viewer struct {
	*live.Viewer[Event]

	feed       *live.Feed[Event]
	stale      atomic.Bool             // whether the journal may have new entries
	seq        int64                   // of the last durable event
	shownTurns map[transcript.Key]bool // turns that were already shown
}

// newViewer returns a viewer of a feed, who has read the journal up to seq, until leave is called.
func newViewer(feed *live.Feed[Event], seq int64) (v *viewer, leave func()) {
	v = &viewer{feed: feed, seq: seq, shownTurns: map[transcript.Key]bool{}}
	v.Viewer, leave = feed.View()
	return v, leave
}

// refresh makes the viewer read the journal again.
func (v *viewer) refresh() {
	v.stale.Store(true)
	v.Wake()
}

// take returns the live events that the viewer has not read, ordered by the durable events that they follow.
func (v *viewer) take() []live.Timed[Event] {
	list, missed := v.feed.Take(v.Viewer)
	if missed > 0 {
		text := fmt.Sprintf("this viewer is too slow: it misses the live events of %d attempts", missed)
		list = slices.Insert(list, 0, live.Timed[Event]{Event: Warning{EventMeta: liveMeta("warning"), Text: text}})
	}
	return list
}

// show yields events, except live events of turns that were already shown. It returns false if the viewer has left.
func (v *viewer) show(list []live.Timed[Event], yield func(Event, error) bool) (more bool) {
	for _, e := range list {
		if k, ok := stepOf(e.Event); ok && v.shownTurns[k] {
			continue
		}
		if t, ok := e.Event.(TurnDone); ok {
			v.shownTurns[t.Turn.Key] = true
		}
		for _, w := range warningsOf(e.Event) {
			if !yield(restamp(w, v.seq), nil) {
				return false
			}
		}
		if s := e.Event.Meta(); !s.Live {
			v.seq = s.Seq
		}
		if !yield(restamp(e.Event, v.seq), nil) {
			return false
		}
	}
	return true
}

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

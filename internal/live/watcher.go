package live

import (
	"sync/atomic"

	"github.com/elenchus-go/debate/transcript"
)

// A Watcher reads the journal and the live events of a debate that somebody else may drive.
type Watcher[E any] struct {
	*Viewer[E]

	Seq int64 // of the last durable event that was shown

	kind  Kind[E]
	feed  *Feed[E]
	stale atomic.Bool             // whether the journal may have new entries
	shown map[transcript.Key]bool // turns that were shown
}

// Watch returns a watcher of a feed, who has read the journal up to seq, until leave is called.
func (f *Feed[E]) Watch(kind Kind[E], seq int64) (w *Watcher[E], leave func()) {
	w = &Watcher[E]{kind: kind, feed: f, Seq: seq, shown: map[transcript.Key]bool{}}
	w.Viewer, leave = f.View()
	return w, leave
}

// Refresh makes the watcher read the journal again.
func (w *Watcher[E]) Refresh() {
	w.stale.Store(true)
	w.Wake()
}

// Stale reports whether the watcher must read the journal again, once for all calls of Refresh before it.
func (w *Watcher[E]) Stale() bool { return w.stale.Swap(false) }

// Take returns the live events that the watcher has not read, as Feed.Take does.
func (w *Watcher[E]) Take() (list []Timed[E], missed int) { return w.feed.Take(w.Viewer) }

// Show yields events, except live events of turns that were already shown, each after the warnings about it. It returns false
// if the watcher has left.
func (w *Watcher[E]) Show(list []Timed[E], yield func(E, error) bool) (more bool) {
	for _, e := range list {
		step, done := w.kind.Step(e.Event)
		if !done && w.shown[step] {
			continue
		}
		if done {
			w.shown[step] = true
		}
		for _, warning := range w.kind.Warnings(e.Event) {
			if !yield(w.kind.Restamp(warning, w.Seq), nil) {
				return false
			}
		}
		if seq, live := w.kind.Seq(e.Event); !live {
			w.Seq = seq
		}
		if !yield(w.kind.Restamp(e.Event, w.Seq), nil) {
			return false
		}
	}
	return true
}

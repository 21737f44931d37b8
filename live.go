package debate

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elenchus-go/debate/transcript"
)

// liveFeed holds the live events of a debate that this engine drives. Each viewer reads it at its own pace, so a slow
// viewer delays neither the debate nor other viewers. The feed holds each attempt in flight, and each attempt that has
// ended until all viewers have read it.
type liveFeed struct {
	users int // drivers and viewers; guarded by Engine.mu

	mu      sync.Mutex
	known   *atomic.Int64  // seq of the last entry that the driver has written or read; nil if there was no driver yet
	after   int64          // highest known so far
	flying  []*liveAttempt // attempts in flight
	ended   []*liveAttempt // attempts that have ended and that a viewer may not have read
	dropped int            // number of attempts that were removed from ended
	spare   []byte         // buffer of an attempt that has ended, for the next one
	viewers map[*viewer]struct{}
}

// liveAttempt is an attempt with its live events.
type liveAttempt struct {
	TurnStarted
	text     []byte // streamed so far
	failures []timedEvent
	// The driver's journal ended with these entries when the attempt started and when text was added last.
	started, extended int64
}

// timedEvent is an event, with the seq of the durable event that it follows.
type timedEvent struct {
	after int64
	event Event
}

// maxUnread limits the number of ended attempts that a feed keeps for viewers who have not read them.
const maxUnread = 1000

// attach tells the feed which entries its driver knows.
func (f *liveFeed) attach(known *atomic.Int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known, f.after = known, 0
}

// now returns the seq of the durable event that an event follows that happens now. It never decreases while a driver
// is attached, even if a commit fails. The mutex is held.
func (f *liveFeed) now() int64 {
	if f.known != nil {
		f.after = max(f.after, f.known.Load())
	}
	return f.after
}

// begin adds a new attempt and ends an earlier attempt of the same step.
func (f *liveFeed) begin(p *liveAttempt) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remove(p.Key)
	p.text, p.started, f.spare = f.spare, f.now(), nil
	f.flying = append(f.flying, p)
	f.wake()
}

// chunk adds text to an attempt, and returns its offset.
func (f *liveFeed) chunk(p *liveAttempt, text string) (offset int) {
	f.mu.Lock()
	offset = len(p.text)
	p.text = append(p.text, text...)
	p.extended = f.now()
	f.wake()
	f.mu.Unlock()
	return offset
}

// textOf returns the text of an attempt so far.
func (f *liveFeed) textOf(p *liveAttempt) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return string(p.text)
}

// fail adds the failure of an attempt in flight.
func (f *liveFeed) fail(ev TurnFailed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.flying {
		if p.Key == ev.Key {
			p.failures = append(p.failures, timedEvent{f.now(), ev})
		}
	}
	f.wake()
}

// end ends the attempt of a step.
func (f *liveFeed) end(k transcript.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remove(k)
}

func (f *liveFeed) remove(k transcript.Key) {
	i := slices.IndexFunc(f.flying, func(p *liveAttempt) bool { return p.Key == k })
	if i < 0 {
		return
	}
	p := f.flying[i]
	f.flying = slices.Delete(f.flying, i, i+1)
	if len(f.viewers) == 0 {
		f.spare, p.text = p.text[:0], nil
		return
	}
	if f.ended = append(f.ended, p); len(f.ended) > maxUnread {
		f.drop(len(f.ended) - maxUnread)
	}
	f.wake()
}

// drop removes the first n ended attempts.
func (f *liveFeed) drop(n int) {
	f.ended = slices.Delete(f.ended, 0, n)
	f.dropped += n
}

func (f *liveFeed) wake() {
	for v := range f.viewers {
		signal(v.news)
	}
}

// view adds a viewer until leave is called. The viewer's channel is signaled when something is new.
func (f *liveFeed) view() (v *viewer, leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v = &viewer{news: make(chan struct{}, 1), read: map[*liveAttempt]*readPosition{}, next: f.dropped + len(f.ended), shownTurns: map[transcript.Key]bool{}}
	if f.viewers == nil {
		f.viewers = map[*viewer]struct{}{}
	}
	f.viewers[v] = struct{}{}
	return v, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.viewers, v)
		f.trim()
	}
}

// trim drops the attempts that all viewers have read.
func (f *liveFeed) trim() {
	read := f.dropped + len(f.ended)
	for v := range f.viewers {
		read = min(read, v.next)
	}
	if n := read - f.dropped; n > 0 {
		f.drop(n)
	}
}

// viewer records how far one viewer has read.
type viewer struct {
	news       chan struct{}
	stale      atomic.Bool // whether the journal may have new entries
	seq        int64       // of the last durable event
	next       int         // number of the next ended attempt to read, counted from the feed's first one
	read       map[*liveAttempt]*readPosition
	shownTurns map[transcript.Key]bool // turns that were already shown
}

// readPosition is how far a viewer has read an attempt.
type readPosition struct {
	text     int // in bytes
	failures int
}

// take returns the live events that the viewer has not read, ordered by the durable events that they follow.
func (f *liveFeed) take(v *viewer) (list []timedEvent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if missed := f.dropped - v.next; missed > 0 {
		list = append(list, timedEvent{event: Warning{
			EventMeta: liveMeta("warning"), Text: fmt.Sprintf("this viewer is too slow: it misses the live events of %d attempts", missed),
		}})
		v.next = f.dropped
	}
	for _, p := range f.ended[v.next-f.dropped:] {
		list = v.readAttempt(list, p)
		delete(v.read, p)
	}
	v.next = f.dropped + len(f.ended)
	for _, p := range f.flying {
		list = v.readAttempt(list, p)
	}
	f.trim()
	sortByTime(list)
	return list
}

// readAttempt appends the events of an attempt that the viewer has not read.
func (v *viewer) readAttempt(list []timedEvent, p *liveAttempt) []timedEvent {
	at := v.read[p]
	if at == nil {
		at = &readPosition{}
		v.read[p] = at
		list = append(list, timedEvent{p.started, p.TurnStarted})
	}
	if text := string(p.text[at.text:]); text != "" {
		list = append(list, timedEvent{p.extended, Chunk{EventMeta: liveMeta("chunk"), Attempt: p.Attempt, Offset: at.text, Text: text}})
		at.text += len(text)
	}
	list = append(list, p.failures[at.failures:]...)
	at.failures = len(p.failures)
	return list
}

// sortByTime sorts events by the durable events that they follow.
func sortByTime(list []timedEvent) {
	slices.SortStableFunc(list, func(a, b timedEvent) int { return cmp.Compare(a.after, b.after) })
}

// refresh makes the viewer read the journal again.
func (v *viewer) refresh() {
	v.stale.Store(true)
	signal(v.news)
}

// show yields events, except live events of turns that were already shown. It returns false if the viewer has left.
func (v *viewer) show(list []timedEvent, yield func(Event, error) bool) (more bool) {
	for _, e := range list {
		if k, ok := stepOf(e.event); ok && v.shownTurns[k] {
			continue
		}
		if t, ok := e.event.(TurnDone); ok {
			v.shownTurns[t.Turn.Key] = true
		}
		for _, w := range warningsOf(e.event) {
			if !yield(restamp(w, v.seq), nil) {
				return false
			}
		}
		if s := e.event.Meta(); !s.Live {
			v.seq = s.Seq
		}
		if !yield(restamp(e.event, v.seq), nil) {
			return false
		}
	}
	return true
}

// signal wakes the receiver of ch, a channel with a buffer of one.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
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

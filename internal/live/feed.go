// Package live shows viewers what happens in debates: it keeps what happens between the entries of a journal until each viewer has
// read it, and withholds what the viewer in a seat must not see yet.
package live

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/elenchus-go/debate/transcript"
)

// Feeds holds the feeds of debates that are driven or viewed, by ID. E is the type of events. The zero value has none.
type Feeds[E any] struct {
	mu   sync.Mutex
	list map[string]*shared[E]
}

// shared is a feed with its number of drivers and viewers.
type shared[E any] struct {
	Feed[E]

	users int
}

// Join returns the feed of a debate, which exists at least until leave is called.
func (f *Feeds[E]) Join(id string) (feed *Feed[E], leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.list[id]
	if s == nil {
		if f.list == nil {
			f.list = map[string]*shared[E]{}
		}
		s = &shared[E]{}
		f.list[id] = s
	}
	s.users++
	return &s.Feed, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		s.users--
		if s.users == 0 {
			delete(f.list, id)
		}
	}
}

// A Feed holds the live events of a debate that is driven. Each viewer reads it at its own pace, so a slow viewer delays
// neither the debate nor other viewers. The feed holds each attempt in flight, and each attempt that has ended until all
// viewers have read it.
type Feed[E any] struct {
	mu      sync.Mutex
	known   *atomic.Int64 // seq of the last entry that the driver has written or read; nil if there was no driver yet
	after   int64         // highest known so far
	flying  []*Attempt[E] // attempts in flight
	ended   []*Attempt[E] // attempts that have ended and that a viewer may not have read
	dropped int           // number of attempts that were removed from ended
	spare   []byte        // buffer of an attempt that has ended, for the next one
	viewers map[*Viewer[E]]struct{}
}

// An Attempt is an attempt at a step, with its live events.
type Attempt[E any] struct {
	Key    transcript.Key // of the step
	Events Maker[E]

	text     []byte // streamed so far
	failures []Timed[E]
	// The driver's journal ended with these entries when the attempt started and when text was added last.
	started, extended int64
}

// A Maker makes the events of an attempt when a viewer reads them.
type Maker[E any] interface {
	StartEvent() E                        // the attempt has begun
	ChunkEvent(offset int, text string) E // text was streamed; offset is in bytes
}

// Timed is an event, with the seq of the durable event that it follows.
type Timed[E any] struct {
	After int64
	Event E
}

// maxUnread limits the number of ended attempts that a feed keeps for viewers who have not read them.
const maxUnread = 1000

// Attach tells the feed which entries its driver knows.
func (f *Feed[E]) Attach(known *atomic.Int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known, f.after = known, 0
}

// now returns the seq of the durable event that an event follows that happens now. It never decreases while a driver
// is attached, even if a commit fails. The mutex is held.
func (f *Feed[E]) now() int64 {
	if f.known != nil {
		f.after = max(f.after, f.known.Load())
	}
	return f.after
}

// Begin adds a new attempt, and ends an earlier attempt of the same step.
func (f *Feed[E]) Begin(p *Attempt[E]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remove(p.Key)
	p.text = f.spare
	f.spare = nil
	p.started = f.now()
	f.flying = append(f.flying, p)
	f.wake()
}

// firstText sets the room, in bytes, that the first attempt has at once. It suffices for most replies.
const firstText = 2 << 10

// Add adds text to an attempt, and returns its offset.
func (f *Feed[E]) Add(p *Attempt[E], text string) (offset int) {
	f.mu.Lock()
	offset = len(p.text)
	if p.text == nil {
		p.text = make([]byte, 0, firstText)
	}
	p.text = append(p.text, text...)
	p.extended = f.now()
	f.wake()
	f.mu.Unlock()
	return offset
}

// Text returns the text of an attempt so far.
func (f *Feed[E]) Text(p *Attempt[E]) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return string(p.text)
}

// Fail adds the failure of the attempt in flight at a step.
func (f *Feed[E]) Fail(step transcript.Key, failed E) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.flying {
		if p.Key == step {
			p.failures = append(p.failures, Timed[E]{f.now(), failed})
		}
	}
	f.wake()
}

// End ends the attempt at a step.
func (f *Feed[E]) End(k transcript.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remove(k)
}

func (f *Feed[E]) remove(k transcript.Key) {
	i := slices.IndexFunc(f.flying, func(p *Attempt[E]) bool { return p.Key == k })
	if i < 0 {
		return
	}
	p := f.flying[i]
	f.flying = slices.Delete(f.flying, i, i+1)
	if len(f.viewers) == 0 {
		f.spare = p.text[:0]
		p.text = nil
		return
	}
	f.ended = append(f.ended, p)
	if len(f.ended) > maxUnread {
		f.drop(len(f.ended) - maxUnread)
	}
	f.wake()
}

// drop removes the first n ended attempts.
func (f *Feed[E]) drop(n int) {
	f.ended = slices.Delete(f.ended, 0, n)
	f.dropped += n
}

func (f *Feed[E]) wake() {
	if len(f.viewers) == 0 { // the common case; to begin to range over a map takes time
		return
	}
	for v := range f.viewers {
		v.Wake()
	}
}

// View adds a viewer until leave is called. The viewer is woken when something is new.
func (f *Feed[E]) View() (v *Viewer[E], leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v = &Viewer[E]{News: make(chan struct{}, 1), read: map[*Attempt[E]]*readPosition{}, next: f.dropped + len(f.ended)}
	if f.viewers == nil {
		f.viewers = map[*Viewer[E]]struct{}{}
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
func (f *Feed[E]) trim() {
	read := f.dropped + len(f.ended)
	for v := range f.viewers {
		read = min(read, v.next)
	}
	if n := read - f.dropped; n > 0 {
		f.drop(n)
	}
}

// A Viewer is how far one viewer has read.
type Viewer[E any] struct {
	News chan struct{} // receives when something is new

	next int // number of the next ended attempt to read, counted from the feed's first one
	read map[*Attempt[E]]*readPosition
}

// Wake makes the viewer look for something new.
func (v *Viewer[E]) Wake() { Signal(v.News) }

// readPosition is how far a viewer has read an attempt.
type readPosition struct {
	text     int // in bytes
	failures int
}

// Take returns the live events that the viewer has not read, ordered by the durable events that they follow. missed is the
// number of attempts before them whose events were dropped, because the viewer is too slow.
func (f *Feed[E]) Take(v *Viewer[E]) (list []Timed[E], missed int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	missed = max(f.dropped-v.next, 0)
	v.next += missed
	for _, p := range f.ended[v.next-f.dropped:] {
		list = v.readAttempt(list, p)
		delete(v.read, p)
	}
	v.next = f.dropped + len(f.ended)
	for _, p := range f.flying {
		list = v.readAttempt(list, p)
	}
	f.trim()
	SortByTime(list)
	return list, missed
}

// readAttempt appends the events of an attempt that the viewer has not read.
func (v *Viewer[E]) readAttempt(list []Timed[E], p *Attempt[E]) []Timed[E] {
	at := v.read[p]
	if at == nil {
		at = &readPosition{}
		v.read[p] = at
		list = append(list, Timed[E]{p.started, p.Events.StartEvent()})
	}
	if text := string(p.text[at.text:]); text != "" {
		list = append(list, Timed[E]{p.extended, p.Events.ChunkEvent(at.text, text)})
		at.text += len(text)
	}
	list = append(list, p.failures[at.failures:]...)
	at.failures = len(p.failures)
	return list
}

// SortByTime sorts events by the durable events that they follow.
func SortByTime[E any](list []Timed[E]) {
	slices.SortStableFunc(list, func(a, b Timed[E]) int { return cmp.Compare(a.After, b.After) })
}

// Signal wakes the receiver of ch, a channel with a buffer of one.
func Signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

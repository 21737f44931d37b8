package debate

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/elenchus-go/debate/transcript"
)

// liveFeed holds the live events of a debate that this engine drives, including the calls in flight and the text they
// have streamed so far. Each viewer reads it at its own pace, so a slow viewer delays neither the debate nor other
// viewers, and no viewer misses text.
type liveFeed struct {
	users int // drivers and viewers; guarded by Engine.mu

	mu          sync.Mutex
	attempts    []*liveAttempt
	spare       []byte  // buffer of an attempt that has ended, for the next one
	notices     []Event // the latest warnings and failures
	noticeTotal int     // number of notices so far, including discarded ones
	viewers     map[chan struct{}]struct{}
}

// liveAttempt is a call in flight.
type liveAttempt struct {
	TurnStarted
	text     []byte // streamed so far
	streamed int    // bytes that the provider has streamed; only its goroutine uses it
}

// maxNotices is the number of notices that are kept. A viewer that falls further behind misses older ones.
const maxNotices = 64

func (f *liveFeed) noticesSoFar() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.noticeTotal
}

// begin adds a new attempt and discards an earlier attempt of the same step.
func (f *liveFeed) begin(ev TurnStarted) *liveAttempt {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remove(ev.Key)
	p := &liveAttempt{TurnStarted: ev, text: f.spare}
	f.spare = nil
	f.attempts = append(f.attempts, p)
	f.wake()
	return p
}

func (f *liveFeed) chunk(p *liveAttempt, text string) {
	f.mu.Lock()
	p.text = append(p.text, text...)
	if len(f.viewers) > 0 {
		f.wake()
	}
	f.mu.Unlock()
}

func (f *liveFeed) notify(ev Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.notices = append(f.notices, ev); len(f.notices) > maxNotices {
		f.notices = f.notices[1:]
	}
	f.noticeTotal++
	f.wake()
}

// end removes a call that has ended.
func (f *liveFeed) end(k transcript.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remove(k)
}

func (f *liveFeed) remove(k transcript.Key) {
	for i, p := range f.attempts {
		if p.Key == k {
			f.attempts = slices.Delete(f.attempts, i, i+1)
			f.spare, p.text = p.text[:0], nil
			return
		}
	}
}

func (f *liveFeed) wake() {
	for ch := range f.viewers {
		signal(ch)
	}
}

// view registers a viewer's channel until leave is called. The channel is signaled when something is new.
func (f *liveFeed) view(ch chan struct{}) (leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.viewers == nil {
		f.viewers = map[chan struct{}]struct{}{}
	}
	f.viewers[ch] = struct{}{}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.viewers, ch)
	}
}

// viewer records how far one viewer has read.
type viewer struct {
	stale       atomic.Bool // whether the journal may have new entries
	seq         int64       // of the last durable event
	noticesSeen int
	read        map[transcript.Key]*readPosition // for calls in flight
	shownTurns  map[transcript.Key]bool          // turns that were already shown
}

type readPosition struct {
	of     *liveAttempt // identifies the attempt: a repeated execution of the step has the same number
	offset int
}

// news returns the live events that the viewer has not seen.
func (f *liveFeed) news(v *viewer) (list []Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n := max(f.noticeTotal-v.noticesSeen, 0); n > 0; n-- {
		if n <= len(f.notices) {
			list = append(list, restamp(f.notices[len(f.notices)-n], v.seq))
		}
	}
	v.noticesSeen = f.noticeTotal
	for _, p := range f.attempts {
		list = v.catchUp(list, p)
	}
	return list
}

// catchUp appends what the viewer has not seen of a call in flight.
func (v *viewer) catchUp(list []Event, p *liveAttempt) []Event {
	at := v.read[p.Key]
	if at == nil || at.of != p {
		at = &readPosition{of: p}
		v.read[p.Key] = at
		list = append(list, restamp(p.TurnStarted, v.seq))
	}
	if text := string(p.text[at.offset:]); text != "" {
		list = append(list, Chunk{EventMeta: EventMeta{Type: "chunk", Seq: v.seq, Live: true}, Attempt: p.Attempt, Offset: at.offset, Text: text})
		at.offset += len(text)
	}
	return list
}

// show yields live events, except those of turns that were already shown. It returns false if the viewer has left.
func (v *viewer) show(live []Event, yield func(Event, error) bool) (more bool) {
	for _, ev := range live {
		if k, ok := stepOf(ev); ok && v.shownTurns[k] {
			continue
		}
		if !yield(restamp(ev, v.seq), nil) {
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

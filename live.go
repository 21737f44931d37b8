package debate

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/elenchus-go/debate/transcript"
)

// liveFeed is what is going on in a debate that this engine drives: the calls in flight with what they have said so far.
// Viewers read it at their own pace, so none of them holds up the debate or another viewer, and none misses a word.
type liveFeed struct {
	users int // drivers and viewers; guarded by Engine.mu

	mu          sync.Mutex
	attempts    []*liveAttempt
	spare       []byte  // the room of a part that has ended, for the next
	notices     []Event // the newest live events that are not of a part: warnings, failures
	noticeTotal int     // notes ever
	viewers     map[chan struct{}]struct{}
}

// liveAttempt is a call in flight.
type liveAttempt struct {
	TurnStarted
	text []byte // that was said so far
}

// maxNotices is how many notes a viewer may be behind.
const maxNotices = 64

func (f *liveFeed) noticesSoFar() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.noticeTotal
}

// begin notes that an attempt begins; what an earlier one said is void.
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

// end takes out a call that has ended.
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

// view registers a viewer until leave is called.
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

// viewer is how far one viewer has read.
type viewer struct {
	stale       atomic.Bool // the journal may have more
	seq         int64       // of the last durable event
	noticesSeen int
	read        map[transcript.Key]*readPosition // of calls in flight
	shownTurns  map[transcript.Key]bool          // turns that were shown
}

type readPosition struct {
	of     *liveAttempt // the attempt: one that is made anew has the same number
	offset int
}

// news are the live events that the viewer has not seen.
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

// catchUp adds what is new of a call in flight.
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

// show yields live events, but those of turns that are done.
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

// signal wakes who waits for ch, which holds one token.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

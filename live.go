package debate

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/elenchus-go/debate/transcript"
)

// feed is what is going on in a debate that this engine drives: the calls in flight with what they have said so far.
// Viewers read it at their own pace, so none of them holds up the debate or another viewer, and none misses a word.
type feed struct {
	users int // drivers and viewers; guarded by Engine.mu

	mu      sync.Mutex
	parts   []*part
	spare   []byte  // the room of a part that has ended, for the next
	notes   []Event // the newest live events that are not of a part: warnings, failures
	noted   int     // notes ever
	viewers map[chan struct{}]struct{}
}

// part is a call in flight.
type part struct {
	TurnStarted
	text []byte // that was said so far
}

// keptNotes is how many notes a viewer may be behind.
const keptNotes = 64

func (f *feed) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.noted
}

// begin notes that an attempt begins; what an earlier one said is void.
func (f *feed) begin(ev TurnStarted) *part {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remove(ev.Key)
	p := &part{TurnStarted: ev, text: f.spare}
	f.spare = nil
	f.parts = append(f.parts, p)
	f.wake()
	return p
}

func (f *feed) chunk(p *part, text string) {
	f.mu.Lock()
	p.text = append(p.text, text...)
	if len(f.viewers) > 0 {
		f.wake()
	}
	f.mu.Unlock()
}

func (f *feed) note(ev Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.notes = append(f.notes, ev); len(f.notes) > keptNotes {
		f.notes = f.notes[1:]
	}
	f.noted++
	f.wake()
}

// end takes out a call that has ended.
func (f *feed) end(k transcript.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remove(k)
}

func (f *feed) remove(k transcript.Key) {
	for i, p := range f.parts {
		if p.Key == k {
			f.parts = slices.Delete(f.parts, i, i+1)
			f.spare, p.text = p.text[:0], nil
			return
		}
	}
}

func (f *feed) wake() {
	for ch := range f.viewers {
		poke(ch)
	}
}

// view registers a viewer until leave is called.
func (f *feed) view(ch chan struct{}) (leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.viewers[ch] = struct{}{}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.viewers, ch)
	}
}

// viewer is how far one viewer has read.
type viewer struct {
	stale atomic.Bool // the journal may have more
	seq   int64       // of the last durable event
	notes int
	read  map[transcript.Key]*progress // of calls in flight
	done  map[transcript.Key]bool      // turns that were shown
}

type progress struct {
	of     *part // the attempt: one that is made anew has the same number
	offset int
}

// news are the live events that the viewer has not seen.
func (f *feed) news(v *viewer) (list []Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n := max(f.noted-v.notes, 0); n > 0; n-- {
		if n <= len(f.notes) {
			list = append(list, restamp(f.notes[len(f.notes)-n], v.seq))
		}
	}
	v.notes = f.noted
	for _, p := range f.parts {
		list = v.catchUp(list, p)
	}
	return list
}

// catchUp adds what is new of a call in flight.
func (v *viewer) catchUp(list []Event, p *part) []Event {
	at := v.read[p.Key]
	if at == nil || at.of != p {
		at = &progress{of: p}
		v.read[p.Key] = at
		list = append(list, restamp(p.TurnStarted, v.seq))
	}
	if text := string(p.text[at.offset:]); text != "" {
		list = append(list, Chunk{Stamp: Stamp{Type: "chunk", Seq: v.seq, Live: true}, Attempt: p.Attempt, Offset: at.offset, Text: text})
		at.offset += len(text)
	}
	return list
}

// show yields live events, but those of turns that are done.
func (v *viewer) show(live []Event, yield func(Event, error) bool) (more bool) {
	for _, ev := range live {
		if k, ok := keyOf(ev); ok && v.done[k] {
			continue
		}
		if !yield(restamp(ev, v.seq), nil) {
			return false
		}
	}
	return true
}

// poke wakes who waits for ch, which holds one token.
func poke(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

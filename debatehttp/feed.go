package debatehttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sort"
	"sync"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/transcript"
)

// A seat is what a viewer follows: a debate, as everyone sees it or as the person who speaks for a participant or judge
// may see it.
type seat struct{ debate, name string }

// A feed holds the events of a debate, encoded, for all viewers who follow the same. It watches the debate once. Each
// viewer reads the feed at its own pace, and slow viewers hold up nobody.
type feed struct {
	viewers int    // guarded by feeds.mu
	end     func() // stops watching; the mutex of feeds is held

	mu      sync.Mutex
	stored  []frame       // durable events and the warnings about them, in order
	live    []frame       // other live events of attempts that have not ended, in order
	count   int           // number of frames so far
	ended   bool          // no frame follows
	changed chan struct{} // closed at the next change
}

// A frame is one event as viewers receive it.
type frame struct {
	number int   // position among all frames of the feed
	seq    int64 // of the event, or of the durable event before it if the event is live
	id     bool  // whether the event is durable, so that seq is its id
	step   transcript.Key
	text   []byte
}

// feeds holds what viewers follow now.
type feeds struct {
	log *slog.Logger

	mu   sync.Mutex
	open map[seat]*feed
}

// follow returns the feed of a seat, until leave is called.
func (l *feeds) follow(d *debate.Debate, name string) (f *feed, leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := seat{d.ID(), name}
	f = l.open[at]
	if f == nil {
		ctx, end := context.WithCancel(context.Background())
		f = &feed{changed: make(chan struct{}), end: func() { end(); l.drop(at, f) }}
		l.open[at] = f
		go func() {
			defer l.retire(f)
			f.finish(l.run(ctx, f, d, name))
		}()
	}
	f.viewers++
	return f, sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if f.viewers--; f.viewers == 0 {
			f.end()
		}
	})
}

// drop forgets a feed, so that the next viewer begins a new one. The mutex is held.
func (l *feeds) drop(at seat, f *feed) {
	if l.open[at] == f {
		delete(l.open, at)
	}
}

func (l *feeds) retire(f *feed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f.end()
}

// run adds the debate's events to a feed, until the debate or ctx ends. It returns the last frame, or nil if there is none.
func (l *feeds) run(ctx context.Context, f *feed, d *debate.Debate, name string) []byte {
	for ev, err := range watch(ctx, d, name) {
		var text []byte
		if err == nil {
			text, err = encodeEvent(ev)
		}
		if err != nil {
			return l.lastFrame(ctx, d, err)
		}
		f.add(ev, text)
	}
	return nil
}

func watch(ctx context.Context, d *debate.Debate, name string) iter.Seq2[debate.Event, error] {
	if name == "" {
		return d.Watch(ctx, 0)
	}
	return d.WatchAs(ctx, name, 0)
}

// lastFrame returns the last frame of a stream that an error has ended, or nil if viewers can continue with a new stream.
func (l *feeds) lastFrame(ctx context.Context, d *debate.Debate, err error) []byte {
	if ctx.Err() != nil || errors.Is(err, debate.ErrClosed) {
		return nil
	}
	l.log.WarnContext(ctx, "watch debate", "debate", d.ID(), "error", err)
	b, err := json.Marshal(problemOf(err))
	if err != nil {
		return nil
	}
	return fmt.Appendf(nil, "event: problem\ndata: %s\n\n", b)
}

// add adds an event and forgets the live events that it makes obsolete.
func (f *feed) add(ev debate.Event, text []byte) {
	meta := ev.Meta()
	f.mu.Lock()
	defer f.mu.Unlock()
	next := frame{number: f.count, seq: meta.Seq, id: !meta.Live, text: text}
	f.count++
	switch ev := ev.(type) {
	case debate.TurnStarted:
		f.forget(func(k transcript.Key) bool { return k == ev.Key })
		next.step = ev.Key
	case debate.Chunk:
		next.step = ev.Key
	case debate.TurnFailed:
		next.step = ev.Key
	case debate.TurnDone:
		f.forget(func(k transcript.Key) bool { return k == ev.Turn.Key })
	case debate.Dropped:
		f.forget(func(k transcript.Key) bool { return k.Actor == ev.Name })
	case debate.StateChanged:
		if inactive(ev.To) {
			f.live = nil
		}
	}
	if next.step != (transcript.Key{}) {
		f.live = append(f.live, next)
	} else {
		f.stored = append(f.stored, next)
	}
	f.wake()
}

// forget removes the live events of the steps that match.
func (f *feed) forget(match func(transcript.Key) bool) {
	f.live = slices.DeleteFunc(f.live, func(l frame) bool { return match(l.step) })
}

// finish adds the last frame, if there is one, and ends the feed.
func (f *feed) finish(last []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if last != nil {
		seq := int64(0)
		if n := len(f.stored); n > 0 {
			seq = f.stored[n-1].seq
		}
		f.stored = append(f.stored, frame{number: f.count, seq: seq, text: last})
		f.count++
	}
	f.ended = true
	f.wake()
}

// wake tells all viewers that something has changed. The mutex is held.
func (f *feed) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// most is the number of frames that a viewer takes at once.
const most = 100

// next returns the frames from a number on that a viewer who knows the events up to after has not seen, at most some of
// them, and the number from which to go on. If there are none, changed is closed when there may be more, and ended reports
// that none will follow.
func (f *feed) next(from int, after int64) (list []frame, rest int, changed <-chan struct{}, ended bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	stored, live := since(f.stored, from), since(f.live, from)
	for rest = from; len(list) < most && len(stored)+len(live) > 0; {
		if len(live) > 0 && (len(stored) == 0 || live[0].number < stored[0].number) {
			list, rest, live = append(list, live[0]), live[0].number+1, live[1:]
			continue
		}
		at := stored[0]
		if at.seq > after || !at.id && at.seq == after {
			list = append(list, at)
		}
		rest, stored = at.number+1, stored[1:]
	}
	return list, rest, f.changed, f.ended && len(stored)+len(live) == 0
}

// since returns the frames from a number on.
func since(list []frame, from int) []frame {
	return list[sort.Search(len(list), func(i int) bool { return list[i].number >= from }):]
}

// inactive reports whether a debate with this state does not go on by itself, so that its viewers need no live events of
// earlier attempts.
func inactive(s fsm.State) bool { return !s.Active() && s != fsm.Paused }

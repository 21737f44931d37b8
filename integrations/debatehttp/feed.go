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
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// A seat is what a viewer follows: a debate, as everyone sees it or as the person who speaks for a participant or judge
// may see it.
type seat struct {
	debate  string
	created time.Time // of the debate, since another one may have the same id later
	name    string
}

// A feed holds the events of a debate, encoded, for all viewers who follow the same. It watches the debate once. Each
// viewer reads the feed at its own pace, and slow viewers hold up nobody.
type feed struct {
	viewers int    // guarded by feeds.mu
	end     func() // stops watching; the mutex of feeds is held

	mu      sync.Mutex
	stored  []frame       // durable events and the warnings about them, in order
	live    []frame       // other live events of attempts that have not ended, in order
	count   int           // number of frames so far
	refused *Problem      // why there are no frames; nil if there are some
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

// follow returns the feed of a seat of a debate with the given status, until leave is called.
func (l *feeds) follow(d *debate.Debate, status store.Status, name string) (f *feed, leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := seat{d.ID(), status.Created.UTC().Round(0), name}
	f = l.open[at]
	if f == nil {
		ctx, end := context.WithCancel(context.Background())
		f = &feed{changed: make(chan struct{}), end: func() { end(); l.drop(at, f) }}
		l.open[at] = f
		go func() {
			defer l.retire(f)
			f.finish(l.run(ctx, f, d, at))
		}()
	}
	f.viewers++
	return f, sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		f.viewers--
		if f.viewers == 0 {
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

// run adds the debate's events to a feed, until the debate or ctx ends. It returns the problem that has ended it, or nil if
// viewers can continue with a new stream.
func (l *feeds) run(ctx context.Context, f *feed, d *debate.Debate, at seat) *Problem {
	for ev, err := range watch(ctx, d, at.name) {
		if _, chunk := ev.(debate.Chunk); err == nil && !chunk { // chunks follow other events
			var now store.Status
			now, err = d.Status(ctx)
			if err == nil && !now.Created.Equal(at.created) { // the debate was deleted, and the event is not its own
				err = store.ErrNotFound
			}
		}
		var text []byte
		if err == nil {
			text, err = encodeEvent(ev)
		}
		if err != nil {
			return l.problem(ctx, d, err)
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

// problem returns the problem for an error of watching a debate, or nil if viewers can continue with a new stream.
func (l *feeds) problem(ctx context.Context, d *debate.Debate, err error) *Problem {
	if ctx.Err() != nil || errors.Is(err, debate.ErrClosed) {
		return nil
	}
	l.log.WarnContext(ctx, "watch debate", "debate", d.ID(), "error", err)
	if errors.Is(err, store.ErrUnavailable) {
		return nil
	}
	return problemOf(err)
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

// finish ends the feed. The last frame is the problem, if there is one, unless it is a reason to refuse viewers.
func (f *feed) finish(p *Problem) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	defer f.wake()
	if p == nil || f.count == 0 {
		f.refused = p
		return
	}
	data, err := json.Marshal(p)
	if err != nil {
		return
	}
	next := frame{number: f.count, text: fmt.Appendf(nil, "event: problem\ndata: %s\n\n", data)}
	if n := len(f.stored); n > 0 {
		next.seq = f.stored[n-1].seq
	}
	f.stored = append(f.stored, next)
	f.count++
}

// refusal waits for the first frame. It returns a problem if there is none.
func (f *feed) refusal(ctx context.Context) *Problem {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count == 0 && !f.ended {
		changed := f.changed
		f.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		f.mu.Lock()
	}
	return f.refused
}

// wake tells all viewers that something has changed. The mutex is held.
func (f *feed) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// maxFrames limits the frames that a viewer takes at once.
const maxFrames = 100

// next returns the frames from a number on that a viewer who knows the events up to after has not seen, at most
// maxFrames, and the number from which to go on. If there are none, changed is closed when there may be more, and ended
// reports that none will follow.
func (f *feed) next(from int, after int64) (list []frame, rest int, changed <-chan struct{}, ended bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	stored, live := since(f.stored, from), since(f.live, from)
	for rest = from; len(list) < maxFrames && len(stored)+len(live) > 0; {
		if len(live) > 0 && (len(stored) == 0 || live[0].number < stored[0].number) {
			list = append(list, live[0])
			rest = live[0].number + 1
			live = live[1:]
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

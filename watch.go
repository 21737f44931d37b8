package debate

import (
	"context"
	"fmt"
	"iter"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Preview is a request that would be sent.
type Preview struct {
	Key      transcript.Key     `json:"key"`
	Kind     transcript.Kind    `json:"kind"`
	Provider string             `json:"provider,omitempty"` // as it was configured
	Request  providers.Request  `json:"request"`
	Tokens   int                `json:"tokens"`           // of the prompt, estimated
	Window   *transcript.Window `json:"window,omitempty"` // how it was fitted; nil where nothing was cut
}

// Preview is what would be sent next, were the debate driven now: a request for each step that may run. It calls
// nothing and commits nothing. A debate that has ended has none.
func (d *Debate) Preview(ctx context.Context) ([]Preview, error) {
	look := d.engine.journal(d.ID()) // a record of its own, to be taken further and thrown away
	look.mu.Lock()
	defer look.mu.Unlock()
	if err := look.refresh(ctx); err != nil {
		return nil, err
	}
	if err := advanceToSteps(look.rec); err != nil {
		return nil, err
	}
	var list []Preview
	for _, s := range look.rec.next() {
		c, err := d.engine.newExecution(look.rec, s)
		if err != nil {
			return nil, err
		}
		list = append(list, Preview{
			Key: s.Key, Kind: s.Kind, Provider: c.model.actor.Provider, Request: c.request, Tokens: c.prompt.tokens, Window: c.turn.Window,
		})
	}
	return list, nil
}

// Snapshot is a debate as it was after one entry of its journal.
type Snapshot struct {
	Event Event // that the entry holds
	rec   *record
}

// Status sums up where the debate stood.
func (m *Snapshot) Status() store.Status { return statusOf(m.rec) }

// Result is the debate as far as it had come.
func (m *Snapshot) Result() *Result { return resultOf(m.rec) }

// Replay goes through what is stored of the debate, entry by entry, with the debate as it was after each: the same
// events that were shown when they happened, live ones apart, and any state on the way. It ends where the journal does;
// Watch goes on. A moment holds until the next one. An entry that cannot be read is yielded as an error that names it.
func (d *Debate) Replay(ctx context.Context) iter.Seq2[*Snapshot, error] {
	return func(yield func(*Snapshot, error) bool) {
		_, entries, err := d.engine.store.Load(ctx, d.ID(), 0)
		past := d.engine.journal(d.ID())
		if err == nil {
			err = past.begin()
		}
		for i := 0; i < len(entries) && err == nil; i++ {
			var ev Event
			if ev, err = past.read(entries[i]); ev != nil && err == nil && !yield(&Snapshot{Event: ev, rec: past.rec}, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// Watch follows the debate, whoever drives it: first the stored events after a seq, 0 for all, then new ones and, where
// this engine drives, live ones. The last event of a debate that has ended carries its result. The end of ctx, or of
// the engine, is yielded as an error. A debate that is paused, was rejected or is in error is watched on, since it may
// go on: its [StateChanged] bears the question, the problems or the failure. Watching drives nothing, and a slow viewer
// holds up nothing: chunks that it has not seen reach it in one piece.
func (d *Debate) Watch(ctx context.Context, after int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		feed, leave := d.engine.join(d.ID())
		defer leave()
		news := make(chan struct{}, 1)
		defer feed.view(news)()
		v := &viewer{seq: max(after, 0), noticesSeen: feed.noticesSoFar(), read: map[transcript.Key]*readPosition{}, shownTurns: map[transcript.Key]bool{}}
		v.stale.Store(true)
		defer d.engine.store.Watch(d.ID(), func(int64) {
			v.stale.Store(true)
			signal(news)
		})()
		for {
			over := d.engine.ctx.Err() // before the look that is the last one then
			more, err := d.showNews(ctx, feed, v, yield)
			if more && over != nil {
				err = ErrClosed
			}
			if err != nil {
				yield(nil, err)
			}
			if err != nil || !more {
				return
			}
			select {
			case <-news:
			case <-d.engine.ctx.Done():
			case <-ctx.Done():
				yield(nil, context.Cause(ctx))
				return
			}
		}
	}
}

// showNews yields what is new to a viewer, and says whether more may come.
func (d *Debate) showNews(ctx context.Context, f *liveFeed, v *viewer, yield func(Event, error) bool) (more bool, err error) {
	live := f.news(v) // before the journal, whose turns void what was said of them live
	if !v.stale.Swap(false) {
		return v.show(live, yield), nil
	}
	head, entries, err := d.engine.store.Load(ctx, d.ID(), v.seq)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		ev, err := decodeJSON(e)
		if err != nil && d.hasNewerFormat(ctx) { // what this version understands can be seen
			v.seq = e.Seq
			continue
		}
		if err != nil && ctx.Err() != nil { // so that it cannot be told whether it is newer
			return false, context.Cause(ctx)
		}
		if err != nil {
			return false, fmt.Errorf("watch debate %s: read entry %d: %w", d.ID(), e.Seq, err)
		}
		if t, ok := ev.(TurnDone); ok {
			v.shownTurns[t.Turn.Key] = true
			delete(v.read, t.Turn.Key)
		}
		if v.seq = e.Seq; !yield(ev, nil) {
			return false, nil
		}
	}
	if head.Seq < v.seq { // it is wrong, or that of another debate under the same id
		if head, err = d.Status(ctx); err != nil {
			return false, err
		}
	}
	v.seq = min(v.seq, head.Seq)
	if !v.show(live, yield) {
		return false, nil
	}
	if !head.State.Final() || head.Seq > v.seq {
		return true, nil
	}
	result, err := d.Result(ctx)
	if err == nil {
		yield(Ended{EventMeta: EventMeta{Type: "ended", Seq: v.seq, Live: true}, Result: result}, nil)
	}
	return false, err
}

// hasNewerFormat says whether the debate is of a hasNewerFormat version of the library.
func (d *Debate) hasNewerFormat(ctx context.Context) bool {
	head, err := d.Status(ctx)
	return err == nil && head.Format > store.Format
}

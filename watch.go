package debate

import (
	"context"
	"fmt"
	"iter"

	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Watch follows the debate, whoever drives it: first the stored events after a seq, 0 for all, then new ones and, where
// this engine drives, live ones. The last event of a debate that has ended carries its result. The end of ctx, or of
// the engine, is yielded as an error. A debate that is paused, was rejected or is in error is watched on, since it may
// go on: its [StateChanged] bears the question, the problems or the failure. Watching drives nothing, and a slow viewer
// holds up nothing: chunks that it has not seen reach it in one piece.
func (d *Debate) Watch(ctx context.Context, after int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		feed, leave := d.engine.join(d.id)
		defer leave()
		news := make(chan struct{}, 1)
		defer feed.view(news)()
		v := &viewer{seq: max(after, 0), notes: feed.count(), read: map[transcript.Key]*progress{}, done: map[transcript.Key]bool{}}
		v.stale.Store(true)
		defer d.engine.store.Watch(d.id, func(int64) {
			v.stale.Store(true)
			poke(news)
		})()
		for {
			over := d.engine.ctx.Err() // before the look that is the last one then
			more, err := d.tell(ctx, feed, v, yield)
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

// tell yields what is new to a viewer, and says whether more may come.
func (d *Debate) tell(ctx context.Context, f *feed, v *viewer, yield func(Event, error) bool) (more bool, err error) {
	live := f.news(v) // before the journal, whose turns void what was said of them live
	if !v.stale.Swap(false) {
		return v.show(live, yield), nil
	}
	head, entries, err := d.engine.store.Load(ctx, d.id, v.seq)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		ev, err := decode(e)
		if err != nil && d.newer(ctx) { // what this version understands can be seen
			v.seq = e.Seq
			continue
		}
		if err != nil && ctx.Err() != nil { // so that it cannot be told whether it is newer
			return false, context.Cause(ctx)
		}
		if err != nil {
			return false, fmt.Errorf("watch debate %s: read entry %d: %w", d.id, e.Seq, err)
		}
		if t, ok := ev.(TurnDone); ok {
			v.done[t.Turn.Key] = true
			delete(v.read, t.Turn.Key)
		}
		if v.seq = e.Seq; !yield(ev, nil) {
			return false, nil
		}
	}
	if head.Seq < v.seq { // it is wrong, or that of another debate under the same id
		if head, err = d.Head(ctx); err != nil {
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
		yield(Ended{Stamp: Stamp{Type: "ended", Seq: v.seq, Live: true}, Result: result}, nil)
	}
	return false, err
}

// newer says whether the debate is of a newer version of the library.
func (d *Debate) newer(ctx context.Context) bool {
	head, err := d.Head(ctx)
	return err == nil && head.Format > store.Format
}

package debate

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/elenchus-go/debate/internal/live"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Preview is a request that the debate would send.
type Preview struct {
	Key      transcript.Key     `json:"key"`
	Kind     transcript.Kind    `json:"kind"`
	Provider string             `json:"provider,omitempty"` // as configured
	Request  providers.Request  `json:"request"`
	Tokens   int                `json:"tokens"`           // estimated tokens of the prompt
	Window   *transcript.Window `json:"window,omitempty"` // how the history fits the window; nil if nothing was cut
}

// Preview returns the requests that the debate would send next: one for each step that may run, except those of people. It
// calls no model and commits nothing. It returns none for a debate that has ended.
func (d *Debate) Preview(ctx context.Context) ([]Preview, error) {
	look := openJournalOf(d.engine, d.ID()) // a separate record, which is discarded afterwards
	look.mu.Lock()
	defer look.mu.Unlock()
	if err := look.refresh(ctx); err != nil {
		return nil, err
	}
	if err := advanceToSteps(look.rec, d.engine.knownWindows(ctx, look.rec.config)); err != nil {
		return nil, err
	}
	var list []Preview
	for _, s := range look.rec.next() {
		if look.rec.isHuman(s.Actor) {
			continue
		}
		x, err := d.engine.newExecution(look.rec, s)
		if err != nil {
			return nil, err
		}
		provider := x.run.Plan.Model.Provider
		seen := x.run.Plan.Window
		request, tokens, _ := x.run.Repeat(nil, nil)
		list = append(list, Preview{
			Key:      s.Key,
			Kind:     s.Kind,
			Provider: provider,
			Request:  request,
			Tokens:   tokens,
			Window:   seen,
		})
	}
	return list, nil
}

// Watch follows the debate, whichever process drives it. It first yields the stored events after the given seq (0 for
// all), then new events. If this engine drives the debate, it also yields live events, from the attempts in flight on:
// it shows what Run shows. The last event of a debate that has ended is [Ended], with the result. If ctx ends or the
// engine is closed, Watch yields that as an error.
//
// If the last start of the debate was refused, Watch yields *Problems after the last event. After an Edit or another
// start you can watch the debate again. Watch does not stop if the debate is paused or in error, because it may
// continue. The [StateChanged] event then holds the question or the failure. Watch does not drive the debate. A slow
// viewer delays nobody: it receives the chunks that it missed in one piece. A viewer that falls more than 1,000
// attempts behind misses the live events of the oldest ones; a [Warning] tells it how many.
func (d *Debate) Watch(ctx context.Context, after int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		feed, leave := d.engine.feeds.Join(d.ID())
		defer leave()
		v, leaveFeed := feed.Watch(kind{}, max(after, 0))
		defer leaveFeed()
		v.Refresh()
		defer d.engine.store.Watch(d.ID(), func(int64) { v.Refresh() })()
		for {
			over := d.engine.ctx.Err() // read first: the read below is the last one if the engine is closed
			more, err := d.showNews(ctx, v, yield)
			if err == nil && more && over != nil {
				err = ErrClosed
			}
			if err != nil {
				yield(nil, err)
			}
			if err != nil || !more {
				return
			}
			select {
			case <-v.News:
			case <-d.engine.ctx.Done():
			case <-ctx.Done():
				yield(nil, context.Cause(ctx))
				return
			}
		}
	}
}

// WatchAs follows the debate for a viewer who speaks for a participant or a judge. It shows nothing of an open parallel phase
// until that seat has spoken in it, so that the speaker is not influenced: neither the live events of others, nor their
// turns, nor what follows these. It then yields the stored events that it has withheld. If the debate fails in such a phase,
// WatchAs withholds them until the phase continues or the debate ends. WatchAs yields *Problems if no participant or
// judge has that name, and ErrUnsupported if the engine lacks the debate's protocol.
//
// Until [Ended], events have neither the reasoning of other actors nor their raw replies, which may contain it. The
// configuration has only the attachments for that seat.
//
// WatchAs shows a person nothing while a step is open, or is still to come, in which this person sees the participants under
// pseudonyms, because events have their real names. That is a judge with Participant.Blind until the debate ends, and a
// person who ranks the answers of a council until it has done so. Show such a person what Waiting asks; Blind names them.
func (d *Debate) WatchAs(ctx context.Context, seat string, after int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		viewer := newViewer(d, seat, after)
		for ev, err := range d.Watch(ctx, 0) { // from the beginning, to know which phase is open
			if err == nil {
				err = viewer.add(ev)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for _, ev := range viewer.Take() {
				if !yield(ev, nil) {
					return
				}
			}
		}
	}
}

// viewer withholds events from a viewer who speaks for a seat.
type viewer struct {
	live.Blindfold[Event]

	rec *record
}

// newViewer returns a viewer who has seen the events up to the seq after.
func newViewer(d *Debate, seat string, after int64) *viewer {
	return &viewer{live.Blindfold[Event]{
		Seat:   seat,
		After:  after,
		Masked: true,
	}, newRecord(d.ID(), d.engine.env)}
}

// add adds an event. It drops live events that the viewer must not see, and events that the viewer has seen.
func (v *viewer) add(ev Event) error {
	meta := ev.Meta()
	r := v.rec
	if !meta.Live {
		_, at := journal.KeyAndTime(ev)
		if err := r.apply(ev, at); err != nil {
			return err
		}
		who := r.config.Actor(v.Seat)
		final := r.lifecycle.State.Final()
		if who == nil {
			return fmt.Errorf(
				"watch debate %s: %w",
				r.ID,
				problemOf("seat", "seat", "no participant or judge has the name %q", v.Seat),
			)
		}
		if err := r.canContinue(); err != nil { // nobody can tell which phases are open
			return fmt.Errorf("watch debate %s as %q: %w", r.ID, v.Seat, err)
		}
		v.Masked = false
		_ = r.ask(func(r *record) {
			v.Masked = r.isBlind(v.Seat)
			v.At(&r.Record, r.Parallel, final, r.next)
		})
	}
	if step, ok := stepOf(ev); !v.Wants(meta.Seq, meta.Live, ok && step.Actor == v.Seat) {
		return nil
	}
	shown, by := v.withoutThoughts(ev)
	v.Add(shown, meta.Seq, by)
	return nil
}

// withoutThoughts returns an event without what only another actor knows: its reasoning, its raw replies, and attachments
// that are not for the viewer. by is the key of a turn or of a round of calls of tools.
func (v *viewer) withoutThoughts(ev Event) (shown Event, by transcript.Key) {
	switch ev := ev.(type) {
	case ConfigChanged:
		ev.Config = live.ConfigFor(ev.Config, v.Seat)
		return ev, by
	case Asked:
		if ev.Key.Actor != v.Seat {
			ev.Attachments = nil
		}
		return ev, by
	case ToolsCalled:
		if ev.Key.Actor != v.Seat {
			ev.Parts = nil
			ev.Attempts = live.WithoutReplies(ev.Attempts)
		}
		return ev, ev.Key
	case TurnDone:
		if ev.Turn.Actor != v.Seat {
			ev.Turn.Reasoning = nil
			ev.Turn.Attempts = live.WithoutReplies(ev.Turn.Attempts)
		}
		return ev, ev.Turn.Key
	case Dropped:
		ev.Failure = v.withoutReplies(ev.Failure)
		ev.OtherFailures = v.allWithoutReplies(ev.OtherFailures)
		return ev, by
	case StateChanged:
		ev.Failure = v.withoutReplies(ev.Failure)
		ev.OtherFailures = v.allWithoutReplies(ev.OtherFailures)
		if ev.Question != nil {
			q := *ev.Question
			q.Failure = v.withoutReplies(q.Failure)
			ev.Question = &q
		}
		return ev, by
	}
	return ev, by
}

// withoutReplies returns a failure without the raw replies of another actor.
func (v *viewer) withoutReplies(f *Failure) *Failure {
	if f == nil || f.Key.Actor == v.Seat {
		return f
	}
	shown := *f
	shown.AttemptDetails = live.WithoutReplies(f.AttemptDetails)
	return &shown
}

func (v *viewer) allWithoutReplies(list []*Failure) []*Failure {
	list = slices.Clone(list)
	for i, f := range list {
		list[i] = v.withoutReplies(f)
	}
	return list
}

// showNews yields what is new to a viewer and reports whether more may follow. Nothing follows an error.
func (d *Debate) showNews(ctx context.Context, v *live.Watcher[Event], yield func(Event, error) bool) (more bool, err error) {
	stale := v.Stale()
	last := v.Seq
	var status store.Status
	var stored []live.Timed[Event]
	if stale {
		status, stored, err = d.readEvents(ctx, &last, math.MaxInt64)
	}
	list, missed := v.Take() // read after the journal: it has all live events that precede the entries
	if missed > 0 {
		text := fmt.Sprintf("this viewer is too slow: it misses the live events of %d attempts", missed)
		list = slices.Insert(list, 0, live.Timed[Event]{Event: Warning{EventMeta: liveMeta("warning"), Text: text}})
	}
	if n := len(list); err == nil && n > 0 && list[n-1].After > last {
		var newer []live.Timed[Event] // they precede the last live event
		_, newer, err = d.readEvents(ctx, &last, list[n-1].After)
		stored = append(stored, newer...)
		v.Refresh()
	}
	list = append(list, stored...)
	live.SortByTime(list)     // a live event precedes the entry that follows the same one
	if !v.Show(list, yield) { // the viewer has left, and must not get the error
		return false, nil
	}
	if err != nil {
		return false, err
	}
	v.Seq = last
	if !stale {
		return true, nil
	}
	if status.Seq < v.Seq { // it is wrong, or belongs to another debate with the same id
		status, err = d.Status(ctx)
		if err != nil {
			return false, err
		}
		v.Seq = min(v.Seq, status.Seq)
	}
	if !status.State.Final() && len(status.Problems) == 0 || status.Seq > v.Seq {
		return true, nil
	}
	end, err := d.ending(ctx)
	if err != nil {
		return false, err
	}
	switch {
	case end.Seq > v.Seq: // there is a new entry
		v.Refresh()
		return true, nil
	case end.Result.State.Final():
		yield(end, nil)
		return false, nil
	}
	return true, problemsError(end.Result.Problems)
}

// readEvents returns the debate's status, and the events of the entries after last and up to limit. It sets last to the
// last entry that it has read. If an entry cannot be read, it returns the events before it and an error.
func (d *Debate) readEvents(ctx context.Context, last *int64, limit int64) (store.Status, []live.Timed[Event], error) {
	status, entries, err := d.engine.store.Load(ctx, d.ID(), *last)
	if err != nil {
		return status, nil, err
	}
	list := make([]live.Timed[Event], 0, len(entries))
	for _, e := range entries {
		if e.Seq > limit {
			break
		}
		ev, err := journal.DecodeEntry(e)
		if err != nil {
			return status, list, &store.Damaged{
				ID:  d.ID(),
				Seq: e.Seq,
				Err: err,
			}
		}
		list = append(list, live.Timed[Event]{After: e.Seq - 1, Event: ev})
		*last = e.Seq
	}
	return status, list, nil
}

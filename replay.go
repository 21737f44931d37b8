package debate

import (
	"context"
	"iter"

	"github.com/elenchus-go/debate/store"
)

// Moment is a debate as it was after one entry of its journal.
type Moment struct {
	Event Event // that the entry holds
	rec   *record
}

// Head sums up where the debate stood.
func (m *Moment) Head() store.Head { return m.rec.head() }

// Result is the debate as far as it had come.
func (m *Moment) Result() *Result { return m.rec.result() }

// Replay goes through what is stored of the debate, entry by entry, with the debate as it was after each: the same
// events that were shown when they happened, live ones apart, and any state on the way. It ends where the journal does;
// Watch goes on. A moment holds until the next one. An entry that cannot be read is yielded as an error that names it.
func (d *Debate) Replay(ctx context.Context) iter.Seq2[*Moment, error] {
	return func(yield func(*Moment, error) bool) {
		_, entries, err := d.engine.store.Load(ctx, d.id, 0)
		past := &Debate{engine: d.engine, id: d.id}
		if err == nil {
			err = past.begin()
		}
		for i := 0; i < len(entries) && err == nil; i++ {
			var ev Event
			if ev, err = past.read(entries[i]); ev != nil && err == nil && !yield(&Moment{Event: ev, rec: past.rec}, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

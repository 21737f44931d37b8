package debate

import (
	"context"
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
	look := &Debate{engine: d.engine, id: d.id} // a record of its own, to be taken further and thrown away
	look.mu.Lock()
	defer look.mu.Unlock()
	if err := look.refresh(ctx); err != nil {
		return nil, err
	}
	if err := look.rec.begin(); err != nil {
		return nil, err
	}
	var list []Preview
	for _, s := range look.rec.next() {
		c, err := d.engine.call(look.rec, s)
		if err != nil {
			return nil, err
		}
		list = append(list, Preview{
			Key: s.Key, Kind: s.Kind, Provider: c.who.Provider, Request: c.request, Tokens: c.tokens, Window: c.turn.Window,
		})
	}
	return list, nil
}

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

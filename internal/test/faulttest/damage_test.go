package faulttest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// damagedStore is a store that returns damaged entries.
type damagedStore struct {
	store.Store
	damage func(*store.Entry)
}

func (s damagedStore) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	status, entries, err := s.Store.Load(ctx, id, after)
	damaged := make([]store.Entry, len(entries))
	for i, e := range entries {
		raw, marshalErr := json.Marshal(e.Data)
		if marshalErr != nil {
			return status, nil, marshalErr
		}
		e.Data = json.RawMessage(raw)
		s.damage(&e)
		damaged[i] = e
	}
	return status, damaged, err
}

// set returns a function that sets a field of an entry's data, such as turn.actor.
func set(value any, path ...string) func(*store.Entry) {
	return func(e *store.Entry) {
		var data map[string]any
		if err := json.Unmarshal(e.Data.(json.RawMessage), &data); err != nil {
			panic(err)
		}
		at := data
		for _, name := range path[:len(path)-1] {
			at = at[name].(map[string]any)
		}
		at[path[len(path)-1]] = value
		raw, err := json.Marshal(data)
		if err != nil {
			panic(err)
		}
		e.Data = json.RawMessage(raw)
	}
}

// newPair creates the usual debate over a store.
func newPair(t *testing.T, s store.Store) *debate.Debate {
	t.Helper()
	model := &debatetest.DigestModel{Names: []string{"A", "B"}}
	e := debatetest.Engine(t, debate.Options{Store: s, Providers: map[string]providers.Provider{"m": model, "j": model}})
	cfg := debatetest.PairConfig(nil)
	cfg.Limits = debate.Limits{MaxRounds: 1}
	return debatetest.Create(t, e, cfg)
}

// An entry whose data does not fit its key, type, seq or time is damaged. Every call names it, and none runs for ever.
func TestADamagedEntryIsNamed(t *testing.T) {
	s := store.Memory()
	debatetest.Finish(t, newPair(t, s))
	const turn = 7
	_, entries, err := s.Load(t.Context(), "d", 0)
	require.NoError(t, err)
	require.Equal(t, "turn", entries[turn-1].Type)
	for name, tt := range map[string]struct {
		seq    int64
		damage func(*store.Entry)
		want   string
	}{
		"actor":           {turn, set("B", "turn", "actor"), `it has the key "1/1/respond/A/", but its data has "1/1/respond/B/"`},
		"target":          {turn, set("B", "turn", "target"), `it has the key "1/1/respond/A/", but its data has "1/1/respond/A/B"`},
		"round":           {turn, set(2, "turn", "round"), `it has the key "1/1/respond/A/", but its data has "1/2/respond/A/"`},
		"run":             {turn, set(2, "turn", "run"), `it has the key "1/1/respond/A/", but its data has "2/1/respond/A/"`},
		"key":             {turn, func(e *store.Entry) { e.Key = "" }, `it has the key "", but its data has "1/1/respond/A/"`},
		"key of no turn":  {turn - 1, func(e *store.Entry) { e.Key = "1/1/respond/A/" }, `it has the key "1/1/respond/A/", but its data has ""`},
		"type":            {turn, func(e *store.Entry) { e.Type = "phase" }, `it has the type "phase", but its data has "turn"`},
		"type in data":    {turn, set("phase", "type"), `it has the type "turn", but its data has "phase"`},
		"seq in data":     {turn, set(8, "seq"), `it has the seq 7, but its data has 8`},
		"time":            {turn, func(e *store.Entry) { e.At = e.At.Add(time.Hour) }, `it has the time `},
		"time in data":    {turn, set("2026-01-02T03:04:05Z", "at"), `but its data has 2026-01-02 03:04:05 +0000 UTC`},
		"no time in data": {1, set("0001-01-01T00:00:00Z", "at"), `but its data has 0001-01-01 00:00:00 +0000 UTC`},
	} {
		t.Run(name, func(t *testing.T) {
			e := debatetest.Engine(t, debate.Options{Store: damagedStore{s, func(e *store.Entry) {
				if e.Seq == tt.seq {
					tt.damage(e)
				}
			}}})
			d, opened := e.Open(t.Context(), "d")
			errs := map[string]error{"open": opened, "pause": d.Pause(t.Context()), "start": d.Start(t.Context())}
			_, errs["run"] = debatetest.Run(t, d)
			_, errs["once"] = d.RunOnce(t.Context())
			_, errs["status"] = d.Status(t.Context())
			_, errs["result"] = d.Result(t.Context())
			for _, err := range d.Replay(t.Context()) {
				errs["replay"] = err
			}
			for _, err := range d.Watch(t.Context(), 0) {
				errs["watch"] = err
			}
			for what, err := range errs {
				require.ErrorContains(t, err, "debate d", what)
				require.ErrorContains(t, err, "entry "+string(rune('0'+tt.seq)), what)
				require.ErrorContains(t, err, tt.want, what)
			}
		})
	}
}

// conflictingStore refuses every commit but the first, and reports a conflict.
type conflictingStore struct {
	store.Store
	grow    bool // another writer commits each time
	commits int
}

func (s *conflictingStore) Commit(ctx context.Context, c store.Change) error {
	if c.After == 0 || len(c.Entries) == 0 { // the debate is created, or its status repaired
		return s.Store.Commit(ctx, c)
	}
	s.commits++
	if s.grow {
		now := time.Now().UTC().Truncate(time.Microsecond)
		status := c.Status
		status.Seq = c.After + 1
		note := debate.Annotated{EventMeta: debate.EventMeta{Type: "annotated", Seq: status.Seq}, At: now, Name: "n", Value: json.RawMessage("1")}
		err := s.Store.Commit(ctx, store.Change{ID: c.ID, After: c.After, Status: status, Entries: []store.Entry{{Seq: status.Seq, Type: "annotated", At: now, Data: note}}})
		if err != nil {
			return err
		}
	}
	return &store.Conflict{ID: c.ID, After: c.After, LastSeq: c.After}
}

// A store that reports conflicts for ever does not keep an engine busy for ever.
func TestConflictsAreBounded(t *testing.T) {
	for name, tt := range map[string]struct {
		grow bool
		want int // commits
	}{
		"the journal stays the same":        {false, 5},
		"other writers commit all the time": {true, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			for verb, act := range map[string]func(*debate.Debate) error{
				"run":   func(d *debate.Debate) error { _, err := debatetest.Run(t, d); return err },
				"once":  func(d *debate.Debate) error { _, err := d.RunOnce(t.Context()); return err },
				"start": func(d *debate.Debate) error { return d.Start(t.Context()) },
				"edit":  func(d *debate.Debate) error { return d.Edit(t.Context(), debatetest.PairConfig(nil)) },
			} {
				s := &conflictingStore{Store: store.Memory(), grow: tt.grow}
				err := act(newPair(t, s))
				require.ErrorAs(t, err, new(*store.Conflict), verb)
				require.ErrorContains(t, err, "debate d", verb)
				require.ErrorContains(t, err, fmt.Sprintf("gave up after %d conflicts", tt.want), verb)
				require.Equal(t, tt.want, s.commits, verb)
			}
		})
	}
}

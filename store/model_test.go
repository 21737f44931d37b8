package store_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
)

// model is a store told in the plainest way: debates by their id.
type model struct {
	store   store.Store
	debates map[string]*debate
	told    map[string][]int64 // by id: what its watcher was told
	want    map[string][]int64
}

type debate struct {
	head    store.Head
	entries []store.Entry
}

var (
	ids    = rapid.SampledFrom([]string{"a", "b", "c"})
	states = []fsm.State{fsm.Ready, fsm.Awaiting, fsm.Completed}
	keys   = rapid.SliceOfN(rapid.SampledFrom([]string{"", "", "u", "v", "w", "x", "y", "z"}), 1, 3)
	times  = rapid.IntRange(0, 3)
	colors = rapid.SampledFrom([]string{"", "red", "blue"})
)

// labels has no label at all where the color is empty.
func labels(color string) map[string]string {
	if color == "" {
		return nil
	}
	return map[string]string{"color": color}
}

// entries are those of a debate, if it exists.
func (m *model) entries(id string) []store.Entry {
	if d := m.debates[id]; d != nil {
		return d.entries
	}
	return nil
}

func (m *model) commit(t *rapid.T) {
	id := ids.Draw(t, "id")
	stands := m.entries(id)
	last := int64(len(stands))
	after := max(last+rapid.SampledFrom([]int64{0, 0, 0, 0, -1, 1}).Draw(t, "off by"), 0)
	c := change(id, after, keys.Draw(t, "keys")...)
	c.Head.State, c.Head.Labels = rapid.SampledFrom(states).Draw(t, "state"), labels(colors.Draw(t, "color"))
	c.Head.Created = noon.Add(time.Duration(times.Draw(t, "created")) * time.Hour)

	var want *store.Conflict
	for i, e := range c.Entries {
		same := func(f store.Entry) bool { return e.Key != "" && f.Key == e.Key }
		if want == nil && (slices.ContainsFunc(stands, same) || slices.ContainsFunc(c.Entries[:i], same)) {
			want = &store.Conflict{ID: id, After: after, Last: last, Key: e.Key}
		}
	}
	if want == nil && after != last {
		want = &store.Conflict{ID: id, After: after, Last: last}
	}
	err := m.store.Commit(context.Background(), c)
	if want != nil {
		got, _ := errors.AsType[*store.Conflict](err)
		require.Equal(t, want, got)
		return
	}
	require.NoError(t, err)
	m.debates[id] = &debate{c.Head, slices.Concat(stands, c.Entries)}
	m.want[id] = append(m.want[id], last+int64(len(c.Entries)))
}

func (m *model) load(t *rapid.T) {
	id, after := ids.Draw(t, "id"), rapid.IntRange(-1, 9).Draw(t, "after")
	head, entries, err := m.store.Load(context.Background(), id, int64(after))
	want := m.debates[id]
	if want == nil {
		require.ErrorIs(t, err, store.ErrNotFound)
		return
	}
	require.NoError(t, err)
	require.Equal(t, want.head, head)
	rest := slices.DeleteFunc(slices.Clone(want.entries), func(e store.Entry) bool { return e.Seq <= int64(after) })
	require.Equal(t, seqs(rest), seqs(entries))
	for i := range rest {
		require.Equal(t, rest[i], entries[i])
	}
}

func (m *model) delete(t *rapid.T) {
	id := ids.Draw(t, "id")
	err := m.store.Delete(context.Background(), id)
	if m.debates[id] == nil {
		require.ErrorIs(t, err, store.ErrNotFound)
		return
	}
	require.NoError(t, err)
	delete(m.debates, id)
}

func (m *model) list(t *rapid.T) {
	color, limit := colors.Draw(t, "color"), rapid.IntRange(0, 3).Draw(t, "limit")
	wanted := rapid.SliceOfNDistinct(rapid.SampledFrom(states), 0, 2, rapid.ID).Draw(t, "states")
	q := store.Query{States: wanted, Labels: labels(color), Limit: limit}
	if n := times.Draw(t, "before"); n > 0 {
		q.Before = noon.Add(time.Duration(n) * time.Hour)
	}
	var found []store.Head
	for _, d := range m.debates {
		h := d.head
		if (len(wanted) == 0 || slices.Contains(wanted, h.State)) && (color == "" || h.Labels["color"] == color) &&
			(q.Before.IsZero() || h.Created.Before(q.Before)) {
			found = append(found, h)
		}
	}
	slices.SortFunc(found, func(a, b store.Head) int {
		return -cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	want := []string{}
	for i, h := range found {
		if limit == 0 || i < limit {
			want = append(want, h.ID)
		}
	}
	require.Equal(t, want, list(t, m.store, q))
}

// TestMemoryDoesWhatMapsDo draws whole lives of a store.
func TestMemoryDoesWhatMapsDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{store: store.Memory(), debates: map[string]*debate{}, told: map[string][]int64{}, want: map[string][]int64{}}
		for _, id := range []string{"a", "b", "c"} {
			defer m.store.(store.Watcher).Watch(id, func(last int64) { m.told[id] = append(m.told[id], last) })()
		}
		t.Repeat(map[string]func(*rapid.T){
			"commit": m.commit,
			"load":   m.load,
			"delete": m.delete,
			"list":   m.list,
			"":       func(t *rapid.T) { require.Equal(t, m.want, m.told) },
		})
	})
}

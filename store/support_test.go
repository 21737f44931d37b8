package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
)

// failer is a *testing.T or a *rapid.T.
type failer interface {
	require.TestingT
	Helper()
}

// noon is when debates of these tests are created.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// change appends an entry for each key to a debate that ends at after; an empty key is an entry without one.
func change(id string, after int64, keys ...string) store.Change {
	c := store.Change{ID: id, After: after, Head: store.Head{ID: id, Seq: after + int64(len(keys)), Created: noon}}
	for i, k := range keys {
		seq := after + 1 + int64(i)
		c.Entries = append(c.Entries, store.Entry{Seq: seq, Type: "turn", Key: k, At: noon, Data: fmt.Sprint(id, " ", seq)})
	}
	return c
}

func commit(t failer, s store.Store, c store.Change) {
	t.Helper()
	require.NoError(t, s.Commit(context.Background(), c))
}

// load gives the seqs of the entries after a seq.
func load(t failer, s store.Store, id string, after int64) []int64 {
	t.Helper()
	_, entries, err := s.Load(context.Background(), id, after)
	require.NoError(t, err)
	return seqs(entries)
}

func seqs(entries []store.Entry) []int64 {
	list := []int64{}
	for _, e := range entries {
		list = append(list, e.Seq)
	}
	return list
}

// list gives the ids that a query finds.
func list(t failer, s store.Store, q store.Query) []string {
	t.Helper()
	ids := []string{}
	for h, err := range s.List(context.Background(), q) {
		require.NoError(t, err)
		ids = append(ids, h.ID)
	}
	return ids
}

// watch counts what a debate's watcher is told, and stops with the test at the latest.
func watch(t *testing.T, s store.Store, id string) (told *[]int64, stop func()) {
	t.Helper()
	told = &[]int64{}
	w, ok := s.(store.Watcher)
	require.True(t, ok)
	stop = w.Watch(id, func(last int64) { *told = append(*told, last) })
	t.Cleanup(stop)
	return told, stop
}

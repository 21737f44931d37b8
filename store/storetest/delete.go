package storetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
)

var deleteTests = []testCase{
	{"a deletion removes one debate completely", testDelete},
	{"the id and the keys of a deleted debate are free again", testDeleteFrees},
	{"a deletion computed before a change is refused after it", testDeleteConflicts},
	{"a deletion by query deletes what the query selects", testDeleteAll},
	{"a change computed before a deletion is refused after it", testDeleteRefuses},
}

func testDelete(t *testing.T, p Backend) {
	a, b := p.Open(t), p.Open(t)
	d, e := change("d", 0, "a", ""), change("e", 0, "a", "")
	d.Status.Labels, e.Status.Labels = map[string]string{"team": "red"}, map[string]string{"team": "red"}
	commit(t, a, d, e)
	deleteDebate(t, b, "d")
	for _, s := range []store.Store{a, b} {
		requireNotFound(t, s, "d")
		require.ErrorIs(t, s.Delete(t.Context(), "d", 0), store.ErrNotFound)
		requireStored(t, s, e)
		require.Equal(t, []string{"e"}, list(t, s, store.Query{Labels: e.Status.Labels}))
	}
	next := change("e", 2, "b")
	commit(t, a, next)
	requireStored(t, b, e, next)
}

func testDeleteFrees(t *testing.T, p Backend) {
	a, b := p.Open(t), p.Open(t)
	first := change("d", 0, "a", "b", "")
	first.Status = fullStatus("d", 3)
	for range 3 {
		commit(t, a, first)
		deleteDebate(t, a, "d")
	}
	again := change("d", 0, "b")
	commit(t, b, again)
	requireStored(t, a, again)
	require.Empty(t, list(t, a, store.Query{Labels: first.Status.Labels}), "the deleted status is not listed")
	next := change("d", 1, "a")
	commit(t, a, next)
	requireStored(t, b, again, next)
}

func testDeleteRefuses(t *testing.T, p Backend) {
	s := p.Open(t)
	commit(t, s, change("d", 0, "a", ""))
	deleteDebate(t, s, "d")
	require.Equal(t, store.Conflict{ID: "d", After: 2}, requireConflict(t, s, change("d", 2, "b")))
	require.Equal(t, store.Conflict{ID: "d", After: 2}, requireConflict(t, s, change("d", 2, "a")))
	require.Equal(t, store.Conflict{ID: "d", After: 2}, requireConflict(t, s, change("d", 2)))
	requireNotFound(t, s, "d")
}

func testDeleteConflicts(t *testing.T, p Backend) {
	a, b := p.Open(t), p.Open(t)
	c := change("d", 0, "a", "")
	commit(t, a, c)
	for _, last := range []int64{1, 3, -1} {
		err := b.Delete(t.Context(), "d", last)
		lost, ok := errors.AsType[*store.Conflict](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, store.Conflict{ID: "d", After: last, LastSeq: 2}, *lost)
		requireStored(t, b, c)
	}
	require.ErrorIs(t, a.Delete(t.Context(), "e", 2), store.ErrNotFound)
	require.NoError(t, a.Delete(t.Context(), "d", 2))
	requireNotFound(t, b, "d")
	require.ErrorIs(t, a.Delete(t.Context(), "d", 2), store.ErrNotFound)
}

func testDeleteAll(t *testing.T, p Backend) {
	s := p.Open(t)
	for i := range 230 { // more than a store may read at a time
		c := creation(fmt.Sprintf("d%03d", i))
		c.Status.Labels = map[string]string{"keep": fmt.Sprint(i%100 == 0)}
		commit(t, s, c)
	}
	n, err := store.Query{Labels: map[string]string{"keep": "false"}}.Delete(t.Context(), s)
	require.NoError(t, err)
	require.Equal(t, 227, n)
	require.Equal(t, []string{"d200", "d100", "d000"}, list(t, s, store.Query{}))
	n, err = store.Query{Limit: 2}.Delete(t.Context(), s)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Equal(t, []string{"d000"}, list(t, s, store.Query{}))
}

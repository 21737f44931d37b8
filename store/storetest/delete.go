package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
)

var deletions = []test{
	{"a deletion takes all of a debate away, and nothing of another", testDelete},
	{"an id and its keys are free again after a deletion", testDeleteFrees},
	{"what was computed before a deletion is refused after it", testDeleteRefuses},
}

func testDelete(t *testing.T, p Place) {
	a, b := p.Open(t), p.Open(t)
	d, e := change("d", 0, "a", ""), change("e", 0, "a", "")
	d.Head.Labels, e.Head.Labels = map[string]string{"team": "red"}, map[string]string{"team": "red"}
	commit(t, a, d, e)
	remove(t, b, "d")
	for _, s := range []store.Store{a, b} {
		gone(t, s, "d")
		require.ErrorIs(t, s.Delete(t.Context(), "d"), store.ErrNotFound)
		holds(t, s, e)
		require.Equal(t, []string{"e"}, list(t, s, store.Query{Labels: e.Head.Labels}))
	}
	next := change("e", 2, "b")
	commit(t, a, next)
	holds(t, b, e, next)
}

func testDeleteFrees(t *testing.T, p Place) {
	a, b := p.Open(t), p.Open(t)
	first := change("d", 0, "a", "b", "")
	first.Head = full("d", 3)
	for range 3 {
		commit(t, a, first)
		remove(t, a, "d")
	}
	again := change("d", 0, "b")
	commit(t, b, again)
	holds(t, a, again)
	require.Empty(t, list(t, a, store.Query{Labels: first.Head.Labels}), "nothing of the old head is left")
	next := change("d", 1, "a")
	commit(t, a, next)
	holds(t, b, again, next)
}

func testDeleteRefuses(t *testing.T, p Place) {
	s := p.Open(t)
	commit(t, s, change("d", 0, "a", ""))
	remove(t, s, "d")
	require.Equal(t, store.Conflict{ID: "d", After: 2}, conflict(t, s, change("d", 2, "b")))
	require.Equal(t, store.Conflict{ID: "d", After: 2}, conflict(t, s, change("d", 2, "a")))
	require.Equal(t, store.Conflict{ID: "d", After: 2}, conflict(t, s, change("d", 2)))
	gone(t, s, "d")
}

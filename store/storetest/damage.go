package storetest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
)

var damages = []test{
	{"a head that is lost is not listed, and the entries stand", testDropHead},
	{"a head that cannot be read ends the list, and the entries stand", testSpoilHead},
	{"a head that is at another entry does not count", testMoveHead},
	{"a commit or a deletion makes a damaged head good", testHeadMended},
	{"an entry that is missing between others is named", testDropEntry},
	{"a journal ends at the last entry that is there", testDropLast},
	{"an entry that cannot be read is named, or given for the reader to refuse", testSpoilEntry},
}

// damaged opens a place twice that holds the debates d, of five entries, and e, of one.
func damaged(t *testing.T, p Place) (a, b store.Store, d, e store.Change) {
	t.Helper()
	if p.Damage == nil {
		t.Skip("nothing can damage this store")
	}
	a, b, d, e = p.Open(t), p.Open(t), change("d", 0, "a", "", "b", "", "c"), created("e")
	commit(t, a, d, e)
	return a, b, d, e
}

// loadsAll checks that the debate d gives its five entries, whatever its head is.
func loadsAll(t *testing.T, s store.Store, d store.Change) store.Head {
	t.Helper()
	head, entries := load(t, s, "d", 0)
	require.Equal(t, facts(t, d.Entries), facts(t, entries))
	require.Equal(t, "d", head.ID)
	_, entries = load(t, s, "d", 3)
	require.Equal(t, facts(t, d.Entries[3:]), facts(t, entries))
	_, entries = load(t, s, "d", 5)
	require.Empty(t, entries)
	return head
}

// refusesAsBefore checks that the entries of d decide what is refused.
func refusesAsBefore(t *testing.T, s store.Store) {
	t.Helper()
	for _, after := range []int64{0, 1, 4, 6, 9} {
		require.Equal(t, store.Conflict{ID: "d", After: after, Last: 5}, conflict(t, s, change("d", after, "new")))
		if after > 0 {
			require.Equal(t, store.Conflict{ID: "d", After: after, Last: 5}, conflict(t, s, change("d", after)))
		}
	}
	require.Equal(t, store.Conflict{ID: "d", After: 5, Last: 5, Key: "c"}, conflict(t, s, change("d", 5, "c")))
}

func testDropHead(t *testing.T, p Place) {
	a, b, d, e := damaged(t, p)
	p.Damage.DropHead(t, "d")
	for _, s := range []store.Store{a, b, p.Open(t)} {
		require.Equal(t, store.Head{ID: "d"}, loadsAll(t, s, d))
		require.Equal(t, []string{"e"}, list(t, s, store.Query{}))
		refusesAsBefore(t, s)
		require.Equal(t, []string{"e"}, list(t, s, store.Query{}), "what is refused mends nothing")
		holds(t, s, e)
	}
}

func testSpoilHead(t *testing.T, p Place) {
	a, b, d, e := damaged(t, p)
	commit(t, a, created("c")) // which a list would show after d
	p.Damage.SpoilHead(t, "d")
	for _, s := range []store.Store{a, b, p.Open(t)} {
		require.Equal(t, store.Head{ID: "d"}, loadsAll(t, s, d))
		head, _ := load(t, s, "e", 0)
		require.Equal(t, encode(t, e.Head), encode(t, head))
		refusesAsBefore(t, s)
		var last error
		for h, err := range s.List(t.Context(), store.Query{}) {
			require.NoError(t, last, "an error ends the list")
			require.NotEqual(t, "d", h.ID)
			last = err
		}
		require.ErrorContains(t, last, "debate d")
	}
}

func testMoveHead(t *testing.T, p Place) {
	a, b, d, e := damaged(t, p)
	for _, seq := range []int64{1, 4, 6, 99} {
		p.Damage.MoveHead(t, "d", seq)
		for _, s := range []store.Store{a, b} {
			loadsAll(t, s, d)
			refusesAsBefore(t, s)
			holds(t, s, e)
		}
		right := change("d", 5)
		right.Head.Topic = fmt.Sprint("right again after ", seq)
		commit(t, b, right)
		holds(t, a, d, right)
	}
}

func testHeadMended(t *testing.T, p Place) {
	a, b, d, e := damaged(t, p)
	for _, harm := range []func(){
		func() { p.Damage.DropHead(t, "d") },
		func() { p.Damage.SpoilHead(t, "d") },
		func() { p.Damage.MoveHead(t, "d", 3) },
	} {
		harm()
		alone := change("d", 5)
		commit(t, b, alone)
		holds(t, a, d, alone)

		harm()
		next := change("d", 5, "new", "")
		commit(t, a, next)
		holds(t, b, d, next)

		harm()
		remove(t, b, "d")
		gone(t, a, "d")
		require.ErrorIs(t, a.Delete(t.Context(), "d"), store.ErrNotFound)
		require.Equal(t, store.Conflict{ID: "d", After: 7}, conflict(t, a, change("d", 7, "new")))

		commit(t, a, d) // the id and its keys are free again
		holds(t, b, d)
		holds(t, b, e)
	}
}

func testDropEntry(t *testing.T, p Place) {
	a, b, d, e := damaged(t, p)
	for _, missing := range []int64{3, 1} { // in the end both
		p.Damage.DropEntry(t, "d", missing)
		for _, s := range []store.Store{a, b, p.Open(t)} {
			for after := range missing {
				for range 2 { // a load that fails changes nothing
					_, _, err := s.Load(t.Context(), "d", after)
					require.ErrorContains(t, err, fmt.Sprintf("load debate d: entry %d is missing", missing))
					require.NotErrorIs(t, err, store.ErrNotFound)
				}
			}
			_, entries := load(t, s, "d", 3)
			require.Equal(t, facts(t, d.Entries[3:]), facts(t, entries), "what comes after the gap is there")
			require.Equal(t, []string{"e", "d"}, list(t, s, store.Query{}))
			holds(t, s, e)
		}
	}
	remove(t, a, "d")
	gone(t, b, "d")
	commit(t, b, d)
	holds(t, a, d)
}

func testDropLast(t *testing.T, p Place) {
	a, b, d, e := damaged(t, p)
	p.Damage.DropEntry(t, "d", 5)
	for _, s := range []store.Store{a, b} {
		_, entries := load(t, s, "d", 0)
		require.Equal(t, facts(t, d.Entries[:4]), facts(t, entries), "the entries are the truth, not the head")
		require.Equal(t, store.Conflict{ID: "d", After: 5, Last: 4}, conflict(t, s, change("d", 5, "new")))
	}
	d.Entries = d.Entries[:4]
	next := change("d", 4, "c")
	commit(t, b, next)
	holds(t, a, d, next)
	holds(t, a, e)
}

func testSpoilEntry(t *testing.T, p Place) {
	a, b, d, e := damaged(t, p)
	p.Damage.SpoilEntry(t, "d", 3)
	want := facts(t, d.Entries)
	for _, s := range []store.Store{a, b, p.Open(t)} {
		for range 2 { // a load that fails changes nothing
			_, entries, err := s.Load(t.Context(), "d", 0)
			if err != nil {
				require.ErrorContains(t, err, "debate d")
				require.ErrorContains(t, err, "entry 3")
				continue
			}
			require.Len(t, entries, 5)
			spoilt, err := json.Marshal(entries[2].Data)
			require.False(t, err == nil && string(spoilt) == encode(t, d.Entries[2].Data), "nobody can know what it was")
			entries[2].Data = d.Entries[2].Data
			require.Equal(t, want, facts(t, entries))
		}
		_, entries := load(t, s, "d", 3)
		require.Equal(t, want[3:], facts(t, entries), "what comes after it is there")
		require.Equal(t, []string{"e", "d"}, list(t, s, store.Query{}))
		holds(t, s, e)
	}
	require.Equal(t, store.Conflict{ID: "d", After: 3, Last: 5}, conflict(t, b, change("d", 3, "new")))
	remove(t, b, "d")
	gone(t, a, "d")
}

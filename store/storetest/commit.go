package storetest

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
)

var commitTests = []testCase{
	{"a debate has the entries and the status of its changes", testAppend},
	{"a change that conflicts is refused as a whole", testConflicts},
	{"a malformed change is an error but not a conflict", testMalformed},
	{"a change without entries replaces the status", testStatusOnly},
	{"a change replaces the whole status", testStatusReplaced},
	{"many entries need no key", testNoKeys},
	{"keys are unique per debate", testKeysOfTwo},
	{"ids and keys that look similar are different", testSimilarNames},
	{"a canceled context is refused", testEndedContext},
	{"changing a committed Change does not change the stored data", testChangeKept},
	{"changing a returned status or entry does not change the stored data", testGivenKept},
}

func testAppend(t *testing.T, p Backend) {
	a, b := p.Open(t), p.Open(t)
	requireNotFound(t, a, "d")
	first := change("d", 0, "", "a")
	second := change("d", 2, "b", "", "c")
	third := change("d", 5, "e")
	commit(t, a, first)
	requireStored(t, b, first)
	commit(t, b, second)
	requireStored(t, a, first, second)
	commit(t, a, third)
	requireStored(t, b, first, second, third)
	requireStored(t, p.Open(t), first, second, third)
}

func testConflicts(t *testing.T, p Backend) {
	a, b := p.Open(t), p.Open(t)
	stands := change("d", 0, "", "a")
	commit(t, a, stands)
	for _, tt := range []struct {
		name   string
		change store.Change
		want   store.Conflict
	}{
		{"computed on an earlier entry", change("d", 1, "new"), store.Conflict{ID: "d", After: 1, LastSeq: 2}},
		{"computed on a later entry", change("d", 3, "new"), store.Conflict{ID: "d", After: 3, LastSeq: 2}},
		{"computed on a much later entry", change("d", math.MaxInt64-1, "new"), store.Conflict{ID: "d", After: math.MaxInt64 - 1, LastSeq: 2}},
		{"created again", change("d", 0, "new"), store.Conflict{ID: "d", LastSeq: 2}},
		{"created again with the same change", stands, store.Conflict{ID: "d", LastSeq: 2, Key: "a"}},
		{"of a debate that does not exist", change("other", 2, "new"), store.Conflict{ID: "other", After: 2}},
		{"with an existing turn", change("d", 2, "a"), store.Conflict{ID: "d", After: 2, LastSeq: 2, Key: "a"}},
		{"with an existing turn after new ones", change("d", 2, "new", "", "a"), store.Conflict{ID: "d", After: 2, LastSeq: 2, Key: "a"}},
		{"with an existing turn before new ones", change("d", 2, "a", "new"), store.Conflict{ID: "d", After: 2, LastSeq: 2, Key: "a"}},
		{"computed on an earlier entry, with an existing turn", change("d", 1, "a"), store.Conflict{ID: "d", After: 1, LastSeq: 2, Key: "a"}},
		{"computed on a later entry, with an existing turn", change("d", 7, "new", "a"), store.Conflict{ID: "d", After: 7, LastSeq: 2, Key: "a"}},
		{"a status computed on an earlier entry", change("d", 1), store.Conflict{ID: "d", After: 1, LastSeq: 2}},
		{"a status computed on a later entry", change("d", 3), store.Conflict{ID: "d", After: 3, LastSeq: 2}},
		{"a status of a debate that does not exist", change("other", 1), store.Conflict{ID: "other", After: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, requireConflict(t, b, tt.change))
			requireStored(t, a, stands)
			requireNotFound(t, a, "other")
		})
	}
	next := change("d", 2, "new")
	commit(t, a, next, change("other", 0, "new")) // the keys of the refused changes are still free
	requireStored(t, b, stands, next)
}

func testMalformed(t *testing.T, p Backend) {
	altered := func(c store.Change, alter func(c *store.Change)) store.Change {
		alter(&c)
		return c
	}
	s := p.Open(t)
	stands := change("d", 0, "", "a")
	commit(t, s, stands)
	for _, tt := range []struct {
		name   string
		change store.Change
	}{
		{"with the same turn twice", change("d", 2, "new", "", "new")},
		{"with an existing turn twice", change("d", 2, "a", "a")},
		{"with a skipped number", altered(change("d", 2, "new", ""), func(c *store.Change) { c.Entries[1].Seq = 5 })},
		{"with a number already used", altered(change("d", 2, "new"), func(c *store.Change) { c.Entries[0].Seq = 2 })},
		{"with its numbers in reverse order", altered(change("d", 2, "new", ""), func(c *store.Change) { c.Entries[0].Seq, c.Entries[1].Seq = 4, 3 })},
		{"with a wrong number, computed on an earlier entry", altered(change("d", 1, "new"), func(c *store.Change) { c.Entries[0].Seq = 3 })},
		{"with the status of another debate", altered(change("d", 2, "new"), func(c *store.Change) { c.Status.ID = "other" })},
		{"with a status without a debate", altered(change("d", 2, "new"), func(c *store.Change) { c.Status.ID = "" })},
		{"with a status at another entry", altered(change("d", 2, "new"), func(c *store.Change) { c.Status.Seq = 2 })},
		{"only a status, at another entry", altered(change("d", 2), func(c *store.Change) { c.Status.Seq = 3 })},
		{"without a debate", change("", 0, "new")},
		{"of a new debate without entries", change("other", 0)},
		{"with a negative After", change("other", -1, "new")},
		{"only a status, with a negative After", change("d", -1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.change.Check()
			require.Error(t, want)
			err := s.Commit(t.Context(), tt.change)
			require.ErrorContains(t, err, want.Error())
			_, lost := errors.AsType[*store.Conflict](err)
			require.False(t, lost, "a malformed change must not be a conflict: %v", err)
			requireStored(t, s, stands)
			requireNotFound(t, s, "other")
		})
	}
	next := change("d", 2, "new")
	commit(t, s, next)
	requireStored(t, s, stands, next)
}

func testStatusOnly(t *testing.T, p Backend) {
	a, b := p.Open(t), p.Open(t)
	first := change("d", 0, "", "a")
	commit(t, a, first)
	better := change("d", 2)
	better.Status.State = fsm.Paused
	better.Status.Topic = "Better."
	better.Status.Labels = map[string]string{"team": "red"}
	commit(t, b, better)
	requireStored(t, a, first, better)
	require.Equal(t, []string{"d"}, list(t, a, store.Query{States: []fsm.State{fsm.Paused}, Labels: better.Status.Labels}))

	again := change("d", 2) // the same seq, without the labels and the state of the previous status
	commit(t, a, again, again)
	requireStored(t, b, first, again)
	require.Empty(t, list(t, b, store.Query{Labels: better.Status.Labels}))

	next := change("d", 2, "b")
	commit(t, b, next)
	requireStored(t, a, first, next)
}

func testStatusReplaced(t *testing.T, p Backend) {
	s := p.Open(t)
	first := creation("d")
	second := change("d", 1, "a")
	third := change("d", 2, "b")
	first.Status = fullStatus("d", 1)
	first.Status.Labels = map[string]string{"team": "red", "kind": "test"}
	second.Status.State, second.Status.Labels = fsm.Ready, map[string]string{"team": "blue"}
	second.Status.Created, second.Status.Waiting = noon.Add(time.Hour), []string{"Bo"}
	commit(t, s, first, second)
	requireStored(t, s, first, second)
	require.Equal(t, []string{"d"}, list(t, s, store.Query{Waiting: "Bo"}))
	for _, old := range []store.Query{
		{Labels: map[string]string{"team": "red"}},
		{Labels: map[string]string{"kind": "test"}},
		{States: []fsm.State{first.Status.State}},
		{Waiting: "Ada"},
		{CreatedBefore: noon.Add(time.Hour)},
	} {
		require.Empty(t, list(t, s, old), "queries must not find the replaced status")
	}
	commit(t, s, third)
	requireStored(t, s, first, second, third)
}

func testNoKeys(t *testing.T, p Backend) {
	s := p.Open(t)
	first, second := change("d", 0, "", "", ""), change("d", 3, "", "")
	commit(t, s, first, second)
	requireStored(t, s, first, second)
}

func testKeysOfTwo(t *testing.T, p Backend) {
	s := p.Open(t)
	d, e := change("d", 0, "a"), change("e", 0, "a")
	commit(t, s, d, e)
	requireStored(t, s, d)
	requireStored(t, s, e)
}

func testSimilarNames(t *testing.T, p Backend) {
	s := p.Open(t)
	var all []store.Change
	for _, id := range []string{"a_b", "a-b", "a.b", "A_b", "aXb", "1", "01", "1.0"} {
		all = append(all, change(id, 0, "", "k", "K", "k ", " k", "K/", "k_", "kX", "1", "01", "é", "e\u0301"))
	}
	commit(t, s, all...)
	for _, c := range all {
		requireStored(t, s, c)
	}
	deleteDebate(t, s, "a_b")
	requireNotFound(t, s, "a_b")
	for _, c := range all[1:] {
		requireStored(t, s, c)
	}
}

func testEndedContext(t *testing.T, p Backend) {
	s := p.Open(t)
	stands := creation("d")
	commit(t, s, stands)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	require.ErrorIs(t, s.Commit(ctx, change("d", 1, "a")), context.Canceled)
	require.ErrorIs(t, s.Commit(ctx, change("d", 1)), context.Canceled)
	require.ErrorIs(t, s.Commit(ctx, creation("e")), context.Canceled)
	require.ErrorIs(t, s.Delete(ctx, "d", 0), context.Canceled)
	_, _, err := s.Load(ctx, "d", 0)
	require.ErrorIs(t, err, context.Canceled)
	for _, q := range []store.Query{{}, {States: []fsm.State{fsm.Error}}} {
		var errs []error
		for _, err := range s.List(ctx, q) {
			errs = append(errs, err)
		}
		require.Len(t, errs, 1, "a list that was not made does not look like an empty one")
		require.ErrorIs(t, errs[0], context.Canceled)
	}

	requireStored(t, s, stands)
	requireNotFound(t, s, "e")
}

func testChangeKept(t *testing.T, p Backend) {
	s := p.Open(t)
	c := change("d", 0, "a", "")
	c.Status.Labels, c.Status.Waiting = map[string]string{"team": "red"}, []string{"Ada"}
	commit(t, s, c)
	c.Entries[0].Type = "changed"
	c.Entries[1].Seq = 7
	c.Status.Labels["team"] = "blue"
	c.Status.Waiting[0] = "Bo"

	want := change("d", 0, "a", "")
	want.Status.Labels, want.Status.Waiting = map[string]string{"team": "red"}, []string{"Ada"}
	requireStored(t, s, want)
	require.Equal(t, []string{"d"}, list(t, s, store.Query{Labels: want.Status.Labels, Waiting: "Ada"}))
}

func testGivenKept(t *testing.T, p Backend) {
	s := p.Open(t)
	var want []store.Change
	var given [][]store.Entry
	for n := range int64(8) { // at some lengths a slice has spare capacity
		c := change("d", n, "")
		c.Status.Labels, c.Status.Waiting = map[string]string{"team": "red"}, []string{"Ada"}
		commit(t, s, c)
		want = append(want, c)

		status, entries := load(t, s, "d", 0)
		status.Labels["team"], status.Waiting[0] = "blue", "Bo"
		entries[0].Type = "changed"
		given = append(given, append(entries, store.Entry{Type: "a reader's own"}))
		for h, err := range s.List(t.Context(), store.Query{}) {
			require.NoError(t, err)
			h.Labels["team"], h.Waiting[0] = "green", "Cy"
		}
		requireStored(t, s, want...)
	}
	for n, entries := range given {
		require.Equal(t, "changed", entries[0].Type)
		require.Equal(t, "a reader's own", entries[n+1].Type, "a later commit took its place")
	}
}

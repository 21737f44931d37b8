package storetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
)

// testingT is implemented by *testing.T and *rapid.T.
type testingT interface {
	require.TestingT
	Helper()
	Context() context.Context
}

// noon is the default creation time of the debates in these tests.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// debateIDs are the IDs that random tests use.
var debateIDs = []string{"a", "b", "c"}

// change returns a change that appends an entry for each key to a debate that ends at after. An empty key makes an
// entry without a key.
func change(id string, after int64, keys ...string) store.Change {
	seq := after + int64(len(keys))
	c := store.Change{ID: id, After: after, Status: store.Status{ID: id, Seq: seq, Topic: fmt.Sprint(id, " at ", seq), Created: noon}}
	for i, k := range keys {
		seq := after + 1 + int64(i)
		data := map[string]any{"text": fmt.Sprint(id, " ", seq)}
		at := noon.Add(time.Duration(seq) * time.Millisecond)
		c.Entries = append(c.Entries, store.Entry{Seq: seq, Type: "turn", Key: k, At: at, Data: data})
	}
	return c
}

// creation returns a change that creates a debate with one entry.
func creation(id string) store.Change { return change(id, 0, "") }

func commit(t testingT, s store.Store, changes ...store.Change) {
	t.Helper()
	for _, c := range changes {
		require.NoError(t, s.Commit(t.Context(), c))
	}
}

// requireConflict commits a change and returns the resulting conflict.
func requireConflict(t testingT, s store.Store, c store.Change) store.Conflict {
	t.Helper()
	err := s.Commit(t.Context(), c)
	require.Error(t, err)
	lost, ok := errors.AsType[*store.Conflict](err)
	require.True(t, ok, "no conflict: %v", err)
	return *lost
}

func load(t testingT, s store.Store, id string, after int64) (store.Status, []store.Entry) {
	t.Helper()
	status, entries, err := s.Load(t.Context(), id, after)
	require.NoError(t, err)
	return status, entries
}

// list returns the IDs that a query finds.
func list(t testingT, s store.Store, q store.Query) []string {
	t.Helper()
	ids := []string{}
	for h, err := range s.List(t.Context(), q) {
		require.NoError(t, err)
		ids = append(ids, h.ID)
	}
	return ids
}

func deleteDebate(t testingT, s store.Store, id string) {
	t.Helper()
	require.NoError(t, s.Delete(t.Context(), id, 0))
}

// deleteAll deletes all debates. Tests use it instead of a new storage, because opening one may be slow.
func deleteAll(t testingT, s store.Store) {
	t.Helper()
	for _, id := range list(t, s, store.Query{}) {
		deleteDebate(t, s, id)
	}
}

// requireStored checks that a load and a list return exactly the result of these changes.
func requireStored(t testingT, s store.Store, changes ...store.Change) {
	t.Helper()
	var want []store.Entry
	for _, c := range changes {
		want = append(want, c.Entries...)
	}
	last := changes[len(changes)-1]
	status, entries := load(t, s, last.ID, 0)
	require.Equal(t, comparableEntries(t, want), comparableEntries(t, entries))
	require.Equal(t, encode(t, last.Status), encode(t, status))
	var listed []string
	for h, err := range s.List(t.Context(), store.Query{}) {
		require.NoError(t, err)
		if h.ID == last.ID {
			listed = append(listed, encode(t, h))
		}
	}
	require.Equal(t, []string{encode(t, last.Status)}, listed, "the list shows the same status")
}

// requireNotFound checks that the debate does not exist.
func requireNotFound(t testingT, s store.Store, id string) {
	t.Helper()
	_, _, err := s.Load(t.Context(), id, 0)
	require.ErrorIs(t, err, store.ErrNotFound)
	require.ErrorContains(t, err, id)
	require.NotContains(t, list(t, s, store.Query{}), id)
}

// A comparableEntry is an entry with its time as text, so that zones are compared, and its data as decoded JSON.
type comparableEntry struct {
	Seq           int64
	Type, Key, At string
	Data          any
}

func comparableEntries(t testingT, entries []store.Entry) []comparableEntry {
	t.Helper()
	list := []comparableEntry{}
	for _, e := range entries {
		f := comparableEntry{Seq: e.Seq, Type: e.Type, Key: e.Key, At: e.At.Format(time.RFC3339Nano)}
		decoder := json.NewDecoder(bytes.NewBufferString(encode(t, e.Data)))
		decoder.UseNumber()
		require.NoError(t, decoder.Decode(&f.Data))
		list = append(list, f)
	}
	return list
}

func seqs(entries []store.Entry) []int64 {
	list := []int64{}
	for _, e := range entries {
		list = append(list, e.Seq)
	}
	return list
}

func encode(t testingT, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

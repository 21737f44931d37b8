package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
)

// heartbeatTests are skipped for stores that keep no heartbeats.
var heartbeatTests = []testCase{
	{"a heartbeat is part of the status", testBeat},
	{"a heartbeat is not part of the journal", testBeatWritesNoJournal},
	{"a heartbeat yields to another driver when it is old or misses something", testBeatYields},
	{"a driver forgets its own heartbeats only", testForget},
	{"a deletion removes the heartbeat", testBeatDeleted},
	{"of drivers that beat at the same time one is stored", testBeatRace},
}

// keeper is a store that keeps heartbeats.
type keeper interface {
	store.Store
	store.Heartbeats
}

// openKeeper opens a store, and skips the test if it keeps no heartbeats.
func openKeeper(t *testing.T, p Backend) keeper {
	t.Helper()
	k, ok := p.Open(t).(keeper)
	if !ok {
		t.Skip("the store keeps no heartbeats")
	}
	return k
}

// beat stores a heartbeat and returns the debates for which it was stored, sorted.
func beat(t *testing.T, k keeper, h store.Heartbeat, since time.Time, ids ...string) []string {
	t.Helper()
	stored, err := k.Beat(t.Context(), h, since, ids...)
	require.NoError(t, err)
	return slices.Sorted(slices.Values(stored))
}

// requireDriver requires that Load and List of all stores return the heartbeat.
func requireDriver(t *testing.T, id string, want store.Heartbeat, stores ...keeper) {
	t.Helper()
	for _, k := range stores {
		h, _ := load(t, k, id, 0)
		require.Equal(t, encode(t, want), encode(t, h.Driver))
		for h, err := range k.List(t.Context(), store.Query{}) {
			require.NoError(t, err)
			if h.ID == id {
				require.Equal(t, encode(t, want), encode(t, h.Driver))
			}
		}
	}
}

func testBeat(t *testing.T, p Backend) {
	a, b := openKeeper(t, p), openKeeper(t, p)
	commit(t, a, creation("c"), creation("d"), creation("e"))
	first := store.Heartbeat{Name: "first", At: noon}
	require.Equal(t, []string{"c", "d"}, beat(t, a, first, noon, "d", "unknown", "c"))
	requireDriver(t, "c", first, a, b)
	requireDriver(t, "d", first, a, b)
	requireDriver(t, "e", store.Heartbeat{}, a, b)
	requireNotFound(t, a, "unknown")

	first.At = noon.Add(1500 * time.Millisecond)
	require.Equal(t, []string{"d"}, beat(t, b, first, noon, "d"))
	requireDriver(t, "d", first, a, b)
	for _, text := range unusualTexts {
		h := store.Heartbeat{Name: "first", At: noon, Missing: []string{"a provider", text}}
		require.Equal(t, []string{"d"}, beat(t, a, h, noon, "d"))
		got, _ := load(t, b, "d", 0)
		require.Len(t, got.Driver.Missing, 2)
	}
	left := store.Heartbeat{Name: "first"} // without a time
	require.Equal(t, []string{"d"}, beat(t, a, left, noon, "d"))
	requireDriver(t, "d", left, a, b)
	require.Empty(t, beat(t, a, first, noon))
	require.NoError(t, a.Forget(t.Context(), "first"))
}

func testBeatWritesNoJournal(t *testing.T, p Backend) {
	k := openKeeper(t, p)
	c := change("d", 0, "a", "")
	c.Status.Driver = store.Heartbeat{Name: "of a commit", At: noon}
	commit(t, k, c)
	requireDriver(t, "d", store.Heartbeat{}, k)
	before, entries := load(t, k, "d", 0)
	h := store.Heartbeat{Name: "x", At: noon}
	beat(t, k, h, noon, "d")
	after, same := load(t, k, "d", 0)
	require.Equal(t, comparableEntries(t, entries), comparableEntries(t, same))
	after.Driver = store.Heartbeat{}
	require.Equal(t, before, after)

	next := change("d", 2, "b") // what was computed before the heartbeat does not conflict with it
	commit(t, k, next)
	requireDriver(t, "d", h, k)
	commit(t, k, store.Change{ID: "d", After: 3, Status: next.Status}) // neither does a new status
	requireDriver(t, "d", h, k)
}

func testBeatYields(t *testing.T, p Backend) {
	k := openKeeper(t, p)
	commit(t, k, creation("d"))
	mine, other := store.Heartbeat{Name: "mine", At: noon}, store.Heartbeat{Name: "other", At: noon.Add(time.Minute)}
	beat(t, k, mine, noon, "d")
	require.Empty(t, beat(t, k, other, noon.Add(-time.Second), "d"))
	requireDriver(t, "d", mine, k)
	require.Equal(t, []string{"d"}, beat(t, k, other, noon, "d"), "mine is not newer than since")
	requireDriver(t, "d", other, k)
	require.Empty(t, beat(t, k, mine, noon, "d"))

	other.Missing = []string{"a provider"}
	require.Equal(t, []string{"d"}, beat(t, k, other, noon, "d"))
	require.Equal(t, []string{"d"}, beat(t, k, mine, noon, "d"), "other cannot drive the debate")
	requireDriver(t, "d", mine, k)
	require.Empty(t, beat(t, k, other, noon.Add(-time.Second), "d"), "mine can")
	requireDriver(t, "d", mine, k)

	require.Equal(t, []string{"d"}, beat(t, k, store.Heartbeat{Name: "mine"}, noon, "d"))
	require.Equal(t, []string{"d"}, beat(t, k, other, noon, "d"), "mine has left")
}

func testForget(t *testing.T, p Backend) {
	a, b := openKeeper(t, p), openKeeper(t, p)
	commit(t, a, creation("c"), creation("d"), creation("e"))
	h := store.Heartbeat{Name: "x", At: noon}
	beat(t, a, h, noon, "c", "d", "e")
	require.NoError(t, b.Forget(t.Context(), "y", "c", "d"))
	requireDriver(t, "d", h, a, b)
	require.NoError(t, b.Forget(t.Context(), "x", "c", "d", "unknown"))
	requireDriver(t, "c", store.Heartbeat{}, a, b)
	requireDriver(t, "d", store.Heartbeat{}, a, b)
	requireDriver(t, "e", h, a, b)
}

func testBeatDeleted(t *testing.T, p Backend) {
	k := openKeeper(t, p)
	commit(t, k, creation("d"), creation("e"))
	h := store.Heartbeat{Name: "x", At: noon}
	beat(t, k, h, noon, "d", "e")
	deleteDebate(t, k, "d")
	commit(t, k, creation("d"))
	requireDriver(t, "d", store.Heartbeat{}, k)
	requireDriver(t, "e", h, k)
}

func testBeatRace(t *testing.T, p Backend) {
	const drivers, debates = 4, 10
	k := openKeeper(t, p)
	var ids []string
	for i := range debates {
		ids = append(ids, fmt.Sprint("d", i))
		commit(t, k, creation(ids[i]))
	}
	var all sync.WaitGroup
	stored, errs := make([][]string, drivers), make([]error, drivers)
	for i := range drivers {
		mine := slices.Concat(ids[i:], ids[:i]) // in another order for each driver
		other := openKeeper(t, p)
		all.Go(func() {
			stored[i], errs[i] = other.Beat(context.WithoutCancel(t.Context()), store.Heartbeat{Name: fmt.Sprint(i), At: noon}, noon.Add(-time.Minute), mine...)
		})
	}
	all.Wait()
	owner := map[string]string{}
	for i := range drivers {
		require.NoError(t, errs[i])
		for _, id := range stored[i] {
			require.NotContains(t, owner, id, "two drivers took the debate")
			owner[id] = fmt.Sprint(i)
		}
	}
	require.Len(t, owner, debates)
	for id, driver := range owner {
		requireDriver(t, id, store.Heartbeat{Name: driver, At: noon}, k)
	}
}

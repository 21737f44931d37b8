package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
)

var concurrencyTests = []testCase{
	{"exactly one of many changes computed on the same entry wins", testOneWins},
	{"exactly one of many writers creates a debate", testOneCreates},
	{"writers that lose can commit later, and readers see whole changes", testConflictRetry},
	{"a commit concurrent with a deletion leaves no gap", testDeleteRace},
	{"watches can begin and end during commits", testWatchRace},
}

// openTwice opens the same storage twice.
func openTwice(t *testing.T, p Backend) []store.Store { return []store.Store{p.Open(t), p.Open(t)} }

// runConcurrently calls do n times concurrently, with the numbers from 0 to n-1, and waits until all calls return.
func runConcurrently(n int, do func(i int)) {
	start := make(chan struct{})
	var done sync.WaitGroup
	for i := range n {
		done.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	done.Wait()
}

// requireOneWinner checks that one commit succeeded and that all others returned the conflict want.
func requireOneWinner(t *testing.T, errs []error, want store.Conflict) {
	t.Helper()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		lost, ok := errors.AsType[*store.Conflict](err)
		require.True(t, ok, "no conflict: %v", err)
		require.Equal(t, want, *lost)
	}
	require.Equal(t, 1, won)
}

func testOneWins(t *testing.T, p Backend) {
	stores := openTwice(t, p)
	commit(t, stores[0], creation("d"))
	for after := int64(1); after < 50; after += 2 {
		errs := make([]error, 8)
		runConcurrently(len(errs), func(i int) {
			errs[i] = stores[i%2].Commit(t.Context(), change("d", after, fmt.Sprint(after, "/", i), ""))
		})
		requireOneWinner(t, errs, store.Conflict{ID: "d", After: after, LastSeq: after + 2})
		status, entries := load(t, stores[0], "d", after)
		require.Equal(t, []int64{after + 1, after + 2}, seqs(entries))
		require.Equal(t, after+2, status.Seq)
	}
}

func testOneCreates(t *testing.T, p Backend) {
	stores := openTwice(t, p)
	for n := range 20 {
		id := fmt.Sprint("d", n)
		errs := make([]error, 6)
		runConcurrently(len(errs), func(i int) { errs[i] = stores[i%2].Commit(t.Context(), change(id, 0, fmt.Sprint(i), "", "")) })
		requireOneWinner(t, errs, store.Conflict{ID: id, LastSeq: 3})
		_, entries := load(t, stores[1], id, 0)
		require.Equal(t, []int64{1, 2, 3}, seqs(entries))
	}
}

// testConflictRetry runs writers that load and commit again after each conflict, and readers.
func testConflictRetry(t *testing.T, p Backend) {
	const writers, turns = 4, 12
	stores := openTwice(t, p)
	commit(t, stores[0], change("d", 0, "", ""))
	runConcurrently(writers+2, func(i int) {
		s, seen := stores[i%2], int64(0)
		for n := 0; n < turns && !t.Failed(); {
			status, entries, err := s.Load(t.Context(), "d", 0)
			whole := len(entries)%2 == 0 && status.Seq == int64(len(entries)) && status.Seq >= seen
			if !assert.NoError(t, err) || !assert.True(t, whole, "%d entries, the status is at %d after %d", len(entries), status.Seq, seen) {
				return
			}
			seen = status.Seq
			for h, err := range s.List(t.Context(), store.Query{Limit: 1}) {
				assert.NoError(t, err)
				assert.True(t, h.Seq >= seen && h.Seq%2 == 0, "a list shows %d after %d", h.Seq, seen)
			}
			if i >= writers { // a reader
				n++
				continue
			}
			err = s.Commit(t.Context(), change("d", seen, fmt.Sprint(i, "/", n), ""))
			if lost, ok := errors.AsType[*store.Conflict](err); ok {
				assert.Greater(t, lost.LastSeq, seen)
				continue
			}
			if !assert.NoError(t, err) {
				return
			}
			n++
		}
	})
	status, entries := load(t, stores[0], "d", 0)
	require.Len(t, entries, 2+2*writers*turns)
	require.EqualValues(t, len(entries), status.Seq)
	for i, e := range entries {
		require.EqualValues(t, i+1, e.Seq)
	}
}

// testDeleteRace extends, deletes, creates and reads the same debate concurrently.
func testDeleteRace(t *testing.T, p Backend) {
	stores := openTwice(t, p)
	first := change("d", 0, "a", "")
	next := change("d", 2, "b", "")
	again := change("d", 0, "b")
	for n := range 30 {
		commit(t, stores[n%2], first)
		var went, deleted, created error
		runConcurrently(4, func(i int) {
			s := stores[(n/2+i)%2]
			switch i {
			case 0:
				went = s.Commit(t.Context(), next)
			case 1:
				deleted = s.Delete(t.Context(), "d", 0)
			case 2:
				created = s.Commit(t.Context(), again)
			default:
				status, entries, err := s.Load(t.Context(), "d", 0)
				if !errors.Is(err, store.ErrNotFound) && assert.NoError(t, err) {
					assert.EqualValues(t, len(entries), status.Seq, "the status matches the entries")
				}
			}
		})
		require.NoError(t, deleted)
		if went != nil {
			lost, ok := errors.AsType[*store.Conflict](went)
			require.True(t, ok, "no conflict: %v", went)
			require.Contains(t, []store.Conflict{{ID: "d", After: 2}, {ID: "d", After: 2, LastSeq: 1, Key: "b"}}, *lost)
		}
		if created != nil {
			lost, ok := errors.AsType[*store.Conflict](created)
			require.True(t, ok, "no conflict: %v", created)
			require.Contains(t, []store.Conflict{{ID: "d", LastSeq: 2}, {ID: "d", LastSeq: 4, Key: "b"}}, *lost)
			requireNotFound(t, stores[0], "d")
			continue
		}
		requireStored(t, stores[0], again)
		deleteDebate(t, stores[1], "d")
	}
}

func testWatchRace(t *testing.T, p Backend) {
	stores := openTwice(t, p)
	stays, _ := watch(t, stores[1], "d")
	const turns = 20
	runConcurrently(4, func(i int) {
		s := stores[i%2]
		for n := range int64(turns) {
			if i == 0 {
				assert.NoError(t, s.Commit(t.Context(), change("d", n, "")))
				continue
			}
			stop := s.(store.Watcher).Watch("d", func(int64) {})
			_, _, _ = s.Load(t.Context(), "d", n)
			stop()
		}
	})
	stays.waitFor(t, turns)
	late, _ := watch(t, stores[0], "d")
	commit(t, stores[1], change("d", turns, ""))
	late.waitFor(t, turns+1)
	stays.waitFor(t, turns+1)
}

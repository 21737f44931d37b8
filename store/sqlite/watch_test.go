package sqlite_test

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store/sqlite"
)

// watch returns a channel that receives what a debate's watcher is told.
func watch(t *testing.T, s *sqlite.Store, id string) (told chan int64, stop func()) {
	t.Helper()
	told = make(chan int64, 1000)
	stop = s.Watch(id, func(last int64) { told <- last })
	t.Cleanup(stop)
	return told, stop
}

// next returns the next seq that the watcher is told. It fails the test after a timeout.
func next(t *testing.T, told chan int64) int64 {
	t.Helper()
	select {
	case last := <-told:
		return last
	case <-time.After(5 * time.Minute):
		t.Fatal("no notification")
		return 0
	}
}

func TestOwnCommitsAreToldAtOnce(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "debates.db"))
	told, stop := watch(t, s, "d")
	for n := range int64(100) {
		commit(t, s, change("d", n, ""))
		require.EqualValues(t, n+1, <-told) // at the latest from the poll
	}
	require.NoError(t, s.Delete(t.Context(), "d", 0))
	require.Zero(t, <-told)
	stop()
	commit(t, s, change("d", 0, ""))
	require.Empty(t, told)
}

func TestCommitsOfOthersAreTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "debates.db")
	one, two := open(t, path), open(t, path)
	commit(t, one, change("d", 0, "", ""))
	told, _ := watch(t, one, "d")
	commit(t, two, change("other", 0, ""))
	commit(t, two, change("d", 2, ""))
	require.EqualValues(t, 3, next(t, told))
	require.NoError(t, two.Delete(t.Context(), "d", 0))
	require.Zero(t, next(t, told))
	commit(t, two, change("d", 0, ""))
	require.EqualValues(t, 1, next(t, told))
}

// A debate that is deleted and created again between two polls may end at the same seq as before. Watchers learn of it
// all the same.
func TestADebateThatIsMadeAnewIsNews(t *testing.T) {
	path := filepath.Join(t.TempDir(), "debates.db")
	one, two := open(t, path), open(t, path)
	commit(t, two, change("d", 0, ""))
	told, _ := watch(t, one, "d")
	for range 5 {
		require.NoError(t, two.Delete(t.Context(), "d", 0))
		commit(t, two, change("d", 0, ""))
		for next(t, told) != 1 { // a poll may see the deletion
		}
	}
}

// Whenever a watch begins, it reports everything that is committed afterwards.
func TestNothingIsLostWhenTheWatchingBegins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "debates.db")
	one, two := open(t, path), open(t, path)
	_, _ = watch(t, one, "another") // starts the poller
	for n := range int64(30) {
		told, stop := watch(t, one, "d")
		commit(t, two, change("d", n, ""))
		for next(t, told) != n+1 {
		}
		stop()
	}
}

func TestWatchersOutliveAFailure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "debates.db")
	one, two := open(t, path), open(t, path)
	alter(t, path, `ALTER TABLE entries RENAME TO hidden`)
	told, _ := watch(t, one, "d") // cannot read the end of the journal
	alter(t, path, `ALTER TABLE hidden RENAME TO entries`)
	commit(t, two, change("d", 0, ""))
	for next(t, told) != 1 {
	}
}

func TestAWatcherMayStopInItsCall(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "debates.db"))
	told, watching := make(chan int64, 10), make(chan struct{})
	var stop func()
	stop = s.Watch("d", func(last int64) { // the poller may call it, too
		<-watching
		stop()
		told <- last
	})
	close(watching)
	commit(t, s, change("d", 0, ""))
	require.EqualValues(t, 1, <-told)
	commit(t, s, change("d", 1, ""))
	require.Empty(t, told)
}

// polling reports whether a polling goroutine runs.
func polling() bool {
	stacks := make([]byte, 1<<20)
	return strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "sqlite.(*Store).poll(")
}

// until waits until holds returns true.
func until(holds func() bool) {
	for !holds() {
		runtime.Gosched()
	}
}

func TestThePollerEndsWithTheLastWatcher(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "debates.db"))
	require.False(t, polling())
	first, second := s.Watch("d", func(int64) {}), s.Watch("e", func(int64) {})
	until(polling)
	first()
	require.True(t, polling())
	second()
	second()
	until(func() bool { return !polling() })

	told, _ := watch(t, s, "d") // starts polling again
	until(polling)
	commit(t, s, change("d", 0, ""))
	require.EqualValues(t, 1, <-told)
	require.NoError(t, s.Close())
	require.False(t, polling(), "a closed store does not poll")
}

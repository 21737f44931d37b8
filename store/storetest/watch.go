package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
)

var watchTests = []testCase{
	{"watchers learn of each commit by any store", testWatch},
	{"watchers learn of deletions and of later commits", testWatchDeletion},
	{"watchers learn of the last of many quick commits", testWatchBurst},
	{"a stopped watch reports nothing", testWatchStop},
	{"status changes and refused changes wake nobody", testWatchSilence},
	{"a watch reports only its own debate", testWatchOther},
}

// notifyTimeout is the longest time that a store may take to notify a watcher.
const notifyTimeout = time.Minute

// A notifications channel receives the seqs that a watcher is told.
type notifications chan int64

// watch watches a debate until the test ends or stop is called.
func watch(t *testing.T, s store.Store, id string) (e notifications, stop func()) {
	t.Helper()
	w, ok := s.(store.Watcher)
	if !ok {
		t.Skip("the store is not a Watcher")
	}
	e = make(notifications, 1000)
	stop = w.Watch(id, func(last int64) { e <- last })
	t.Cleanup(stop)
	return e, stop
}

// waitFor waits until the channel receives want, and discards what it receives before.
func (e notifications) waitFor(t *testing.T, want int64) {
	t.Helper()
	timer := time.NewTimer(notifyTimeout)
	defer timer.Stop()
	for heard := []int64{}; ; {
		select {
		case got := <-e:
			if got == want {
				return
			}
			heard = append(heard, got)
		case <-timer.C:
			require.FailNow(t, "not told", "of %d, only of %v", want, heard)
		}
	}
}

// drainNotifications waits until all earlier commits have been reported. To do so, it has each store report the
// creation and the deletion of another debate by each store.
func drainNotifications(t *testing.T, stores ...store.Store) {
	t.Helper()
	for _, s := range stores {
		for _, by := range stores {
			e, stop := watch(t, s, "settled")
			commit(t, by, creation("settled"))
			e.waitFor(t, 1)
			deleteDebate(t, by, "settled")
			e.waitFor(t, 0)
			stop()
		}
	}
}

func testWatch(t *testing.T, p Backend) {
	a, b := p.Open(t), p.Open(t)
	first, _ := watch(t, a, "d") // the debate does not exist yet
	second, _ := watch(t, b, "d")
	ears := []notifications{first, second}
	for n := range int64(6) {
		by := a
		if n%2 == 1 {
			by = b
		}
		commit(t, by, change("d", 2*n, "", ""))
		for _, e := range ears {
			e.waitFor(t, 2*n+2)
		}
		late, _ := watch(t, by, "d")
		ears = append(ears, late)
	}
}

func testWatchDeletion(t *testing.T, p Backend) {
	a, b := p.Open(t), p.Open(t)
	first, _ := watch(t, a, "d")
	second, _ := watch(t, b, "d")
	for _, by := range []store.Store{a, b, a} {
		commit(t, by, change("d", 0, "a", ""))
		first.waitFor(t, 2)
		second.waitFor(t, 2)
		deleteDebate(t, by, "d")
		first.waitFor(t, 0)
		second.waitFor(t, 0)
	}
}

func testWatchBurst(t *testing.T, p Backend) {
	a, b := p.Open(t), p.Open(t)
	first, _ := watch(t, a, "d")
	second, _ := watch(t, b, "d")
	commit(t, a, change("d", 0, ""))
	for n := range int64(20) {
		commit(t, a, change("d", n+1, ""))
	}
	first.waitFor(t, 21)
	second.waitFor(t, 21)
	deleteDebate(t, a, "d")
	commit(t, a, change("d", 0, make([]string, 30)...)) // created again, perhaps before a watcher has polled
	first.waitFor(t, 30)
	second.waitFor(t, 30)
	commit(t, a, change("d", 30, ""))
	deleteDebate(t, a, "d")
	first.waitFor(t, 0)
	second.waitFor(t, 0)
}

func testWatchStop(t *testing.T, p Backend) {
	a, b := p.Open(t), p.Open(t)
	stays, _ := watch(t, a, "d")
	leaves, stop := watch(t, a, "d")
	commit(t, a, creation("d"))
	stays.waitFor(t, 1)
	leaves.waitFor(t, 1)
	stop()
	commit(t, a, change("d", 1, ""))
	stays.waitFor(t, 2)
	stop() // a second stop does nothing
	commit(t, b, change("d", 2, ""))
	stays.waitFor(t, 3)
	drainNotifications(t, a, b)
	for len(leaves) > 0 {
		require.EqualValues(t, 1, <-leaves, "commits after stop are not reported")
	}
	again, _ := watch(t, a, "d")
	commit(t, b, change("d", 3, ""))
	again.waitFor(t, 4)
	stays.waitFor(t, 4)
}

func testWatchSilence(t *testing.T, p Backend) {
	a, b := p.Open(t), p.Open(t)
	first, _ := watch(t, a, "d")
	second, _ := watch(t, b, "d")
	commit(t, a, change("d", 0, "a", ""))
	first.waitFor(t, 2)
	second.waitFor(t, 2)
	drainNotifications(t, a, b)
	for _, e := range []notifications{first, second} {
		for len(e) > 0 {
			<-e
		}
	}
	for _, by := range []store.Store{a, b} {
		commit(t, by, change("d", 2))
		requireConflict(t, by, change("d", 1, "b"))
		requireConflict(t, by, change("d", 2, "a"))
		require.Error(t, by.Commit(t.Context(), change("d", 2, "b", "b")))
	}
	drainNotifications(t, a, b)
	require.Empty(t, first)
	require.Empty(t, second)
}

func testWatchOther(t *testing.T, p Backend) {
	a, b := p.Open(t), p.Open(t)
	d, _ := watch(t, a, "d")
	other, _ := watch(t, b, "D")
	commit(t, a, creation("D"), creation("d "))
	other.waitFor(t, 1)
	deleteDebate(t, b, "D")
	other.waitFor(t, 0)
	drainNotifications(t, a, b)
	for len(d) > 0 {
		require.Zero(t, <-d, "a watch may only report that the debate does not exist")
	}
}

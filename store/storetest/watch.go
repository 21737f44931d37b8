package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
)

var watchTests = []testCase{
	{"who watches is told of each commit, whoever made it", testWatch},
	{"who watches is told of a deletion, and of what comes after it", testWatchDeletion},
	{"what follows in quick succession is told in the end", testWatchBurst},
	{"who stopped is not told", testWatchStop},
	{"a head alone and what is refused wake nobody", testWatchSilence},
	{"who watches one debate is not told of another", testWatchOther},
}

// notifyTimeout is how long a store may take to tell.
const notifyTimeout = 10 * time.Second

// An notifications is what a watcher hears.
type notifications chan int64

// watch listens to a debate until the test ends.
func watch(t *testing.T, s store.Store, id string) (e notifications, stop func()) {
	t.Helper()
	w, ok := s.(store.Watcher)
	if !ok {
		t.Skip("this store tells nobody")
	}
	e = make(notifications, 1000)
	stop = w.Watch(id, func(last int64) { e <- last })
	t.Cleanup(stop)
	return e, stop
}

// waitFor waits until the ear waitFor a seq, and forgets what it heard before.
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

// drainNotifications waits until what was committed before is told: each place has told of a debate that nothing else is about.
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
	first, _ := watch(t, a, "d") // before there is such a debate
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
	commit(t, a, change("d", 0, make([]string, 30)...)) // created again before anybody may have looked
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
	stop() // once more does no harm
	commit(t, b, change("d", 2, ""))
	stays.waitFor(t, 3)
	drainNotifications(t, a, b)
	for len(leaves) > 0 {
		require.EqualValues(t, 1, <-leaves, "of what was committed after stop nothing is told")
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
		require.Zero(t, <-d, "all that can be told is that there is none")
	}
}

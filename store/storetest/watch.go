package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
)

var watches = []test{
	{"who watches is told of each commit, whoever made it", testWatch},
	{"who watches is told of a deletion, and of what comes after it", testWatchDeletion},
	{"what follows in quick succession is told in the end", testWatchBurst},
	{"who stopped is not told", testWatchStop},
	{"a head alone and what is refused wake nobody", testWatchSilence},
	{"who watches one debate is not told of another", testWatchOther},
}

// patience is how long a store may take to tell.
const patience = 10 * time.Second

// An ear is what a watcher hears.
type ear chan int64

// watch listens to a debate until the test ends.
func watch(t *testing.T, s store.Store, id string) (e ear, stop func()) {
	t.Helper()
	w, ok := s.(store.Watcher)
	if !ok {
		t.Skip("this store tells nobody")
	}
	e = make(ear, 1000)
	stop = w.Watch(id, func(last int64) { e <- last })
	t.Cleanup(stop)
	return e, stop
}

// hears waits until the ear hears a seq, and forgets what it heard before.
func (e ear) hears(t *testing.T, want int64) {
	t.Helper()
	timer := time.NewTimer(patience)
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

// settle waits until what was committed before is told: each place has told of a debate that nothing else is about.
func settle(t *testing.T, stores ...store.Store) {
	t.Helper()
	for _, s := range stores {
		for _, by := range stores {
			e, stop := watch(t, s, "settled")
			commit(t, by, created("settled"))
			e.hears(t, 1)
			remove(t, by, "settled")
			e.hears(t, 0)
			stop()
		}
	}
}

func testWatch(t *testing.T, p Place) {
	a, b := p.Open(t), p.Open(t)
	first, _ := watch(t, a, "d") // before there is such a debate
	second, _ := watch(t, b, "d")
	ears := []ear{first, second}
	for n := range int64(6) {
		by := a
		if n%2 == 1 {
			by = b
		}
		commit(t, by, change("d", 2*n, "", ""))
		for _, e := range ears {
			e.hears(t, 2*n+2)
		}
		late, _ := watch(t, by, "d")
		ears = append(ears, late)
	}
}

func testWatchDeletion(t *testing.T, p Place) {
	a, b := p.Open(t), p.Open(t)
	first, _ := watch(t, a, "d")
	second, _ := watch(t, b, "d")
	for _, by := range []store.Store{a, b, a} {
		commit(t, by, change("d", 0, "a", ""))
		first.hears(t, 2)
		second.hears(t, 2)
		remove(t, by, "d")
		first.hears(t, 0)
		second.hears(t, 0)
	}
}

func testWatchBurst(t *testing.T, p Place) {
	a, b := p.Open(t), p.Open(t)
	first, _ := watch(t, a, "d")
	second, _ := watch(t, b, "d")
	commit(t, a, change("d", 0, ""))
	for n := range int64(20) {
		commit(t, a, change("d", n+1, ""))
	}
	first.hears(t, 21)
	second.hears(t, 21)
	remove(t, a, "d")
	commit(t, a, change("d", 0, make([]string, 30)...)) // created again before anybody may have looked
	first.hears(t, 30)
	second.hears(t, 30)
	commit(t, a, change("d", 30, ""))
	remove(t, a, "d")
	first.hears(t, 0)
	second.hears(t, 0)
}

func testWatchStop(t *testing.T, p Place) {
	a, b := p.Open(t), p.Open(t)
	stays, _ := watch(t, a, "d")
	leaves, stop := watch(t, a, "d")
	commit(t, a, created("d"))
	stays.hears(t, 1)
	leaves.hears(t, 1)
	stop()
	commit(t, a, change("d", 1, ""))
	stays.hears(t, 2)
	stop() // once more does no harm
	commit(t, b, change("d", 2, ""))
	stays.hears(t, 3)
	settle(t, a, b)
	for len(leaves) > 0 {
		require.EqualValues(t, 1, <-leaves, "of what was committed after stop nothing is told")
	}
	again, _ := watch(t, a, "d")
	commit(t, b, change("d", 3, ""))
	again.hears(t, 4)
	stays.hears(t, 4)
}

func testWatchSilence(t *testing.T, p Place) {
	a, b := p.Open(t), p.Open(t)
	first, _ := watch(t, a, "d")
	second, _ := watch(t, b, "d")
	commit(t, a, change("d", 0, "a", ""))
	first.hears(t, 2)
	second.hears(t, 2)
	settle(t, a, b)
	for _, e := range []ear{first, second} {
		for len(e) > 0 {
			<-e
		}
	}
	for _, by := range []store.Store{a, b} {
		commit(t, by, change("d", 2))
		conflict(t, by, change("d", 1, "b"))
		conflict(t, by, change("d", 2, "a"))
		require.Error(t, by.Commit(t.Context(), change("d", 2, "b", "b")))
	}
	settle(t, a, b)
	require.Empty(t, first)
	require.Empty(t, second)
}

func testWatchOther(t *testing.T, p Place) {
	a, b := p.Open(t), p.Open(t)
	d, _ := watch(t, a, "d")
	other, _ := watch(t, b, "D")
	commit(t, a, created("D"), created("d "))
	other.hears(t, 1)
	remove(t, b, "D")
	other.hears(t, 0)
	settle(t, a, b)
	for len(d) > 0 {
		require.Zero(t, <-d, "all that can be told is that there is none")
	}
}

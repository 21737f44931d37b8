package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
)

// manyDebates returns a store with 14,000 debates with the given labels, one in a thousand of which is paused.
func manyDebates(t testing.TB, labels map[string]string) store.Store {
	t.Helper()
	s := store.Memory()
	for i := range 14_000 {
		id := fmt.Sprintf("d%05d", i)
		status := store.Status{ID: id, Seq: 1, State: fsm.Completed, Created: now.Add(time.Duration(i) * time.Second), Labels: labels}
		if i%1000 == 0 {
			status.State = fsm.Paused
		}
		require.NoError(t, s.Commit(t.Context(), store.Change{ID: id, Entries: []store.Entry{{Seq: 1, Type: "config"}}, Status: status}))
	}
	return s
}

var manyQueries = map[string]struct {
	query store.Query
	found int
}{
	"the newest 100": {store.Query{Limit: 100}, 100},
	"a later page":   {store.Query{Limit: 100, CreatedBefore: now.Add(time.Hour)}, 100},
	"a rare state":   {store.Query{States: []fsm.State{fsm.Paused}}, 14},
	"all":            {store.Query{}, 14_000},
}

func BenchmarkMemoryList(b *testing.B) {
	s := manyDebates(b, map[string]string{"team": "red"})
	for name, tt := range manyQueries {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				for _, err := range s.List(b.Context(), tt.query) {
					require.NoError(b, err)
					n++
				}
				require.Equal(b, tt.found, n)
			}
		})
	}
}

// A list copies and sorts only what it returns.
func TestAListOfTheMemoryStoreCopiesOnlyWhatItReturns(t *testing.T) {
	for _, x := range []struct {
		labels map[string]string
		each   int // allocations for each debate: of its map of labels, which a caller may change
	}{{nil, 0}, {map[string]string{"team": "red"}, 2}} {
		s := manyDebates(t, x.labels)
		for name, tt := range manyQueries {
			n := 0
			allocs := testing.AllocsPerRun(1, func() {
				n = 0
				for _, err := range s.List(t.Context(), tt.query) {
					if err == nil {
						n++
					}
				}
			})
			require.Equal(t, tt.found, n, name)
			require.LessOrEqual(t, allocs, float64(100+x.each*n), "%s, labels %v", name, x.labels)
		}
	}
}

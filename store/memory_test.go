package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/storetest"
)

func ExampleMemory() {
	ctx := context.Background()
	s := store.Memory()

	created := store.Change{ID: "d1", Entries: []store.Entry{{Seq: 1, Type: "config"}}, Status: store.Status{ID: "d1", Seq: 1}}
	fmt.Println(s.Commit(ctx, created))
	fmt.Println(s.Commit(ctx, created)) // another process creates the same debate

	said := store.Change{ID: "d1", After: 1, Entries: []store.Entry{{Seq: 2, Type: "turn", Key: "1/1/respond/Ann/"}}, Status: store.Status{ID: "d1", Seq: 2}}
	fmt.Println(s.Commit(ctx, said))

	status, entries, err := s.Load(ctx, "d1", 1)
	fmt.Println(status.Seq, entries[0].Key, err)
	// Output:
	// <nil>
	// change debate d1: computed on entry 0, but the journal ends at entry 1
	// <nil>
	// 2 1/1/respond/Ann/ <nil>
}

func TestMemory(t *testing.T) {
	storetest.Run(t, func(testing.TB) storetest.Backend {
		s := store.Memory()
		return storetest.Backend{Open: func(testing.TB) store.Store { return s }}
	})
}

// change returns a change that appends entries to the debate "d", which ends at after.
func change(after, entries int64) store.Change {
	c := store.Change{ID: "d", After: after, Status: store.Status{ID: "d", Seq: after + entries}}
	for seq := after + 1; seq <= c.Status.Seq; seq++ {
		c.Entries = append(c.Entries, store.Entry{Seq: seq, Type: "turn"})
	}
	return c
}

func TestMemoryTellsEachCommitAtOnce(t *testing.T) {
	s := store.Memory()
	var told []int64
	stop := s.(store.Watcher).Watch("d", func(last int64) { told = append(told, last) })
	for _, c := range []store.Change{change(0, 2), change(2, 1), change(3, 0), change(3, 3)} {
		require.NoError(t, s.Commit(t.Context(), c))
	}
	require.Error(t, s.Commit(t.Context(), change(3, 1)))
	require.NoError(t, s.Delete(t.Context(), "d", 0))
	require.Error(t, s.Delete(t.Context(), "d", 0))
	require.NoError(t, s.Commit(t.Context(), change(0, 1)))
	stop()
	require.NoError(t, s.Commit(t.Context(), change(1, 1)))
	require.Equal(t, []int64{2, 3, 6, 0, 1}, told)
}

// Writers to a memory store seldom conflict because it is fast, so the test makes many commits.
func TestMemoryLosesNoCommit(t *testing.T) {
	const writers, turns = 4, 2000
	s := store.Memory()
	var done sync.WaitGroup
	for range writers {
		done.Go(func() {
			last := int64(0)
			for n := 0; n < turns; {
				err := s.Commit(t.Context(), change(last, 1))
				if lost, ok := errors.AsType[*store.Conflict](err); ok {
					last = lost.LastSeq
					continue
				}
				if !assert.NoError(t, err) {
					return
				}
				last++
				n++
			}
		})
	}
	done.Wait()
	status, entries, err := s.Load(t.Context(), "d", 0)
	require.NoError(t, err)
	require.EqualValues(t, writers*turns, status.Seq)
	require.Len(t, entries, writers*turns)
}

// A wake callback may stop any watch, its own included.
func TestMemoryIsNotLockedWhileItTells(t *testing.T) {
	s := store.Memory()
	woken := 0
	var stops []func()
	for range 2 {
		stops = append(stops, s.(store.Watcher).Watch("d", func(int64) {
			woken++
			for _, stop := range stops {
				stop()
			}
		}))
	}
	require.NoError(t, s.Commit(t.Context(), change(0, 1)))
	require.NoError(t, s.Commit(t.Context(), change(1, 1)))
	require.Equal(t, 2, woken, "both calls were in progress")
}

func TestMemoryGivesDataBackAsItself(t *testing.T) {
	s := store.Memory()
	data := &struct{ Text string }{"as it is"}
	c := change(0, 1)
	c.Entries[0].Data = data
	require.NoError(t, s.Commit(t.Context(), c))
	_, entries, err := s.Load(t.Context(), "d", 0)
	require.NoError(t, err)
	require.Same(t, data, entries[0].Data)
}

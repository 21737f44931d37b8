package admission_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/admission"
)

func admitted(turn chan struct{}) bool {
	select {
	case <-turn:
		return true
	default:
		return false
	}
}

func TestOthersWaitInOrder(t *testing.T) {
	q := admission.Queue{Most: 1}
	first := q.Join()
	second := q.Join()
	third := q.Join()
	require.True(t, admitted(first))
	require.False(t, admitted(second))
	q.Leave(second) // it waits no longer
	q.Leave(first)
	require.True(t, admitted(third))
}

func TestADebateHasOneDriver(t *testing.T) {
	var d admission.Drivers
	require.False(t, d.After("a", func() { t.Error("nobody leaves") }))
	leave := d.Enter("a")
	require.NotNil(t, leave)
	require.Nil(t, d.Enter("a"))
	require.NotNil(t, d.Enter("b"))
	again := false
	require.True(t, d.After("a", func() { again = d.Enter("a") != nil }))
	leave()
	require.True(t, again, "the next driver enters when the first one has left")
	require.True(t, d.Drives("a"))
	require.True(t, d.Close())
	require.False(t, d.Close())
	require.Nil(t, d.Enter("c"))
	require.False(t, d.Drives("c"))
}

func TestLocksOfDebates(t *testing.T) {
	var locks admission.Locks
	defer locks.Lock("b")() // another debate does not wait
	var all sync.WaitGroup
	var list []int
	for i := range 50 {
		all.Go(func() {
			defer locks.Lock("a")()
			list = append(list, i)
		})
	}
	all.Wait()
	slices.Sort(list)
	require.Len(t, slices.Compact(list), 50)
}

package spool_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/spool"
)

func TestEventsAreDeliveredInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		q := spool.New(100, func(id string, e int) { got = append(got, fmt.Sprint(id, e)) }, nil)
		require.NoError(t, q.Wait(t.Context()), "nothing was added yet")
		for i := range 3 {
			q.Add("a", i, int64(i+1))
			q.AddLive("b", func(int64) int { return i })
		}
		require.NoError(t, q.Wait(t.Context()))
		require.Equal(t, []string{"a0", "b0", "a1", "b1", "a2", "b2"}, got)
		q.Add("a", 3, 4)
		require.NoError(t, q.Wait(t.Context()))
		require.Equal(t, "a3", got[len(got)-1], "the goroutine starts again")
	})
}

func TestAFullQueueKeepsTheNumbersOfStoredEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		open := make(chan struct{})
		q := spool.New(2, func(id string, e int) {
			<-open
			got = append(got, fmt.Sprint(id, e))
		}, func(id string, m spool.Missed) { got = append(got, fmt.Sprint(id, m)) })
		for i := range 3 {
			q.Add("a", i, int64(i+1))
			synctest.Wait() // the first event has left the queue
		}
		for i := 3; i < 9; i++ {
			if seq := []int64{4, 0, 5, 0, 8, 9}[i-3]; seq > 0 {
				q.Add("a", i, seq)
			} else {
				q.AddLive("a", func(int64) int { return i })
			}
		}
		q.AddLive("b", func(int64) int { return 0 })
		close(open)
		require.NoError(t, q.Wait(t.Context()))
		require.Equal(t, []string{"a0", "a1", "a2", "a{2 [{4 5} {8 9}]}", "b{1 []}"}, got)
		q.Add("a", 9, 10)
		require.NoError(t, q.Wait(t.Context()))
		require.Equal(t, "a9", got[len(got)-1])
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := make(chan struct{})
		q := spool.New(1, func(string, int) { <-open }, nil)
		q.Add("a", 1, 1)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, q.Wait(ctx), context.Canceled)
		close(open)
		require.NoError(t, q.Wait(t.Context()))
	})
}

func TestAnObserverThatEndsTheGoroutineGetsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := 0
		q := spool.New(100, func(_ string, e int) {
			got++
			if e == 1 {
				runtime.Goexit()
			}
		}, nil)
		for i := range 3 {
			q.AddLive("a", func(int64) int { return i })
		}
		require.NoError(t, q.Wait(t.Context()))
		require.Equal(t, 3, got)
	})
}

// Whatever the speed of producers and observer, each stored event is delivered or reported once, in order.
func TestNoStoredEventIsLost(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // not for secrets
		last := map[string]int64{}
		live := 0
		stored := 0
		see := func(id string, seq int64) {
			stored++
			require.Equal(t, last[id]+1, seq, id)
			last[id] = seq
		}
		slow := random.IntN(20)
		q := spool.New(1+random.IntN(8), func(id string, seq int64) {
			for range slow {
				runtime.Gosched()
			}
			if seq == 0 {
				live++
				return
			}
			see(id, seq)
		}, func(id string, m spool.Missed) {
			live += m.Live
			for _, r := range m.Stored {
				for n := r.First; n <= r.Last; n++ {
					see(id, n)
				}
			}
		})
		var all sync.WaitGroup
		for _, id := range []string{"a", "b", "c"} {
			all.Go(func() {
				for n := range int64(200) {
					q.Add(id, n+1, n+1)
					q.AddLive(id, func(int64) int64 { return 0 })
				}
			})
		}
		all.Wait()
		require.NoError(t, q.Wait(t.Context()))
		require.Equal(t, 600, stored)
		require.Equal(t, 600, live)
	}
}

func TestLiveEventsFollowTheLastStoredOne(t *testing.T) {
	var got []int64
	q := spool.New(100, func(_ string, e int64) { got = append(got, e) }, nil)
	live := func() { q.AddLive("a", func(after int64) int64 { return after }) }
	live() // nobody has entered
	q.Enter("a", 3)
	live()
	q.Add("a", -1, 4)
	live()
	q.Read("a", 7)
	q.Read("a", 6)
	live()
	q.Leave("a")
	q.Read("a", 8)
	live()
	require.NoError(t, q.Wait(t.Context()))
	require.Equal(t, []int64{0, 3, -1, 4, 7, 0}, got)
}

func TestANilQueueDoesNothing(t *testing.T) {
	var q *spool.Queue[int]
	q.Enter("a", 1)
	q.Read("a", 2)
	q.Add("a", 1, 3)
	q.AddLive("a", func(int64) int { panic("of the queue") })
	q.Leave("a")
}

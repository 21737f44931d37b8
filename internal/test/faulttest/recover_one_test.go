package faulttest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/store"
)

// Recover of a debate continues it only if its process has died.
func TestADebateIsRecovered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared, m := store.Memory(), newMeter()
		dying := newMortal(shared)
		open := func(s store.Store, name string) *debate.Engine {
			e := debatetest.Engine(t, processOptions(s, m, name))
			t.Cleanup(func() { debatetest.Kill(e) })
			return e
		}
		first := debatetest.Call(t, open(dying, "first").Launch, debatetest.PairConfig(panel.Protocol{Format: panel.RoundLimited}))
		d := debatetest.Open(t, open(shared, "second"), first.ID())

		time.Sleep(25 * time.Second)
		require.NoError(t, first.Recover(t.Context()))
		require.NoError(t, d.Recover(t.Context())) // the first process lives
		s := debatetest.Status(t, d)
		require.Equal(t, "first", s.Driver.Name)

		dying.dead.Store(true)
		time.Sleep(time.Minute)
		require.NoError(t, d.Pause(t.Context()))
		require.NoError(t, d.Recover(t.Context()))
		s = debatetest.Status(t, d)
		require.Equal(t, fsm.Paused, s.State, "Recover ends no pause")
		require.NotEqual(t, "second", s.Driver.Name)
		require.NoError(t, d.Resume(t.Context()))
		require.NoError(t, d.Recover(t.Context()))
		for _, err := range d.Watch(t.Context(), 0) {
			require.NoError(t, err)
		}
		require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
		require.NoError(t, d.Recover(t.Context()))
		require.NoError(t, d.Recover(t.Context()))
	})
}

// Recover of a debate continues it if it was running when its process died, without a control in between.
func TestARunningDebateIsRecovered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared, m := store.Memory(), newMeter()
		dying := newMortal(shared)
		dead := debatetest.Engine(t, processOptions(dying, m, "dead"))
		first := debatetest.Call(t, dead.Launch, debatetest.PairConfig(panel.Protocol{Format: panel.RoundLimited}))
		time.Sleep(25 * time.Second)
		dying.dead.Store(true)
		e := debatetest.Engine(t, processOptions(shared, m, "e"))
		d := debatetest.Open(t, e, first.ID())
		time.Sleep(time.Minute)
		for range 2 {
			require.NoError(t, d.Recover(t.Context()))
		}
		s := debatetest.Status(t, d)
		require.Equal(t, "e", s.Driver.Name)
		for _, err := range d.Watch(t.Context(), 0) {
			require.NoError(t, err)
		}
		require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = dead.Close(ctx)
		require.NoError(t, e.Close(t.Context()))
		require.Error(t, d.Recover(ctx))
	})
}

// Recover leaves a debate alone that has just changed, even if nobody says who drives it.
func TestADebateThatChangesIsNotRecovered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared, m := store.Memory(), newMeter()
		silent := processOptions(shared, m, "silent")
		silent.HeartbeatInterval = -1
		first := debatetest.Call(t, newTestEngine(t, silent).Launch, debatetest.PairConfig(panel.Protocol{Format: panel.RoundLimited}))
		other := debatetest.Open(t, newTestEngine(t, processOptions(shared, m, "other")), first.ID())
		time.Sleep(15 * time.Second)
		before := m.calls.Load()
		require.NoError(t, other.Recover(t.Context()))
		synctest.Wait()
		require.Equal(t, before, m.calls.Load(), "no call is made twice")
		require.NotEqual(t, "other", debatetest.Status(t, other).Driver.Name)
	})
}

// Recover leaves a debate that this engine drives to its caller.
func TestADebateIsNotRecoveredFromItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMeter()
		d := debatetest.Create(t, newTestEngine(t, processOptions(store.Memory(), m, "e")), debatetest.PairConfig(panel.Protocol{Format: panel.RoundLimited}))
		for ev, err := range d.Run(t.Context()) {
			require.NoError(t, err)
			if _, spoken := ev.(debate.TurnDone); spoken {
				require.NoError(t, d.Recover(t.Context()))
				break
			}
		}
		before := m.calls.Load()
		time.Sleep(time.Hour)
		require.Equal(t, before, m.calls.Load(), "the caller has left")
	})
}

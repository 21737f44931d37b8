package debatetool_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/store"
)

// Resume passes on a reply to the first step, and shows each turn once.
func TestResumePassesOnAReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := debatetest.ShortPanel(2)
		c.Participants[1].Human, c.AskBeforeVerdict = true, true
		b := sit(t, store.Memory(), &model{}, c, debatetool.Options{})
		var turns []string
		out := debatetest.Call(t, b.Run, ask)
		require.Equal(t, "waiting", out.Status)
		resume := func(r debatetool.Reply) {
			t.Helper()
			r.ID = out.ID
			for p, err := range b.Resume(t.Context(), r) {
				require.NoError(t, err)
				if p.Turn != nil {
					turns = append(turns, p.Turn.Actor)
				}
				if p.Output != nil {
					out = *p.Output
				}
			}
		}
		resume(debatetool.Reply{})
		require.Empty(t, turns, "the turns were shown")
		require.Equal(t, "waiting", out.Status)
		resume(debatetool.Reply{Text: "No."})
		resume(debatetool.Reply{Text: "Still no.", Step: out.Waiting[0].Step})
		require.Equal(t, []string{"Bo", "Judge", "Ada", "Bo", "Judge"}, turns)
		require.NotEmpty(t, out.Waiting[0].Choices)
		resume(debatetool.Reply{Text: "approve"})
		require.Equal(t, "completed", out.Status)

		for _, err := range b.Resume(t.Context(), debatetool.Reply{ID: "nothing"}) {
			require.ErrorContains(t, err, `there is no debate "nothing"`)
		}
	})
}

// counting counts how often a store is read.
type counting struct {
	store.Store
	loads atomic.Int64
}

func (c *counting) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	c.loads.Add(1)
	return c.Store.Load(ctx, id, after)
}

// Resume reads a debate of many turns as often as one of few.
func TestResumeReadsALongDebateOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loads := map[int]int64{}
		for _, rounds := range []int{1, 30} {
			s := &counting{Store: store.Memory()}
			c := debatetest.ShortPanel(2)
			c.Limits.MaxRounds = rounds
			b := sit(t, s, &model{}, c, debatetool.Options{})
			out := debatetest.Call(t, b.Run, ask)
			require.Equal(t, "completed", out.Status)
			synctest.Wait() // the engine has left the debate
			s.loads.Store(0)
			for _, err := range b.Resume(t.Context(), debatetool.Reply{ID: out.ID}) {
				require.NoError(t, err)
			}
			loads[rounds] = s.loads.Load()
		}
		require.Equal(t, loads[1], loads[30])
	})
}

package debatetool_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/debatetool"
	"github.com/elenchus-go/debate/store"
)

// Resume passes on a reply to the first step, and shows each turn once.
func TestResumePassesOnAReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := pair()
		c.Participants[1].Human, c.AskBeforeVerdict = true, true
		b := sit(t, store.Memory(), &model{}, c, debatetool.Options{})
		var turns []string
		out, err := b.Run(t.Context(), ask)
		require.NoError(t, err)
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

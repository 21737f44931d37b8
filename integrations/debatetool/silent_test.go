package debatetool_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Outputs of a fork and its progress have no empty turn of who is silent.
func TestSilentTurnsAreNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, store.Memory(), &model{}, debatetest.ShortPanel(2), debatetool.Options{})
		out := debatetest.Call(t, b.Run, ask)
		first := transcript.Key{Run: 1, Round: 1, Phase: "respond", Actor: "Ada"}
		d, err := b.engine.Fork(t.Context(), out.ID, 0, debate.Edits{Labels: map[string]string{}, Silent: debate.Omission{Turns: []transcript.Key{first}}})
		require.NoError(t, err)
		require.NoError(t, d.Start(t.Context()))
		seen := 0
		for p, err := range b.Follow(t.Context(), d.ID(), 0) {
			require.NoError(t, err)
			if p.Turn != nil {
				seen++
				require.NotEmpty(t, p.Turn.Text)
			}
		}
		list := debatetest.Call(t, b.Transcript, d.ID())
		require.Len(t, list, seen)
		all := debatetest.Call(t, b.Transcript, out.ID)
		require.Len(t, list, len(all)-1)
	})
}

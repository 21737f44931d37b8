package toolstest

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// A fork that begins between the rounds of a step does not pay for the rounds of its parent: the limit of a runner is not reached by them.
func TestAForkBetweenRoundsPaysOnlyForItsOwn(t *testing.T) {
	w, s := &world{rounds: 8}, store.Memory()
	c := config(w)
	c.Limits.ToolRounds = 8
	c.Judges[0].Tools = nil
	parent := run(t, w, c, s)
	list := events(t, parent)
	last := roundsOf(list)[len(roundsOf(list))-1]
	at := slices.IndexFunc(list, func(ev debate.Event) bool {
		turn, ok := ev.(debate.TurnDone)
		return ok && turn.Turn.Key == last.Key
	})
	require.Equal(t, 8, last.Number)
	tokens := func(u transcript.Usage) int { return u.Input + u.Output }
	var before int
	for m, err := range parent.Replay(t.Context()) {
		require.NoError(t, err)
		if m.Event.Meta().Seq == last.Seq {
			before = tokens(m.Status().Usage)
		}
	}
	own := tokens(debatetest.Status(t, parent).Usage) - before
	require.Greater(t, tokens(list[at].(debate.TurnDone).Turn.Usage), own+1, "with the rounds of the parent, the limit would be reached")

	r, err := runs.Open(runs.Config{Label: "try", What: "trial", Name: "a", MaxTokens: own + 1}, debate.Options{
		Providers: map[string]providers.Provider{"m": w}, Store: s, Tools: w.tools(),
	})
	require.NoError(t, err)
	defer r.Close(t.Context())
	status, err := r.DriveFork(t.Context(), "fork", func(ctx context.Context) (*debate.Debate, error) {
		return r.Engine.Fork(ctx, "d", last.Seq, debate.Edits{ID: "fork"})
	})
	require.NoError(t, err)
	require.Equal(t, fsm.Completed, status.State)
	spent, _ := r.Spent()
	require.Equal(t, own, spent)
}

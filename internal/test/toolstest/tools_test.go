package toolstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/debatetest"
)

func TestADebateWithTools(t *testing.T) {
	w := &world{rounds: 2, calls: 2}
	d := run(t, w, config(w), nil)
	r := debatetest.Result(t, d)
	require.Equal(t, "completed", string(r.State))
	list := roundsOf(events(t, d))
	require.Len(t, list, 2*len(r.Turns))
	first := list[0]
	require.Equal(t, 1, first.Number)
	require.Len(t, first.Calls, 2)
	require.True(t, first.Calls[0].Done)
	require.Equal(t, "search", first.Calls[0].Name)
	require.Contains(t, first.Calls[0].Text, "Found: ")
	require.NotEmpty(t, first.Calls[0].Sources[0].Text)
	require.Len(t, first.Attempts, 1)
	require.Equal(t, "tool_calls", first.Attempts[0].FinishReason)
	require.Len(t, first.Parts, 3)
	for _, turn := range r.Turns {
		require.Len(t, turn.Attempts, 3)
	}
	require.Equal(t, debatetest.Status(t, d).Usage, r.Total.Usage)
	used := 0
	for _, u := range r.Tools {
		require.Equal(t, "search", u.Tool)
		require.Zero(t, u.Failed)
		used += u.Calls
	}
	require.Equal(t, len(w.ran), used, "each call counts once, although its round has two entries")
	require.Equal(t, r.Turns[0].Actor, r.Tools[0].Actor)
	requirePrompts(t, w, d)
	for _, n := range w.ran {
		require.Equal(t, 1, n)
	}
}

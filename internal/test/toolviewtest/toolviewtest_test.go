package toolviewtest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
)

// The journal, the log and the archive have the calls of public steps, and nothing of a private one but its usage.
func TestTheJournalAndTheLog(t *testing.T) {
	kept := store.Memory()
	e, log := Engine(t, func(o *debate.Options) { o.Store = kept })
	d := Ended(t, e)
	calls := map[string]int{}
	for m, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		if round, ok := m.Event.(debate.ToolsCalled); ok {
			calls[round.Key.Actor]++
		}
	}
	require.Equal(t, map[string]int{"Ada": 3, "J": 2}, calls, "Ada's order has an entry before the person decides; J assesses and concludes")
	j, err := archive.Export(t.Context(), kept, "d")
	require.NoError(t, err)
	raw, err := json.Marshal(j)
	require.NoError(t, err)
	require.Contains(t, string(raw), Asked)
	require.Contains(t, string(raw), Found)
	require.Contains(t, string(raw), Reason)
	require.NotContains(t, string(raw), Secret)
	require.NotContains(t, log.Text(), Secret)
	require.Contains(t, log.Text(), "tool failed")
	r, err := d.Result(t.Context())
	require.NoError(t, err)
	for _, turn := range r.Turns {
		if turn.Actor == "Bo" {
			require.Len(t, turn.Attempts, 2)
			require.Equal(t, 9, turn.Attempts[0].Usage.Input)
		}
	}
}

// A question about a call shows its whole arguments.
func TestTheQuestion(t *testing.T) {
	e, _ := Engine(t)
	_, q := Waiting(t, e)
	require.Equal(t, "Ada wants to call the tool order", q.Cause)
	arguments, shown := strings.CutPrefix(q.String(), q.Cause+" with these arguments:\n")
	require.True(t, shown)
	var got question
	require.NoError(t, json.Unmarshal([]byte(arguments), &got))
	require.Equal(t, Ordered+" "+Hostile, got.Q)
	require.Equal(t, "why", (&debate.Question{Cause: "why"}).String())
	for arguments, want := range map[string]string{
		`{"sh":"a \u0026\u0026 b \u003E c"}`: "{\n  \"sh\": \"a && b > c\"\n}", `{"sh":"\\u0026 \u001b \""}`: "{\n  \"sh\": \"\\\\u0026 \\u001b \\\"\"\n}", "no JSON": "no JSON", " {} \n": "{}",
	} {
		require.Equal(t, "why with these arguments:\n"+want, (&debate.Question{Cause: "why", Call: &tool.Record{Arguments: []byte(arguments)}}).String())
	}
}

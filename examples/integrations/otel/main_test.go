package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/examples/console"
)

// spans runs the program with the offline demo model and returns the names of the printed spans.
func spans(t *testing.T, args ...string) (names []string, printed string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := console.Run(t.Context(), run, args, &stdout, &stderr, func(string) string { return "" })
	require.Equal(t, 0, code, stderr.String())
	printed = stdout.String()
	for list := json.NewDecoder(&stdout); list.More(); {
		var span struct{ Name string }
		require.NoError(t, list.Decode(&span))
		names = append(names, span.Name)
	}
	return names, printed
}

func TestTheSpansOfADebate(t *testing.T) {
	names, printed := spans(t, "Should", "tea", "be", "free?")
	require.Subset(t, names, []string{
		"invoke_workflow panel/1", "debate.round 1", "debate.phase respond", "invoke_agent Ada", "invoke_agent Bo", "invoke_agent Judge", "debate.phase verdict",
	})
	require.Contains(t, printed, "gen_ai.evaluation.result")
	require.NotContains(t, printed, "tea")
}

func TestTexts(t *testing.T) {
	_, printed := spans(t, "-texts", "Should", "tea", "be", "free?")
	require.Contains(t, printed, "Should tea be free?")
}

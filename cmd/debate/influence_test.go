package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/eval/influence"
)

// Influence announces its calls, makes as many, and writes a report. The same command asks nothing again.
func TestInfluence(t *testing.T) {
	folder(t)
	var calls atomic.Int64
	env := server(t, func(n int, _ http.ResponseWriter, prompt string) string {
		if n < 0 { // a check of the key
			return ""
		}
		calls.Add(1)
		if !strings.Contains(prompt, "Score Debater A and Debater B") {
			return "Trams are quieter."
		}
		return `{"summary": "It was close.", "no_new_arguments": false, "participants": {"Debater_A": 6, "Debater_B": 5}, "winner": "Debater A"}`
	})
	code, _, stderr := start(t, env, "--protocol", "procon", "--rounds", "1", "--store", "d.db", topic)
	require.Equal(t, 0, code, stderr)
	id := saved(t, stderr)
	calls.Store(0)
	find := func(args ...string) (int, string, string) {
		return start(t, env, append([]string{"influence", id, "--store", "d.db"}, args...)...)
	}
	code, stdout, stderr := find("--samples", "4", "--plan")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stderr, "(2 items + 1) × 4 samples × 1 call = 12 calls, about")
	require.Empty(t, stdout)
	require.Zero(t, calls.Load())

	code, stdout, stderr = find("--samples", "4", "--report", "why.html", "--report", "why.md", "--json")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stderr, "= 12 calls")
	require.EqualValues(t, 12, calls.Load())
	var r influence.Report
	require.NoError(t, json.Unmarshal([]byte(stdout), &r))
	require.Equal(t, 12, r.Plan.Calls)
	require.Len(t, r.Effects, 2)
	page, err := os.ReadFile("why.html")
	require.NoError(t, err)
	require.Contains(t, string(page), "The intervals are only about these judges")
	require.Contains(t, string(page), "<svg")
	code, again, stderr := find("--samples", "4")
	require.Equal(t, 0, code, stderr)
	require.EqualValues(t, 12, calls.Load(), "nothing is asked twice")
	text, err := os.ReadFile("why.md")
	require.NoError(t, err)
	require.Equal(t, string(text), again)

	code, _, stderr = find("--samples", "6", "--max-tokens", "1")
	require.Equal(t, exitGeneral, code)
	require.Contains(t, stderr, "is not complete: the limit of tokens, 1, is reached")
	_, shown, _ := start(t, env, "show", id, "--store", "d.db", "--json")
	require.Contains(t, shown, "without it, the lead in points of")

	for args, says := range map[string]string{
		"--samples 0":           "use 1 or more",
		"--largest 0":           "use 1 or more",
		"--items 99999":         "--items 99999 is no turn",
		"--items Nobody":        "they have seats",
		"--judge-temperature 0": "would repeat one another",
		"--judge-model x":       "want PROVIDER/MODEL",
	} {
		code, _, stderr := find(strings.Fields(args)...)
		require.NotZero(t, code, args)
		require.Contains(t, stderr, says, args)
	}
	code, _, stderr = find("--continued", "--samples", "2", "--plan")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stderr, "2 samples × 6 calls (2 items, without and with each) = 12 calls, about")
	calls.Store(0)
	code, stdout, stderr = find("--continued", "--samples", "2")
	require.Equal(t, 0, code, stderr)
	require.EqualValues(t, 12, calls.Load())
	require.Contains(t, stdout, "in which the debate goes on with it")
	code, _, stderr = find("--continued", "--seats")
	require.NotZero(t, code)
	require.Contains(t, stderr, "it has 2 participants who speak")
	code, stdout, stderr = find("--items", "all", "--samples", "2", "--seats", "--plan")
	require.Equal(t, 0, code, stderr+stdout)
	require.Contains(t, stderr, "(2 items + 1) × 2 samples")
}

package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
)

// A dry run says what a debate costs and calls nobody. It stores nothing.
func TestADryRunCallsNobody(t *testing.T) {
	folder(t, "p.json", `{"tiny": {"input": 100, "output": 400}}`)
	env := server(t, func(n int, _ http.ResponseWriter, prompt string) string {
		if n >= 0 {
			t.Error("a model was called")
		}
		return echo(prompt)
	})
	args := []string{"--dry-run", "--protocol", "panel", "--rounds", "2", "--prices", "p.json", "--store", "kept/d.db", topic}
	code, stdout, stderr := start(t, env, args...)
	require.Equal(t, 0, code, stderr)
	require.Regexp(t, `(?m)^SEAT +MODEL +LONGEST PROMPT +CALLS +LIKELY COST +WORST COST$`, stdout)
	require.Regexp(t, `(?m)^Ada +openai/tiny +[0-9]+ tokens +2 +0\.\d+ +\d+\.\d+$`, stdout)
	require.Regexp(t, `(?m)^Judge +openai/tiny +[0-9]+ tokens +3 to 4 `, stdout)
	require.Regexp(t, `(?m)^likely: \d+\.\d+ for 7 calls, [0-9]+ tokens of prompts and 2800 of replies$`, stdout)
	require.NoFileExists(t, "kept/d.db")

	code, stdout, stderr = start(t, env, append([]string{"--json"}, args...)...)
	require.Equal(t, 0, code, stderr)
	var e debate.Estimate
	require.NoError(t, json.Unmarshal([]byte(stdout), &e))
	require.Equal(t, 7, e.Likely.Calls)
	require.Len(t, e.Seats, 3)
}

// On a terminal, a debate that can cost more than the limit asks before it begins.
func TestADebateThatCanCostMuchAsksBeforeItBegins(t *testing.T) {
	folder(t, "p.json", `{"tiny": {"input": 100, "output": 400}}`)
	calls := 0
	env := server(t, func(n int, _ http.ResponseWriter, prompt string) string {
		if n >= 0 {
			calls++
		}
		return echo(prompt)
	})
	args := []string{"--protocol", "panel", "--rounds", "1", "--prices", "p.json", topic}
	code, _, stderr := answering(t, env, "no", args...)
	require.Equal(t, 1, code, stderr)
	require.Regexp(t, `This debate costs about \d+\.\d+, and at most \d+\.\d+\. Begin\? \[y/N\]`, stderr)
	require.Contains(t, stderr, "--max-cost limits what it may cost")
	require.Zero(t, calls)
	for _, more := range []string{"--yes", "--confirm-above=1000", "--max-cost=0.99"} {
		_, _, stderr := answering(t, env, "", append([]string{more}, args...)...)
		require.NotContains(t, stderr, "Begin?", more)
	}
	code, _, stderr = answering(t, env, "y", args...)
	require.Equal(t, 0, code, stderr)
	code, _, stderr = start(t, env, args...)
	require.Equal(t, 0, code, "without a terminal, nobody is asked: "+stderr)
}

// After an analysis of a debate, the list has the debate and one line for the analysis.
func TestTheListShowsWhatPeopleBegan(t *testing.T) {
	folder(t)
	env := environment()
	code, _, stderr := start(t, env, "--protocol", "panel", "--rounds", "1", "--store", "d.db", topic)
	require.Equal(t, 0, code, stderr)
	id := saved(t, stderr)
	code, _, stderr = start(t, env, "influence", id, "--items", "all", "--samples", "2", "--store", "d.db")
	require.Equal(t, 0, code, stderr)
	list := func(args ...string) []string {
		code, stdout, stderr := start(t, env, append([]string{"list", "--store", "d.db"}, args...)...)
		require.Equal(t, 0, code, stderr)
		return strings.Split(strings.TrimSpace(stdout), "\n")[1:]
	}
	lines := list()
	require.Len(t, lines, 2, strings.Join(lines, "\n"))
	require.Contains(t, lines[0], id)
	require.Regexp(t, `^influence +[0-9]+ debates: completed [0-9]+ .* list --label influence=`+id+`$`, lines[1])
	all := list("--all")
	require.Greater(t, len(all), 3)
	require.Len(t, list("--label", "influence="+id), len(all)-1)
	require.Len(t, list("--limit", "1"), 1)
}

// Fork and rejudge run what they make, and say what changed.
func TestForksAndRejudgedDebatesRun(t *testing.T) {
	folder(t)
	env := environment()
	code, _, stderr := start(t, env, "--protocol", "panel", "--rounds", "1", "--option", "Yes", "--option", "No", "--store", "kept/d.db",
		topic)
	require.Equal(t, 0, code, stderr)
	id := saved(t, stderr)
	code, stdout, stderr := start(t, env, "fork", id, "--store", "kept/d.db", "--at", "1", "--topic", "Should cities ban trucks?")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "== beside "+id+" ==")
	require.Contains(t, stdout, "topic: Should cities ban trucks? instead of "+topic)
	require.NotContains(t, stderr, "continue with")

	code, stdout, stderr = start(t, env, "fork", id, "--store", "kept/d.db", "--at", "1")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "== beside "+id+" ==")

	code, stdout, stderr = start(t, env, "rejudge", id, "--store", "kept/d.db", "--samples", "2", "--judge-temperature", "0.5")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, 2, strings.Count(stdout, "== beside "+id+" =="))
	for _, line := range heads(t) {
		require.NotEqual(t, "paused", string(line.State))
	}
}

// A plan of a file is improved, and -o writes it.
func TestAPlanIsImproved(t *testing.T) {
	folder(t, "plan.md", "# Migration\n\n1. Copy the data.\n")
	code, stdout, stderr := start(t, environment(), "--for", "plan", "-f", "plan.md", "-o", "new.md", "--store", "d.db")
	require.Equal(t, 0, code, stderr)
	written, err := os.ReadFile("new.md")
	require.NoError(t, err)
	require.Equal(t, stdout, string(written))
}

// A review needs something to read, and no topic.
func TestAReviewNeedsDocuments(t *testing.T) {
	folder(t, "notes.md", "The cache is emptied at night. The index is kept for a week.\n")
	code, _, stderr := start(t, environment(), "--for", "review")
	require.Equal(t, exitInput, code)
	require.Contains(t, stderr, "--for review needs something to read, name files or folders with --docs")
	code, stdout, stderr := start(t, environment(), "--for", "review", "--docs", "notes.md", "--store", "d.db")
	require.Equal(t, 0, code, stderr)
	require.Regexp(t, `^(Approve|Comment|Request changes)\.`, stdout)
}

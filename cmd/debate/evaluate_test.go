package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/eval"
)

const evalTasks = `{"topic": "2+2?", "gold": 4}
{"topic": "2+3?", "gold": 5}
`

// evaluated runs eval with --json and returns the report.
func evaluated(t *testing.T, env func(string) string, args ...string) (code int, r eval.Report, stderr string) {
	t.Helper()
	code, stdout, stderr := start(t, env, append([]string{"eval", "tasks.jsonl", "--json"}, args...)...)
	require.NoError(t, json.Unmarshal([]byte(stdout), &r), stderr)
	return code, r, stderr
}

func TestEvalOffline(t *testing.T) {
	folder(t, "tasks.jsonl", evalTasks)
	code, stdout, stderr := start(t, environment(), "eval", "tasks.jsonl", "--arm", "single", "--arm", "vote", "--report", "out/r.html", "--report", "r.md", "--output", "runs.jsonl")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "# Evaluation tasks")
	require.Contains(t, stdout, "vote cannot be compared with single on these 2 questions")
	require.Contains(t, stderr, "2 of 2 tasks")
	page, err := os.ReadFile("out/r.html")
	require.NoError(t, err)
	require.Contains(t, string(page), "<svg")
	text, err := os.ReadFile("r.md")
	require.NoError(t, err)
	require.Equal(t, stdout, string(text))
	runs, err := os.ReadFile("runs.jsonl")
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(runs), `"arm":"vote","task":"2"`))
}

// The second run of the same command makes no call. A requirement that is not shown sets the exit code.
func TestEvalContinues(t *testing.T) {
	vote := `{"protocol": {"name": "vote", "samples": 3, "extract": "{{extract}}"}, "participants": [{"name": "Ann", "instructions": "{{background}}"}]}`
	folder(t, "tasks.jsonl", evalTasks, "vote.json", vote)
	var calls atomic.Int64
	env := server(t, func(n int, _ http.ResponseWriter, _ string) string {
		if n >= 0 {
			calls.Add(1)
		}
		return `{"reasoning": "", "answer": "4", "confidence": 50}`
	})
	args := []string{"--arm", "single", "--arm", "three=vote.json", "--store", "e.db", "--budget", "none"}
	code, r, stderr := evaluated(t, env, args...)
	require.Equal(t, 0, code, stderr)
	require.Equal(t, []string{"single", "three"}, []string{r.Arms[0].Name, r.Arms[1].Name})
	require.Equal(t, []int{1, 1, 8}, []int{r.Arms[0].Right, r.Arms[1].Right, int(calls.Load())})
	code, again, stderr := evaluated(t, env, append(args, "--require", "three > single", "--require", "single >= 0.01")...)
	require.Equal(t, exitGeneral, code)
	require.Contains(t, stderr, "three > single is not shown: the difference is 0.000 [too few], with a p-value of 1.000")
	require.NotContains(t, stderr, "0.01")
	require.EqualValues(t, 8, calls.Load())
	require.Equal(t, r.Arms[1].Right, again.Arms[1].Right)
	require.NoError(t, os.WriteFile("vote.json", []byte(strings.Replace(vote, "3", "5", 1)), 0o600))
	code, _, stderr = start(t, env, append([]string{"eval", "tasks.jsonl"}, args...)...)
	require.Equal(t, exitGeneral, code)
	require.Contains(t, stderr, "arm three has runs with another configuration: protocol.samples was 3 and is 5")
	code, limited, stderr := evaluated(t, env, "--name", "limited", "--arm", "single", "--max-tokens", "1", "--concurrency", "1", "--store", filepath.Join("new", "e.db"))
	require.Equal(t, exitGeneral, code)
	require.Contains(t, stderr, "is not complete: the limit of tokens, 1, is reached; the same command continues it")
	require.Equal(t, []int{1, 1}, []int{limited.Arms[0].Runs, limited.Arms[0].Missing})
}

// The first Ctrl-C lets the calls in flight finish and keeps everything. The same command continues.
func TestEvalAfterCtrlC(t *testing.T) {
	folder(t, "tasks.jsonl", strings.Repeat(`{"topic": "2+2?", "gold": 4}`+"\n", 10))
	interrupted := make(chan struct{})
	var calls atomic.Int64
	env := server(t, func(n int, _ http.ResponseWriter, _ string) string {
		if n >= 0 && calls.Add(1) == 4 {
			close(interrupted)
		}
		return `{"reasoning": "", "answer": "4", "confidence": 50}`
	})
	args := []string{"eval", "tasks.jsonl", "--arm", "single", "--store", "e.db", "--concurrency", "2"}
	var out, progress output
	code := run(t.Context(), interrupted, args, strings.NewReader(""), &out, &progress, env)
	require.Equal(t, exitGeneral, code, progress.String())
	require.Contains(t, progress.String(), "runs are missing; the same command continues it")
	require.Less(t, calls.Load(), int64(10))
	code, stdout, stderr := start(t, env, args...)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "| single | 1.000")
	require.EqualValues(t, 10, calls.Load(), "nothing was asked for twice")
}

func TestEvalWithWrongArguments(t *testing.T) {
	for _, x := range []struct {
		args []string
		code int
		says string
	}{
		{nil, exitInput, "--arm is missing"},
		{[]string{"--arm", "nothing"}, exitInput, "--arm nothing: want single, self-consistency:K, one of arbitration"},
		{[]string{"--arm", "self-consistency:x"}, exitInput, "want single, self-consistency:K"},
		{[]string{"--arm", "bad.json"}, exitInput, "placeholder {{nothing}} is unknown"},
		{[]string{"--arm", "single", "--format", "xml"}, exitInput, `format "xml" is unknown`},
		{[]string{"--arm", "single", "--format", "mmlu"}, exitInput, "tasks.jsonl: read tasks: line 1: "},
		{[]string{"--arm", "single", "--field", "topic"}, exitInput, "want a pair such as topic=prompt"},
		{[]string{"--arm", "single", "--field", "gold=target"}, exitInput, "line 2: gold: it is missing"},
		{[]string{"--arm", "single", "--baseline", "x"}, exitInput, `no arm is called "x"`},
		{[]string{"--arm", "single", "--require", "x > y"}, exitInput, `no arm is called "x"`},
		{[]string{"--arm", "single", "--max-tokens", "0"}, exitInput, "--max-tokens 0, use 1 or more"},
	} {
		folder(t, "tasks.jsonl", evalTasks, "bad.json", `{"participants": [{"name": "A", "persona": "{{nothing}}"}, {"name": "B"}]}`)
		code, _, stderr := start(t, environment(), append([]string{"eval", "tasks.jsonl"}, x.args...)...)
		require.Equal(t, x.code, code, "%v: %s", x.args, stderr)
		require.Contains(t, stderr, x.says)
	}
}

// The ready evaluation of judges who have not read a text, offline.
func TestEvalOversight(t *testing.T) {
	folder(t, "tasks.jsonl", `{"article_id": "1", "article": "The bridge of Linden is made of stone.", "questions": [{"question": "What is the bridge made of?", "options": ["stone", "wood"], "gold_label": 1}]}`)
	env := server(t, func(_ int, _ http.ResponseWriter, prompt string) string {
		return `{"reason": "r", "first": 0.5, "second": 0.5}`
	})
	code, r, stderr := evaluated(t, env, "--oversight", "--arm", "direct", "--arm", "direct-text")
	require.Equal(t, 0, code, stderr)
	require.Len(t, r.Arms, 2)
	require.InDelta(t, .25, r.Arms[1].Brier.Value, 1e-9)
	require.Len(t, r.Differences, 1)
}

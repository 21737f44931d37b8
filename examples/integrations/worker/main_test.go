package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/pgtest"
)

// screen records what a program writes.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// place returns an environment with a schema for the test.
func place(t *testing.T) func(string) string {
	url, schema := pgtest.DSN(t), fmt.Sprintf("worker_%x", rand.Uint64())
	t.Cleanup(func() {
		conn, err := pgx.Connect(context.Background(), url)
		require.NoError(t, err)
		defer conn.Close(context.Background())
		_, err = conn.Exec(context.Background(), `drop schema if exists `+schema+` cascade`)
		require.NoError(t, err)
	})
	return func(name string) string {
		return map[string]string{"DATABASE_URL": url, "DATABASE_SCHEMA": schema}[name]
	}
}

// command runs the program to its end and returns its output.
func command(t *testing.T, env func(string) string, args ...string) (out string, code int) {
	t.Helper()
	var stdout, stderr screen
	code = run(t.Context(), args, &stdout, &stderr, env)
	return stdout.String() + stderr.String(), code
}

// waitFor waits until a program has written a text.
func waitFor(t *testing.T, s *screen, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(s.String(), text) }, 5*time.Minute, time.Millisecond)
}

// working starts a worker that stops at the end of the test at the latest.
func working(t *testing.T, env func(string) string) (stop func() string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var stderr screen
	code := make(chan int, 1)
	go func() { code <- run(ctx, []string{"work"}, &screen{}, &stderr, env) }()
	stop = sync.OnceValue(func() string {
		cancel()
		require.Zero(t, <-code, stderr.String())
		return stderr.String()
	})
	t.Cleanup(func() { stop() })
	waitFor(t, &stderr, "waiting for jobs") // a worker that stops before is an error
	return stop
}

func TestOneCommandWorksAnotherSubmitsAndWatches(t *testing.T) {
	env := place(t)
	stop := working(t, env)
	working(t, env)
	out, code := command(t, env, "submit", "Should cities ban private cars?")
	require.Zero(t, code, out)
	for _, part := range []string{"Ada (respond):", "Bo (respond):", "Judge (assess):", "-- completed", "ended in round"} {
		require.Contains(t, out, part)
	}
	require.Contains(t, stop(), "No API key found; using the offline demo model (set OPENAI_API_KEY to use OpenAI)\nwaiting for jobs\n")

	id := regexp.MustCompile(`(?m)^debate (\S+)$`).FindStringSubmatch(out)
	require.NotNil(t, id, out)
	again, code := command(t, env, "watch", id[1])
	require.Zero(t, code)
	_, shown, _ := strings.Cut(out, "\n")
	require.Equal(t, shown, again)
	out, code = command(t, env, "pause", id[1])
	require.Equal(t, 1, code)
	require.Contains(t, out, "pause debate "+id[1])
}

func TestWhoSubmitsMayLeave(t *testing.T) {
	env := place(t)
	ctx, leave := context.WithCancel(t.Context())
	var stdout, stderr screen
	code := make(chan int, 1)
	go func() { code <- run(ctx, []string{"submit", "Ban cars?"}, &stdout, &stderr, env) }()
	waitFor(t, &stdout, "-- validating")
	leave()
	require.Zero(t, <-code, stderr.String())
	require.Contains(t, stdout.String(), "The debate continues. To watch it again: worker watch ")

	working(t, env) // only now
	id := regexp.MustCompile(`(?m)^debate (\S+)$`).FindStringSubmatch(stdout.String())[1]
	out, exit := command(t, env, "watch", id)
	require.Zero(t, exit, out)
	require.Contains(t, out, "ended in round")
}

func TestACanceledDebateIsWatchedToItsEnd(t *testing.T) {
	env := place(t)
	ctx, leave := context.WithCancel(t.Context())
	var stdout screen
	done := make(chan int, 1)
	go func() { done <- run(ctx, []string{"submit", "Ban cars?"}, &stdout, &screen{}, env) }()
	waitFor(t, &stdout, "-- validating")
	id := regexp.MustCompile(`(?m)^debate (\S+)$`).FindStringSubmatch(stdout.String())[1]
	out, code := command(t, env, "cancel", id)
	require.Zero(t, code, out)
	require.Zero(t, <-done)
	leave()
	require.Contains(t, stdout.String(), "ended in round 0: canceled")
}

// tasks writes a file of tasks. The demo model answers "Yes" as Ada and Cy, and "No" as Bo.
func tasks(t *testing.T) (path string) {
	path = filepath.Join(t.TempDir(), "tasks.jsonl")
	text := `{"topic": "Is tea green?", "gold": "Yes"}
{"topic": "Is coffee black?", "gold": "yes"}
{"topic": "Is milk blue?", "gold": "No"}
`
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Workers run the debates of an evaluation. Nothing is run twice.
func TestWorkersRunAnEvaluation(t *testing.T) {
	env, path := place(t), tasks(t)
	working(t, env)
	working(t, env)
	var report, progress screen
	require.Zero(t, run(t.Context(), []string{"eval", path}, &report, &progress, env), progress.String())
	for _, part := range []string{"# Evaluation tasks.jsonl", "3 questions", "| single |", "| debate |", "| single&#64;debate |"} {
		require.Contains(t, report.String(), part)
	}
	require.NotContains(t, report.String(), "not complete")
	require.Contains(t, progress.String(), "3 of 3 tasks, ")
	var again screen
	require.Zero(t, run(t.Context(), []string{"eval", path}, &again, &progress, env), progress.String())
	require.Equal(t, report.String(), again.String())
	require.Contains(t, progress.String(), "3 of 3 tasks, 0 runs\n")
}

// An evaluation that is stopped before a worker comes goes on later.
func TestAnEvaluationGoesOn(t *testing.T) {
	env, path := place(t), tasks(t)
	ctx, leave := context.WithCancel(t.Context())
	var report, progress screen
	code := make(chan int, 1)
	go func() { code <- run(ctx, []string{"eval", path}, &report, &progress, env) }()
	require.Eventually(t, func() bool { return debates(t, env) == 3 }, 5*time.Minute, 10*time.Millisecond, "one for each task")
	leave()
	require.Zero(t, <-code, progress.String())
	require.Contains(t, report.String(), "The evaluation is not complete")

	working(t, env)
	var whole screen
	require.Zero(t, run(t.Context(), []string{"eval", path}, &whole, &progress, env), progress.String())
	require.NotContains(t, whole.String(), "not complete")
	require.Contains(t, progress.String(), "3 of 3 tasks, ")
}

// debates returns the number of debates in the store, or 0 if it cannot be read yet.
func debates(t *testing.T, env func(string) string) (n int) {
	conn, err := pgx.Connect(t.Context(), env("DATABASE_URL"))
	require.NoError(t, err)
	defer conn.Close(context.Background())
	if conn.QueryRow(t.Context(), `select count(*) from `+env("DATABASE_SCHEMA")+`.debates`).Scan(&n) != nil {
		return 0 // the schema is not there yet
	}
	return n
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	env := place(t)
	for _, tt := range []struct {
		name string
		env  func(string) string
		args []string
		code int
		says string
	}{
		{"no command", env, nil, 2, "usage: worker"},
		{"no topic", env, []string{"submit"}, 2, "usage: worker"},
		{"too many arguments", env, []string{"work", "hard"}, 2, "usage: worker"},
		{"an unknown command", env, []string{"sing", "x"}, 1, `no such debate`},
		{"an evaluation of no file", env, []string{"eval", "none.jsonl"}, 1, "none.jsonl"},
		{"an evaluation of another file", env, []string{"eval", "main.go"}, 1, "main.go: read tasks: line 1: "},
		{"a blank topic", env, []string{"submit", " "}, 1, "topic: it is blank"},
		{"no database", func(string) string { return "" }, []string{"work"}, 1, "DATABASE_URL is not set"},
		{"an unreachable database", func(string) string { return "postgres://127.0.0.1:1/x" }, []string{"work"}, 1, "connect to PostgreSQL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, code := command(t, tt.env, tt.args...)
			require.Equal(t, tt.code, code, out)
			require.Contains(t, out, tt.says)
		})
	}
}

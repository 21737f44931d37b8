package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/internal/test/consoletest"
)

// TestMain lets the test binary be the program, so that a test can kill it.
func TestMain(m *testing.M) {
	if path := os.Getenv("DECISION_STORE"); path != "" {
		os.Exit(console.Run(context.Background(), run, []string{"-store", path}, io.Discard, os.Stderr, func(string) string { return "" }))
	}
	os.Exit(m.Run())
}

func TestACaseIsDecided(t *testing.T) {
	path := filepath.Join(t.TempDir(), "refunds.db")
	code, first, progress := consoletest.Run(t, run, "-store", path, "-case", "case.txt", "Order 12")
	require.Equal(t, 0, code, progress)
	require.Contains(t, first, "Order 12: refund 50 %, with a confidence of 50 %\n")
	require.Contains(t, first, "scores of the arguments: Ada ")
	require.Contains(t, progress, "round 2, verdict: Cy\n")

	code, again, progress := consoletest.Run(t, run, "-store", path, "-case", "case.txt", "Order 12")
	require.Equal(t, 0, code, progress)
	require.Equal(t, first, again, "a decided case is not debated again")
	require.NotContains(t, progress, "verdict")
	other := filepath.Join(t.TempDir(), "other.txt")
	require.NoError(t, os.WriteFile(other, []byte("The customer broke the lamp."), 0o600))
	code, _, progress = consoletest.Run(t, run, "-store", path, "-case", other, "Order 12")
	require.Equal(t, 0, code, progress)
	require.Contains(t, progress, "verdict", "another text is another case")
}

// A killed program continues where it was.
func TestTheDebateSurvivesAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "refunds.db")
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), "DECISION_STORE="+path)
	output, err := command.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	var before strings.Builder
	for line := make([]byte, 1); !strings.Contains(before.String(), "round 1, assess: Cy\n"); {
		_, err := output.Read(line)
		require.NoError(t, err, before.String())
		before.Write(line)
	}
	require.NoError(t, command.Process.Kill())
	_ = command.Wait()

	code, stdout, progress := consoletest.Run(t, run, "-store", path)
	require.Equal(t, 0, code, progress)
	require.Contains(t, stdout, "Order 4711: refund 50 %")
	require.NotContains(t, progress, "round 1, opening: Ada", "what was said is not asked for again")
	require.NotContains(t, progress, "round 1, assess: Cy")
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/examples/console"
)

func hold(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, progress bytes.Buffer
	code = console.Run(t.Context(), run, args, &out, &progress, func(string) string { return "" })
	return code, out.String(), progress.String()
}

func TestTheSampleIsReviewed(t *testing.T) {
	code, stdout, stderr := hold(t)
	require.Zero(t, code, stderr)
	require.Regexp(t, `(?m)^cache\.go:1\d: (warning|note): \w+ has \d+ words$`, stdout, "the lines are those of the changed file")
	require.Regexp(t, `(?m)^comment: 2 findings stand, 1 do not, 0 quoted what is not there$`, stdout)
}

func TestFilesAreReviewed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty.diff")
	require.NoError(t, os.WriteFile(path, []byte("+one\n"), 0o600))
	code, stdout, stderr := hold(t, "-diff", path)
	require.Zero(t, code, stderr)
	require.Equal(t, "approve: 0 findings stand, 0 do not, 0 quoted what is not there\n", stdout)
	code, stdout, stderr = hold(t, "-diff", path, "-context", "main.go")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "main.go:")
	code, _, stderr = hold(t, "-diff", "none.diff")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "none.diff")
}

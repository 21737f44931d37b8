package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/consoletest"
)

func TestFourPlayersAreRated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.html")
	code, out, progress := consoletest.Run(t, run, "-report", path)
	require.Equal(t, 0, code, progress)
	require.Contains(t, out, "# Tournament demo\n\n4 players, 30 pairs of games, 60 judgments")
	require.Contains(t, out, "The engineer")
	require.NotContains(t, out, "too few")
	html, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(html), "<svg")
	t.Log(out)
}

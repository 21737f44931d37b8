package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/examples/console"
)

func TestFourPlayersAreRated(t *testing.T) {
	var out, progress bytes.Buffer
	path := filepath.Join(t.TempDir(), "report.html")
	code := console.Run(t.Context(), run, []string{"-report", path}, &out, &progress, func(string) string { return "" })
	require.Equal(t, 0, code, progress.String())
	require.Contains(t, out.String(), "# Tournament demo\n\n4 players, 30 pairs of games, 60 judgments")
	require.Contains(t, out.String(), "The engineer")
	require.NotContains(t, out.String(), "too few")
	html, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(html), "<svg")
	t.Log(out.String())
}

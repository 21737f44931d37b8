package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/examples/console"
)

// start runs the program with the offline demo model and without a terminal.
func start(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, progress bytes.Buffer
	code = console.Run(t.Context(), run, args, &out, &progress, func(string) string { return "" })
	return code, out.String(), progress.String()
}

func TestADebateOverFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.html")
	code, stdout, stderr := start(t, "-docs", "testdata", "-report", path)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "Should Linden ban private cars in the center?\n")
	for _, quoted := range []string{"The ring road carries 30,000 private cars a day.", "People outside of the center answer differently"} {
		require.Contains(t, stderr, quoted, "found with the tool")
	}
	html, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, want := range []string{
		"Verified: “People outside of the center answer differently: there, 61 % oppose the ban, most often because buses stop at ten.” is in [2] survey.md.",
		"Verified: “The ring road carries 30,000 private cars a day.” is in [1] traffic.md.",
		"Altered: “People outside of the center answer differently: there, 61 % the ban, most often because buses stop at ten.” is not in [2] survey.md, which has a similar passage.",
		"Quotes, compared with the sources: 3 quotes verified, 1 altered.",
		"1 quote by Ben is not in the source that it names.",
		"“The ring road carries 30,000 private cars a day.” [traffic.md]",
	} {
		require.Contains(t, string(html), want)
	}
}

func TestAFolderWithoutTexts(t *testing.T) {
	for folder, says := range map[string]string{".": "want two or more files that end with .md or .txt", "none": "none"} {
		code, _, stderr := start(t, "-docs", folder)
		require.Equal(t, 1, code)
		require.Contains(t, stderr, says)
	}
}

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/consoletest"
)

func TestADebateOverFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.html")
	code, stdout, stderr := consoletest.Run(t, run, "-docs", "testdata", "-report", path)
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
		"Altered: “The ring road carries private cars a day.” is not in [1] traffic.md, which has a similar passage.",
		"Quotes, compared with the sources: 3 quotes verified, 1 altered.",
		"1 quote by Ben is not in the source that it names.",
		"“The ring road carries 30,000 private cars a day.” [traffic.md]",
	} {
		require.Contains(t, string(html), want)
	}
}

func TestAFolderWithoutTexts(t *testing.T) {
	for folder, says := range map[string]string{".": "want two or more files that end with .md or .txt", "none": "none"} {
		code, _, stderr := consoletest.Run(t, run, "-docs", folder)
		require.Equal(t, 1, code)
		require.Contains(t, stderr, says)
	}
}

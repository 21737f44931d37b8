package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/consoletest"
)

func TestADebateOverFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.html")
	code, stdout, stderr := consoletest.Run(t, run, "-docs", "testdata", "-report", path)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "Should Linden ban private cars in the center?\n")
	require.Equal(t, 2, strings.Count(stderr, "I see plan.png, a picture in the format png with 64 × 48 pixels."), "each says it once")
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

// The test data has a picture; a PDF document is seen in the same way.
func TestADocumentIsSeen(t *testing.T) {
	folder := t.TempDir()
	for name, from := range map[string]string{"a.md": "survey.md", "b.md": "traffic.md", "terms.pdf": "other/terms.pdf"} {
		data, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(from)))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), data, 0o600))
	}
	code, _, stderr := consoletest.Run(t, run, "-docs", folder)
	require.Equal(t, 0, code, stderr)
	require.Regexp(t, `I see terms\.pdf, a file of type application/pdf with 1 pages and \d+ bytes\.`, stderr)

	require.NoError(t, os.WriteFile(filepath.Join(folder, "plan.png"), []byte("no picture"), 0o600))
	code, _, stderr = consoletest.Run(t, run, "-docs", folder)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, `attachments[0].media_type: "text/plain; charset=utf-8" is not supported, use one of`)
}

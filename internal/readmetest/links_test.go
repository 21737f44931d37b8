package readmetest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const readmeLinesBeforeTables = 150 // the program, its output, what it costs, and when a debate is worth it

var (
	relativeLink = regexp.MustCompile(`\]\(([^):#]+)(#[^)]*)?\)`)
	codeFence    = regexp.MustCompile("(?ms)^```.*?^```$")
)

func TestReadmeIsShortBeforeItsTables(t *testing.T) {
	before, _, found := strings.Cut(readReadme(t), "\n|")
	require.True(t, found)
	assert.LessOrEqual(t, strings.Count(before, "\n"), readmeLinesBeforeTables, "README.md has too many lines before its first table")
}

func TestDocumentsLinkToFiles(t *testing.T) {
	for _, file := range documents(t) {
		for _, link := range links(t, file) {
			_, err := os.Stat(filepath.Join(filepath.Dir(file), filepath.FromSlash(link)))
			assert.NoError(t, err, "%s links to %s", file, link)
		}
	}
}

func TestIndexListsEveryDocument(t *testing.T) {
	index := filepath.Join(root, "docs", "README.md")
	listed := links(t, index)
	for _, file := range documents(t) {
		path, err := filepath.Rel(filepath.Dir(index), file)
		require.NoError(t, err)
		if file != index {
			assert.Contains(t, listed, filepath.ToSlash(path), "docs/README.md lists every document")
		}
	}
}

// documents returns the documents of the root and of docs.
func documents(t *testing.T) (files []string) {
	t.Helper()
	for _, dir := range []string{root, filepath.Join(root, "docs")} {
		found, err := filepath.Glob(filepath.Join(dir, "*.md"))
		require.NoError(t, err)
		files = append(files, found...)
	}
	require.NotEmpty(t, files)
	return files
}

// links returns the relative links of a document.
func links(t *testing.T, file string) (paths []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, m := range relativeLink.FindAllStringSubmatch(codeFence.ReplaceAllString(string(text), ""), -1) {
		paths = append(paths, m[1])
	}
	return paths
}

package readmetest

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

const maxExamples = 12 // more than a reader looks at

// exampleFolders returns the folders of the examples that are programs, below examples.
func exampleFolders(t *testing.T) (folders []string) {
	t.Helper()
	for _, pattern := range []string{"*/main.go", "integrations/*/main.go"} {
		found, err := filepath.Glob(filepath.Join(root, "examples", pattern))
		require.NoError(t, err)
		for _, file := range found {
			folder, err := filepath.Rel(filepath.Join(root, "examples"), filepath.Dir(file))
			require.NoError(t, err)
			folders = append(folders, filepath.ToSlash(folder))
		}
	}
	return folders
}

// The table of examples has a row for each, and each row says something else.
func TestFewExamplesAreListed(t *testing.T) {
	text := textOf(t, filepath.Join(root, "examples", "README.md"))
	var listed []string
	says := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| \[.*?\]\((.*?)\) \| (.*) \|$`).FindAllStringSubmatch(text, -1) {
		listed = append(listed, row[1])
		require.Empty(t, says[row[2]], "%s shows the same as %s", row[1], says[row[2]])
		says[row[2]] = row[1]
	}
	require.ElementsMatch(t, exampleFolders(t), listed)
	require.LessOrEqual(t, len(listed), maxExamples)
}

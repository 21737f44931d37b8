package readmetest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// SECURITY.md names the tests that repeat attacks.
func TestTheTestsOfSecurityExist(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	require.NoError(t, err)
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, named)
	var sources strings.Builder
	require.NoError(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		sources.Write(b)
		return err
	}))
	for _, m := range named {
		assert.True(t, strings.Contains(sources.String(), "\nfunc "+m[1]+"("), "SECURITY.md names %s", m[1]) //nolint:testifylint // Contains would print all sources
	}
}

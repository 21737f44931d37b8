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

// released lists the commands that need a published version, by the file that has them. Until there is one, each stands below
// a sentence with "nce v0.1.0 is released".
var released = map[string][]string{
	"README.md": {
		"go get github.com/elenchus-go/debate@v0.1.0", "go get github.com/elenchus-go/debate/store/sqlite@v0.1.0",
		"go install github.com/elenchus-go/debate/cmd/debate@v0.1.0",
	},
	"cmd/debate/README.md":             {"go install github.com/elenchus-go/debate/cmd/debate@v0.1.0"},
	"integrations/debatehttp/doc.go":   {"go get github.com/elenchus-go/debate@v0.1.0"},
	"docs/production.md":               {"go install github.com/elenchus-go/debate/cmd/debate@latest"},
	"integrations/skill/SKILL.md":      {"go install github.com/elenchus-go/debate/cmd/debate@latest"},
	"docs/serving.md":                  {"go get github.com/elenchus-go/debate@v0.1.0"},
	"integrations/debatea2a/README.md": {"go get github.com/elenchus-go/debate/integrations/debatea2a/example@v0.1.0"},
	"integrations/debateadk/README.md": {"go get github.com/elenchus-go/debate/integrations/debateadk/example@v0.1.0"},
	"integrations/debateeino/README.md": {
		"go get github.com/elenchus-go/debate/integrations/debateeino/example@v0.1.0",
	},
	"integrations/debatemcp/README.md":   {"go install github.com/elenchus-go/debate/cmd/debate@v0.1.0"},
	"integrations/debateotel/README.md":  {"go get github.com/elenchus-go/debate/integrations/debateotel@v0.1.0"},
	"integrations/debateriver/README.md": {"go get github.com/elenchus-go/debate/integrations/debateriver@v0.1.0"},
}

var (
	needsRelease = regexp.MustCompile(`go (?:get|install) (?:-\S+ )*github\.com/elenchus-go/debate[^\s` + "`" + `)]*`)
	versions     = regexp.MustCompile(`(?m)^## \[(\d+\.\d+\.\d+)`)
	once         = regexp.MustCompile(`nce v0\.1\.0 is\s+released`)
)

func TestCommandsThatNeedARelease(t *testing.T) {
	changes, err := os.ReadFile(root + "/CHANGELOG.md")
	require.NoError(t, err)
	require.Nil(t, versions.FindSubmatch(changes), "a version is released: say so in the files of this list, and add badges to README")
	found := map[string][]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || d.Name() == "release"):
			return fs.SkipDir
		}
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		if ext := filepath.Ext(name); ext != ".md" && ext != ".go" || strings.HasSuffix(name, "_test.go") || name == "CONTRIBUTING.md" {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, at := range needsRelease.FindAllIndex(text, -1) {
			found[name] = append(found[name], string(text[at[0]:at[1]]))
			assert.True(t, once.Match(text[:at[0]]), "%s: %s stands before the sentence about the release", name, text[at[0]:at[1]])
		}
		return err
	}))
	require.Equal(t, released, found)
	assert.NotRegexp(t, `badge|img\.shields`, readReadme(t), "badges of a project that is not published are dead")
}

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

var (
	relativeLink = regexp.MustCompile(`\]\(([^):#]+)(#[^)]*)?\)`)
	sectionLink  = regexp.MustCompile(`\]\(([^):#]*)#([^)]*)\)`)
	heading      = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	notInAnchor  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	codeFence    = regexp.MustCompile("(?ms)^```.*?^```$")
)

func TestDocumentsLinkToFiles(t *testing.T) {
	for _, file := range documents(t) {
		for _, link := range links(t, file) {
			_, err := os.Stat(filepath.Join(filepath.Dir(file), filepath.FromSlash(link)))
			assert.NoError(t, err, "%s links to %s", file, link)
		}
	}
}

// A link to a section names one that the document has. This holds for the documents of every folder but testdata.
func TestDocumentsLinkToSections(t *testing.T) {
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err == nil && d.Name() == "testdata":
			return fs.SkipDir
		case err != nil || filepath.Ext(file) != ".md":
			return err
		}
		for _, m := range sectionLink.FindAllStringSubmatch(withoutCode(t, file), -1) {
			to := file
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(file), filepath.FromSlash(m[1]))
			}
			assert.Contains(t, anchors(t, to), m[2], "%s links to the section", file)
		}
		return nil
	})
	require.NoError(t, err)
}

// anchors returns the names by which links refer to the sections of a document.
func anchors(t *testing.T, file string) (list []string) {
	t.Helper()
	for _, m := range heading.FindAllStringSubmatch(withoutCode(t, file), -1) {
		list = append(list, strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return list
}

func TestIndexListsEveryPage(t *testing.T) {
	index := filepath.Join(root, "docs", "README.md")
	listed := links(t, index)
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	for _, page := range pages {
		if page != index {
			assert.Contains(t, listed, filepath.Base(page), "docs/README.md lists every page")
		}
	}
}

// documents returns the documents of the root and of docs, with what they refer to.
func documents(t *testing.T) (files []string) {
	t.Helper()
	for _, dir := range []string{".", "docs", "docs/reference", "docs/measured"} {
		found, err := filepath.Glob(filepath.Join(root, dir, "*.md"))
		require.NoError(t, err)
		files = append(files, found...)
	}
	require.NotEmpty(t, files)
	return files
}

// links returns the relative links of a document.
func links(t *testing.T, file string) (paths []string) {
	t.Helper()
	for _, m := range relativeLink.FindAllStringSubmatch(withoutCode(t, file), -1) {
		paths = append(paths, m[1])
	}
	return paths
}

// withoutCode returns the text of a document without its blocks of code.
func withoutCode(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return codeFence.ReplaceAllString(string(text), "")
}

package readmetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a reader reads is short. docs/reference and docs/measured are for looking things up, and are no pages.
const (
	maxPages             = 14
	maxWordsOfPage       = 2000
	maxWordsOfHow        = 1500
	maxLinesOfReadme     = 120
	maxLinksOfReadme     = 10
	maxWordsOfContribute = 1500
	maxLinesOfTests      = 60
	maxWordsOfSecurity   = 900
	maxLinesOfChangelog  = 40
)

func TestDocumentsAreShort(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	assert.NotEmpty(t, pages)
	assert.LessOrEqual(t, len(pages), maxPages, "pages in docs")
	for _, page := range pages {
		assert.LessOrEqual(t, wordsOf(t, page), maxWordsOfPage, "words of %s", page)
	}
	assert.LessOrEqual(t, wordsOf(t, filepath.Join(root, "docs", "how-it-runs.md")), maxWordsOfHow)
	assert.LessOrEqual(t, wordsOf(t, filepath.Join(root, "CONTRIBUTING.md")), maxWordsOfContribute)
	assert.LessOrEqual(t, wordsOf(t, filepath.Join(root, "SECURITY.md")), maxWordsOfSecurity)

	assert.LessOrEqual(t, strings.Count(readReadme(t), "\n"), maxLinesOfReadme, "lines of README.md")
	assert.LessOrEqual(t, strings.Count(textOf(t, filepath.Join(root, "CHANGELOG.md")), "\n"), maxLinesOfChangelog, "lines of CHANGELOG.md")
	_, tests, found := strings.Cut(textOf(t, filepath.Join(root, "CONTRIBUTING.md")), "\n## Build and test\n")
	require.True(t, found)
	tests, _, found = strings.Cut(tests, "\n## ")
	require.True(t, found)
	assert.LessOrEqual(t, strings.Count(tests, "\n"), maxLinesOfTests, "lines on tests in CONTRIBUTING.md")
}

func TestReadmeLinksFewPages(t *testing.T) {
	var pages []string
	for _, link := range links(t, readme) {
		if strings.HasSuffix(link, ".md") {
			pages = append(pages, link)
		}
	}
	slices.Sort(pages)
	assert.LessOrEqual(t, len(slices.Compact(pages)), maxLinksOfReadme)
}

// A nameLink is a link from a name in Go to the file that declares it, such as [`Debate.Run`](../debate.go).
var nameLink = regexp.MustCompile("\\[`([^`]+)`\\]\\(([^)]+\\.go)\\)")

// docs/how-it-runs.md names functions and types, and each of them is in the file that the link leads to.
func TestHowADebateRunsNamesWhatExists(t *testing.T) {
	page := filepath.Join(root, "docs", "how-it-runs.md")
	named := nameLink.FindAllStringSubmatch(textOf(t, page), -1)
	require.NotEmpty(t, named)
	for _, m := range named {
		assert.Contains(t, declared(t, filepath.Join(root, "docs", m[2])), m[1], "%s says that %s has it", page, m[2])
	}
	assert.NotContains(t, declared(t, filepath.Join(root, "debate.go")), "Debate.run", "this test finds a name that does not exist")
}

// declared returns the types and functions of a file; a method stands behind its type, such as Debate.Run.
func declared(t *testing.T, file string) (names []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names = append(names, receiver(d)+d.Name.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok {
					names = append(names, s.Name.Name)
				}
			}
		}
	}
	return names
}

// receiver returns the type of a method and a full stop, or "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	expr := d.Recv.List[0].Type
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	if generic, ok := expr.(*ast.IndexExpr); ok {
		expr = generic.X
	}
	if name, ok := expr.(*ast.Ident); ok {
		return name.Name + "."
	}
	return ""
}

func wordsOf(t *testing.T, file string) int {
	t.Helper()
	return len(strings.Fields(textOf(t, file)))
}

func textOf(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

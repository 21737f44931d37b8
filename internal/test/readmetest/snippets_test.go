package readmetest

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A snippet is a text for a shell: a block of a document, or what stands between backquotes in a sentence.
type snippet struct {
	file   string // below the root
	line   int
	script string
	inline bool
}

// programs are what snippets begin with.
var programs = []string{"debate", "go", "make", "curl", "node", "sqlite3", "claude", "export", "source", "cd"}

// command matches the beginning of a command of one of the programs, after variables and a parenthesis.
var command = regexp.MustCompile(`^(?:time )?\(?(?:[A-Z_]+=(?:\$\([^)]*\)|\S+) +)*(` + strings.Join(programs, "|") + `) +\S`)

// documents with snippets, below the root.
func documentsWithSnippets(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range []string{
		"README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/*/*.md", "cmd/debate/README.md", "integrations/*/README.md",
		"examples/README.md", "examples/*/README.md", "examples/*/main.go", "examples/integrations/*/main.go", "cmd/debate/main.go",
	} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		require.NoError(t, err)
		for _, file := range found {
			name, err := filepath.Rel(root, file)
			require.NoError(t, err)
			files = append(files, filepath.ToSlash(name))
		}
	}
	return files
}

// snippetsOf returns the snippets of a document, or of the documentation of a program.
func snippetsOf(t *testing.T, file string) []snippet {
	t.Helper()
	text := textOf(t, filepath.Join(root, filepath.FromSlash(file)))
	if strings.HasSuffix(file, ".go") {
		f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ParseComments|parser.PackageClauseOnly)
		require.NoError(t, err)
		return snippetsIn(file, f.Doc.Text())
	}
	return snippetsIn(file, text)
}

// snippetsIn returns the snippets of a text with blocks between fences, blocks that are indented, and sentences.
func snippetsIn(file, text string) (list []snippet) {
	lines := strings.Split(text, "\n")
	var prose strings.Builder // in place of a block, blank lines
	for i := 0; i < len(lines); i++ {
		begin := i
		var block []string
		switch {
		case strings.HasPrefix(lines[i], "```"):
			for i++; i < len(lines) && !strings.HasPrefix(lines[i], "```"); i++ {
				block = append(block, lines[i])
			}
		case isIndented(lines[i]) && (i == 0 || strings.TrimSpace(lines[i-1]) == "" || isIndented(lines[i-1])):
			for ; i < len(lines) && isIndented(lines[i]); i++ {
				block = append(block, strings.TrimPrefix(strings.TrimPrefix(lines[i], "\t"), "    "))
			}
			i--
		default:
			prose.WriteString(lines[i] + "\n")
			continue
		}
		prose.WriteString(strings.Repeat("\n", i-begin+1))
		if slices.ContainsFunc(block, command.MatchString) {
			list = append(list, snippet{file, begin + 1, strings.Join(block, "\n"), false})
		}
	}
	sentence := prose.String()
	for _, at := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatchIndex(sentence, -1) {
		if script := strings.ReplaceAll(sentence[at[2]:at[3]], "\n", " "); command.MatchString(script) {
			list = append(list, snippet{file, 1 + strings.Count(sentence[:at[2]], "\n"), script, true})
		}
	}
	slices.SortStableFunc(list, func(a, b snippet) int { return a.line - b.line })
	return list
}

func isIndented(line string) bool {
	return strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
}

func TestSnippetsAreFound(t *testing.T) {
	const text = "Run `debate\nlist` or `debate.New`.\n\n    make test   # all\n    (cd x && go test .)\n\n```go\nmake(chan int)\n```\n\n```\ntime A=$(b c) D=e go run ./x \\\n  y\n```\n\n- item\n    go on\n"
	require.Equal(t, []snippet{
		{"f", 1, "debate list", true},
		{"f", 4, "make test   # all\n(cd x && go test .)", false},
		{"f", 11, "time A=$(b c) D=e go run ./x \\\n  y", false},
	}, snippetsIn("f", text))
}

// fixture copies a folder of testdata.
func fixture(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, os.CopyFS(to, os.DirFS(filepath.Join("testdata", from))))
}

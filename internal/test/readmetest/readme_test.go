package readmetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	root               = "../../.." // relative to this folder
	readme             = root + "/README.md"
	readmeProgramLines = 25
)

func TestReadmeProgramCompiles(t *testing.T) {
	program, line := codeBlock(t, readReadme(t), "go")
	assert.LessOrEqual(t, countLines(program), readmeProgramLines, "the first program of README.md is too long")
	file, err := parser.ParseFile(token.NewFileSet(), "README.md", program, parser.PackageClauseOnly)
	require.NoError(t, err)
	require.Equal(t, "main", file.Name.Name, "the first Go block of README.md is not a program")
	compiled, message := compile(t, program, line)
	require.True(t, compiled, "%s", message)
}

func TestProgramsOfDocumentsCompile(t *testing.T) {
	for _, name := range []string{"serving.md"} {
		text, err := os.ReadFile(filepath.Join(root, "docs", name))
		require.NoError(t, err)
		program, line := codeBlock(t, string(text), "go")
		compiled, message := compile(t, program, line)
		require.True(t, compiled, "docs/%s: %s", name, message)
	}
}

// countLines returns the number of lines of a program, without its imports and blank lines.
func countLines(program string) (n int) {
	_, body, _ := strings.Cut(program, "\n)\n")
	for line := range strings.Lines(body) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}

// The tests above need this: codeBlock finds a block, and compile reports an error with its line in the file.
func TestReadmeTestsFindFaults(t *testing.T) {
	const text = "# Title\n\n```sh\ngo test\n```\n\n```go\npackage main\n\nfunc main() { nothing() }\n```\n\n```go\nmore\n```\n"
	program, line := codeBlock(t, text, "go")
	require.Equal(t, "package main\n\nfunc main() { nothing() }\n", program)
	require.Equal(t, 8, line)

	compiled, message := compile(t, program, line)
	require.False(t, compiled)
	require.Contains(t, message, "README.md:10: undefined: nothing")

	compiled, message = compile(t, strings.Replace(program, "nothing()", "", 1), line)
	require.True(t, compiled, message)
}

func readReadme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(readme)
	require.NoError(t, err)
	return string(text)
}

// codeBlock returns the first code block in a language, and the line on which it begins.
func codeBlock(t *testing.T, text, language string) (block string, line int) {
	t.Helper()
	at := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```$").FindStringSubmatchIndex(text)
	require.NotNil(t, at, "README.md has no code block in %s", language)
	return text[at[2]:at[3]], 1 + strings.Count(text[:at[2]], "\n")
}

// compile compiles a program as a package of this module that exists only in an overlay. It reports whether that
// succeeds, and returns the output of the go command.
func compile(t *testing.T, program string, line int) (bool, string) {
	t.Helper()
	dependOnAllSources(t)
	dir := t.TempDir()
	source, overlay := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(source, fmt.Appendf(nil, "//line README.md:%d\n%s", line, program), 0o644))
	root, err := filepath.Abs(root)
	require.NoError(t, err)
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "internal", "readme", "main.go"): source}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, replace, 0o644))

	cmd := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-overlay", overlay, "-o", os.DevNull, "./internal/readme")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly")
	out, err := cmd.CombinedOutput()
	return err == nil, string(out)
}

// dependOnAllSources calls os.Stat for all files that the program may be compiled with. So the go command knows that the
// cached result of this test depends on them.
func dependOnAllSources(t *testing.T) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // a test of another package has removed it
			return nil
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case slices.Contains([]string{".go", ".mod", ".sum", ".mk", ".mjs", ".json", ".tmpl"}, filepath.Ext(path)), d.Name() == "Makefile":
			_, _ = os.Stat(path)
		}
		return nil
	}))
}

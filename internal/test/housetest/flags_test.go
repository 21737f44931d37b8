package housetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// flag matches a flag of a command in a text that people read.
var flag = regexp.MustCompile(`(^|[\s(,\x60])--[a-z][a-z-]+`)

// Users of the library have no command line: no text of its packages names a flag of the command.
func TestTheLibraryNamesNoFlag(t *testing.T) {
	top := filepath.Join("..", "..")
	files := 0
	require.NoError(t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(top, path)
		if err != nil || d.IsDir() {
			skip := strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "testdata" || d.Name() == "node_modules"
			for _, program := range []string{"cmd", "examples", "internal"} {
				skip = skip || name == program
			}
			if skip {
				return filepath.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				require.NotRegexp(t, flag, text.Value, name)
			}
			return true
		})
		return nil
	}))
	require.Greater(t, files, 300)
}

package importtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rootOrder is the order of the root package's files. A file refers only to files before it.
var rootOrder = []string{
	"doc.go",
	// Data.
	"config.go", "errors.go", "result.go", "event.go", "encoding.go", "actors.go",
	// The state, and functions that read it.
	"record.go", "budget.go", "status.go", "check.go",
	// Decisions.
	"apply.go", "transition.go", "policy.go",
	// Steps.
	"observer.go", "execution.go",
	// The engine's registry and requests.
	"registry.go", "request.go",
	// The journal and the driver.
	"journal.go", "driver.go", "perform.go", "advance.go", "background.go",
	// The API.
	"debate.go", "control.go", "watch.go", "engine.go", "edits.go", "fork.go", "prompt.go", "rederive.go", "changes.go", "past.go",
}

// A reference is a use of a name in one file that another file of the package defines.
type reference struct{ from, to, name string }

func (r reference) String() string { return fmt.Sprintf("%s uses %s of %s", r.from, r.name, r.to) }

func TestNoFilesReferToOneAnotherInACircle(t *testing.T) {
	for _, dir := range modules(t) {
		for _, p := range buildModule(t, dir) {
			for _, circle := range circles(p.references(t)) {
				assert.Fail(t, "files refer to each other in a circle", "package %s:\n%s", p.ImportPath, circle)
			}
		}
	}
}

func TestTheRootsFilesReferOnlyToFilesBeforeThem(t *testing.T) {
	packages := buildModule(t, root)
	at := slices.IndexFunc(packages, func(p built) bool { return p.ImportPath == module })
	require.GreaterOrEqual(t, at, 0)
	require.ElementsMatch(t, rootOrder, packages[at].GoFiles, "rootOrder must list each file of the root package once")
	for _, problem := range upward(rootOrder, packages[at].references(t)) {
		assert.Fail(t, problem)
	}
}

// upward returns a sentence for each reference to a file that is not earlier in the order.
func upward(order []string, references []reference) (problems []string) {
	for _, r := range references {
		if slices.Index(order, r.to) > slices.Index(order, r.from) {
			problems = append(problems, fmt.Sprintf("%s: %s is after %s in the order of files", r, r.to, r.from))
		}
	}
	return problems
}

// circles returns the references that are part of a circle, one text for each circle.
func circles(references []reference) (list []string) {
	reach := map[string]map[string]bool{}
	for _, r := range references {
		if reach[r.from] == nil {
			reach[r.from] = map[string]bool{}
		}
		reach[r.from][r.to] = true
	}
	for via := range reach { // Warshall's closure
		for from := range reach {
			if reach[from][via] {
				for to := range reach[via] {
					reach[from][to] = true
				}
			}
		}
	}
	told := map[string]bool{}
	for _, r := range references {
		if !reach[r.from][r.from] || told[r.from] {
			continue
		}
		var lines []string
		for _, other := range references {
			if reach[r.from][other.from] && reach[other.to][r.from] {
				told[other.from] = true
				lines = append(lines, other.String())
			}
		}
		list = append(list, strings.Join(lines, "\n"))
	}
	return list
}

// A built is a package that the go command has built.
type built struct {
	ImportPath, Dir, Export string
	GoFiles, CgoFiles       []string
	Standard                bool
	imports                 types.Importer // of all packages of the build
	fset                    *token.FileSet
}

func buildModule(t *testing.T, dir string) (list []built) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-buildvcs=false", "-json=ImportPath,Dir,Export,GoFiles,CgoFiles,Standard", "./...")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	abs, err := filepath.Abs(dir)
	require.NoError(t, err)
	exports, fset := map[string]string{}, token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := built{imports: imports, fset: fset}
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		exports[p.ImportPath] = p.Export
		if !p.Standard && (p.Dir == abs || strings.HasPrefix(p.Dir, abs+string(filepath.Separator))) {
			list = append(list, p)
		}
	}
	require.NotEmpty(t, list, dir)
	return list
}

// references returns the uses of package-level definitions, methods and fields that another file defines, each name
// once.
func (p built) references(t *testing.T) []reference {
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(p.fset, filepath.Join(p.Dir, name), nil, 0)
		require.NoError(t, err)
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, err := (&types.Config{Importer: p.imports}).Check(p.ImportPath, p.fset, files, info)
	require.NoError(t, err)
	seen := map[reference]bool{}
	for id, o := range info.Uses {
		if o.Pkg() != pkg || !lasting(pkg, o) {
			continue
		}
		r := reference{base(p.fset, id.Pos()), base(p.fset, o.Pos()), id.Name}
		if r.from != r.to {
			seen[r] = true
		}
	}
	var list []reference
	for r := range seen {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b reference) int { return cmp.Compare(a.String(), b.String()) })
	return list
}

// lasting reports whether an object is a package-level definition, a method or a field.
func lasting(pkg *types.Package, o types.Object) bool {
	switch o := o.(type) {
	case *types.Var:
		if o.IsField() {
			return true
		}
	case *types.Func:
		if o.Signature().Recv() != nil {
			return true
		}
	}
	return o.Parent() == pkg.Scope()
}

func base(fset *token.FileSet, p token.Pos) string { return filepath.Base(fset.Position(p).Filename) }

func TestACircleIsFound(t *testing.T) {
	a, b, c, d := reference{"a.go", "b.go", "B"}, reference{"b.go", "c.go", "C"}, reference{"c.go", "a.go", "A"}, reference{"d.go", "a.go", "A"}
	require.Empty(t, circles([]reference{a, b, d}))
	require.Equal(t, []string{"a.go uses B of b.go\nb.go uses C of c.go\nc.go uses A of a.go"}, circles([]reference{a, b, c, d}))
}

func TestAnUpwardReferenceIsFound(t *testing.T) {
	order := []string{"config.go", "engine.go"}
	require.Empty(t, upward(order, []reference{{"engine.go", "config.go", "Config"}}))
	require.Equal(t, []string{"config.go uses Engine of engine.go: engine.go is after config.go in the order of files"},
		upward(order, []reference{{"config.go", "engine.go", "Engine"}}))
}

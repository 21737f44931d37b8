package housetest

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../../.." // relative to this folder

// Files of a package do not refer to one another in a circle, so that each can be read after those that it uses.
func TestNoFilesReferToOneAnotherInACircle(t *testing.T) {
	folders := map[string][]string{}
	walk(t, func(name string) {
		dir := path.Dir(name)
		match, err := build.Default.MatchFile(filepath.Join(root, dir), path.Base(name))
		if err == nil && match && !strings.HasSuffix(name, "_test.go") && !strings.Contains(name, "testdata/") {
			folders[dir] = append(folders[dir], name)
		}
	})
	require.Contains(t, folders, ".")
	for dir, names := range folders {
		texts := map[string]string{}
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(root, name))
			require.NoError(t, err)
			texts[path.Base(name)] = string(text)
		}
		for _, circle := range circles(references(t, texts)) {
			assert.Fail(t, "files refer to each other in a circle", "folder %s:\n%s", dir, circle)
		}
	}
}

// What followed an attempt is a fact of its own: the message of its error is for people. So only what shows or makes messages names them.
func TestNothingIsDecidedByTheMessageOfAnError(t *testing.T) {
	show := []string{
		"internal/step/run.go", "internal/core/result.go", "report/details.go", "report/redact.go", "integrations/debateotel/tree.go",
		"integrations/debateadk/provider.go", // of another library
	}
	reads := regexp.MustCompile(`\.ErrorMessage\b`)
	var found []string
	walk(t, func(name string) {
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "internal/test/") {
			return
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		if reads.Match(text) {
			found = append(found, name)
		}
	})
	require.ElementsMatch(t, show, found)
}

// What changes the phases of a protocol is composed in package agenda. The record and its transitions name none of it.
func TestTheRecordKnowsNoChangeOfPhases(t *testing.T) {
	names := regexp.MustCompile(`(?i)internal/(findings|forks)|silen|course|rejudg|embed(der|ding)|vector|\bs(tep)?\.(swap|blind) =|\bprotocol\.Next\b`)
	for _, file := range []string{"state.go", "apply.go", "decide.go"} {
		text, err := os.ReadFile(filepath.Join(root, "internal/core", file))
		require.NoError(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			assert.NotRegexp(t, names, line, "%s:%d", file, i+1)
		}
	}
	agenda, err := os.ReadFile(filepath.Join(root, "internal/agenda/agenda.go"))
	require.NoError(t, err)
	for _, decorator := range []string{"findings.WithVectors(p)", "withPeople{p,", "forks.WithSilence(p,", "forks.WithCourse(p,"} {
		require.Equal(t, 1, strings.Count(string(agenda), decorator), "%s is composed in one place", decorator)
	}
}

// The core decides what happens in a debate. Whoever calls it says what time it is, and waits for others.
func TestTheCoreHasNoClockAndNoGoroutine(t *testing.T) {
	forbidden := regexp.MustCompile(
		`\btime\.(Now|Since|Until|After|AfterFunc|Sleep|NewTimer|NewTicker|Tick)\b` +
			`|^\s*(go|select)\b|\bchan\b|"context"|"sync`,
	)
	walk(t, func(name string) {
		if path.Dir(name) != "internal/core" || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			assert.NotRegexp(t, forbidden, line, "%s:%d", name, i+1)
		}
	})
	for _, line := range []string{"	now := time.Now().UTC()", "	go f()", "	c := make(chan int)", `	"context"`, `	"sync/atomic"`} {
		require.Regexp(t, forbidden, line)
	}
}

// What led to an entry is a fact of its own. No code of the engine tells it by the words of an ending or of a decision.
func TestNoActIsToldByAText(t *testing.T) {
	compared := regexp.MustCompile(`(\.(Evidence|Reason|Cause|Text)|stoppedByPerson)\b\s*[=!]=\s*[^"\s]|[=!]=\s*(stoppedByPerson|\w+\.(Evidence|Reason|Cause)\b)`)
	walk(t, func(name string) {
		engine := slices.Contains([]string{".", "internal/core", "internal/entrylist", "internal/forks", "internal/agenda"}, path.Dir(name))
		if !engine || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			if compared.MatchString(line) {
				t.Errorf("%s:%d compares a text: %s", name, i+1, line)
			}
		}
	})
	for _, line := range []string{`case ev.Ending.Evidence == stoppedByPerson:`, `if ev.Reason == stoppedByPerson {`, `if s == ev.Cause {`} {
		require.Regexp(t, compared, line)
	}
}

// An absolute path is valid only on one machine.
func TestNoPathOfAMachine(t *testing.T) {
	folders := strings.Join([]string{"root", "tmp", "work", "home", "Users"}, "|")
	absolute := regexp.MustCompile(`(^|[^\w.~*}/-])/(` + folders + `)/`)
	walk(t, func(name string) {
		written := []string{".go", ".md", ".mk", ".mod", ".yml", ".yaml", ".sh"}
		if !slices.Contains(written, path.Ext(name)) && name != "Makefile" && path.Dir(name) != ".ci" {
			return
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			if absolute.MatchString(line) {
				t.Errorf("%s:%d has an absolute path: %s", name, i+1, line)
			}
		}
	})
}

// Each dependency that a module names itself has its reason beside it.
func TestDependenciesHaveReasons(t *testing.T) {
	required := regexp.MustCompile(`^\t?(?:require )?([\w.-]+\.[\w./-]+) v\S+(.*)$`)
	seen := 0
	walk(t, func(name string) {
		if path.Base(name) != "go.mod" || strings.HasPrefix(name, "internal/outside/") || strings.HasPrefix(name, "internal/tools/") {
			return
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			m := required.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			if m == nil || strings.HasPrefix(m[1], "github.com/elenchus-go/debate") || strings.HasSuffix(m[2], "// indirect") {
				continue
			}
			seen++
			assert.Contains(t, m[2], " // ", "%s requires %s without a reason", name, m[1])
		}
	})
	require.Greater(t, seen, 40)
}

// walk calls visit for each file of the repository, with its path relative to the root.
func walk(t *testing.T, visit func(name string)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.Type().IsRegular():
			visit(name)
		}
		return nil
	})
	require.NoError(t, err)
}

// A reference is a use of a name in one file that another file of the package defines.
type reference struct{ from, to, name string }

func (r reference) String() string { return fmt.Sprintf("%s uses %s of %s", r.from, r.name, r.to) }

// references returns the uses of package-level definitions, methods and fields that another file of a package defines, each name
// once. files are the texts of its files by name. Other packages are not read, so a use through one of their types is not found.
func references(t *testing.T, files map[string]string) (list []reference) {
	fset := token.NewFileSet()
	var parsed []*ast.File
	for name, text := range files {
		f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		require.NoError(t, err)
		parsed = append(parsed, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	c := types.Config{Importer: nothing{}, Error: func(error) {}, FakeImportC: true}
	pkg, _ := c.Check("p", fset, parsed, info) // there are errors, because nothing of other packages is known
	seen := map[reference]bool{}
	for id, o := range info.Uses {
		if o.Pkg() != pkg || !lasting(pkg, o) {
			continue
		}
		r := reference{fset.Position(id.Pos()).Filename, fset.Position(o.Pos()).Filename, id.Name}
		if r.from != r.to && !seen[r] {
			seen[r] = true
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b reference) int { return strings.Compare(a.String(), b.String()) })
	return list
}

// lasting reports whether an object is more than a variable or label of a function.
func lasting(pkg *types.Package, o types.Object) bool {
	switch o := o.(type) {
	case *types.Func:
		return true // methods too
	case *types.Var:
		return o.IsField() || o.Parent() == pkg.Scope()
	}
	return o.Parent() == pkg.Scope()
}

// nothing imports each package without its contents.
type nothing struct{}

func (nothing) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
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
			if !reach[from][via] {
				continue
			}
			for to := range reach[via] {
				reach[from][to] = true
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

func TestCirclesAreFound(t *testing.T) {
	files := map[string]string{
		"a.go": "package p\nimport \"os\"\ntype A struct{ b B; f *os.File }\nfunc (a A) Do() { a.b.Go() }\n",
		"b.go": "package p\ntype B struct{}\nfunc (B) Go() { help() }\n",
		"c.go": "package p\nfunc help() { var local int; _ = local }\n",
	}
	require.Empty(t, circles(references(t, files)))
	files["c.go"] = "package p\nfunc help() { A{}.Do() }\n"
	found := circles(references(t, files))
	require.Len(t, found, 1)
	require.Equal(t, []string{
		"a.go uses B of b.go", "a.go uses Go of b.go", "b.go uses help of c.go", "c.go uses A of a.go", "c.go uses Do of a.go",
	}, strings.Split(found[0], "\n"))
}

package housetest

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A source is a parsed file.
type source struct {
	path string
	fset *token.FileSet
	file *ast.File
}

// A function is a function or method. Its length is from the word func to the closing brace.
type function struct {
	name  string
	lines int
}

func (s source) line(p token.Pos) int { return s.fset.Position(p).Line }

func (s source) lines() int { return s.fset.File(s.file.FileStart).LineCount() }

func (s source) functions() []function {
	var fs []function
	for _, d := range s.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			fs = append(fs, function{name: f.Name.Name, lines: s.line(f.End()) - s.line(f.Pos()) + 1})
		}
	}
	return fs
}

// methods adds the files of each type's methods, by the type's name.
func (s source) methods(files map[string][]string) {
	for _, d := range s.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
			name, file := receiver(f), filepath.Base(s.path)
			if !slices.Contains(files[name], file) {
				files[name] = append(files[name], file)
			}
		}
	}
}

// receiver returns the name of the type of a method.
func receiver(f *ast.FuncDecl) string {
	e := f.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		default:
			return types.ExprString(x)
		}
	}
}

// exported returns the exported top-level names of a package. All constants of one type count as one name, and methods
// do not count.
func exported(sources []source) []string {
	names := map[string]bool{}
	for _, s := range sources {
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.IsExported() {
					names[d.Name.Name] = true
				}
			case *ast.GenDecl:
				addSpecs(names, d)
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func addSpecs(names map[string]bool, d *ast.GenDecl) {
	kind := "" // a constant without a type has the type of the previous one
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() {
				names[spec.Name.Name] = true
			}
		case *ast.ValueSpec:
			if spec.Type != nil || len(spec.Values) > 0 {
				kind = constantType(d, spec)
			}
			addValues(names, spec, kind)
		}
	}
}

func addValues(names map[string]bool, spec *ast.ValueSpec, kind string) {
	for _, name := range spec.Names {
		switch {
		case !name.IsExported():
		case kind != "":
			names["the constants of "+kind] = true
		default:
			names[name.Name] = true
		}
	}
}

// constantType returns the type of a constant as written, or "" for untyped constants and for variables.
func constantType(d *ast.GenDecl, spec *ast.ValueSpec) string {
	switch {
	case d.Tok != token.CONST:
		return ""
	case spec.Type != nil:
		return types.ExprString(spec.Type)
	}
	if conversion, ok := spec.Values[0].(*ast.CallExpr); ok {
		return types.ExprString(conversion.Fun)
	}
	return ""
}

// undocumented returns the exported names without a comment. One comment suffices for a group of constants or
// variables.
func (s source) undocumented() []string {
	var names []string
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			names = append(names, undocumentedSpecs(d)...)
		}
	}
	return names
}

func undocumentedSpecs(d *ast.GenDecl) []string {
	var names []string
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() && spec.Doc == nil && (d.Doc == nil || d.Lparen.IsValid()) {
				names = append(names, spec.Name.Name)
			}
		case *ast.ValueSpec:
			if spec.Doc == nil && spec.Comment == nil && d.Doc == nil {
				names = append(names, exportedNames(spec)...)
			}
		}
	}
	return names
}

func exportedNames(spec *ast.ValueSpec) []string {
	var names []string
	for _, name := range spec.Names {
		if name.IsExported() {
			names = append(names, name.Name)
		}
	}
	return names
}

// exportedReceiver reports whether a method has an exported receiver type. It returns true for functions.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	return ast.IsExported(receiver(d))
}

// words returns the comments and identifiers that match re.
func (s source) words(re *regexp.Regexp) []string {
	var found []string
	for _, group := range s.file.Comments {
		for _, c := range group.List {
			if re.MatchString(c.Text) {
				found = append(found, c.Text)
			}
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && re.MatchString(id.Name) {
			found = append(found, id.Name)
		}
		return true
	})
	return found
}

const sample = `package sample

// Colour is documented.
type Colour int

const (
	Red Colour = iota
	Green
	blue
)

const Large, Small = 1, 2 // sizes

var Door = Colour(3)

type (
	// Box is documented.
	Box[T any] struct{}
	Chest   struct{}
	cellar  struct{}
)

func (b *Box[T]) Open() {}

func (cellar) Open() {}

func (*Pair[K, V]) Open() {}

// Open has
// a comment.
func Open() { // ` + "TO" + `DO: open
	_ = 1
}
`

func TestSample(t *testing.T) {
	s := parse(t, "sample.go", sample)

	assert.Equal(t, 33, s.lines())
	assert.Equal(t, []function{{"Open", 1}, {"Open", 1}, {"Open", 1}, {"Open", 3}}, s.functions())
	assert.Equal(t, []string{"Box", "Chest", "Colour", "Door", "Large", "Open", "Small", "the constants of Colour"}, exported([]source{s}))
	assert.Equal(t, []string{"Red", "Green", "Door", "Chest", "Open", "Open"}, s.undocumented())
	assert.Equal(t, []string{"// " + "TO" + "DO: open"}, s.words(regexp.MustCompile(unfinishedMarker)))
}

func TestMethodsByFile(t *testing.T) {
	files := map[string][]string{}
	parse(t, "a/one.go", "package a\ntype T struct{}\nfunc (T) A() {}\nfunc (t *T) B() {}\nfunc f() {}").methods(files)
	parse(t, "a/two.go", "package a\ntype G[K, V any] struct{}\nfunc (T) C() {}\nfunc (g *G[K, V]) D() {}").methods(files)
	assert.Equal(t, map[string][]string{"T": {"one.go", "two.go"}, "G": {"two.go"}}, files)
}

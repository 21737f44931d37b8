package configtest

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	root   = "../../.." // from this folder
	module = "github.com/elenchus-go/debate"
)

// A source is a package with the comments of its structs' fields and of its string constants.
type source struct {
	pkg       *doc.Package
	fields    map[string][]fieldComment // by type
	constants []constant                // in the order of their files and lines
}

// A fieldComment is the comment of a field. A field without a comment on the line below a commented field shares that
// comment.
type fieldComment struct {
	name, text string
	json       string   // the JSON name that the comment states; empty if it states none
	shared     []string // the names of all fields with this comment
}

// inJSON finds the sentence of a comment that says what the field is in JSON.
var inJSON = regexp.MustCompile(`\s*In\s+JSON:\s+"?(\w+)"?[^.]*\.`)

type constant struct{ name, typ, value, comment string }

// A library has the sources of packages by their import path.
type library map[string]*source

// of returns the source of a package of this module.
func (l library) of(t *testing.T, path string) *source {
	t.Helper()
	if s := l[path]; s != nil {
		return s
	}
	files, err := filepath.Glob(filepath.Join(root, strings.TrimPrefix(strings.TrimPrefix(path, module), "/"), "*.go"))
	require.NoError(t, err)
	fset, parsed := token.NewFileSet(), []*ast.File{}
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			f, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
			require.NoError(t, err)
			parsed = append(parsed, f)
		}
	}
	require.NotEmpty(t, parsed, "no source of package %s", path)
	l[path] = readSource(t, fset, parsed, path)
	return l[path]
}

func readSource(t *testing.T, fset *token.FileSet, files []*ast.File, path string) *source {
	t.Helper()
	s := &source{fields: map[string][]fieldComment{}}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				if st, ok := n.Type.(*ast.StructType); ok {
					s.fields[n.Name.Name] = fieldComments(fset, st)
				}
			case *ast.GenDecl:
				s.constants = append(s.constants, stringConstants(n)...)
			case *ast.FuncDecl:
				return false
			}
			return true
		})
	}
	var err error
	s.pkg, err = doc.NewFromFiles(fset, files, path, doc.AllDecls|doc.PreserveAST)
	require.NoError(t, err)
	return s
}

func fieldComments(fset *token.FileSet, st *ast.StructType) (list []fieldComment) {
	above := 0 // the last line of the field above, if that has a comment to share
	for _, f := range st.Fields.List {
		text := f.Doc.Text() + f.Comment.Text()
		json := ""
		if at := inJSON.FindStringSubmatchIndex(text); at != nil {
			json, text = text[at[2]:at[3]], text[:at[0]]+text[at[1]:]
		}
		shares := text == "" && fset.Position(f.Pos()).Line == above+1
		above = 0
		if shares || f.Doc != nil {
			above = fset.Position(f.End()).Line
		}
		for _, name := range f.Names {
			c := fieldComment{name: name.Name, text: text, json: json, shared: []string{name.Name}}
			if shares {
				first := len(list) - len(list[len(list)-1].shared)
				c.text, c.shared = list[first].text, append(slices.Clone(list[first].shared), name.Name)
				for i := first; i < len(list); i++ {
					list[i].shared = c.shared
				}
			}
			list = append(list, c)
		}
	}
	return list
}

func stringConstants(d *ast.GenDecl) (list []constant) {
	for _, spec := range d.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok || d.Tok != token.CONST {
			return nil
		}
		for i, name := range v.Names {
			if i >= len(v.Values) {
				break
			}
			if lit, ok := v.Values[i].(*ast.BasicLit); ok && lit.Kind == token.STRING {
				c := constant{name: name.Name, typ: "string", comment: v.Doc.Text() + v.Comment.Text()}
				c.value, _ = strconv.Unquote(lit.Value) // the parser has accepted it
				if typ, ok := v.Type.(*ast.Ident); ok {
					c.typ = typ.Name
				}
				list = append(list, c)
			}
		}
	}
	return list
}

// comment returns the comment of a field of a type.
func (s *source) comment(typ, field string) fieldComment {
	for _, c := range s.fields[typ] {
		if c.name == field {
			return c
		}
	}
	return fieldComment{}
}

// typeComment returns the comment of a type.
func (s *source) typeComment(name string) string {
	for _, t := range s.pkg.Types {
		if t.Name == name {
			return t.Doc
		}
	}
	return ""
}

// methodComment returns the comment of a type's method.
func (s *source) methodComment(typ, method string) string {
	for _, t := range s.pkg.Types {
		for _, m := range t.Methods {
			if t.Name == typ && m.Name == method {
				return m.Doc
			}
		}
	}
	return ""
}

// has reports whether the package has a type, a function, a variable or a constant of a name.
func (s *source) has(name string) bool { return s.pkg.Parser().LookupSym("", name) }

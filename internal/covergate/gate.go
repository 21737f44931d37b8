package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"text/tabwriter"
)

// A target is the required coverage of a folder's tree, in per cent.
type target struct {
	folder  string
	percent int
}

// targets are the targets of the library.
var targets = []target{
	{"fsm", 95},
	{"prompts", 90},
	{"context", 85},
	{"judge", 85},
	{"detect", 85},
	{"evidence", 85},
	{"debatetool", 85},
	{"store", 85},
	{"integrations", 85},
	{"debatehttp", 85},
	{"inspector", 85},
	{"protocol", 85},
	{"report", 85},
	{"cmd", 80},
	{"providers", 80},
}

// errorsPercent is the required coverage of each file named errors.go, in per cent.
const errorsPercent = 90

// A row is a row of the table.
type row struct {
	name    string
	percent int
	ratio   ratio
	code    bool // has statements to measure
}

// problem returns an error if the row misses its target or was not measured.
func (r row) problem() error {
	switch {
	case r.code && r.ratio.total == 0:
		return fmt.Errorf("measure %s: no profile contains its code", r.name)
	case !r.ratio.reaches(r.percent):
		return fmt.Errorf("cover %s: %s is less than the target of %d %%", r.name, r.ratio, r.percent)
	}
	return nil
}

// measure returns the table: a row for each target, then one for each errors.go.
func measure(p profile, fsys fs.FS, targets []target) ([]row, error) {
	files, err := sources(fsys)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, t := range targets {
		in := func(file string) bool { return strings.HasPrefix(file, t.folder+"/") && !inSuite(file) }
		r := row{name: t.folder + "/...", percent: t.percent, ratio: p.sum(in)}
		if r.code, err = anyCode(fsys, files, in); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return appendErrorFiles(rows, p, fsys, files)
}

func appendErrorFiles(rows []row, p profile, fsys fs.FS, files []string) ([]row, error) {
	for _, file := range files {
		if path.Base(file) != "errors.go" || inSuite(file) {
			continue
		}
		is := func(f string) bool { return f == file }
		code, err := anyCode(fsys, files, is)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{name: file, percent: errorsPercent, ratio: p.sum(is), code: code})
	}
	return rows, nil
}

// inSuite reports whether a file belongs to a package for tests, such as store/storetest.
func inSuite(file string) bool { return strings.HasSuffix(path.Dir(file), "test") }

// sources returns the sorted names of the Go files that are not tests.
func sources(fsys fs.FS) ([]string, error) {
	var files []string
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && ignored(d.Name()):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list sources: %w", err)
	}
	return files, nil
}

// ignored reports whether the go command ignores a folder.
func ignored(dir string) bool {
	return dir == "testdata" || dir != "." && (strings.HasPrefix(dir, ".") || strings.HasPrefix(dir, "_"))
}

// anyCode reports whether a matching file has a function with statements. Other files do not appear in profiles.
func anyCode(fsys fs.FS, files []string, match func(string) bool) (bool, error) {
	for _, file := range files {
		if !match(file) {
			continue
		}
		src, err := fs.ReadFile(fsys, file)
		if err != nil {
			return false, fmt.Errorf("read source: %w", err)
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, src, parser.SkipObjectResolution)
		if err != nil {
			return false, fmt.Errorf("parse source: %w", err)
		}
		if slices.ContainsFunc(tree.Decls, hasStatements) {
			return true, nil
		}
	}
	return false, nil
}

func hasStatements(d ast.Decl) bool {
	f, ok := d.(*ast.FuncDecl)
	return ok && f.Body != nil && len(f.Body.List) > 0
}

// verdict returns all problems as one error, or nil if every target is met.
func verdict(rows []row) error {
	var problems []error
	for _, r := range rows {
		problems = append(problems, r.problem())
	}
	return errors.Join(problems...)
}

func writeTable(w io.Writer, rows []row) error {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(tw, "coverage of\ttarget\tmeasured\tstatements\t")
	for _, r := range rows {
		fmt.Fprintf(tw, "%s\t%d %%\t%s\t%d of %d\t%s\n", r.name, r.percent, r.ratio, r.ratio.covered, r.ratio.total, r.mark())
	}
	return tw.Flush()
}

func (r row) mark() string {
	switch {
	case r.problem() != nil:
		return "MISSED"
	case r.ratio.total == 0:
		return "no code"
	}
	return "ok"
}

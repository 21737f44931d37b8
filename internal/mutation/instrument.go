package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
)

// mutated is the code with all mutants in it.
type mutated struct {
	mutants []*mutant
	sources map[string]string // by path, relative to the module
}

// instrument returns the code with all mutants in it. Each mutant is the original code until it is selected.
func instrument(c code, functions *regexp.Regexp) (*mutated, error) {
	m := &mutated{sources: map[string]string{}}
	names, pkg := map[string]int{}, ""
	for _, file := range c.files {
		b, err := os.ReadFile(filepath.Join(c.root, c.folder, file))
		if err != nil {
			return nil, fmt.Errorf("read code: %w", err)
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, b, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("read code: %w", err)
		}
		in := &instrumenter{text: string(b), set: set, file: file, names: names, next: len(m.mutants) + 1}
		for _, d := range tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && functions.MatchString(functionName(f)) {
				in.function = functionName(f)
				in.block(f.Body.List)
			}
		}
		m.mutants = append(m.mutants, in.mutants...)
		m.sources[filepath.Join(c.folder, file)] = in.apply()
		pkg = tree.Name.Name
	}
	m.sources[filepath.Join(c.folder, "mutation_overlay.go")] = fmt.Sprintf(selector, pkg, len(m.mutants)+1)
	return m, nil
}

func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	return fmt.Sprint(of, ".", f.Name.Name)
}

// selector is added to the package. It selects one mutant, or writes the numbers of those that are reached.
const selector = `package %s

import (
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
)

var (
	mutantSelected, _ = strconv.Atoi(os.Getenv("MUTANT"))
	mutantReached     [%d]atomic.Bool
)

func mutantIs(n int) bool {
	if path := os.Getenv("MUTANTS_REACHED"); path != "" && !mutantReached[n].Swap(true) {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(f, n)
		f.Close()
	}
	return n == mutantSelected
}

func mutantPick[T any](n int, instead, original T) T {
	if mutantIs(n) {
		return instead
	}
	return original
}

func mutantNil(n int, original error) error { return mutantPick(n, nil, original) }
`

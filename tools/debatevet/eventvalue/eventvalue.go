// Package eventvalue defines an analyzer that finds pointers to the events of package debate where only values occur.
//
//	for event, err := range d.Run(ctx) {
//		switch event := event.(type) {
//		case *debate.TurnDone: // never matches: use debate.TurnDone
//
// Events are values. A pointer to an event has the methods of the interface debate.Event too, so the compiler accepts a
// type switch or a type assertion with it, but no event has such a type.
package eventvalue

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// Analyzer reports type switches and type assertions of a debate.Event that name a pointer to an event.
var Analyzer = &analysis.Analyzer{
	Name:     "eventvalue",
	Doc:      "find type switches and type assertions of a debate.Event that never match, because they name a pointer to an event",
	URL:      "https://pkg.go.dev/github.com/elenchus-go/debate/tools/debatevet/eventvalue",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

// eventsPackage is the package that defines the events.
const eventsPackage = "github.com/elenchus-go/debate"

func run(pass *analysis.Pass) (any, error) {
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	in.Preorder([]ast.Node{(*ast.TypeSwitchStmt)(nil), (*ast.TypeAssertExpr)(nil)}, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.TypeSwitchStmt:
			if isEvent(pass.TypesInfo.TypeOf(switched(n))) {
				for _, clause := range n.Body.List {
					for _, typ := range clause.(*ast.CaseClause).List {
						check(pass, typ, "this case never matches")
					}
				}
			}
		case *ast.TypeAssertExpr:
			if n.Type != nil && isEvent(pass.TypesInfo.TypeOf(n.X)) { // the type is nil in a type switch
				check(pass, n.Type, "this type assertion never succeeds")
			}
		}
	})
	return nil, nil
}

// switched returns the expression whose type a type switch examines.
func switched(s *ast.TypeSwitchStmt) ast.Expr {
	e := ast.Expr(nil)
	switch assign := s.Assign.(type) {
	case *ast.ExprStmt:
		e = assign.X
	case *ast.AssignStmt:
		e = assign.Rhs[0]
	}
	return ast.Unparen(e).(*ast.TypeAssertExpr).X
}

// isEvent reports whether a type is debate.Event, or another interface that only events implement.
func isEvent(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	if !ok {
		return false
	}
	for m := range i.Methods() {
		if m.Pkg() != nil && m.Pkg().Path() == eventsPackage && m.Name() == "sealed" {
			return true
		}
	}
	return false
}

// check reports a type that is a pointer to an event.
func check(pass *analysis.Pass, e ast.Expr, problem string) {
	p, ok := types.Unalias(pass.TypesInfo.TypeOf(e)).(*types.Pointer)
	if !ok {
		return
	}
	named, ok := types.Unalias(p.Elem()).(*types.Named)
	if !ok {
		return
	}
	name := types.TypeString(named, (*types.Package).Name)
	d := analysis.Diagnostic{Pos: e.Pos(), End: e.End(), Message: problem + ": events are values, use " + name}
	if star, ok := ast.Unparen(e).(*ast.StarExpr); ok {
		d.SuggestedFixes = []analysis.SuggestedFix{{
			Message: "use " + name, TextEdits: []analysis.TextEdit{{Pos: star.Star, End: star.Star + token.Pos(len("*"))}},
		}}
	}
	pass.Report(d)
}

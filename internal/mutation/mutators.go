package main

import (
	"go/ast"
	"go/token"
	"slices"
)

// block mutates a list of statements. It removes statements that declare nothing and return no value. It keeps locks,
// because the race detector finds what is missing there.
func (in *instrumenter) block(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if !isCall(s.X, "panic", "Lock", "Unlock") { // without a panic, the function may lack a return
				in.remove(s)
			}
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				in.remove(s)
			}
		case *ast.ReturnStmt:
			if len(s.Results) == 0 {
				in.remove(s)
			}
		case *ast.BranchStmt:
			if s.Tok != token.FALLTHROUGH {
				in.remove(s)
			}
		case *ast.DeferStmt:
			if !isCall(s.Call, "Unlock") {
				in.remove(s)
			}
		case *ast.IncDecStmt, *ast.GoStmt, *ast.SendStmt:
			in.remove(s)
		}
		in.inside(s)
	}
}

func (in *instrumenter) remove(s ast.Stmt) { in.add(s, "removed", "if !mutantIs(%d) { ", " }") }

// inside mutates the statements and expressions of a statement or expression.
func (in *instrumenter) inside(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			in.block(n.List)
			return false
		case *ast.CaseClause:
			in.caseClause(n)
			return false
		case *ast.CommClause:
			in.block(n.Body)
			return false
		case *ast.SwitchStmt:
			in.switchStmt(n)
			return false
		case *ast.IfStmt:
			in.condition(n.Cond, true, true)
		case *ast.ForStmt:
			in.condition(n.Cond, false, true)
		case *ast.ReturnStmt:
			in.results(n)
		case *ast.BinaryExpr:
			in.binary(n)
		case *ast.CallExpr:
			in.call(n)
		}
		return true
	})
}

// switchStmt mutates a switch. The cases of a switch without a tag are conditions.
func (in *instrumenter) switchStmt(s *ast.SwitchStmt) {
	for _, part := range []ast.Node{s.Init, s.Tag} {
		if part != nil {
			in.inside(part)
		}
	}
	for _, c := range s.Body.List {
		clause := c.(*ast.CaseClause)
		if s.Tag == nil {
			for _, e := range clause.List {
				in.condition(e, true, true)
			}
		}
		in.caseClause(clause)
	}
}

func (in *instrumenter) caseClause(c *ast.CaseClause) {
	for _, e := range c.List {
		in.inside(e)
	}
	in.block(c.Body)
}

// condition makes an expression true or false. A part of it that does not matter is found by binary.
func (in *instrumenter) condition(e ast.Expr, toTrue, toFalse bool) {
	if e == nil {
		return
	}
	if toTrue {
		in.add(e, "made true", "(mutantIs(%d) || (", "))")
	}
	if toFalse {
		in.add(e, "made false", "(!mutantIs(%d) && (", "))")
	}
}

// binary mutates an operator: it removes an operand of && and ||, moves the boundary of a comparison, and removes the
// second operand of + and -.
func (in *instrumenter) binary(e *ast.BinaryExpr) {
	x, y := in.source(e.X), in.source(e.Y)
	equal := "(" + x + ") == (" + y + ")"
	switch e.Op {
	case token.LAND:
		in.condition(e.X, true, false)
		in.condition(e.Y, true, false)
	case token.LOR:
		in.condition(e.X, false, true)
		in.condition(e.Y, false, true)
	case token.LSS, token.GTR:
		in.add(e, "with its boundary", "((", ") || mutantIs(%d) && "+equal+")")
	case token.LEQ, token.GEQ:
		in.add(e, "without its boundary", "((", ") && !(mutantIs(%d) && "+equal+"))")
	case token.ADD, token.SUB:
		in.add(e, "as its first operand", "mutantPick(%d, "+x+", ", ")")
	default:
	}
}

// results mutates what a function returns: an error becomes nil, and a comparison becomes true or false.
func (in *instrumenter) results(s *ast.ReturnStmt) {
	for _, e := range s.Results {
		switch e := e.(type) {
		case *ast.Ident:
			if e.Name == "err" {
				in.add(e, "returned as nil", "mutantNil(%d, ", ")")
			}
		case *ast.BinaryExpr:
			switch e.Op {
			case token.LAND, token.LOR, token.EQL, token.NEQ, token.LSS, token.GTR, token.LEQ, token.GEQ:
				in.condition(e, true, true)
			default:
			}
		}
	}
}

// call mutates min and max, which become each of their operands.
func (in *instrumenter) call(e *ast.CallExpr) {
	if isCall(e, "min", "max") && len(e.Args) == 2 {
		in.add(e, "as its first operand", "mutantPick(%d, "+in.source(e.Args[0])+", ", ")")
		in.add(e, "as its second operand", "mutantPick(%d, "+in.source(e.Args[1])+", ", ")")
	}
}

// isCall reports whether an expression calls a function or method that has one of the names.
func isCall(e ast.Expr, names ...string) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return slices.Contains(names, f.Name)
	case *ast.SelectorExpr:
		return slices.Contains(names, f.Sel.Name)
	}
	return false
}

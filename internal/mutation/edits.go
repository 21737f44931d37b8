package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// edit inserts text before or after a piece of code. depth orders the edits at one place.
type edit struct {
	at     int
	after  bool
	depth  int
	insert string
}

type instrumenter struct {
	text     string
	set      *token.FileSet
	file     string
	function string
	names    map[string]int
	next     int
	depth    int
	mutants  []*mutant
	edits    []edit
}

func (in *instrumenter) offset(p token.Pos) int { return in.set.Position(p).Offset }

// source returns the code of a node on one line.
func (in *instrumenter) source(n ast.Node) string {
	return strings.Join(strings.Fields(in.text[in.offset(n.Pos()):in.offset(n.End())]), " ")
}

// add adds a mutant that puts code around a node. In the code, %d is the mutant's number.
func (in *instrumenter) add(n ast.Node, kind, before, after string) {
	name := fmt.Sprintf("%s %s: %s %s", in.file, in.function, in.source(n), kind)
	if in.names[name]++; in.names[name] > 1 {
		name += fmt.Sprintf(" (%d)", in.names[name])
	}
	number := func(s string) string { return strings.ReplaceAll(s, "%d", fmt.Sprint(in.next)) }
	in.mutants = append(in.mutants, &mutant{number: in.next, name: name, file: in.file, line: in.set.Position(n.Pos()).Line})
	in.depth++
	in.edits = append(in.edits,
		edit{at: in.offset(n.Pos()), depth: in.depth, insert: number(before)},
		edit{at: in.offset(n.End()), after: true, depth: in.depth, insert: number(after)})
	in.next++
}

// apply returns the file with all edits. At one place, code after a node comes before code before the next one, and
// outer code encloses inner code.
func (in *instrumenter) apply() string {
	slices.SortStableFunc(in.edits, func(a, b edit) int {
		switch {
		case a.at != b.at:
			return a.at - b.at
		case a.after != b.after && a.after:
			return -1
		case a.after != b.after:
			return 1
		case a.after:
			return b.depth - a.depth
		}
		return a.depth - b.depth
	})
	var b strings.Builder
	at := 0
	for _, e := range in.edits {
		b.WriteString(in.text[at:e.at])
		b.WriteString(e.insert)
		at = e.at
	}
	b.WriteString(in.text[at:])
	return b.String()
}

package fsm

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/golden"
)

func TestTheDiagramIsDrawnFromTheTable(t *testing.T) {
	golden.Require(t, "testdata/lifecycle.mmd", Mermaid(""))
}

func TestTheDiagramIsTheSameEveryTimeAndMarksTheCurrentState(t *testing.T) {
	for _, s := range states {
		id := strings.TrimPrefix(string(s), "running.")
		mark := strings.TrimPrefix(Mermaid(s), Mermaid(""))
		require.Contains(t, mark, "classDef current ")
		require.True(t, strings.HasSuffix(mark, "\n    class "+id+" current\n"), mark)
	}
	require.Equal(t, Mermaid(""), Mermaid("unheard of"))
	require.Equal(t, Mermaid(""), Mermaid("running"), "Mermaid can mark leaves only")
}

// TestNothingInTheDiagramNeedsEscaping holds every name to what Mermaid reads as plain text.
func TestNothingInTheDiagramNeedsEscaping(t *testing.T) {
	for _, r := range table {
		for _, a := range r.arrows() {
			require.Regexp(t, regexp.MustCompile(`^[a-z_]+ --> [a-z_]+ : [a-z]+( \[[a-zA-Z]+\])?$`), a.String())
		}
	}
}

func TestThePageIsGeneratedFromTheTable(t *testing.T) {
	golden.Require(t, "../docs/lifecycle.md", page(t))
}

func TestEveryStateAndEventHasASentence(t *testing.T) {
	states, events := sentences(t, "State"), sentences(t, "Event")
	require.Len(t, states, len(specStates))
	for i, s := range states {
		require.Equal(t, specStates[i], s.name)
		require.Regexp(t, `^[A-Z].*\.$`, s.sentence)
	}
	require.Len(t, events, len(specEvents))
	for i, e := range events {
		require.Equal(t, string(specEvents[i]), e.name)
		require.Regexp(t, `^[A-Z].*\.$`, e.sentence)
	}
}

func page(t *testing.T) string {
	var p strings.Builder
	p.WriteString("# The lifecycle of a debate\n\n" +
		"A debate is always in exactly one of the states below, and only the events below lead from one to another.\n" +
		"This page is generated from `fsm/table.go`, by `go test ./fsm -update`.\n\n## States\n\n" +
		"`running` stands for its three leaves: what leads out of `running` leads out of each of them.\n" +
		"A debate begins in `configuring`.\n\n| state | meaning | |\n|---|---|---|\n")
	for _, s := range sentences(t, "State") {
		fmt.Fprintf(&p, "| `%s` | %s | %s |\n", s.name, s.sentence, nature(State(s.name)))
	}
	p.WriteString("\nIn an active state there is work to do. A final state is never left.\n\n" +
		"## Events\n\n| event | meaning |\n|---|---|\n")
	for _, e := range sentences(t, "Event") {
		fmt.Fprintf(&p, "| `%s` | %s |\n", e.name, e.sentence)
	}
	p.WriteString("\n## Transitions\n\n" +
		"For one state and event the first row whose guard holds is taken. Anything else is refused, and changes nothing.\n\n" +
		"| from | event | guard | to |\n|---|---|---|---|\n")
	for _, r := range table {
		fmt.Fprintf(&p, "| %s | `%s` | %s | %s |\n", code(r.from...), r.on, r.when.name, target(r))
	}
	return p.String() + "\n## Diagram\n\n```mermaid\n" + Mermaid("") + "```\n"
}

func nature(s State) string {
	switch {
	case s.Active():
		return "active"
	case s.Final():
		return "final"
	}
	return ""
}

func target(r row) string {
	if r.to == pausedState {
		return "the exact state that the pause left"
	}
	return code(r.to)
}

func code(states ...State) string {
	text := make([]string, len(states))
	for i, s := range states {
		text[i] = "`" + string(s) + "`"
	}
	return strings.Join(text, ", ")
}

type documented struct{ name, sentence string }

// sentences reads the exported constants of a type, and the comment at each, from table.go.
func sentences(t *testing.T, typ string) []documented {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "table.go", nil, parser.ParseComments)
	require.NoError(t, err)
	var all []documented
	ast.Inspect(file, func(n ast.Node) bool {
		c, ok := n.(*ast.ValueSpec)
		if ok && c.Names[0].IsExported() && fmt.Sprint(c.Type) == typ {
			value := c.Values[0].(*ast.BasicLit).Value
			all = append(all, documented{strings.Trim(value, `"`), strings.TrimSpace(c.Comment.Text())})
		}
		return true
	})
	return all
}

package fsm

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/golden"
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
	require.Equal(t, Mermaid(""), Mermaid("running"), "Mermaid can highlight leaves only")
}

// TestNothingInTheDiagramNeedsEscaping checks that Mermaid reads every name as plain text.
func TestNothingInTheDiagramNeedsEscaping(t *testing.T) {
	for _, a := range Arrows() {
		require.Regexp(t, regexp.MustCompile(`^[a-z_]+ --> [a-z_]+ : [a-z]+( \[[a-zA-Z]+\])?$`), a.mermaid())
	}
}

func TestArrowsAreTheTransitions(t *testing.T) {
	var drawn, want []string
	for _, a := range Arrows() {
		for _, from := range states {
			for _, to := range states {
				if from.in(a.From) && to.in(a.To) {
					drawn = append(drawn, fmt.Sprint(from, a.On, a.Guard, to))
				}
			}
		}
	}
	for at, list := range lifecycle().transitions {
		for _, next := range list {
			want = append(want, fmt.Sprint(at.State, next.on, next.when.name, next.to.State))
		}
	}
	slices.Sort(drawn)
	slices.Sort(want)
	require.Equal(t, slices.Compact(want), drawn)
}

func TestThePageIsGeneratedFromTheTable(t *testing.T) {
	golden.Require(t, "../docs/reference/lifecycle.md", page(t))
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
	p.WriteString("# Lifecycle\n\n" +
		"For users who control debates or show their state. This page lists every state of a debate, every event, and what each\n" +
		"event does in each state. `go test ./fsm -update` generates it from `fsm/table.go`.\n\n" +
		"A debate is always in exactly one state. It begins in `configuring`. Only events change its state.\n\n## States\n\n" +
		"`running` has three substates. A transition from `running` applies to each of them.\n\n| state | meaning | kind |\n|---|---|---|\n")
	for _, s := range sentences(t, "State") {
		fmt.Fprintf(&p, "| `%s` | %s | %s |\n", s.name, s.sentence, nature(State(s.name)))
	}
	p.WriteString("\nAn active state has work to do. No event leaves a final state.\n\n" +
		"## Events\n\n| event | meaning |\n|---|---|\n")
	for _, e := range sentences(t, "Event") {
		fmt.Fprintf(&p, "| `%s` | %s |\n", e.name, e.sentence)
	}
	p.WriteString("\n## Transitions\n\n" +
		"The first row that matches the state and the event, and whose guard holds, applies. If no row applies, the event returns\n" +
		"an error and changes nothing.\n\n" +
		"| from | event | guard | to |\n|---|---|---|---|\n")
	for _, r := range table {
		fmt.Fprintf(&p, "| %s | `%s` | %s | %s |\n", code(r.from...), r.on, r.when.name, target(r))
	}
	p.WriteString("\n| guard | holds if |\n|---|---|\n")
	for _, g := range guards(t) {
		fmt.Fprintf(&p, "| %s | %s |\n", g.name, g.sentence)
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
		return "the state before the pause"
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

// guardMeanings are the conditions of the guards.
var guardMeanings = map[*guard]string{
	hasValidConfig: "the configuration was accepted and has not changed since",
	assessmentDue:  "the protocol has this round judged",
	shouldEnd:      "the debate has an outcome",
	canContinue:    "the debate has no outcome yet",
	isRecoverable:  "the failure may not occur again",
	canProceed:     "no question to a person is open, and something other than people's replies can proceed",
	otherwise:      "always",
}

// guards returns the named guards in the order of the table.
func guards(t *testing.T) (list []documented) {
	for _, r := range table {
		meaning := documented{r.when.name, guardMeanings[r.when]}
		if r.when == always || slices.Contains(list, meaning) {
			continue
		}
		require.NotEmpty(t, meaning.sentence, "guard %s has no meaning here", r.when.name)
		list = append(list, meaning)
	}
	return list
}

type documented struct{ name, sentence string }

// sentences reads the exported constants of a type and their comments from table.go.
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

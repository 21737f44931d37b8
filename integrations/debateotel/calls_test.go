package debateotel

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/toolviewtest"
	"github.com/elenchus-go/debate/store"
)

// Each call that runs has a span and counts in a metric. Spans and metrics have nothing of a private document, but the calls that
// read it have their names, sizes and errors. A replay has the same spans of public steps.
func TestSpansAndMetricsOfCalls(t *testing.T) {
	for _, texts := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r, kept := newRecorder(Options{Texts: texts}), store.Memory()
			e, _ := toolviewtest.Engine(t, func(o *debate.Options) { o.Store, o.Observer = kept, r.Observer() })
			d, q := toolviewtest.Waiting(t, e)
			time.Sleep(72 * time.Hour)
			require.NoError(t, d.Decide(t.Context(), q.ID, "approve"))
			toolviewtest.Run(t, d)

			roots := r.trees(t)
			looks := find(roots, "execute_tool look")
			require.Len(t, looks, 7, "of Ada one, of Bo and of J in two steps two each")
			require.Len(t, find(roots, "execute_tool order"), 1)
			require.Empty(t, find(roots, "execute_tool no\x1b[31m <b>such</b> tool"), "it did not run")
			private := 0
			var everything strings.Builder
			for _, n := range looks {
				require.NotEqual(t, "0", n.attr(keyToolSize))
				for _, a := range n.Attributes() {
					fmt.Fprintln(&everything, a.Key, a.Value.String())
				}
				if texts && n.attr(keyToolArguments) == "" {
					private++
				}
			}
			if texts {
				require.Equal(t, 2, private, "Bo's calls have a name and a size")
				require.Contains(t, everything.String(), toolviewtest.Asked)
				require.Contains(t, everything.String(), toolviewtest.Found)
				prompts := everyAttribute(roots)
				require.Contains(t, prompts, `"type":"tool_call","id":"look`)
				require.Contains(t, prompts, `"type":"tool_call_response","id":"look`)
			} else {
				require.NotContains(t, everyAttribute(roots), toolviewtest.Asked)
				require.NotContains(t, everyAttribute(roots), toolviewtest.Found)
			}
			require.NotContains(t, everyAttribute(roots), toolviewtest.Secret)

			points := points(collect(t, r)[metricTool])
			require.Equal(t, []string{
				"1 values gen_ai.operation.name=execute_tool,gen_ai.tool.name=order",
				"3 values error.type=failed,gen_ai.operation.name=execute_tool,gen_ai.tool.name=look",
				"4 values gen_ai.operation.name=execute_tool,gen_ai.tool.name=look",
			}, points)
			require.NotContains(t, fmt.Sprint(collect(t, r)), toolviewtest.Secret)

			replayed := replayOf(t, kept, Options{Texts: texts}).trees(t)
			require.Len(t, find(replayed, "execute_tool look"), 4, "not those of a private step, and of Ada's before the decision")
			require.Len(t, find(replayed, "execute_tool order"), 1)
			for _, n := range find(replayed, "execute_tool look") {
				require.NotEqual(t, "0", n.attr(keyToolSize))
			}
			require.NotContains(t, everyAttribute(replayed), toolviewtest.Secret)
			require.Equal(t, texts, strings.Contains(everyAttribute(replayed), toolviewtest.Found))
		})
	}
}

// everyAttribute returns all attributes and events of spans.
func everyAttribute(roots []*node) string {
	var b strings.Builder
	var write func(n *node)
	write = func(n *node) {
		fmt.Fprintln(&b, n.Name(), n.Status().Description)
		for _, a := range n.Attributes() {
			fmt.Fprintln(&b, a.Key, a.Value.String())
		}
		for _, ev := range n.Events() {
			fmt.Fprintln(&b, ev.Name, ev.Attributes)
		}
		for _, x := range n.below {
			write(x)
		}
	}
	for _, n := range roots {
		write(n)
	}
	return b.String()
}

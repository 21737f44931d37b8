package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/toolviewtest"
	"github.com/elenchus-go/debate/store/sqlite"
)

// The command shows a call that waits for a person with its whole arguments, takes the decision, and shows what calls came to.
func TestCallsOfToolsOnTheTerminal(t *testing.T) {
	folder(t)
	process := func(use func(e *debate.Engine)) {
		s, err := sqlite.Open("d.db")
		require.NoError(t, err)
		e, _ := toolviewtest.Engine(t, func(o *debate.Options) { o.Store = s })
		use(e)
		require.NoError(t, e.Close(t.Context()))
		require.NoError(t, s.Close())
	}
	process(func(e *debate.Engine) { toolviewtest.Waiting(t, e) })
	const most = 16 << 10
	question := []string{"Ada wants to call the tool order with these arguments:\n{\n  \"q\": \"" + toolviewtest.Ordered, "approve: ", "refuse: "}

	code, stdout, stderr := start(t, environment(), "show", "d", "--store", "d.db")
	require.Zero(t, code, stderr)
	toolviewtest.RequireSafe(t, stdout, most, question...)
	code, _, stderr = start(t, environment(), "answer", "d", "--store", "d.db")
	require.Equal(t, exitInput, code)
	toolviewtest.RequireSafe(t, stderr, most, question...)
	code, _, stderr = answering(t, environment(), typed("refuse", toolviewtest.Reason, ""), "answer", "d", "--store", "d.db")
	require.Zero(t, code, stderr)
	toolviewtest.RequireSafe(t, stderr, most, question[1:]...)
	require.Contains(t, stderr, toolviewtest.Ordered)

	process(func(e *debate.Engine) {
		d, err := e.Open(t.Context(), "d")
		require.NoError(t, err)
		toolviewtest.Run(t, d)
	})
	code, stdout, stderr = start(t, environment(), "show", "d", "--store", "d.db")
	require.Zero(t, code, stderr)
	toolviewtest.RequireSafe(t, stdout, most, "\nAda calls look {", toolviewtest.Asked, toolviewtest.Found, "failed (unknown_tool)",
		"failed (disapproved): A person refused this call: "+toolviewtest.Reason, "\nJ calls look {",
		"\nAda (respond), 1 quote verified, 1 altered, 1 not found:\n", "\n== sources ==\n\n[2] rules, cited by Ada; rightly quoted by Ada; wrongly quoted by Ada; answered by nobody\n[3] Title ")
	require.NotContains(t, stdout, "Bo calls")
}

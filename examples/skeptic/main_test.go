package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/consoletest"
)

func TestTheSkepticEndsTheDebate(t *testing.T) {
	code, stdout, stderr := consoletest.Run(t, run, "Should tea be free?")
	require.Equal(t, 0, code, stderr)
	for _, part := range []string{
		"Should tea be free?\n\nOn the topic “Should tea be free?”, this proposal remains after the critiques (3):\n\n", "\nreasoning templates: ",
		"\nround 1: [critical] The proposal does not say when the pilot", "\nround 2: [major] ", "\nround 3: [minor] ",
		"\nended early: Bo: ready for synthesis at 8.5 of 10",
	} {
		require.Contains(t, stdout, part)
	}
	require.NotContains(t, stdout, "round 4")
	for _, part := range []string{"retriever · retrieval · ", "  Documents used: ", "Ada · propose · ", "Bo · attack · ", "🔴", "Ada · defend · ", "Ready for Synthesis ✅"} {
		require.Contains(t, stderr, part)
	}
}

// The score stays below the required one, but the debate ends because only minor issues remain.
func TestNoCriticalIssueIsEnough(t *testing.T) {
	code, stdout, stderr := consoletest.Run(t, run, "-ready", "9")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "ended early: Bo: no critical issue is left")
}

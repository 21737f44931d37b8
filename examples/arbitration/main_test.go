package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/consoletest"
)

func TestRulingsMoveTheScores(t *testing.T) {
	code, stdout, stderr := consoletest.Run(t, run, "Should tea be free?")
	require.Equal(t, 0, code, stderr)
	for _, part := range []string{
		"# Should tea be free?\n\n## 1. problem validity\n", "### Ada, advocate", "### Bo, challenger", "Evidence: Nine of twelve clinics that we surveyed",
		"**advocate**, confidence 100 of 100. problem: 7 → 9 (+2)", "**challenger**, ", "\n| team | 8 | 8 | 0 |\n", "\n| **Total** | 26 | 25 | -1 |\n",
	} {
		require.Contains(t, stdout, part)
	}
	require.Contains(t, stderr, "problem validity: advocate, problem +2.00\nsolution fit: challenger, solution -1.60\nmarket opportunity: challenger, market -1.40\n")
}

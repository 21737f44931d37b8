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
		"**advocate**, confidence 80 of 100. problem: 7 → 8.6 (+1.6)", "**challenger**, ", "\n| team | 8 | 8 | 0 |\n", "\n| **Total** | 26 | 24.6 | -1.4 |\n",
	} {
		require.Contains(t, stdout, part)
	}
	require.Contains(t, stderr, "problem validity: advocate, problem +1.60\nsolution fit: challenger, solution -1.60\nmarket opportunity: challenger, market -1.40\n")
}

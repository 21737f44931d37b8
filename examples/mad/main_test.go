package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/consoletest"
)

func TestTheJudgeDecidesInTwoSteps(t *testing.T) {
	code, stdout, stderr := consoletest.Run(t, run, "-rounds", "2", "Is tea green?")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "Is tea green?\nended in round 2: round_limit\n\n")
	require.Contains(t, stdout, "The judge decided for ")
	require.Contains(t, stdout, "\n\nThe candidates:\n- ")
	for _, part := range []string{"Ada · argue · ", "  My answer is yes,", "Bo · argue · ", "  Ada says “", "Judge · moderate · ", "  No preference.", "Judge · candidates · ", "Judge · decide · "} {
		require.Contains(t, stderr, part)
	}
}

func TestLimitsAreChecked(t *testing.T) {
	code, stdout, stderr := consoletest.Run(t, run, "-rounds", "-1")
	require.Equal(t, 1, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "limits.max_rounds")
}

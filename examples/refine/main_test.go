package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/consoletest"
)

func TestTheJudgeMakesOneSolution(t *testing.T) {
	code, stdout, stderr := consoletest.Run(t, run, "Where should tea be kept?")
	require.Equal(t, 0, code, stderr)
	for _, part := range []string{
		"Where should tea be kept?\n\nAn answer to “Where should tea be kept?”", "\nImplementation:\n1. architect proposes: ", "\nTrade-offs:\n1. ",
		"\nRecommendations:\n1. ", "\nConfidence: 50 of 100", "\narchitect: architect (built-in)", "\ncost: cost (examples/refine)",
	} {
		require.Contains(t, stdout, part)
	}
	for _, part := range []string{
		"architect · propose · ", "  In the architect role, I would start", "security · critique, cost · ", "  On the proposal of cost:", "major: No one is responsible for this in the eyes of ",
		"cost · refine · ", "  In the cost role, I keep", "== round 2 of 2 ==", "Judge · synthesize · ",
	} {
		require.Contains(t, stderr, part)
	}
}

// The summarizer shortens the history of an agent when it becomes too long.
func TestMemoriesAreSummedUp(t *testing.T) {
	code, stdout, stderr := consoletest.Run(t, run, "-rounds", "5", "-agents", "architect,performance,security,testing,generalist,cost")
	require.Equal(t, 0, code, stderr)
	require.Regexp(t, `summary for architect in round \d: \d{4} characters reduced to \d+\n`, stdout)
	require.Regexp(t, `summarizer · summarize, architect · .*\n  The last sentence of each turn:`, stderr)
}

func TestAnUnknownRoleIsAProblem(t *testing.T) {
	code, stdout, stderr := consoletest.Run(t, run, "-agents", "architect,poet")
	require.Equal(t, 1, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, `participants[1].role: "poet" of poet is unknown, the roles are ["architect" "cost" "generalist"`)
}

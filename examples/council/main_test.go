package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/consoletest"
)

func TestTheChairWritesTheAnswer(t *testing.T) {
	code, stdout, stderr := consoletest.Run(t, run, "Is tea green?")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "Is tea green?\n\nAs an offline demo model, I cannot write an answer. The best-ranked one ends: “")
	require.Contains(t, stdout, "\n\nRanks of the answers, with scores from 0 to 1:\n1. ")
	for _, part := range []string{"A1 · answer · ", "  I am A1, and my answer is yes,", "B2 · answer · ", "  I am B2, and my answer is no,", "D4 · rank · ", "  1. ", "Chair · conclude · "} {
		require.Contains(t, stderr, part)
	}
}

func TestFewMembersAreAProblem(t *testing.T) {
	code, stdout, stderr := consoletest.Run(t, run, "-models", "large,small")
	require.Equal(t, 1, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "participants: 2 enabled, a council takes 3 to 16")
}

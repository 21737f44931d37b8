package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/consoletest"
)

func TestAMajorityPersuadesTheRest(t *testing.T) {
	code, stdout, stderr := consoletest.Run(t, run, "Is tea green?")
	require.Equal(t, 0, code, stderr)
	for _, part := range []string{
		"Is tea green?\nended in round 2: unanimous\n\nAnswer: Yes (by majority)\n", "\nUnanimous in round 2.\n", "\nA1: yes -> yes\nB2: no -> yes\nC3: yes -> yes\n",
	} {
		require.Contains(t, stdout, part)
	}
	require.Regexp(t, `B2 · revise · .*\n  Answer: Yes`, stderr)
}

func TestFlags(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want []string
	}{
		"judge decides a tie": {[]string{"-agents", "2"}, []string{"ended in round 2: round_limit", "(by judge)", "A1: yes -> yes\nB2: no -> no"}},
		"one round":           {[]string{"-rounds", "1"}, []string{"ended in round 1: round_limit", "Yes: 2 votes", "No: 1 vote"}},
		"judge decides":       {[]string{"-rounds", "1", "-decision", "judge"}, []string{"Answer: Yes (by judge)"}},
		"numbers":             {[]string{"-extract", "number"}, []string{"Answer: 1 (by majority)", "B2: 2 -> 1"}},
		"letters":             {[]string{"-extract", "letter"}, []string{"B2: B -> A"}},
		"boxed":               {[]string{"-extract", "boxed"}, []string{"B2: 2 -> 1"}},
		"samples":             {[]string{"-agents", "1", "-samples", "3"}, []string{"ended in round 1: round_limit", "Yes: 3 votes", "A1 1: yes\nA1 2: yes\nA1 3: yes"}},
		"ring topology":       {[]string{"-agents", "5", "-topology", "ring"}, []string{"A1: yes -> yes\nB2: no -> yes\nC3: yes -> no\nD4: no -> yes\nE5: yes -> yes"}},
		"ReConcile": { // 60 % counts as 10, and 70 % as 30
			[]string{"-variant", "reconcile"},
			[]string{"ended in round 2: unanimous", "Answer: Yes (by confidence)", "Yes: 3 votes, total confidence 50 (A1, B2, C3)"},
		},
		"S2-MAD": { // nobody sees how many give the other answer, so the minority does not follow
			[]string{"-variant", "s2-mad", "-agents", "5"},
			[]string{"ended in round 3: round_limit", "Answer: Yes (by majority)", "B2: no -> no -> no\n", "D4: no -> no -> no\n"},
		},
		"self-consistency": {[]string{"-variant", "self-consistency"}, []string{"ended in round 1: round_limit", "Yes: 5 votes, total confidence 300 (A1 1, A1 2, A1 3, A1 4, A1 5)"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := consoletest.Run(t, run, test.args...)
			require.Equal(t, 0, code, stderr)
			for _, part := range test.want {
				require.Contains(t, stdout, part)
			}
		})
	}
}

func TestAnUnknownVariantIsAnError(t *testing.T) {
	code, stdout, stderr := consoletest.Run(t, run, "-variant", "mad")
	require.Equal(t, 1, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, `-variant: "mad" is unknown, use reconcile, s2-mad or self-consistency`)
}

func TestAnUnknownTopologyIsAProblem(t *testing.T) {
	code, _, stderr := consoletest.Run(t, run, "-topology", "tree")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, `protocol.topology: "tree" is unknown`)
}

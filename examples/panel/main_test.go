package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/consoletest"
)

func TestTheOtherFormats(t *testing.T) {
	for format, want := range map[string][]string{
		"free-form":           {"ended in round 3: judge_decided", "Ada · respond · ", "Bo · respond · "},
		"round-limited":       {"ended in round 3: round_limit", "Ada · respond · "},
		"structured-rounds":   {"ended in round 3: round_limit", "Ada · opening · ", "Bo · rebuttal · ", "Bo · closing · "},
		"convergence-seeking": {"ended in round 3: judge_decided", "Judge · assess · "},
	} {
		t.Run(format, func(t *testing.T) {
			code, stdout, stderr := consoletest.Run(t, run, "-format", format, "Should tea be free?")
			require.Equal(t, 0, code, stderr)
			require.Contains(t, stdout, "Should tea be free?\n"+want[0]+"\n")
			require.Contains(t, stdout, "Winner: Ada")
			for _, part := range append(want[1:], "personas · personas · ", "  Ada: A policy analyst", "Position: No, not in this form.") {
				require.Contains(t, stderr, part)
			}
		})
	}
}

func TestAnAudienceVotes(t *testing.T) {
	code, stdout, stderr := consoletest.Run(t, run, "-format", "oxford", "-judges", "3", "Tea should be free")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "Undecided: 3 before, 0 after (-3)")
	for _, part := range []string{"Judge 3 · audience-before · ", "  Vote: undecided.", "Ada · opening · ", "Bo · closing · ", "Judge · audience-after · ", "  Vote: "} {
		require.Contains(t, stderr, part)
	}
}

func TestAnAdvocateSpeaks(t *testing.T) {
	code, stdout, stderr := consoletest.Run(t, run, "-format", "convergence-seeking", "-advocate", "-judges", "3", "-rotate")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "ended in round 3: judge_decided\n")
	require.Equal(t, 1, strings.Count(stderr, "devil's advocate ·"))
	for _, part := range []string{"Judge · assess · ", "  In round 1,", "== round 2 of 3 ==\n\nAda · respond, devil's advocate · ", "  In round 2, I speak as the devil's advocate."} {
		require.Contains(t, stderr, part)
	}
}

func TestJudgesRotate(t *testing.T) {
	code, _, stderr := consoletest.Run(t, run, "-format", "round-limited", "-judges", "2", "-rotate")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, 2, strings.Count(stderr, "Judge · assess · "), "rounds 1 and 3")
	require.Equal(t, 1, strings.Count(stderr, "Judge 2 · assess · "))
}

// In simultaneous mode, a speech does not refer to others of the same round.
func TestAllSpeakAtOnce(t *testing.T) {
	code, _, stderr := consoletest.Run(t, run, "-mode", "simultaneous", "-personas", "", "-rounds", "1")
	require.Equal(t, 0, code, stderr)
	require.Regexp(t, `Ada · respond · .*\n  My answer is yes,`, stderr)
	require.Regexp(t, `Bo · respond · .*\n  My answer is no,`, stderr)
	require.NotContains(t, stderr, "personas")
}

func TestAnUnknownFormatIsAProblem(t *testing.T) {
	code, stdout, stderr := consoletest.Run(t, run, "-format", "chat")
	require.Equal(t, 1, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, `protocol.format: "chat" is unknown, the formats are ["free-form" "structured-rounds"`)
}

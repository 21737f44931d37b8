package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/protocols"
	"github.com/elenchus-go/debate/internal/test/consoletest"
	"github.com/elenchus-go/debate/protocol/pairwise"
	"github.com/elenchus-go/debate/protocol/review"
)

// shown is what a debate prints, on stdout and on stderr.
type shown struct{ stdout, stderr []string }

func TestEachProtocol(t *testing.T) {
	for name, want := range map[string]shown{
		"panel": {
			[]string{"Should cities ban private cars?\nended in round 4: judge_decided\n", "Winner: Ada"},
			[]string{"personas · personas · ", "  Ada: A policy analyst", "Position: No, not in this form.", "Ada · respond · ", "Judge · assess · "},
		},
		"panel-structured-rounds": {
			[]string{"ended in round 3: round_limit\n"},
			[]string{"Ada · opening · ", "  My answer is yes,", "  My answer is no,", "Bo · rebuttal · ", "Bo · closing · "},
		},
		"panel-convergence": {
			[]string{"ended in round 4: diminishing_returns\n"},
			[]string{"Judge · assess · ", "Judge 2 · assess · ", "Ada · respond, devil's advocate · ", "  In round 2, I speak as the devil's advocate."},
		},
		"panel-oxford": {
			[]string{"Undecided: 5 before, 0 after (-5)"},
			[]string{"Ann · audience-before · ", "  Vote: undecided.", "Ada · opening · ", "Bo · closing · ", "Eva · audience-after · "},
		},
		"skeptic": {
			[]string{
				"this proposal remains after the critiques (3):\n\n", "\nreasoning templates: ", "\nround 1: [critical] The proposal does not say when the pilot",
				"\nround 2: [major] ", "\nround 3: [minor] ", "\nended early: Bo: ready for synthesis at 8.5 of 10",
			},
			[]string{"retriever · retrieval · ", "  Documents used: ", "Ada · propose · ", "Bo · attack · ", "🔴", "Ada · defend · ", "Ready for Synthesis ✅"},
		},
		"refine": {
			[]string{
				"\nImplementation:\n1. Ada proposes: ", "\nTrade-offs:\n1. ", "\nRecommendations:\n1. ", "\nConfidence: 50 of 100",
				"\nAda: architect (built-in)", "\nCy: cost (examples/protocols)",
			},
			[]string{
				"Ada · propose · ", "  In the architect role, I would start", "Bo · critique, Cy · ", "  On the proposal of Cy:",
				"major: No one is responsible for this in the eyes of ", "Cy · refine · ", "  In the cost role, I keep", "== round 2 of 2 ==", "Judge · synthesize · ",
			},
		},
		"arbitration": {
			[]string{
				"problem validity: advocate, problem +2.00\nsolution fit: challenger, solution -1.60\nmarket opportunity: challenger, market -1.40\n",
				"# Should we fund the shift planner for clinics?\n\n## 1. problem validity\n", "### Ada, advocate", "### Bo, challenger",
				"Evidence: Nine of twelve clinics that we surveyed", "confidence 100 of 100. problem: 7 → 9 (+2)", "\n| team | 8 | 8 | 0 |\n",
				"\n| **Total** | 26 | 25 | -1 |\n",
			},
			nil,
		},
		"procon": {
			[]string{"Ada         9.0 of 10\nBo          8.0 of 10\nwinner: Ada\n"},
			[]string{"Ada · argue · ", "\n== round 3 of 3 ==\n\nAda · close · ", "Judge · judge · "},
		},
		"vote": {
			[]string{"ended in round 2: unanimous\n\nAnswer: Yes (by majority)\n", "\nUnanimous in round 2.\n", "\nAda: yes -> yes\nBo: no -> yes\nCy: yes -> yes\n"},
			[]string{"Bo · revise · "},
		},
		"vote-ring": {[]string{"ended in round 2: round_limit", "Ada: yes -> yes\nBo: no -> yes\nCy: yes -> no\nDi: no -> yes\nEva: yes -> yes"}, nil},
		"vote-reconcile": { // 60 % counts as 10, and 70 % as 30
			[]string{"ended in round 2: unanimous", "Answer: Yes (by confidence)", "Yes: 3 votes, total confidence 50 (Ada, Bo, Cy)"},
			nil,
		},
		"vote-s2-mad": { // nobody sees how many give the other answer, so the minority does not follow
			[]string{"ended in round 3: round_limit", "Answer: Yes (by majority)", "Bo: no -> no -> no\n", "Di: no -> no -> no\n"},
			nil,
		},
		"vote-self-consistency": {[]string{"ended in round 1: round_limit", "Yes: 5 votes, total confidence 300 (Ada 1, Ada 2, Ada 3, Ada 4, Ada 5)"}, nil},
		"council": {
			[]string{"As an offline demo model, I cannot write an answer. The best-ranked one ends: “", "\n\nRanks of the answers, with scores from 0 to 1:\n1. "},
			[]string{"Ada · answer · ", "  I am Ada, and my answer is yes,", "  I am Bo, and my answer is no,", "Di · rank · ", "  1. ", "Chair · conclude · "},
		},
		"mad": {
			[]string{"ended in round 3: round_limit\n\n", "The judge decided for ", "\n\nThe candidates:\n- "},
			[]string{"Ada · argue · ", "Bo · argue · ", "  Ada says “", "Judge · moderate · ", "  No preference.", "Judge · candidates · ", "Judge · decide · "},
		},
		// The demo judge counts verified quotes, and the demo model leaves words out of some.
		"oversight": {
			[]string{"right: Nothing: he could only lick the outside of a jar.\nwrong: A little soup from a shallow dish.\n\n", "The judge's probability of the right answer: "},
			[]string{
				"Verified: “Fox could not insert his snout, so all he could manage to do was to lick the outside of the jar.” is in [1].",
				"a quote of source [1] is altered",
			},
		},
		"oversight-consultancy": {[]string{"Ada argued for the "}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, kinds, name)
			code, stdout, stderr := consoletest.Run(t, run, "-protocol", name)
			require.Equal(t, 0, code, stderr)
			for _, part := range want.stdout {
				assert.Contains(t, stdout, part)
			}
			for _, part := range want.stderr {
				assert.Contains(t, stderr, part)
			}
			assert.NotContains(t, stderr, "reasked", "replies have the form and the length that the protocol asks for")
		})
	}
}

// Each protocol of the library is here but two. Pairwise takes two answers and no participants: debate audit judge uses it. Review
// takes files and has a program of its own, examples/review.
func TestNoProtocolIsMissing(t *testing.T) {
	names := map[string]bool{pairwise.Protocol{}.Name(): true, review.Protocol{}.Name(): true}
	for _, k := range kinds {
		names[k.config.Protocol.Name()] = true
	}
	for _, p := range protocols.All() {
		assert.True(t, names[p.Name()], p.Name())
	}
}

func TestTheListSaysWhatHappens(t *testing.T) {
	code, stdout, _ := consoletest.Run(t, run, "-list")
	require.Equal(t, 0, code)
	require.Equal(t, len(kinds), strings.Count(stdout, "\n"))
	for _, k := range kinds {
		require.Contains(t, stdout, " "+k.about+"\n")
	}
}

// The summarizer shortens the history of an agent when it becomes too long.
func TestMemoriesAreSummedUp(t *testing.T) {
	code, stdout, stderr := consoletest.Run(t, run, "-protocol", "refine", "-rounds", "6")
	require.Equal(t, 0, code, stderr)
	require.Regexp(t, `summary for Ada in round \d: \d{4} characters reduced to \d+\n`, stdout)
	require.Regexp(t, `summarizer · summarize, Ada · .*\n  The last sentence of each turn:`, stderr)
}

func TestTopicsModelsAndRounds(t *testing.T) {
	c := kinds["council"].configure("Is tea green?", []string{"a", ""}, "j", 0)
	require.Equal(t, "Is tea green?", c.Topic)
	for i, model := range []string{"a", "", "a", ""} {
		require.Equal(t, model, c.Participants[i].Model)
	}
	require.Equal(t, "j", c.Judges[0].Model)
	require.Empty(t, kinds["council"].config.Judges[0].Model)
	require.Equal(t, 2, kinds["mad"].configure("", []string{""}, "", 2).Limits.MaxRounds)
}

func TestWrongArguments(t *testing.T) {
	for _, tt := range []struct{ args, says string }{
		{"-protocol chat", `-protocol: "chat" is unknown, use one of arbitration, council, mad, `},
		{"-rounds -1", "limits.max_rounds"},
		{"-protocol council -rounds 2", "limits.max_rounds"},
	} {
		code, stdout, stderr := consoletest.Run(t, run, strings.Fields(tt.args)...)
		require.Equal(t, 1, code)
		require.Empty(t, stdout)
		require.Contains(t, stderr, tt.says)
	}
}

package judge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge"
)

// typical is a typical assessment of about 1.9 kB.
const typical = `{
  "participants": [
    {
      "name": "Alice",
      "strengths": ["Answers the strongest objection first instead of the easiest one", "Cites two comparable programmes with figures and says where they differ"],
      "weaknesses": ["Never says who would pay for the transition", "Leaves the question of enforcement open once again"],
      "criteria": [{"criterion": "logical_consistency", "score": 8}, {"criterion": "evidence", "score": 8}, {"criterion": "engagement", "score": 9}, {"criterion": "novelty", "score": 7}, {"criterion": "persuasiveness", "score": 8}, {"criterion": "relevance", "score": 9}]
    },
    {
      "name": "Bob",
      "strengths": ["Concedes what cannot be defended and narrows the claim accordingly", "Shows that the quoted figures hold for small towns only"],
      "weaknesses": ["Repeats the argument about cost of the first round nearly word for word", "No evidence for the claim that people would move away"],
      "criteria": [{"criterion": "logical_consistency", "score": 7}, {"criterion": "evidence", "score": 5}, {"criterion": "engagement", "score": 8}, {"criterion": "novelty", "score": 6.5}, {"criterion": "persuasiveness", "score": 6}, {"criterion": "relevance", "score": 8}]
    }
  ],
  "reasoning": "Alice took up the objection about enforcement and answered half of it, with evidence that Bob could only limit, not refute. Bob made the debate more precise by conceding the general claim, yet fell back on the first round where new evidence was due. The round moved the question from whether to how, and the open point is now who pays.",
  "repetitive": false,
  "drifting": false,
  "diminishing_returns": false,
  "converged": false,
  "quality": 7,
  "should_continue": true,
  "recommendations": ["Alice: say who pays, with a figure", "Bob: bring evidence for the claim about people moving away"]
}`

var seats = []string{"Alice", "Bob"}

func BenchmarkParse(b *testing.B) {
	for _, bm := range []struct{ name, text string }{
		{"clean", typical},
		{"fenced", "Here is my assessment.\n\n```json\n" + typical + "\n```\n"},
		{"repaired", strings.Replace(typical, `"score": 8}`, `"score": 8,}`, 1)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			_, err := judge.AssessmentContract.Parse(typical, seats)
			require.NoError(b, err)
			b.SetBytes(int64(len(bm.text)))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = judge.AssessmentContract.Parse(bm.text, seats)
			}
		})
	}
}

package readmodel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/readmodel"
	"github.com/elenchus-go/debate/transcript"
)

const scored = `{"participants": [{"name": "Ada", "score": 7.251}], "reasoning": "Figures.", "recommendations": ["Name a cost."]}`

func TestScores(t *testing.T) {
	for contract, data := range map[string]string{
		"assessment/1": scored,
		"judgment/1":   `{"participants": [{"name": "Ada", "score": 7.251}], "summary": "Figures."}`,
	} {
		list, why, ok := readmodel.Scores(&transcript.Turn{Contract: contract, Data: []byte(data)})
		require.True(t, ok, contract)
		require.Equal(t, []readmodel.Score{{Name: "Ada", Value: 7.251}}, list)
		require.Contains(t, why, "Figures.")
	}
	for _, other := range []transcript.Turn{
		{Text: "Yes."},
		{Contract: "assessment/1", Data: []byte("[")},
		{Contract: "vote/1", Data: []byte("{}")},
	} {
		_, _, ok := readmodel.Scores(&other)
		require.False(t, ok)
	}
}

func TestFormats(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234", -123: "-123"} {
		require.Equal(t, want, outcome.Thousands(n))
	}
	for name, want := range map[string]string{
		"Ada": "A", "ada lovelace": "AL", "A. B. Cee": "AC", "GPT-4": "G4", "": "?", "!?": "?", "Élan vital": "ÉV",
	} {
		require.Equal(t, want, readmodel.Initials(name, nil))
	}
	taken := map[string]bool{}
	for _, want := range []string{"A", "Ad", "Aa", "A2"} {
		require.Equal(t, want, readmodel.Initials("Ada", taken))
	}
}

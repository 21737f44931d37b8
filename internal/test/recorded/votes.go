package recorded

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Votes holds a question of "vote-answers.jsonl" with the answer of each agent in each round. A nil answer means that the
// agent gave none.
type Votes struct {
	Set     string
	Gold    any
	Agents  int
	Answers [][]any
}

// Written returns an answer as an agent writes it, or an empty text if there is none.
func Written(answer any) string {
	switch a := answer.(type) {
	case float64:
		return strconv.FormatFloat(a, 'f', -1, 64)
	case string:
		return a
	}
	return ""
}

// Pair holds two answers to a question of "llmbar-decisions.jsonl" or "judgebench-decisions.jsonl", with two decisions of
// each judge. A decision is 1 or 2, or 0 for a tie, or nil if there was none.
type Pair struct {
	Set, ID, Question string
	Gold              int
	Chars             [2]int
	Judges            map[string][2]*int
}

// Figures compares numbers to four digits with those of a table, in words: "24 .4800 1.0000".
func Figures(t *testing.T, where, want string, got ...float64) {
	t.Helper()
	fields := strings.Fields(strings.NewReplacer("|", " ", "to", " ", "–", "").Replace(want))
	require.Len(t, got, len(fields), where)
	for i, f := range fields {
		w, err := strconv.ParseFloat(f, 64)
		require.NoError(t, err)
		assert.InDelta(t, w, got[i], 6e-5, "%s: figure %d of %s", where, i+1, want)
	}
}

package printer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/elenchus-go/debate/transcript"
)

// Score is the score of a participant, from 0 to 10.
type Score struct {
	Name  string
	Value float64
}

// String returns the score with at most two decimals.
func (s Score) String() string {
	return strconv.FormatFloat(math.Round(s.Value*100)/100, 'f', -1, 64)
}

// Scores returns the scores in a judge's turn and the text that explains them. It returns false if the turn has none, or only
// those of a default.
func Scores(t *transcript.Turn) (list []Score, why string, ok bool) {
	var said struct {
		Participants []struct {
			Name  string
			Score *float64
		}
		Reasoning, Summary, Winner string
		Recommendations            []string
	}
	if t.Contract == "" || slices.Contains(t.Flags, transcript.Defaulted) || json.Unmarshal(t.Data, &said) != nil {
		return nil, "", false
	}
	for _, p := range said.Participants {
		if p.Score != nil {
			list = append(list, Score{p.Name, *p.Score})
		}
	}
	why = cmp.Or(said.Reasoning, said.Summary)
	if len(said.Recommendations) > 0 {
		why += "\nNext: " + strings.Join(said.Recommendations, " ")
	}
	if said.Winner != "" {
		why += "\nWinner: " + said.Winner
	}
	return list, why, len(list) > 0
}

// table returns a line for each score. All have the same number of decimals, so that they stand in columns.
func table(list []Score) (lines []string) {
	width, decimals := 0, 0
	for _, s := range list {
		width = max(width, utf8.RuneCountInString(oneLine(s.Name)))
		_, after, _ := strings.Cut(s.String(), ".")
		decimals = max(decimals, len(after))
	}
	for _, s := range list {
		name := oneLine(s.Name)
		lines = append(lines, fmt.Sprintf("  %s%s %5.*f of 10", name, strings.Repeat(" ", width-utf8.RuneCountInString(name)), decimals,
			s.Value))
	}
	return lines
}

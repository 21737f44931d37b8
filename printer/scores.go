package printer

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/procon"
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
	switch {
	case slices.Contains(t.Flags, transcript.Defaulted):
	case t.Contract == "assessment/1":
		a, err := transcript.Decode[judge.Assessment](*t)
		for _, p := range a.Participants {
			list = append(list, Score{p.Name, p.Score})
		}
		if why = a.Reasoning; len(a.Recommendations) > 0 {
			why += "\nNext: " + strings.Join(a.Recommendations, " ")
		}
		return list, why, err == nil && len(list) > 0
	case t.Contract == "judgment/1":
		j, err := transcript.Decode[procon.Judgment](*t)
		for _, p := range j.Participants {
			list = append(list, Score{p.Name, p.Score})
		}
		if why = j.Summary; j.Winner != "" {
			why += "\nWinner: " + j.Winner
		}
		return list, why, err == nil && len(list) > 0
	}
	return nil, "", false
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
		lines = append(lines, fmt.Sprintf("  %s%s %5.*f of 10", name, strings.Repeat(" ", width-utf8.RuneCountInString(name)), decimals, s.Value))
	}
	return lines
}

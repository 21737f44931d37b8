package view

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/report/printer"
	"github.com/elenchus-go/debate/transcript"
)

// scores holds the scores that judges gave in one round or in the conclusion, of 10.
type scores struct {
	round int
	kind  transcript.Kind
	list  []score
}

// score is the mean of the scores of a participant.
type score struct {
	name string
	sum  float64
	n    int
}

func (s score) mean() float64 { return s.sum / float64(s.n) }

// scoresOf returns the scores in a judge's turn and the text that explains them. It returns false if the turn has none.
func scoresOf(t transcript.Turn) (list []score, text string, ok bool) {
	found, text, ok := printer.Scores(&t)
	for _, s := range found {
		list = append(list, score{s.Name, s.Value, 1})
	}
	return list, text, ok
}

// add adds the scores of a turn. The scores of another round or of the conclusion replace those before.
func (s *scores) add(t transcript.Turn) {
	list, _, ok := scoresOf(t)
	if !ok {
		return
	}
	if t.Round != s.round || t.Kind != s.kind {
		*s = scores{round: t.Round, kind: t.Kind}
	}
	for _, a := range list {
		i := slices.IndexFunc(s.list, func(b score) bool { return b.name == a.name })
		if i < 0 {
			s.list = append(s.list, a)
			continue
		}
		s.list[i].sum, s.list[i].n = s.list[i].sum+a.sum, s.list[i].n+a.n
	}
}

// String returns the scores on one line, such as "Ada 7.5, Bo 6", or "".
func (s scores) String() string {
	var list []string
	for _, a := range s.list {
		list = append(list, cleanLine(a.name)+" "+formatScore(a.mean()))
	}
	return strings.Join(list, ", ")
}

// formatScore returns a score with at most two decimals.
func formatScore(score float64) string {
	return strconv.FormatFloat(math.Round(score*100)/100, 'f', -1, 64)
}

// barColumns holds the length of a bar of 10 of 10.
const barColumns = 20

// bar returns a bar for a score from 0 to 10.
func bar(score float64) string {
	const eighths = " ▏▎▍▌▋▊▉"
	n := int(math.Round(min(max(score, 0), 10) / 10 * barColumns * 8))
	b := strings.Repeat("█", n/8)
	if n%8 > 0 {
		b += string([]rune(eighths)[n%8])
	}
	return b
}

// table returns a line for each score, with a bar if there is room.
func table(list []score, columns int) (lines []string) {
	const number = len("  10.25 of 10")
	width := 0
	for _, s := range list {
		width = max(width, textWidth(cleanLine(s.name)))
	}
	width = min(width, max(columns-number, 1))
	for _, s := range list {
		name := truncate(cleanLine(s.name), width)
		line := fmt.Sprintf("%s%s %5s of 10", name, strings.Repeat(" ", width-textWidth(name)), formatScore(s.mean()))
		if columns >= width+number+2+barColumns {
			line += "  " + bar(s.mean())
		} else {
			line = truncate(line, columns)
		}
		lines = append(lines, line)
	}
	return lines
}

package view

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/readmodel"
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
	readmodel.Score
	count float64 // of the scores in the mean
}

// add adds the scores of a turn. The scores of another round or of the conclusion replace those before.
func (s *scores) add(t *transcript.Turn) {
	list, _, ok := readmodel.Scores(t)
	if !ok {
		return
	}
	if t.Round != s.round || t.Kind != s.kind {
		*s = scores{round: t.Round, kind: t.Kind}
	}
	for _, given := range list {
		at := slices.IndexFunc(s.list, func(old score) bool { return old.Name == given.Name })
		if at < 0 {
			s.list = append(s.list, score{given, 1})
			continue
		}
		mean := &s.list[at]
		mean.count++
		mean.Value += (given.Value - mean.Value) / mean.count
	}
}

// String returns the scores on one line, such as "Ada 7.5, Bo 6", or "".
func (s *scores) String() string {
	var list []string
	for _, mean := range s.list {
		list = append(list, cleanLine(mean.Name)+" "+outcome.Number(mean.Value))
	}
	return strings.Join(list, ", ")
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
func table(list []readmodel.Score, columns int) (lines []string) {
	const number = len("  10.25 of 10")
	width := 0
	for _, s := range list {
		width = max(width, textWidth(cleanLine(s.Name)))
	}
	width = min(width, max(columns-number, 1))
	for _, s := range list {
		name := truncate(cleanLine(s.Name), width)
		line := fmt.Sprintf("%s%s %5s of 10", name, strings.Repeat(" ", width-textWidth(name)), outcome.Number(s.Value))
		if columns >= width+number+2+barColumns {
			line += "  " + bar(s.Value)
		} else {
			line = truncate(line, columns)
		}
		lines = append(lines, line)
	}
	return lines
}

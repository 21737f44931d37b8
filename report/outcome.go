package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/markup"
	"github.com/elenchus-go/debate/protocol"
)

// picture returns the chart of the outcome, or else the scores of the judges by round.
func (r *Report) picture() []block {
	c := r.Result.Outcome.Chart
	speakers := r.cast()
	blocks := chartBlocks(c, "chart", speakers)
	if len(blocks) == 0 {
		blocks = scoreChart(r.roundAssessments()).blocks(speakers)
	}
	return blocks
}

// exhibits returns tables, lists and charts. The place is unique in the document.
func (r *Report) exhibits(place string, list []protocol.Exhibit) (blocks []block) {
	for i, x := range list {
		blocks = append(blocks, tableBlock(x.Title, x.Header, x.Rows)...)
		blocks = append(blocks, listBlock(x.Title, x.List)...)
		blocks = append(blocks, chartBlocks(x.Chart, fmt.Sprintf("%s-chart-%d", place, i+1), r.cast())...)
	}
	return blocks
}

// chartBlocks returns a chart and its table. A chart by round is drawn as lines, any other as bars.
func chartBlocks(c *protocol.Chart, id string, speakers cast) []block {
	if c == nil {
		return nil
	}
	if c.ByRound {
		lines := lineChart{id: id, title: c.Title, unit: c.Unit, maximum: c.Maximum, counts: c.Counts}
		for _, name := range c.Series {
			for _, row := range c.Rows {
				value, ok := row.Values[name]
				if ok {
					lines.set(name, row.Round, value)
				}
			}
		}
		return lines.blocks(speakers)
	}
	bars := barChart{id: id, title: c.Title, unit: c.Unit, maximum: c.Maximum, counts: c.Counts, names: c.Series}
	for _, row := range c.Rows {
		values := make([]float64, len(c.Series))
		for i, name := range c.Series {
			values[i] = row.Values[name]
		}
		bars.rows = append(bars.rows, barRow{row.Name, values})
	}
	return bars.blocks(speakers)
}

// maxPoints limits the points that a person has in a reason. The transcript has all.
const maxPoints = 10

// reasons returns the reasons of the outcome that have points.
func (r *Report) reasons() (list []Reason) {
	for _, x := range r.Result.Outcome.Reasons {
		points := r.points(x)
		if len(points) > 0 {
			list = append(list, Reason{Title: x.Title, Name: x.Name, Points: points})
		}
	}
	return list
}

// points returns the points of a reason. Speeches become points with their beginnings.
func (r *Report) points(x protocol.Reason) []string {
	points := slices.Clone(x.Points)
	for _, s := range x.Speeches {
		if s.Turn < 0 || s.Turn >= len(r.Result.Turns) {
			continue // the report was edited
		}
		text := beginning(readable(r, r.Result.Turns[s.Turn].Text))
		if s.Label != "" {
			text = s.Label + ": " + text
		}
		points = append(points, text)
	}
	points = slices.DeleteFunc(points, func(s string) bool { return strings.TrimSpace(s) == "" })
	more := len(points) - maxPoints
	if x.Name != "" && more > 0 {
		points = append(points[:maxPoints], fmt.Sprintf("%d more, in the transcript", more))
	}
	return points
}

// beginning returns the first sentences of a text in Markdown.
func beginning(text string) string {
	const length = 240
	first, rest := markup.Fold(text, length)
	if rest != "" {
		first += " …"
	}
	return first
}

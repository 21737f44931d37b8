package report

import (
	"fmt"

	"github.com/elenchus-go/debate/internal/readmodel"
	"github.com/elenchus-go/debate/protocol"
)

// picture returns the chart of the outcome, or else the scores of the judges by round.
func (r *Report) picture() []block {
	c := r.Result.Outcome.Chart
	speakers := r.cast()
	blocks := chartBlocks(c, "chart", speakers)
	if len(blocks) == 0 {
		blocks = chartBlocks(scoreChart(r.assessments()), "chart", speakers)
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

// reasons returns the reasons of the outcome that have points.
func (r *Report) reasons() (list []Reason) {
	for _, x := range r.Result.Outcome.Reasons {
		points := readmodel.Points(&r.Result, x)
		if len(points) > 0 {
			list = append(list, Reason{Title: x.Title, Name: x.Name, Points: points})
		}
	}
	return list
}

package influence

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/report"
)

// Markdown writes the report as GitHub Flavored Markdown.
func (p *Report) Markdown(w io.Writer) error { return p.page().Markdown(w) }

// HTML writes the report as a single HTML file that loads no other resource.
func (p *Report) HTML(w io.Writer) error { return p.page().HTML(w) }

// Sentences that explain the tables.
const (
	givenNote = "The intervals are only about these %s: they say what these %s would say if they were asked more often, and nothing about others."
	signNote  = "A change is that of samples without the item against samples %s: negative for what helped %s. "
	boundNote = "Brackets contain confidence intervals. All %s together hold with a confidence of 95 %%, so each is corrected for their number."
)

// page returns the report as a document.
func (p *Report) page() report.Page {
	page := report.Page{Title: "What decided debate " + p.ID, Answer: strings.Join(p.Summary, " "), About: p.Topic + " — " + runs.Spending(p.Tokens, p.Cost)}
	if p.Incomplete != "" {
		page.Notices = append(page.Notices, "The analysis is not complete: "+p.Incomplete+".")
	}
	if n := len(p.Failures); n > 0 {
		page.Notices = append(page.Notices, "Some samples failed and do not count.")
	}
	note := fmt.Sprintf(signNote, p.whole(), cmp.Or(p.Of, p.Winner, "the outcome")) + fmt.Sprintf(boundNote, runs.Plural(p.Intervals, "interval")) + " " + fmt.Sprintf(givenNote, p.asked(), p.asked())
	list := p.Effects
	if p.Pair != nil {
		list = append(slices.Clip(list), *p.Pair)
	}
	page.Sections = append(page.Sections, report.Section{Title: "Changes", Blocks: []report.Block{{Note: note, Table: p.table(list), Plot: p.plot()}}})
	page.Sections = append(page.Sections, report.Section{Title: "Samples", Blocks: []report.Block{{Note: "What was asked: " + p.Plan.String() + ". " + p.order()}}})
	if len(p.Failures) > 0 {
		page.Sections = append(page.Sections, report.Section{Title: "Failures", Blocks: []report.Block{{Note: "The first failures:", List: p.Failures}}})
	}
	return page
}

// table returns a row for each item.
func (p *Report) table(list []Effect) *report.Table {
	t := &report.Table{Title: "Changes", Header: []string{"Left out", "Speaker", "Round", "Column", "Change of " + p.scoreOf(), "Change of the share of samples that " + p.wins(), "Shown", "Samples", "Prompts with words of it"}}
	most := p.most()
	for _, e := range list {
		var speakers, rounds []string
		for _, i := range e.Items {
			if !p.Seats {
				speakers, rounds = append(speakers, i.Speaker), append(rounds, strconv.Itoa(i.Round))
			}
		}
		row := []string{e.Name, strings.Join(speakers, ", "), strings.Join(rounds, ", "), column(e.size(), most), "", "", "", fmt.Sprintf("%d and %d %s", e.Samples, e.Whole, p.whole()), runs.Count(e.Remains)}
		if e.Score != nil {
			row[4] = change(*e.Score)
		}
		if e.Share != nil {
			row[5] = change(*e.Share)
		}
		if e.Shown() {
			row[6] = "yes"
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// whole says with what samples without an item are compared.
func (p *Report) whole() string {
	if p.Continued {
		return "in which the debate goes on with it"
	}
	return "of the whole debate"
}

// asked says who is asked.
func (p *Report) asked() string {
	if p.Continued {
		return "models"
	}
	return "judges"
}

// order says in which order samples show the participants.
func (p *Report) order() string {
	if p.Continued {
		return "All samples show the participants to the judges in the order of the debate."
	}
	return "A sample shows the participants in one order or in the opposite one, in turn."
}

// most returns the size of the largest effect.
func (p *Report) most() (most float64) {
	for _, e := range p.Effects {
		most = max(most, math.Abs(e.size()))
	}
	return most
}

// column draws a change beside others, of which the largest has eight blocks.
func column(change, most float64) string {
	if most == 0 {
		return ""
	}
	sign := "−"
	if change > 0 {
		sign = "+"
	}
	n := int(math.Round(8 * math.Abs(change) / most))
	if n == 0 {
		return ""
	}
	return sign + strings.Repeat("█", n)
}

// plot draws the change of each turn, in the order of the debate.
func (p *Report) plot() *report.Plot {
	plot := &report.Plot{Title: "Change without each turn", X: "turn, in order", Y: "change of " + p.scoreOf()}
	if p.Seats {
		plot.Title, plot.X = "Change without each seat", "seat, in order"
	}
	if p.Score == "" {
		plot.Y = "change of the share of samples that " + p.wins()
	}
	for n, e := range p.Effects {
		of := e.Score
		if of == nil {
			of = e.Share
		}
		if of == nil || of.N == 0 {
			continue
		}
		point := report.Point{Name: strings.TrimPrefix(e.Name, "turn "), X: float64(n + 1), Y: of.Value, Low: of.Value, High: of.Value}
		if of.Known() {
			point.Low, point.High = of.Low, of.High
		}
		plot.To = max(plot.To, math.Abs(point.Low), math.Abs(point.High))
		plot.Points = append(plot.Points, point)
	}
	plot.To = max(plot.To, .1)
	plot.From = -plot.To
	if len(plot.Points) == 0 {
		return nil
	}
	return plot
}

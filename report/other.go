package report

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/readmodel"
)

// Page is a document in the style of a report that is not about one debate, such as that of an evaluation. Its texts are
// plain: control characters are removed, and markup is escaped.
type Page struct {
	Title    string
	About    string   // what the page is about, in a few words
	Notices  []string // what a reader should know before relying on the answer
	Answer   string   // one sentence or a few
	Sections []Section
}

// Section is a part of a page.
type Section struct {
	Title  string
	Blocks []Block
}

// Block is a sentence, a list, a table or a plot. A sentence may stand before one of the others.
type Block struct {
	Note  string
	List  []string
	Table *Table
	Plot  *Plot
}

// Table has row headers in its first column. A column that is empty in all rows is left out.
type Table struct {
	Title  string
	Header []string
	Rows   [][]string
}

// Plot shows points by two values. The best points are joined. In Markdown, it is left out: give a Table with the same values,
// which HTML shows on request.
type Plot struct {
	Title string
	X, Y  string // the titles of the axes
	// From and To are the ends of the second axis. If they are equal, it is from 0 to 1.
	From, To float64
	Points   []Point
}

// Point is a value with its interval. There is no interval if Low and High are equal.
type Point struct {
	Name         string
	X            float64
	Y, Low, High float64
	Best         bool
}

// Markdown writes the page as GitHub Flavored Markdown.
func (p Page) Markdown(w io.Writer) error {
	if _, err := io.WriteString(w, p.document().markdown()); err != nil {
		return fmt.Errorf("write page as Markdown: %w", err)
	}
	return nil
}

// HTML writes the page as a single HTML file that loads no other resource.
func (p Page) HTML(w io.Writer) error {
	if err := pageTemplate.Execute(w, p.document()); err != nil {
		return fmt.Errorf("write page as HTML: %w", err)
	}
	return nil
}

func (p Page) document() document {
	d := document{Title: p.Title, About: p.About, Notices: p.Notices, Answer: p.Answer, NoDebate: true}
	for i, s := range p.Sections {
		id := "part-" + string(rune('a'+i))
		part := section{ID: id, Title: s.Title}
		for n, b := range s.Blocks {
			one := block{Note: b.Note, List: b.List}
			if b.Table != nil {
				one.Table = newTable(b.Table.Title, b.Table.Header, b.Table.Rows)
			}
			if b.Plot != nil && one.Table != nil {
				one.Figure = b.Plot.draw(fmt.Sprintf("%s-%d", id, n+1))
			}
			part.Blocks = append(part.Blocks, one)
		}
		d.Sections = append(d.Sections, part)
	}
	return d
}

// draw draws the points, with their intervals as vertical lines.
func (p *Plot) draw(id string) *figure {
	const left, top, height, right = 46, 22, 220, 14
	f := &figure{ID: id, Title: p.Title, Width: chartWidth}
	f.Description = fmt.Sprintf("Points: %d, by %s and %s. The table after it contains the same values.", len(p.Points), p.X, p.Y)
	most := 0.0
	for _, x := range p.Points {
		most = max(most, x.X)
	}
	most = roundUp(most)
	from := p.From
	to := p.To
	format := func(y float64) string { return fmt.Sprintf("%.0f", y) }
	if from == to {
		from = 0
		to = 1
		format = outcome.Number
	}
	at := func(x, y float64) [2]float64 {
		return [2]float64{left + (chartWidth-left-right)*x/most, top + height*(1-min(max((y-from)/(to-from), 0), 1))}
	}
	for i := range 6 {
		share := float64(i) / 5
		y := from + share*(to-from)
		f.line("grid", at(0, y), at(most, y))
		f.text("end", left-8, at(0, y)[1]+5, format(y))
		f.text("middle", at(most*share, from)[0], top+height+19, fmt.Sprintf("%.3g", most*share))
	}
	f.line("axis", at(0, to), at(0, from), at(most, from))
	f.text("start", 2, 12, p.Y)
	f.text("end", chartWidth-right, top+height+38, p.X)
	var best [][2]float64
	for i, x := range p.Points {
		class, point := colorClass(i), at(x.X, x.Y)
		if x.High > x.Low {
			f.line(class+" grid", at(x.X, x.Low), at(x.X, x.High))
		}
		f.dot(class, point[0], point[1], fmt.Sprintf("%s: %s at %.4g", x.Name, format(x.Y), x.X))
		anchor, shift := "start", 8.0
		if point[0] > chartWidth*0.6 {
			anchor, shift = "end", -8
		}
		f.text(anchor+" label", point[0]+shift, point[1]-6, readmodel.Shorten(x.Name, 24))
		if x.Best {
			best = append(best, point)
		}
	}
	slices.SortFunc(best, func(a, b [2]float64) int { return int(math.Copysign(1, a[0]-b[0])) })
	if len(best) > 1 {
		f.line("axis", best...)
	}
	f.Height = top + height + 44
	return f
}

// roundUp returns a round number that is not below x, for the end of an axis.
func roundUp(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(x)))
	for _, n := range []float64{1, 1.5, 2, 3, 5, 10} {
		if n*unit >= x {
			return n * unit
		}
	}
	return 10 * unit
}

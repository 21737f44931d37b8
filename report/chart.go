package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/readmodel"
	"github.com/elenchus-go/debate/protocol"
)

// chartBlocks returns a chart and its table. A chart by round is drawn as lines, and any other one, or one of a single round, as bars.
func chartBlocks(c *protocol.Chart, id string, speakers cast) []block {
	if c == nil || !(c.Maximum > 0) {
		return nil
	}
	if !c.ByRound {
		return barBlocks(c, id, speakers)
	}
	lines := protocol.Chart{Title: c.Title, Unit: c.Unit, Maximum: c.Maximum, Counts: c.Counts}
	for _, name := range c.Series { // rounds of a file may have any order
		for _, row := range c.Rows {
			value, ok := row.Values[name]
			if ok {
				lines.SetRound(row.Round, name, value)
			}
		}
	}
	if len(lines.Rows) != 1 {
		return lineBlocks(&lines, id, speakers)
	}
	only := lines.Rows[0]
	bars := protocol.Chart{Title: fmt.Sprintf("%s, round %d", c.Title, only.Round), Unit: c.Unit, Maximum: c.Maximum, Counts: c.Counts}
	for _, name := range lines.Series {
		bars.Set(name, c.Unit, only.Values[name])
	}
	return barBlocks(&bars, id, speakers)
}

// lineBlocks returns a chart with a line for each series, and its table.
func lineBlocks(c *protocol.Chart, id string, speakers cast) []block {
	if len(c.Rows) == 0 {
		return nil
	}
	var cells [][]string
	for _, row := range c.Rows {
		line := []string{fmt.Sprint(row.Round)}
		for _, name := range c.Series {
			text := ""
			value, ok := row.Values[name]
			if ok {
				text = outcome.Number(value)
			}
			line = append(line, text)
		}
		cells = append(cells, line)
	}
	return []block{{Figure: drawLines(c, id, speakers), Table: &table{c.Title, append([]string{"Round"}, c.Series...), cells}}}
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// scale returns the end of an axis and the number of its ticks. Counts have ticks at whole numbers.
func scale(maximum float64, counts bool) (end float64, ticks int) {
	switch {
	case counts && maximum <= 5:
		return math.Ceil(maximum), int(math.Ceil(maximum))
	case counts:
		return 5 * math.Ceil(maximum/5), 5
	}
	return maximum, 5
}

// color returns the color of the nth series.
func (speakers cast) color(name string, n int) string {
	if s := speakers[name]; s != nil && s.Class != otherClass {
		class, _, _ := strings.Cut(s.Class, " ")
		return class
	}
	return colorClass(n)
}

// drawLines draws a line for each series, with the rounds from left to right.
func drawLines(c *protocol.Chart, id string, speakers cast) *figure {
	const left, top, height, perRow, right = 46, 22, 180, 3, 14
	first := c.Rows[0].Round
	last := c.Rows[len(c.Rows)-1].Round
	f := &figure{ID: id, Title: c.Title, Width: chartWidth}
	f.Description = fmt.Sprintf("Lines: %d, from round %d to round %d. The table after it contains the same values.", len(c.Series),
		first, last)
	x := func(round int) float64 {
		return left + 12 + (chartWidth-left-right-24)*(float64(round)-float64(first))/(float64(last)-float64(first))
	}
	maximum, ticks := scale(c.Maximum, c.Counts)
	y := func(v float64) float64 { return top + height*(1-min(max(v/maximum, 0), 1)) }
	for i := range ticks + 1 {
		v := maximum * float64(i) / float64(ticks)
		f.line("grid", [2]float64{left, y(v)}, [2]float64{chartWidth - right, y(v)})
		f.text("end", left-8, y(v)+5, outcome.Number(v))
	}
	f.line("axis", [2]float64{left, top}, [2]float64{left, top + height}, [2]float64{chartWidth - right, top + height})
	f.text("start", 2, 12, c.Unit)
	for i := 0; i < len(c.Rows); i += (len(c.Rows) + 11) / 12 {
		f.text("middle", x(c.Rows[i].Round), top+height+19, fmt.Sprint(c.Rows[i].Round))
	}
	f.text("end", chartWidth-right, top+height+38, "Round")
	for i, name := range c.Series {
		class := speakers.color(name, i)
		var points [][2]float64
		for _, row := range c.Rows {
			v, ok := row.Values[name]
			if !ok { // a gap in the line
				f.line(class, points...)
				points = nil
				continue
			}
			points = append(points, [2]float64{x(row.Round), y(v)})
			f.dot(class, x(row.Round), y(v), fmt.Sprintf("%s, round %d: %s", name, row.Round, outcome.Number(v)))
		}
		f.line(class, points...)
		at, below := float64(left+i%perRow*130), float64(top+height+62+i/perRow*22)
		f.line(class, [2]float64{at, below - 5}, [2]float64{at + 24, below - 5})
		f.text("start", at+30, below, readmodel.Shorten(name, 12))
	}
	f.Height = float64(top + height + 72 + (len(c.Series)-1)/perRow*22)
	return f
}

// maxBars limits the rows that a chart draws. Its table has all.
const maxBars = 12

// barBlocks returns a chart with bars, and its table. Each name has a bar for each series, such as before and after.
func barBlocks(c *protocol.Chart, id string, speakers cast) []block {
	var cells [][]string
	for _, row := range c.Rows {
		line := []string{row.Name}
		for _, name := range c.Series {
			line = append(line, outcome.Number(row.Values[name]))
		}
		cells = append(cells, line)
	}
	if len(cells) == 0 {
		return nil
	}
	return []block{{Figure: drawBars(c, id, speakers), Table: &table{c.Title, append([]string{"Name"}, c.Series...), cells}}}
}

// drawBars draws the bars below one another, each with its name above it.
func drawBars(c *protocol.Chart, id string, speakers cast) *figure {
	const left, bar = 4, 16
	rows := c.Rows[:min(len(c.Rows), maxBars)]
	pair := len(c.Series) > 1
	right := 46.0
	if pair {
		right = 92
	}
	f := &figure{ID: id, Title: c.Title, Width: chartWidth}
	f.Description = fmt.Sprintf("Bars for %d names. The table after it contains the same values.", len(rows))
	maximum, ticks := scale(c.Maximum, c.Counts)
	x := func(v float64) float64 { return left + (chartWidth-left-right)*min(max(v/maximum, 0), 1) }
	step := float64(30 + (bar+3)*len(c.Series))
	bottom := step*float64(len(rows)) + 6
	for i := range ticks + 1 {
		v := maximum * float64(i) / float64(ticks)
		f.line("grid", [2]float64{x(v), 6}, [2]float64{x(v), bottom})
		f.text("middle", max(x(v), 9), bottom+18, outcome.Number(v))
	}
	f.line("axis", [2]float64{left, 6}, [2]float64{left, bottom}, [2]float64{x(maximum), bottom})
	for i, row := range rows {
		class := speakers.color(row.Name, i)
		if pair {
			class = colorClass(0)
		}
		top := step*float64(i) + 8
		f.text("start label", left+4, top+13, readmodel.Shorten(row.Name, 48))
		for n, name := range c.Series {
			v := row.Values[name]
			style, at := class, top+20+float64(n*(bar+3))
			if pair && n == 0 {
				style += " before"
			}
			about := row.Name + ": " + outcome.Number(v)
			if pair {
				about = row.Name + ", " + name + ": " + outcome.Number(v)
			}
			f.box(style, left, at, max(x(v)-left, 1), bar, about)
			value := outcome.Number(v)
			if pair {
				value += " " + name
			}
			f.text("start", x(v)+6, at+13, value)
		}
	}
	f.text("end", x(maximum), bottom+37, c.Unit)
	f.Height = bottom + 44
	return f
}

package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/readmodel"
)

// series is one line of a chart: a name and its values by round.
type series struct {
	name   string
	values map[int]float64
}

// lineChart is a chart of values by round. The series are in the order of their first values.
type lineChart struct {
	id      string // defaults to "chart"
	title   string // what is scored, and by whom
	unit    string // the title of the vertical axis
	maximum float64
	counts  bool // whether the values are whole numbers
	series  []series
}

func (c *lineChart) set(name string, round int, value float64) {
	if math.IsNaN(value) {
		return
	}
	i := slices.IndexFunc(c.series, func(x series) bool { return x.name == name })
	if i < 0 {
		i, c.series = len(c.series), append(c.series, series{name, map[int]float64{}})
	}
	c.series[i].values[round] = value
}

// rounds returns the rounds that have values, in order.
func (c *lineChart) rounds() []int {
	all := map[int]bool{}
	for _, x := range c.series {
		for round := range x.values {
			all[round] = true
		}
	}
	return sorted(all)
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// blocks returns the chart and its table. Series have the colors of the speakers of their names. One round is drawn as
// bars.
func (c *lineChart) blocks(speakers cast) []block {
	rounds := c.rounds()
	if len(rounds) == 0 || !(c.maximum > 0) {
		return nil
	}
	if len(rounds) == 1 {
		b := barChart{id: c.id, title: fmt.Sprintf("%s, round %d", c.title, rounds[0]), unit: c.unit, maximum: c.maximum, counts: c.counts, names: []string{c.unit}}
		for _, x := range c.series {
			b.rows = append(b.rows, barRow{x.name, []float64{x.values[rounds[0]]}})
		}
		return b.blocks(speakers)
	}
	head, cells := []string{"Round"}, make([][]string, len(rounds))
	for i, round := range rounds {
		cells[i] = []string{fmt.Sprint(round)}
	}
	for _, x := range c.series {
		head = append(head, x.name)
		for i, round := range rounds {
			text := ""
			if v, ok := x.values[round]; ok {
				text = readmodel.Number(v)
			}
			cells[i] = append(cells[i], text)
		}
	}
	return []block{{Figure: c.draw(speakers), Table: &table{c.title, head, cells}}}
}

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

// draw draws a line for each series, with the rounds from left to right.
func (c *lineChart) draw(speakers cast) *figure {
	const left, top, height, perRow, right = 46, 22, 180, 3, 14
	rounds := c.rounds()
	first, last := rounds[0], rounds[len(rounds)-1]
	f := &figure{ID: cmp.Or(c.id, "chart"), Title: c.title, Width: chartWidth}
	f.Description = fmt.Sprintf("Lines: %d, from round %d to round %d. The table after it contains the same values.", len(c.series), first, last)
	x := func(round int) float64 {
		return left + 12 + (chartWidth-left-right-24)*(float64(round)-float64(first))/(float64(last)-float64(first))
	}
	maximum, ticks := scale(c.maximum, c.counts)
	y := func(v float64) float64 { return top + height*(1-min(max(v/maximum, 0), 1)) }
	for i := range ticks + 1 {
		v := maximum * float64(i) / float64(ticks)
		f.line("grid", [2]float64{left, y(v)}, [2]float64{chartWidth - right, y(v)})
		f.text("end", left-8, y(v)+5, readmodel.Number(v))
	}
	f.line("axis", [2]float64{left, top}, [2]float64{left, top + height}, [2]float64{chartWidth - right, top + height})
	f.text("start", 2, 12, c.unit)
	for i := 0; i < len(rounds); i += (len(rounds) + 11) / 12 {
		f.text("middle", x(rounds[i]), top+height+19, fmt.Sprint(rounds[i]))
	}
	f.text("end", chartWidth-right, top+height+38, "Round")
	for i, one := range c.series {
		class := speakers.color(one.name, i)
		var points [][2]float64
		for _, round := range rounds {
			v, ok := one.values[round]
			if !ok { // a gap in the line
				f.line(class, points...)
				points = nil
				continue
			}
			points = append(points, [2]float64{x(round), y(v)})
			f.dot(class, x(round), y(v), fmt.Sprintf("%s, round %d: %s", one.name, round, readmodel.Number(v)))
		}
		f.line(class, points...)
		at, below := float64(left+i%perRow*130), float64(top+height+62+i/perRow*22)
		f.line(class, [2]float64{at, below - 5}, [2]float64{at + 24, below - 5})
		f.text("start", at+30, below, readmodel.Shorten(one.name, 12))
	}
	f.Height = float64(top + height + 72 + (len(c.series)-1)/perRow*22)
	return f
}

// barChart is a chart of values by name. Each name has a bar for each of names, such as before and after.
type barChart struct {
	id      string // defaults to "chart"
	title   string
	unit    string // the title of the horizontal axis
	maximum float64
	counts  bool // whether the values are whole numbers
	names   []string
	rows    []barRow
}

type barRow struct {
	name   string
	values []float64
}

// maxBars limits the rows that a chart draws. Its table has all.
const maxBars = 12

// blocks returns the chart and its table.
func (c *barChart) blocks(speakers cast) []block {
	if len(c.rows) == 0 || !(c.maximum > 0) {
		return nil
	}
	var cells [][]string
	for _, row := range c.rows {
		line := []string{row.name}
		for _, v := range row.values {
			line = append(line, readmodel.Number(v))
		}
		cells = append(cells, line)
	}
	return []block{{Figure: c.draw(speakers), Table: &table{c.title, append([]string{"Name"}, c.names...), cells}}}
}

// draw draws the bars below one another, each with its name above it.
func (c *barChart) draw(speakers cast) *figure {
	const left, bar = 4, 16
	rows, pair, right := c.rows[:min(len(c.rows), maxBars)], len(c.names) > 1, 46.0
	if pair {
		right = 92
	}
	f := &figure{ID: cmp.Or(c.id, "chart"), Title: c.title, Width: chartWidth}
	f.Description = fmt.Sprintf("Bars for %d names. The table after it contains the same values.", len(rows))
	maximum, ticks := scale(c.maximum, c.counts)
	x := func(v float64) float64 { return left + (chartWidth-left-right)*min(max(v/maximum, 0), 1) }
	step := float64(30 + (bar+3)*len(c.names))
	bottom := step*float64(len(rows)) + 6
	for i := range ticks + 1 {
		v := maximum * float64(i) / float64(ticks)
		f.line("grid", [2]float64{x(v), 6}, [2]float64{x(v), bottom})
		f.text("middle", max(x(v), 9), bottom+18, readmodel.Number(v))
	}
	f.line("axis", [2]float64{left, 6}, [2]float64{left, bottom}, [2]float64{x(maximum), bottom})
	for i, row := range rows {
		class := speakers.color(row.name, i)
		if pair {
			class = colorClass(0)
		}
		top := step*float64(i) + 8
		f.text("start label", left+4, top+13, readmodel.Shorten(row.name, 48))
		for n, v := range row.values {
			style, at := class, top+20+float64(n*(bar+3))
			if pair && n == 0 {
				style += " before"
			}
			about := row.name + ": " + readmodel.Number(v)
			if pair {
				about = row.name + ", " + c.names[n] + ": " + readmodel.Number(v)
			}
			f.box(style, left, at, max(x(v)-left, 1), bar, about)
			value := readmodel.Number(v)
			if pair {
				value += " " + c.names[n]
			}
			f.text("start", x(v)+6, at+13, value)
		}
	}
	f.text("end", x(maximum), bottom+37, c.unit)
	f.Height = bottom + 44
	return f
}

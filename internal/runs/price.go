package runs

import (
	"slices"

	"github.com/elenchus-go/debate/judge/estimate"
	"github.com/elenchus-go/debate/report"
)

// Contender is an arm or a player: what it has achieved, and what that takes for each question or game.
type Contender struct {
	Name         string
	Runs         int
	Achieved     estimate.Interval
	Cost, Tokens float64
}

// Contenders are compared by what they achieve, and by money if each has a cost, or else by tokens.
type Contenders []Contender

// Priced reports whether each contender has a cost.
func (l Contenders) Priced() bool {
	return !slices.ContainsFunc(l, func(c Contender) bool { return c.Runs > 0 && c.Cost == 0 })
}

// expense returns the cost of a contender, or its tokens.
func (l Contenders) expense(c Contender) float64 {
	if l.Priced() {
		return c.Cost
	}
	return c.Tokens
}

// Unbeaten reports whether no other contender achieves as much for less, or more for as much.
func (l Contenders) Unbeaten(at int) bool {
	a := l[at]
	beats := func(b Contender) bool {
		x, y := l.expense(a), l.expense(b)
		better := b.Achieved.Value > a.Achieved.Value || y < x
		return b.Runs > 0 && b.Achieved.Value >= a.Achieved.Value && y <= x && better
	}
	return a.Runs > 0 && !slices.ContainsFunc(l, beats)
}

// Points returns the contenders that have runs as points of a picture, what they achieve over what it takes.
func (l Contenders) Points() (points []report.Point) {
	for i, c := range l {
		if c.Runs == 0 {
			continue
		}
		p := report.Point{Name: c.Name, X: l.expense(c), Y: c.Achieved.Value, Best: l.Unbeaten(i)}
		if c.Achieved.Known() {
			p.Low = c.Achieved.Low
			p.High = c.Achieved.High
		}
		points = append(points, p)
	}
	return points
}

package tournament

import (
	"fmt"
	"math"
	"slices"

	"github.com/elenchus-go/debate/internal/statistics"
	"github.com/elenchus-go/debate/judge/estimate"
)

// table holds the games that are rated.
type table struct {
	by     Basis
	span   float64
	names  []string
	at     map[string]int // numbers of players by name
	judges []string
	pairs  [][]*Game // whole ones
	all    []Game
	rest   int // pairs that are not whole
}

// know adds a player, unless it is known.
func (t *table) know(name string) {
	if _, known := t.at[name]; !known {
		t.at[name], t.names = len(t.names), append(t.names, name)
	}
}

// add sorts the games into pairs.
func (t *table) add(games []Game) error {
	t.all = games
	for _, list := range statistics.Groups(len(games), func(i int) string { return games[i].Pair }) {
		var whole []*Game
		for _, i := range list {
			g := &games[i]
			if g.Pro == "" || g.Con == "" || g.Pro == g.Con {
				return fmt.Errorf("rate games: game %d of pair %q: players %q and %q, want two names", i+1, g.Pair, g.Pro, g.Con)
			}
			t.know(g.Pro)
			t.know(g.Con)
			if len(g.Judgments) > 0 && g.Failed == "" {
				whole = append(whole, g)
			}
		}
		switch {
		case len(list) > 2:
			return fmt.Errorf("rate games: pair %q has %d games, want two", games[list[0]].Pair, len(list))
		case len(whole) < 2:
			t.rest++
			continue
		case whole[0].Pro != whole[1].Con || whole[0].Con != whole[1].Pro:
			return fmt.Errorf("rate games: pair %q: the games are not of the same players with the sides swapped", whole[0].Pair)
		}
		t.pairs = append(t.pairs, whole)
		for _, g := range whole {
			for _, j := range g.Judgments {
				if !slices.Contains(t.judges, j.Judge) {
					t.judges = append(t.judges, j.Judge)
				}
			}
		}
	}
	return nil
}

// hasMargins reports whether each judgment has a margin.
func (t *table) hasMargins() bool {
	for _, p := range t.pairs {
		for _, g := range p {
			if slices.ContainsFunc(g.Judgments, func(j Judgment) bool { return j.Margin == nil }) {
				return false
			}
		}
	}
	return true
}

// contest returns a game for the model of ratings.
func (t *table) contest(g *Game) statistics.Contest {
	c := statistics.Contest{First: t.at[g.Pro], Second: t.at[g.Con]}
	sum := 0.0
	for _, j := range g.Judgments {
		if t.by == Margins {
			sum += *j.Margin
		} else {
			sum += g.sign(j)
		}
	}
	switch {
	case t.by == Margins:
		c.Win = .5 + sum/float64(len(g.Judgments))/t.span
		c.Loss = 1 - c.Win
	case sum > 0:
		c.Win = 1
	case sum < 0:
		c.Loss = 1
	default:
		c.Tie = 1
	}
	return c
}

// share returns what a judgment gives PRO, from 0 to 1.
func (t *table) share(g *Game, j Judgment) float64 {
	if t.by == Margins {
		return .5 + *j.Margin/t.span
	}
	return .5 + g.sign(j)/2
}

// eachRow calls f with each judgment of pair p.
func (t *table) eachRow(p int, f func(g *Game, j Judgment)) {
	for _, g := range t.pairs[p] {
		for _, j := range g.Judgments {
			f(g, j)
		}
	}
}

// points is the number of points of Elo's scale for a strength of 1.
const points = 400 / math.Ln10

// onScale returns a rating of Elo's scale. from is that of strength 0.
func onScale(i estimate.Interval, from float64) estimate.Interval {
	i.Value = from + points*i.Value
	i.Low = from + points*i.Low
	i.High = from + points*i.High
	return i
}

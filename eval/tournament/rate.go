package tournament

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/elenchus-go/debate/internal/statistics"
	"github.com/elenchus-go/debate/judge/estimate"
)

// Rating says how games are rated.
type Rating struct {
	// Players lists the players in the order of head-to-head tables. Others of the games follow in the order of their first
	// games.
	Players []string
	// By defaults to Margins if each judgment has one, or else to Wins.
	By Basis
	// Span is the difference of margins that counts as the difference of a sure win and a sure loss: a mean margin m of a
	// game counts as 0.5 + m/Span of a win. Defaults to 20, because the judges of procon score from 0 to 10.
	Span float64
}

// Rate rates the players of games that were played in any way. Games of one pair belong together; those of a pair of which a
// game has no judgment do not count. Rate returns an error if a game is not one of two players, if a pair has not two games
// with the sides swapped, or if By is Margins and a judgment has none.
func (o Rating) Rate(games []Game) (*Report, error) {
	t := table{by: o.By, span: cmp.Or(o.Span, 20), at: map[string]int{}}
	if !(t.span > 0) || math.IsInf(t.span, 0) {
		return nil, fmt.Errorf("rate games: span: %v, use a number above 0", o.Span)
	}
	for _, name := range o.Players {
		t.know(name)
	}
	if err := t.add(games); err != nil {
		return nil, err
	}
	if t.by == Margins && !t.hasMargins() {
		return nil, errors.New("rate games: a judgment has no margin; rate by wins")
	}
	if t.by == "" {
		t.by = Wins
		if t.hasMargins() {
			t.by = Margins
		}
	}
	return t.report(), nil
}

// report rates the players.
func (t *table) report() *Report {
	p := &Report{Format: formatVersion, By: t.by, Pairs: len(t.pairs), Incomparable: t.rest}
	contests := make([][]statistics.Contest, len(t.pairs))
	for i, games := range t.pairs {
		for _, g := range games {
			contests[i] = append(contests[i], t.contest(g))
			p.Judgments += len(g.Judgments)
		}
	}
	for _, g := range t.all {
		p.LeftOut += g.LeftOut
	}
	t.addStandings(p)
	t.addMeetings(p)
	var played []int
	for i, s := range p.Players {
		if s.Pairs > 0 {
			played = append(played, i)
		}
	}
	ridge := 0.0
	if t.by == Wins { // of few games, strengths are too far apart without one
		ridge = statistics.Ridge
	}
	ratings := statistics.Rate(len(t.names), contests, ridge)
	for _, list := range statistics.Connected(len(t.names), slices.Concat(contests...)) {
		if len(list) < len(played) && p.Players[list[0]].Pairs > 0 {
			p.Groups = append(p.Groups, t.namesOf(list))
		}
	}
	for i := range p.Players {
		p.Players[i].Rating = onScale(ratings.Intervals[i], 1500)
		if p.Players[i].Pairs == 0 || len(p.Groups) > 0 {
			p.Players[i].Rating = estimate.Interval{Method: statistics.Undefined}
		}
	}
	if len(p.Groups) == 0 {
		p.Side = Side{Points: points * ratings.Side, Share: t.sideShare()}
		t.addNeighbors(p, ratings, played)
	}
	t.addJudges(p, ratings.Strengths)
	slices.SortStableFunc(p.Players, func(a, b Standing) int { return cmp.Compare(b.Rating.Value, a.Rating.Value) })
	p.markUnbeaten()
	p.Summary = p.sentences()
	return p
}

func (t *table) namesOf(players []int) (list []string) {
	for _, i := range players {
		list = append(list, t.names[i])
	}
	return list
}

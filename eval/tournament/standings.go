package tournament

import (
	"cmp"
	"slices"

	"github.com/elenchus-go/debate/internal/statistics"
	"github.com/elenchus-go/debate/judge/estimate"
)

// addStandings adds up the games of each player.
func (t *table) addStandings(p *Report) {
	p.Players = make([]Standing, len(t.names))
	for i, name := range t.names {
		p.Players[i].Name = name
	}
	for _, games := range t.pairs {
		for _, g := range games {
			pro, con := &p.Players[t.at[g.Pro]], &p.Players[t.at[g.Con]]
			pro.add(g.ProUsage)
			con.add(g.ConUsage)
			sum := 0.0
			for _, j := range g.Judgments {
				sum += g.sign(j)
			}
			switch {
			case sum > 0:
				pro.Won++
				con.Lost++
			case sum < 0:
				pro.Lost++
				con.Won++
			default:
				pro.Tied++
				con.Tied++
			}
		}
	}
	for i := range p.Players {
		s := &p.Players[i]
		games := s.Won + s.Tied + s.Lost
		s.Pairs = games / 2
		s.Tokens /= float64(max(games, 1))
		s.Cost /= float64(max(games, 1))
	}
}

// addMeetings adds what each two players have done against each other.
func (t *table) addMeetings(p *Report) {
	at := map[[2]int]int{}
	for i, games := range t.pairs {
		a, b := t.at[games[0].Pro], t.at[games[0].Con]
		if a > b {
			a, b = b, a
		}
		n, known := at[[2]int{a, b}]
		if !known {
			n = len(p.Meetings)
			at[[2]int{a, b}], p.Meetings = n, append(p.Meetings, Meeting{A: t.names[a], B: t.names[b]})
		}
		m := &p.Meetings[n]
		sum := 0.0
		credit := 0.0
		rows := 0
		t.eachRow(i, func(g *Game, j Judgment) {
			rows++
			sign, share := g.sign(j), t.share(g, j)
			if g.Pro != m.A {
				sign, share = -sign, 1-share
			}
			sum += sign
			credit += share
		})
		m.Share = (m.Share*float64(m.Pairs) + credit/float64(rows)) / float64(m.Pairs+1)
		m.Pairs++
		switch {
		case sum > 0:
			m.Won++
		case sum < 0:
			m.Lost++
		default:
			m.Tied++
		}
	}
}

// addNeighbors compares each two players whose ratings are next to each other.
func (t *table) addNeighbors(p *Report, r statistics.Ratings, played []int) {
	slices.SortStableFunc(played, func(a, b int) int { return cmp.Compare(r.Players[b], r.Players[a]) })
	for i := range played[:max(len(played)-1, 0)] {
		a, b := played[i], played[i+1]
		p.Neighbors = append(p.Neighbors, Neighbors{Upper: t.names[a], Lower: t.names[b], Difference: onScale(r.Difference(a, b), 0)})
	}
}

// sideShare returns the share of judgments that call PRO the winner. A tie counts half.
func (t *table) sideShare() estimate.Interval {
	var list []statistics.Observation
	for i := range t.pairs {
		t.eachRow(i, func(g *Game, j Judgment) {
			list = append(list, statistics.Observation{Value: .5 + g.sign(j)/2, Group: g.Pair})
		})
	}
	return statistics.Share(list)
}

package tournament

import (
	"math"

	"github.com/elenchus-go/debate/internal/statistics"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/judge/estimate"
)

// addJudges adds how judges lean and agree.
func (t *table) addJudges(p *Report, s statistics.Strengths) {
	a := t.agreements()
	p.Agreement.Winners = a.mean()
	p.Agreement.AlphaWinners = agreement.Alpha(t.units(func(g *Game, j Judgment) float64 { return g.sign(j) }), agreement.Nominal)
	p.Agreement.AlphaVotes = agreement.Alpha(t.votes(), agreement.Nominal)
	if t.by == Margins {
		units := t.units(func(_ *Game, j Judgment) float64 { return *j.Margin })
		p.Agreement.AlphaMargins = new(agreement.Alpha(units, agreement.Numeric))
	}
	p.Agreement.Effective = t.effective(s)
	for n, name := range t.judges {
		var margins, wins []statistics.Observation
		contradictions := 0
		for i := range t.pairs {
			t.eachRow(i, func(g *Game, j Judgment) {
				if j.Judge != name {
					return
				}
				wins = append(wins, statistics.Observation{Value: .5 + g.sign(j)/2, Group: g.Pair})
				if j.Margin != nil {
					margins = append(margins, statistics.Observation{Value: *j.Margin, Group: g.Pair})
					if g.sign(j)**j.Margin < 0 {
						contradictions++
					}
				}
			})
		}
		one := Judge{Name: name, Judgments: len(wins), ProShare: statistics.Share(wins), Agreement: a.of(n), Contradictions: contradictions}
		if len(margins) == len(wins) {
			one.Margin = new(statistics.Mean(margins))
		}
		p.Judges = append(p.Judges, one)
	}
}

// units returns the games as units of ratings by judges.
func (t *table) units(value func(*Game, Judgment) float64) (list []agreement.Unit) {
	for _, games := range t.pairs {
		for _, g := range games {
			u := agreement.Unit{Group: g.Pair}
			for _, name := range t.judges {
				v := math.NaN()
				for _, j := range g.Judgments {
					if j.Judge == name {
						v = value(g, j)
					}
				}
				u.Values = append(u.Values, v)
			}
			list = append(list, u)
		}
	}
	return list
}

// shares holds, for each two judges, how many pairs of games both have judged, and how many with the same winner.
type shares struct {
	judges     int
	both, same map[[2]int]int
}

// wins returns how many more of a judge's judgments of a pair of games call one player the winner than the other one, by judge.
func (t *table) wins(pair int) map[string]float64 {
	sums := map[string]float64{}
	t.eachRow(pair, func(g *Game, j Judgment) {
		sign := g.sign(j)
		if g.Pro != t.pairs[pair][0].Pro {
			sign = -sign
		}
		sums[j.Judge] += sign
	})
	return sums
}

// votes returns the pairs of games as units of the judges' votes. A judge who calls both players the winner equally often has none.
func (t *table) votes() (list []agreement.Unit) {
	for i, games := range t.pairs {
		sums, u := t.wins(i), agreement.Unit{Group: games[0].Pair}
		for _, name := range t.judges {
			v := math.NaN()
			if sums[name] != 0 {
				v = math.Copysign(1, sums[name])
			}
			u.Values = append(u.Values, v)
		}
		list = append(list, u)
	}
	return list
}

// agreements compares each two judges. The winner of a pair is, for a judge, who wins more of its judgments of it, or
// nobody.
func (t *table) agreements() shares {
	a := shares{len(t.judges), map[[2]int]int{}, map[[2]int]int{}}
	for i := range t.pairs {
		sums := t.wins(i)
		for x, one := range t.judges {
			for y, other := range t.judges[:x] {
				v, judged := sums[one]
				w, too := sums[other]
				if judged && too {
					a.both[[2]int{x, y}]++
					if v > 0 == (w > 0) && v < 0 == (w < 0) {
						a.same[[2]int{x, y}]++
					}
				}
			}
		}
	}
	return a
}

// mean returns the mean of the shares of all two judges, or 0 if no two have judged the same pair.
func (a shares) mean() float64 { return a.meanWith(-1) }

// of returns the mean of the shares of a judge and each other one.
func (a shares) of(judge int) float64 { return a.meanWith(judge) }

func (a shares) meanWith(judge int) float64 {
	sum, n := 0.0, 0
	for x := range a.judges {
		for y := range x {
			if both := a.both[[2]int{x, y}]; both > 0 && (judge < 0 || x == judge || y == judge) {
				sum += float64(a.same[[2]int{x, y}]) / float64(both)
				n++
			}
		}
	}
	return sum / math.Max(float64(n), 1)
}

// moments are the sums of which correlations of two judges' residuals are made.
type moments struct{ n, x, y, xx, yy, xy float64 }

func (m *moments) add(o moments) {
	m.n += o.n
	m.x += o.x
	m.y += o.y
	m.xx += o.xx
	m.yy += o.yy
	m.xy += o.xy
}

// correlation returns the correlation, or NaN if it is undefined.
func (m *moments) correlation() float64 {
	vx, vy := m.xx-m.x*m.x/m.n, m.yy-m.y*m.y/m.n
	if m.n < 3 || vx < 1e-12 || vy < 1e-12 {
		return math.NaN()
	}
	return (m.xy - m.x*m.y/m.n) / math.Sqrt(vx*vy)
}

// effective returns the number of judges with independent errors who are worth as much as these: k judges whose residuals
// have the mean correlation r are worth k/(1+(k-1)r). A residual is what a judgment gives PRO beyond what the ratings
// expect.
func (t *table) effective(s statistics.Strengths) estimate.Interval {
	k := len(t.judges)
	byPair := make([][]moments, len(t.pairs)) // for each two judges
	for i, games := range t.pairs {
		byPair[i] = make([]moments, k*k)
		for _, g := range games {
			residuals, expected := map[string]float64{}, s.Expected(t.contest(g))
			for _, j := range g.Judgments {
				residuals[j.Judge] = t.share(g, j) - expected
			}
			for x, one := range t.judges {
				for y, other := range t.judges[:x] {
					v, judged := residuals[one]
					if w, too := residuals[other]; judged && too {
						byPair[i][x*k+y].add(moments{1, v, w, v * v, w * w, v * w})
					}
				}
			}
		}
	}
	worth := func(draw []int) float64 {
		sums := make([]moments, k*k)
		for _, p := range draw {
			for i, m := range byPair[p] {
				sums[i].add(m)
			}
		}
		r, n := 0.0, 0.0
		for _, m := range sums {
			if c := m.correlation(); !math.IsNaN(c) {
				r += c
				n++
			}
		}
		shared := 1 + float64(k-1)*r/n
		if n == 0 || shared < 1e-9 {
			return math.NaN()
		}
		return float64(k) / shared
	}
	all := make([]int, len(t.pairs))
	for i := range all {
		all[i] = i
	}
	value := worth(all)
	if math.IsNaN(value) {
		return estimate.Interval{Method: statistics.Undefined, Groups: len(all)}
	}
	return statistics.Percentile(value, len(all), len(all), worth)
}

package influence

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/statistics"
	"github.com/elenchus-go/debate/judge/estimate"
)

// scores describes how the scores of one sample are distributed: normal with a deviation, moved by the order, rounded to steps, and kept
// between the ends of a scale of 10 points.
type scores struct{ mean, deviation, order, step float64 }

// each calls do with each score and its probability in an order, 0 or 1.
func (s scores) each(order int, do func(score, p float64)) {
	at := s.mean + s.order*float64(2*order-1)
	below := func(x float64) float64 { return math.Erfc((at-x)/s.deviation/math.Sqrt2) / 2 }
	n := math.Round(10 / s.step)
	for k := -n; k <= n; k++ {
		low, high := below((k-.5)*s.step), below((k+.5)*s.step)
		if k == -n {
			low = 0
		}
		if k == n {
			high = 1
		}
		do(k*s.step, high-low)
	}
}

// truth returns the mean score and the winner's share. The winner wins with a score above 0.
func (s scores) truth() (mean, share float64) {
	for order := range 2 {
		s.each(order, func(score, p float64) {
			mean += score * p / 2
			if score > 0 {
				share += p / 2
			}
		})
	}
	return mean, share
}

func (s scores) draw(r *rand.Rand, order int) sample {
	x := s.mean + s.order*float64(2*order-1) + s.deviation*r.NormFloat64()
	score := min(10, max(-10, math.Round(x/s.step)*s.step))
	return sample{order: order, ended: true, won: score > 0, score: score, scored: true}
}

// simulated describes a debate with planted weights: what the mean score loses without each turn.
type simulated struct {
	whole   scores
	weights []float64
	samples int
	largest int
	pairs   bool
}

// without returns the scores without items, whose weights add up.
func (d simulated) without(items ...int) scores {
	s := d.whole
	for _, i := range items {
		s.mean -= d.weights[i]
	}
	return s
}

// measure simulates the samples, and measures them as an analysis does.
func (d simulated) measure(r *rand.Rand) *Report {
	of := &runner{Analysis: Analysis{Samples: d.samples, Largest: d.largest, Pairs: d.pairs}}
	for i := range d.weights {
		of.items = append(of.items, Item{Speaker: "Ada", Seq: int64(i + 1)})
	}
	of.setStages()
	m := newMeasurement(outcome{winner: "Ada", wins: true, scale: points, scores: map[string]float64{"Ada": 1}}, "Ada", of.items, of.plan, false)
	for _, stage := range m.plan.Stages {
		list := m.next()
		var whole []sample
		for n := range stage.Samples {
			whole = append(whole, d.whole.draw(r, n%2))
		}
		for i := range list {
			list[i].whole.samples = whole
			for n := range stage.Samples {
				list[i].without.samples = append(list[i].without.samples, d.without(list[i].items...).draw(r, n%2))
			}
		}
		m.add(list)
	}
	return m.report()
}

// holds reports whether all intervals of a report contain the true changes. truths keeps these.
func (d simulated) holds(p *Report, truths map[string][2]float64) bool {
	list := p.Effects
	if p.Pair != nil {
		list = append(list, *p.Pair)
	}
	for _, e := range list {
		var which []int
		for _, i := range e.Items {
			which = append(which, int(i.Seq)-1)
		}
		truth, known := truths[e.Name]
		if !known {
			mean, share := d.whole.truth()
			without, wins := d.without(which...).truth()
			truth = [2]float64{without - mean, wins - share}
			truths[e.Name] = truth
		}
		for k, i := range []*estimate.Interval{e.Score, e.Share} {
			if i.Known() && (i.Low > truth[k]+1e-9 || i.High < truth[k]-1e-9) {
				return false
			}
		}
	}
	return true
}

// debates lists what is simulated: the samples as by default and without first ones, small and large weights, orders that
// matter, and scores in coarse steps.
func debates() map[string]simulated {
	weights := []float64{0, 3, 0, .5, -1, 0, .2, 0, 1.5, 0, 0, -.3}
	return map[string]simulated{
		"by default":                    {whole: scores{1.5, 1.2, .4, .1}, weights: weights, samples: 20, largest: 3},
		"by default, with the pair":     {whole: scores{1.5, 1.2, .4, .1}, weights: weights, samples: 20, largest: 3, pairs: true},
		"all items":                     {whole: scores{1, 1.5, 0, .1}, weights: weights[:9], samples: 20, largest: 9},
		"few samples":                   {whole: scores{1, 1.5, .5, .1}, weights: weights, samples: 6, largest: 12},
		"whole points":                  {whole: scores{2, 1, .5, 1}, weights: weights, samples: 20, largest: 3},
		"no weights":                    {whole: scores{1, 1.5, .5, .1}, weights: make([]float64, 12), samples: 20, largest: 3},
		"no weights, all items":         {whole: scores{0, 1.5, .5, .1}, weights: make([]float64, 12), samples: 20, largest: 12},
		"no weights, nearly no spread":  {whole: scores{3, .35, .2, 1}, weights: make([]float64, 12), samples: 20, largest: 3},
		"weights, nearly no spread":     {whole: scores{3, .35, .2, 1}, weights: weights, samples: 20, largest: 3},
		"no weights, a winner who must": {whole: scores{9, 1, 0, .5}, weights: make([]float64, 12), samples: 20, largest: 3},
	}
}

// All intervals of a debate hold together in at least 95 % of debates, and turns without weight are named in at most 5 %. The
// environment variable DEBATE_COVERAGE sets how many debates of each kind are simulated; see make proofs ONLY=intervals.
func TestIntervalsHoldTogether(t *testing.T) {
	runs := 200
	if s := os.Getenv("DEBATE_COVERAGE"); s != "" {
		_, err := fmt.Sscan(s, &runs)
		require.NoError(t, err)
	}
	for name, d := range debates() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(7, uint64(len(name))))
			held := 0
			named := 0
			truths := map[string][2]float64{}
			for range runs {
				p := d.measure(r)
				if d.holds(p, truths) {
					held++
				}
				for _, e := range p.Effects {
					if d.weights[e.Items[0].Seq-1] == 0 && e.Shown() {
						named++
						break
					}
				}
			}
			t.Logf("all intervals hold in %.1f %% of debates; a turn without weight is named in %.1f %%", 100*float64(held)/float64(runs), 100*float64(named)/float64(runs))
			assert.GreaterOrEqual(t, held, runs*95/100)
			assert.LessOrEqual(t, named, runs*5/100)
		})
	}
}

// A single interval of scores, without a correction, holds in 93 to 97 % of cases, with 5 samples and with more.
func TestSingleIntervalsOfScoresHold(t *testing.T) {
	const runs = 2000
	for _, n := range []int{5, 6, 10, 20, 40} {
		for _, d := range []simulated{
			{whole: scores{1, 1.5, 0, .1}, weights: []float64{2}},
			{whole: scores{1, 1.2, 1, .1}, weights: []float64{0}},
			{whole: scores{2, 1.5, .5, 1}, weights: []float64{1}},
		} {
			r := rand.New(rand.NewPCG(3, uint64(n)))
			mean, _ := d.whole.truth()
			without, _ := d.without(0).truth()
			held := 0
			for range runs {
				var list [2]statistics.Sample
				for k, s := range []scores{d.whole, d.without(0)} {
					list[k] = make(statistics.Sample, 2)
					for i := range n {
						list[k][i%2] = append(list[k][i%2], s.draw(r, i%2).score)
					}
				}
				i := statistics.MeanChange(list[1], list[0], points.least, points.most, .95)
				if i.Low <= without-mean+1e-9 && i.High >= without-mean-1e-9 {
					held++
				}
			}
			share := 100 * float64(held) / runs
			t.Logf("%d samples, %+v: %.1f %%", n, d.whole, share)
			assert.True(t, share >= 93 && share <= 97, "%d samples, %+v: %.1f %%", n, d.whole, share)
		}
	}
}

// The larger a planted weight, the larger the change that is found.
func TestPlantedWeightsAreFoundInOrder(t *testing.T) {
	d := simulated{whole: scores{2, .8, .3, .1}, weights: []float64{0, 6, .1, 4, 0, 0, 2.2, .1, 0, 0}, samples: 20, largest: 3}
	r, right := rand.New(rand.NewPCG(1, 2)), 0
	for range 500 {
		p := d.measure(r)
		first := p.Effects[1]
		second := p.Effects[3]
		third := p.Effects[6]
		if first.Fresh && second.Fresh && third.Fresh && first.size() < second.size() && second.size() < third.size() && third.size() < 0 {
			right++
		}
	}
	t.Logf("the right order in %d of 500 debates", right)
	require.Greater(t, right, 450)
}

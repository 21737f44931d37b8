package statistics

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

// The interval of a change of shares contains it at least as often as it should, over all shares: the sums over all
// results, without simulation.
func TestChangesOfSharesCover(t *testing.T) {
	for _, n := range [][2]int{{6, 6}, {10, 10}, {20, 20}, {20, 7}, {40, 40}} {
		for _, intervals := range []float64{1, 6, 12, 24, 60} {
			level := 1 - .05/intervals
			within := make([][]Interval, n[0]+1)
			for k := range within {
				for k0 := range n[1] + 1 {
					within[k] = append(within[k], ShareChange(k, n[0], k0, n[1], level))
				}
			}
			worst := 0.0
			chances := map[float64][2][]float64{}
			for p := range 26 {
				chances[float64(p)/25] = [2][]float64{distribution(n[0], float64(p)/25), distribution(n[1], float64(p)/25)}
			}
			for p, of := range chances {
				for q, of0 := range chances {
					missed := 0.0
					for k := range within {
						for k0, i := range within[k] {
							if d := p - q; i.Low > d+1e-12 || i.High < d-1e-12 {
								missed += of[0][k] * of0[1][k0]
							}
						}
					}
					worst = max(worst, missed)
				}
			}
			t.Logf("%v observations, %v intervals: at most %.5f of %.5f are missed", n, intervals, worst, 1-level)
			assert.LessOrEqual(t, worst, 1-level+1e-9)
		}
	}
}

// distribution returns the probabilities of 0 to n successes in n trials.
func distribution(n int, p float64) (list []float64) {
	for k := range n + 1 {
		list = append(list, BinomialCDF(k, n, p)-BinomialCDF(k-1, n, p))
	}
	return list
}

// With 12 changes, 6 observations are the least that can show a complete turn; 20 show a turn from .7 to .1, and 100 from
// .7 to .4, four times out of five.
func TestWhatChangesOfSharesShow(t *testing.T) {
	level := 1 - .05/12
	require.Equal(t, 6, EnoughForShares(level))
	require.Negative(t, ShareChange(0, 6, 6, 6, level).High)
	require.Positive(t, ShareChange(0, 5, 5, 5, level).High)
	shown := func(n int, from, to float64) (power float64) {
		was, is := distribution(n, from), distribution(n, to)
		for k := range n + 1 {
			for k0 := range n + 1 {
				if ShareChange(k, n, k0, n, level).Below(0) {
					power += is[k] * was[k0]
				}
			}
		}
		return power
	}
	for _, x := range []struct {
		n        int
		from, to float64
	}{{20, .7, .1}, {100, .7, .4}} {
		power := shown(x.n, x.from, x.to)
		t.Logf("%d observations show %v to %v in %.2f of cases", x.n, x.from, x.to, power)
		assert.Greater(t, power, .8)
	}
	assert.Less(t, shown(20, .7, .4), .5)
	require.False(t, ShareChange(0, 0, 1, 5, level).Known())
	require.Equal(t, -1.0, ShareChange(0, 6, 6, 6, level).Value)
}

// With one stratum, it is Welch's interval: the example of R's t.test(c(1, 2, 3, 4), c(2, 4, 7, 9, 11)).
func TestMeanChange(t *testing.T) {
	i := MeanChange(Sample{{1, 2, 3, 4}}, Sample{{2, 4, 7, 9, 11}}, 0, 100, .95)
	v, v0 := 5.0/3/4, 13.3/5
	df := (v + v0) * (v + v0) / (v*v/3 + v0*v0/4)
	half := distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(.975) * math.Sqrt(v+v0)
	require.Equal(t, Welch, i.Method)
	require.InDelta(t, 2.5-6.6, i.Value, 1e-12)
	require.InDelta(t, i.Value-half, i.Low, 1e-6)
	require.InDelta(t, i.Value+half, i.High, 1e-6)

	two := MeanChange(Sample{{1, 2}, {11, 12}}, Sample{{1, 2}, {11, 12}}, 0, 100, .95)
	require.Less(t, two.High, 3., "what strata differ by is no spread")
	require.False(t, MeanChange(Sample{{1}, {2}}, Sample{{1}, {2}}, 0, 10, .95).Known(), "one value of each stratum has no spread")
	require.Equal(t, Interval{N: 6, Groups: 6, Value: -1, Method: TooFew}, MeanChange(Sample{{1, 2, 3}, {}}, Sample{{2, 3, 4}, {9}}, 0, 10, .95), "of the first stratum")
	require.Equal(t, Interval{Method: TooFew}, MeanChange(Sample{{1, 2, 3}, {}}, Sample{{}, {9}}, 0, 10, .95), "no stratum has values of both")

	same := MeanChange(Sample{{3, 3, 3}, {4, 4}}, Sample{{8, 8, 8}, {8, 8}}, 0, 10, .95)
	require.Equal(t, -4.5, same.Value)
	require.Greater(t, same.High-same.Low, 3., "five equal values are not certainty")
	more := MeanChange(Sample{{3, 3, 3, 3, 3, 3, 3, 3, 3, 3}, {4, 4, 4, 4, 4, 4, 4, 4, 4, 4}}, Sample{{8, 8, 8, 8, 8, 8, 8, 8, 8, 8}, {8, 8, 8, 8, 8, 8, 8, 8, 8, 8}}, 0, 10, .95)
	require.Negative(t, more.High)
	require.GreaterOrEqual(t, MeanChange(Sample{{0, 0, 0}}, Sample{{10, 10, 10}}, 0, 10, .95).Low, -10.)
	half1 := MeanChange(Sample{{3, 3, 3}}, Sample{{8, 7, 9}}, 0, 10, .95)
	require.True(t, half1.Known() && half1.Low < -5 && half1.High > -5)
}

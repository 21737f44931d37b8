package statistics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

func TestDistributionsEqualGonums(t *testing.T) {
	for _, df := range []float64{1, 2, 5, 9, 28, 29, 100, 1000} {
		for _, p := range []float64{.5, .6, .8, .95, .975, .995, .9999} {
			want := distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(p)
			assert.InDelta(t, want, tQuantile(p, df), 1e-8*(1+want), "t quantile %v with %v degrees of freedom", p, df)
		}
	}
	for _, p := range []float64{1e-6, .001, .025, .2, .5, .8, .975, .999} {
		assert.InDelta(t, distuv.UnitNormal.Quantile(p), normalQuantile(p), 1e-9)
		assert.InDelta(t, p, normalCDF(normalQuantile(p)), 1e-12)
	}
	for _, n := range []int{1, 2, 5, 20, 59, 100, 1000} {
		for _, p := range []float64{.001, .1, .2, .5, .8, .99} {
			for k := -1; k <= n+1; k += max(1, n/20) {
				want := distuv.Binomial{N: float64(n), P: p}.CDF(float64(k))
				assert.InDelta(t, want, BinomialCDF(k, n, p), 1e-10, "%d of %d at %v", k, n, p)
			}
		}
	}
	for _, x := range []float64{0, .001, .1, .3, .5, .9, .999, 1} {
		for _, ab := range [][2]float64{{.5, .5}, {1, 3}, {2.5, 90}, {400, 300}, {50_000, 3}} {
			assert.InDelta(t, mathext.RegIncBeta(ab[0], ab[1], x), incompleteBeta(ab[0], ab[1], x), 1e-10)
		}
	}
}

func TestMeansEqualGonums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var values []Observation
	var plain []float64
	for range 20 {
		v := r.NormFloat64()
		values, plain = append(values, Observation{Value: v}), append(plain, v)
	}
	mean, sd := stat.MeanStdDev(plain, nil)
	half := distuv.StudentsT{Sigma: 1, Nu: 19}.Quantile(.975) * stat.StdErr(sd, 20)
	got := Mean(values)
	assert.Equal(t, StudentT, got.Method)
	assert.InDelta(t, mean, got.Value, 1e-12)
	assert.InDelta(t, mean-half, got.Low, 1e-9)
	assert.InDelta(t, mean+half, got.High, 1e-9)
}

// Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17 (1998), table I, methods
// 3 (Wilson) and 5 (Clopper and Pearson).
func TestSharesOfNewcombesTable(t *testing.T) {
	for _, tt := range []struct {
		k, n              int
		low, high         float64
		exactLow, exactUp float64
	}{
		{81, 263, .2553, .3662, .2527, .3676},
		{15, 148, .0624, .1605, .0578, .1617},
		{0, 20, 0, .1611, 0, .1684},
		{1, 29, .0061, .1718, .0009, .1776},
	} {
		got := Wilson(tt.k, tt.n)
		assert.InDelta(t, tt.low, got.Low, 5e-5, "%d of %d", tt.k, tt.n)
		assert.InDelta(t, tt.high, got.High, 5e-5, "%d of %d", tt.k, tt.n)
		assert.InDelta(t, tt.exactUp, UpperBound(tt.k, tt.n, .975), 5e-5, "%d of %d", tt.k, tt.n)
		assert.InDelta(t, tt.exactLow, 1-UpperBound(tt.n-tt.k, tt.n, .975), 5e-5, "%d of %d", tt.k, tt.n)
	}
	assert.InDelta(t, 1-math.Pow(.05, 1./30), UpperBound(0, 30, .95), 1e-12, "the rule of three, exactly")
	assert.Equal(t, 1.0, UpperBound(5, 5, .95))
	assert.False(t, Wilson(0, 0).Known())
}

// The exact p-value of Fagerland, Lydersen and Laake, "The McNemar test for binary matched-pairs data" (BMC Medical
// Research Methodology 13, 2013), for 1 and 7 discordant pairs of their table 2; and tosses of a coin.
func TestMcNemar(t *testing.T) {
	assert.InDelta(t, .0703, McNemar(1, 7), 5e-5)
	assert.InDelta(t, .0703, McNemar(7, 1), 5e-5)
	assert.InDelta(t, 2.0/32, McNemar(0, 5), 1e-12)
	assert.Equal(t, 1.0, McNemar(0, 0))
	assert.Equal(t, 1.0, McNemar(4, 4))
}

func TestHolm(t *testing.T) {
	// As R's p.adjust(c(.01, .04, .03, .005), "holm").
	got := Holm([]float64{.01, .04, .03, .005})
	for i, want := range []float64{.03, .06, .06, .02} {
		assert.InDelta(t, want, got[i], 1e-12)
	}
	assert.Empty(t, Holm(nil))
	assert.Equal(t, []float64{1, 1}, Holm([]float64{.9, .6}))
}

func TestRuleOfIntervals(t *testing.T) {
	for _, tt := range []struct {
		name      string
		values    []Observation
		share     Method
		different Method
	}{
		{"none", nil, TooFew, TooFew},
		{"questions of their own", observe(12, 12, .5), WilsonScore, StudentT},
		{"nine groups", observe(90, 9, .5), TooFew, TooFew},
		{"ten groups", observe(90, 10, .5), StudentT, StudentT},
		{"29 groups", observe(90, 29, .5), StudentT, StudentT},
		{"30 groups", observe(90, 30, .5), Bootstrap, Bootstrap},
		{"halves", []Observation{{Value: .5}, {Value: 1}}, TooFew, TooFew},
	} {
		t.Run(tt.name, func(t *testing.T) {
			share, difference := Share(tt.values), Difference(tt.values)
			assert.Equal(t, tt.share, share.Method)
			assert.Equal(t, tt.different, difference.Method)
			assert.Equal(t, share, Share(tt.values), "it must not depend on chance")
			assert.Equal(t, len(tt.values), share.N)
			if share.Known() {
				assert.LessOrEqual(t, share.Low, share.Value)
				assert.GreaterOrEqual(t, share.High, share.Value)
			}
		})
	}
}

// observe returns n observations of which a share is 1, in turn of the groups.
func observe(n, groups int, share float64) (values []Observation) {
	for i := range n {
		v := 0.0
		if float64(i/groups%10)+.5 < 10*share != (i%3 == 0) {
			v = 1
		}
		values = append(values, Observation{Value: v, Group: fmt.Sprint(i % groups)})
	}
	return values
}

func TestIntervalsOfEqualValues(t *testing.T) {
	same := func(n, groups int, v float64) (values []Observation) {
		for i := range n {
			values = append(values, Observation{v, fmt.Sprint(i % groups)})
		}
		return values
	}
	all := Share(same(120, 40, 1))
	assert.Equal(t, 1.0, all.High)
	assert.InDelta(t, Wilson(40, 40).Low, all.Low, 1e-12, "right everywhere is not certainty: at least as wide as 40 questions")
	none := Difference(same(120, 40, 0))
	assert.Less(t, none.Low, -.08)
	assert.InDelta(t, -none.Low, none.High, 1e-12)
	cost := Mean(same(40, 40, 3))
	assert.Equal(t, []float64{3, 3}, []float64{cost.Low, cost.High})
	assert.Positive(t, Detectable(same(40, 40, 0)))
}

func TestIntervalText(t *testing.T) {
	assert.Equal(t, "0.308 [0.255, 0.366]", Wilson(81, 263).String())
	assert.Equal(t, "0.750 [too few]", Share([]Observation{{Value: .5}, {Value: 1}}).String())
	assert.Equal(t, "–", Share(nil).String())
}

// With a standard deviation of 1, a test of 34 pairs shows half of it four times out of five (Cohen, Statistical Power
// Analysis, 1988, table 2.4.1: n = 34 for the t test of pairs with d = .5).
func TestPowerOfCohensTable(t *testing.T) {
	var values []Observation
	for i := range 34 {
		values = append(values, Observation{Value: float64(2*(i%2)-1) * math.Sqrt(33.0/34)})
	}
	assert.InDelta(t, .5, Detectable(values), .005)
	assert.InDelta(t, 34, Needed(values, .5), 1)
	assert.InDelta(t, 4*34, Needed(values, .25), 2)
	assert.Zero(t, Needed(values[:9], .5))
	assert.Zero(t, Needed(values, 0))
	assert.True(t, math.IsInf(Detectable(values[:9]), 1))
}

// The first numbers of the reference implementation with the state 1234567 (prng.di.unimi.it, splitmix64.c).
func TestSource(t *testing.T) {
	s := Source(1234567)
	for _, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		assert.Equal(t, want, s.Next())
	}
}

// design is a simulated evaluation: each question of a group has the group's own answer with a probability of root, so
// that the correlation within groups is root squared.
type design struct {
	questions, groups int
	root              float64
	least, most       float64 // bounds of the coverage, in percent
}

// The environment variable DEBATE_COVERAGE sets how many evaluations are simulated for each accuracy; see make coverage.
func TestIntervalsCover(t *testing.T) {
	runs, step := 300, 2
	if s := os.Getenv("DEBATE_COVERAGE"); s != "" {
		_, err := fmt.Sscan(s, &runs)
		require.NoError(t, err)
		step = 1
	}
	noise := 300 * math.Sqrt(.05*.95/float64(runs)) // three standard errors, in percent
	for _, d := range []design{
		{50, 50, 0, 93, 97},
		{100, 100, 0, 93, 97},
		{400, 400, 0, 93, 97}, // Wilson
		{50, 30, 0, 93, 97},
		{60, 30, 0, 93, 97},
		{150, 30, 0, 93, 97},
		{50, 40, .3, 93, 97},
		{200, 50, .3, 93, 97},
		{300, 100, .5, 93, 97},
		{50, 10, 0, 91, 98},
		{100, 10, .3, 91, 98},
		{100, 20, .3, 91, 98},
		{145, 29, .3, 91, 98},
	} {
		for a := 1; a <= 9; a += step {
			p := float64(a) / 10
			got := d.coverage(p, runs)
			t.Logf("%d questions in %d groups, root %.1f, accuracy %.1f: %.1f %%", d.questions, d.groups, d.root, p, got)
			assert.True(t, got > d.least-noise && got < d.most+noise, "%+v, accuracy %v: %v %%", d, p, got)
		}
	}
}

func (d design) coverage(p float64, runs int) float64 {
	r := rand.New(rand.NewPCG(uint64(d.questions), math.Float64bits(p)))
	toss := func(p float64) float64 {
		if r.Float64() < p {
			return 1
		}
		return 0
	}
	covered := 0
	values := make([]Observation, d.questions)
	for i := range values {
		values[i].Group = fmt.Sprint(i % d.groups)
	}
	for range runs {
		common := make([]float64, d.groups)
		for g := range common {
			common[g] = toss(p)
		}
		for i := range values {
			v := toss(p)
			if r.Float64() < d.root {
				v = common[i%d.groups]
			}
			values[i].Value = v
		}
		if got := Share(values); got.Low <= p+1e-12 && p-1e-12 <= got.High {
			covered++
		}
	}
	return 100 * float64(covered) / float64(runs)
}

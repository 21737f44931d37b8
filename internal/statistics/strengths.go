package statistics

import (
	"math"
	"slices"
)

// Strengths are the parameters of the Bradley-Terry model with ties (Davidson, JASA 65, 1970) and a term for the side. If d is
// the first player's strength minus the second's, plus Side, then the odds of a win, a tie and a loss are
// exp(d/2) : exp(Tie) : exp(-d/2).
type Strengths struct {
	Players []float64 // natural logarithms, with the mean 0
	Side    float64
	Tie     float64 // -Inf if there are no ties
}

// Expected returns what a contest gives the first player on average: the probability of a win, and half of that of a tie.
func (s Strengths) Expected(c Contest) float64 {
	win, tie, _ := s.odds(c)
	return win + tie/2
}

// difference returns the difference of two players' strengths, in terms of the first one and its side.
func (s Strengths) difference(c Contest) float64 {
	d := s.Players[c.First] - s.Players[c.Second]
	if !c.WithoutTheSides {
		d += s.Side
	}
	return d
}

// odds returns the probabilities of a win, a tie and a loss.
func (s Strengths) odds(c Contest) (win, tie, loss float64) {
	d := s.difference(c)
	win = math.Exp(d / 2)
	tie = math.Exp(s.Tie)
	loss = math.Exp(-d / 2)
	all := win + tie + loss
	return win / all, tie / all, loss / all
}

// Ridge is the penalty that keeps strengths finite: half its product with the square of a parameter.
const Ridge = .1

// FitStrengths returns the strengths under which the contests of n players are most likely, with a ridge for the players'
// strengths, which may be 0. There is no maximum if some players never lose against the others, as in a resample of few
// contests: then the ridge is at least [Ridge]. The terms for the side and for ties always have that one.
func FitStrengths(n int, contests []Contest, ridge float64) Strengths {
	return fitFrom(Strengths{Players: make([]float64, n)}, contests, ridge)
}

// fitFrom is FitStrengths from a start near the maximum.
func fitFrom(start Strengths, contests []Contest, ridge float64) Strengths {
	f := fit{n: len(start.Players), contests: contests, Strengths: start, ridge: ridge}
	if !slices.ContainsFunc(contests, func(c Contest) bool { return c.Tie > 0 }) {
		f.Tie = math.Inf(-1)
	}
	return f.maximize()
}

// fit maximizes the likelihood of contests by Newton's method. Its parameters are the strengths of n players, the side and
// ties.
type fit struct {
	Strengths
	n        int
	contests []Contest
	ridge    float64 // of players
}

func (f *fit) maximize() Strengths {
	if len(components(f.n, f.contests, func(win, loss float64) bool { return win > 0 })) > 1 {
		f.ridge = max(f.ridge, Ridge)
	}
	value := f.likelihood(f.Strengths)
	for range 100 {
		step := solve(f.derivatives())
		var next Strengths
		var better float64
		for scale := 1.0; ; scale /= 2 { // Newton's step can be too long
			next = f.moved(step, scale)
			better = f.likelihood(next)
			if better >= value || scale < 1e-6 {
				break
			}
		}
		f.Strengths = next
		if better-value < 1e-12*(1+math.Abs(value)) {
			break
		}
		value = better
	}
	return f.Strengths
}

// moved returns the strengths after a step.
func (f *fit) moved(step []float64, scale float64) Strengths {
	s := Strengths{Players: slices.Clone(f.Players), Side: f.Side + scale*step[f.n], Tie: f.Tie + scale*step[f.n+1]}
	for i := range s.Players {
		s.Players[i] += scale * step[i]
	}
	return s
}

// likelihood returns the logarithm of the likelihood, minus the penalties.
func (f *fit) likelihood(s Strengths) float64 {
	sum := -Ridge / 2 * s.Side * s.Side
	if !math.IsInf(s.Tie, -1) {
		sum -= Ridge / 2 * s.Tie * s.Tie
	}
	for _, x := range s.Players {
		sum -= f.ridge / 2 * x * x
	}
	for _, c := range f.contests {
		d := s.difference(c)
		sum += (c.Win - c.Loss) * d / 2
		if c.Tie != 0 {
			sum += c.Tie * s.Tie
		}
		sum -= (c.Win + c.Tie + c.Loss) * math.Log(math.Exp(d/2)+math.Exp(s.Tie)+math.Exp(-d/2))
	}
	return sum
}

// derivatives returns the gradient, and the negative of the matrix of second derivatives.
func (f *fit) derivatives() (slope []float64, curve [][]float64) {
	side, ties := f.n, f.n+1
	slope, curve = make([]float64, f.n+2), make([][]float64, f.n+2)
	for i := range curve {
		curve[i] = make([]float64, f.n+2)
	}
	for _, c := range f.contests {
		win, tie, loss := f.odds(c)
		all := c.Win + c.Tie + c.Loss
		sign := [3]float64{1, -1, 1} // of the first player, the second one and the side in the difference
		if c.WithoutTheSides {
			sign[2] = 0
		}
		at := [3]int{c.First, c.Second, side}
		for i, p := range at {
			slope[p] += sign[i] * (c.Win - c.Loss - all*(win-loss)) / 2
			for j, q := range at {
				curve[p][q] += sign[i] * sign[j] * all * (win + loss - (win-loss)*(win-loss)) / 4
			}
			cross := -sign[i] * all * tie * (win - loss) / 2
			curve[p][ties] += cross
			curve[ties][p] += cross
		}
		slope[ties] += c.Tie - all*tie
		curve[ties][ties] += all * tie * (1 - tie)
	}
	f.penalize(slope, curve)
	return slope, curve
}

// penalize adds the derivatives of the penalties, and keeps the mean of the players' strengths at 0.
func (f *fit) penalize(slope []float64, curve [][]float64) {
	side, ties := f.n, f.n+1
	slope[side] -= Ridge * f.Side
	curve[side][side] += Ridge
	curve[ties][ties] += Ridge
	if !math.IsInf(f.Tie, -1) {
		slope[ties] -= Ridge * f.Tie
	}
	for i, x := range f.Players {
		slope[i] -= f.ridge * x
		curve[i][i] += f.ridge
		for j := range f.n {
			curve[i][j]++
		}
	}
}

// solve returns the solution of a system of linear equations with a symmetric positive definite matrix, which it changes, by
// Cholesky's method.
func solve(b []float64, a [][]float64) []float64 {
	n, x := len(b), slices.Clone(b)
	for i := range n {
		for j := range i + 1 {
			sum := a[i][j]
			for k := range j {
				sum -= a[i][k] * a[j][k]
			}
			if i == j {
				a[i][i] = math.Sqrt(max(sum, 1e-12))
			} else {
				a[i][j] = sum / a[j][j]
			}
		}
	}
	for i := range n {
		for k := range i {
			x[i] -= a[i][k] * x[k]
		}
		x[i] /= a[i][i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			x[i] -= a[k][i] * x[k]
		}
		x[i] /= a[i][i]
	}
	return x
}

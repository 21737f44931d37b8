package detect_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/transcript"
)

// few words, so that sequences repeat.
var (
	texts  = rapid.StringMatching(`([abc]{1,2}[ .]){0,12}`)
	actors = rapid.SampledFrom([]string{"Ann", "Bob", "Cyd"})
	rounds = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) []string {
		var said []string
		for range rapid.IntRange(0, 4).Draw(t, "turns") {
			said = append(said, actors.Draw(t, "actor"), texts.Draw(t, "text"))
		}
		return said
	}), 0, 6)
)

// all passes the rounds to every detector, with each of its methods.
func all(rounds [][]transcript.Turn) (findings []detect.Finding) {
	var (
		repetition detect.Repetition
		echo       detect.Echo
		returns    detect.DiminishingReturns
		drift      = detect.Drift{Topic: "aa bb cc"}
		unanimity  = detect.Unanimity{Answer: text}
		converged  = detect.Convergence{Answer: text}
	)
	for i, turns := range rounds {
		repeated := repetition.Round(turns)
		var said []detect.Vector
		for _, t := range turns {
			said = append(said, detect.Vector{Of: t.Key, Values: []float32{float32(strings.Count(t.Text, "a")), float32(strings.Count(t.Text, "b")) - 2}})
		}
		findings = append(findings, repeated, echo.Round(said), drift.Round(turns), unanimity.Round(turns), converged.Round(turns),
			returns.Round(detect.Scores{Round: i, Quality: 10 * repeated.Value, Novelty: float64(len(turns)), Repetitive: repeated.Found}))
	}
	return findings
}

func turnsOf(rounds [][]string) [][]transcript.Turn {
	var turns [][]transcript.Turn
	for i, said := range rounds {
		turns = append(turns, round(i+1, said...))
	}
	return turns
}

func TestValuesAreSharesAndTheSameEachTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := turnsOf(rounds.Draw(t, "rounds"))
		findings := all(said)
		for _, f := range findings {
			require.True(t, 0 <= f.Value && f.Value <= 1, f)
			require.NotEmpty(t, f.Evidence)
			require.NotContains(t, f.Evidence, "\n")
		}
		require.Equal(t, findings, all(said))
	})
}

func TestATurnThatIsRepeatedOverlapsWholly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d detect.Repetition
		for _, turns := range turnsOf(rounds.Draw(t, "before")) {
			d.Round(turns)
		}
		again := texts.Filter(func(s string) bool { return strings.ContainsAny(s, "abc") }).Draw(t, "again")
		d.Round(round(8, "Ann", again))
		require.InDelta(t, 1, d.Round(round(9, "Ann", again)).Value, 0)
	})
}

func TestMoreHistoryNeverOverlapsLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history, now := turnsOf(rounds.Draw(t, "history")), round(9, "Ann", texts.Draw(t, "now"))
		var less, more detect.Repetition
		for i, turns := range history {
			more.Round(turns)
			if i%2 == 0 {
				less.Round(turns)
			}
		}
		require.LessOrEqual(t, less.Round(now).Value, more.Round(now).Value)
	})
}

// The overlap of a speaker does not depend on what others say or when.
func TestTheOrderOfDifferentSpeakersDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := turnsOf(rounds.Draw(t, "rounds"))
		var one, other detect.Repetition
		for _, turns := range said {
			sorted := slices.Clone(turns)
			slices.SortStableFunc(sorted, func(a, b transcript.Turn) int { return strings.Compare(a.Actor, b.Actor) })
			f, g := one.Round(turns), other.Round(sorted)
			require.Equal(t, f.Value, g.Value) //nolint:testifylint // to the last bit
			require.Equal(t, f.Found, g.Found)
		}
	})
}

func TestTheOrderOfTurnsHasNoPartInDriftAndBallots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var said []string
		for _, actor := range []string{"Ann", "Bob", "Cyd", "Dee"} {
			said = append(said, actor, texts.Draw(t, "text"))
		}
		turns := round(1, said...)
		shuffled := rapid.Permutation(turns).Draw(t, "shuffled")
		drift, unanimity := detect.Drift{Topic: "aa bb cc"}, detect.Unanimity{Answer: text}
		require.InDelta(t, drift.Round(turns).Value, drift.Round(shuffled).Value, 0)
		require.Equal(t, unanimity.Round(turns), unanimity.Round(shuffled))
	})
}

func TestUnanimityIsAShareOfOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		answers := rapid.SliceOfN(rapid.SampledFrom([]string{"", "x", "y"}), 2, 5).Draw(t, "answers")
		var said []string
		for i, a := range answers {
			said = append(said, string(rune('a'+i)), a)
		}
		d := detect.Unanimity{Answer: text}
		same := answers[0] != "" && len(slices.Compact(slices.Clone(answers))) == 1
		f := d.Round(round(1, said...))
		require.Equal(t, same, f.Found)
		require.Equal(t, same, f.Value == 1)
	})
}

func TestLowerScoresNeverReturnMore(t *testing.T) {
	score := rapid.Float64Range(0, 10)
	rapid.Check(t, func(t *rapid.T) {
		q, n := rapid.SliceOfN(score, 3, 3).Draw(t, "quality"), rapid.SliceOfN(score, 3, 3).Draw(t, "novelty")
		less := rapid.Float64Range(0, q[2]).Draw(t, "less")
		value := func(last float64) float64 {
			var d detect.DiminishingReturns
			d.Round(detect.Scores{Round: 1, Quality: q[0], Novelty: n[0]})
			d.Round(detect.Scores{Round: 2, Quality: q[1], Novelty: n[1]})
			f := d.Round(detect.Scores{Round: 3, Quality: last, Novelty: n[2]})
			require.Equal(t, f.Found, f.Value == 1)
			return f.Value
		}
		require.LessOrEqual(t, value(q[2]), value(less))
	})
}

func TestSimilarityDoesNotDependOnLength(t *testing.T) {
	vector := rapid.SliceOfN(rapid.Float32Range(-9, 9), 4, 4)
	rapid.Check(t, func(t *rapid.T) {
		v := vector.Draw(t, "v")
		w := vector.Draw(t, "w")
		by := rapid.Float32Range(0.5, 100).Draw(t, "by")
		value := func(before, now []float32) float64 {
			var d detect.Echo
			d.Round(byVectors(1, "Ann", before))
			return d.Round(byVectors(2, "Ann", now)).Value
		}
		longer := slices.Clone(w)
		for i := range longer {
			longer[i] *= by
		}
		if math.Sqrt(float64(w[0]*w[0]+w[1]*w[1]+w[2]*w[2]+w[3]*w[3])) > 1e-3 {
			require.InDelta(t, value(v, w), value(v, longer), 1e-4)
		}
		require.InDelta(t, value(v, w), value(w, v), 1e-9, "nor on which of two comes first")
	})
}

package detect_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/transcript"
)

func TestARuleSaysWhatIsWrongWithIt(t *testing.T) {
	for _, tt := range []struct {
		name string
		rule detect.Rule
		want string // a part of the error; empty if there is none
	}{
		{"a signal", detect.Rule{Signal: detect.Repetitive}, ""},
		{"by vectors", detect.Rule{Signal: detect.Repetitive, Method: "vectors", Effect: detect.Stop, Threshold: 0.9}, ""},
		{"drift by scores has a scale of 10", detect.Rule{Signal: detect.Drifting, Threshold: 4}, ""},
		{"drift by words has a scale of 1", detect.Rule{Signal: detect.Drifting, Method: "words", Threshold: 4}, "threshold 4: use 0 for the default, or up to 1"},
		{"rounds", detect.Rule{Signal: detect.Diminishing, Threshold: 4}, ""},
		{"no signal", detect.Rule{}, `signal "" is unknown, use one of`},
		{"method of another signal", detect.Rule{Signal: detect.Unanimous, Method: "vectors"}, `method "vectors": unanimous is measured by one of ["answers"]`},
		{"an unknown use", detect.Rule{Signal: detect.Unanimous, Effect: "shout"}, `effect "shout" is unknown, use one of ["report" "advise" "stop"]`},
		{"a negative threshold", detect.Rule{Signal: detect.Unanimous, Threshold: -1}, "threshold -1"},
		{"a threshold that is no number", detect.Rule{Signal: detect.Unanimous, Threshold: math.NaN()}, "threshold NaN"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == "" {
				require.Empty(t, tt.rule.Check())
				return
			}
			require.Contains(t, strings.Join(tt.rule.Check(), "\n"), tt.want)
		})
	}
}

// Each rule returns the findings of its detector, with its threshold and effect.
func TestAWatchFindsWhatItsDetectorsFind(t *testing.T) {
	const topic = "cars in our cities"
	rounds := [][]transcript.Turn{
		round(1, "Ann", "cars make our cities loud and dirty", "Bob", "cars bring us to work"),
		round(2, "Ann", "cars make our cities loud and dirty", "Bob", "cheese is yellow, as Ann knows"),
	}
	embedded := func(turns []transcript.Turn) (list []detect.Vector) {
		for _, t := range turns {
			list = append(list, detect.Vector{Of: t.Key, Values: []float32{float32(len(t.Text)), 1}})
		}
		return list
	}
	scores := []detect.Scores{{Round: 1, Quality: 8, Novelty: 8}, {Round: 2, Quality: 3, Novelty: 2}}
	first := func(t transcript.Turn) string { return t.Text[:4] }

	repetition, echo := &detect.Repetition{Overlap: 0.4}, &detect.Echo{Cosine: 0.5}
	words, marks := &detect.Drift{Topic: topic, Similarity: 0.9}, &detect.Drift{Topic: topic}
	answers, judged := &detect.Convergence{Answer: first, Share: 0.5}, &detect.Convergence{}
	returns, unanimity := &detect.DiminishingReturns{Rounds: 2}, &detect.Unanimity{Answer: first}

	w := detect.Detector{Topic: topic, Answer: first, Rules: []detect.Rule{
		{Signal: detect.Repetitive, Threshold: 0.4, Effect: detect.Stop},
		{Signal: detect.Repetitive, Method: "vectors", Threshold: 0.5, Effect: detect.Advise},
		{Signal: detect.Drifting, Method: "words", Threshold: 0.9},
		{Signal: detect.Drifting},
		{Signal: detect.Converged, Method: "answers", Threshold: 0.5},
		{Signal: detect.Converged},
		{Signal: detect.Diminishing, Threshold: 2},
		{Signal: detect.Unanimous, Effect: detect.Stop},
	}}
	uses := func(f detect.Finding, use string) detect.Finding {
		f.Effect = use
		return f
	}
	for i, turns := range rounds {
		require.Equal(t, []detect.Finding{
			uses(repetition.Round(turns), detect.Stop), uses(echo.Round(embedded(turns)), detect.Advise),
			uses(words.Round(turns), detect.Report), uses(answers.Round(turns), detect.Report), uses(unanimity.Round(turns), detect.Stop),
		}, w.CheckSpeeches(turns, embedded(turns)))

		s := scores[i]
		s.Repetitive = i == 1 // the Detector knows it from its first rule
		require.Equal(t, []detect.Finding{
			uses(marks.ByScores(s.Round, 4), detect.Report), uses(judged.ByFlags(s.Round, true, true, false), detect.Report),
			uses(returns.Round(s), detect.Report),
		}, w.CheckScores(scores[i], 4, true, true, false))
	}
}

func TestAWatchWithoutRulesFindsNothing(t *testing.T) {
	var w detect.Detector
	require.Empty(t, w.CheckSpeeches(round(1, "Ann", "a b c"), nil))
	require.Empty(t, w.CheckScores(detect.Scores{Round: 1}, 1, true))
}

func TestWithoutVectorsNothingIsRepeated(t *testing.T) {
	w := detect.Detector{Rules: []detect.Rule{{Signal: detect.Repetitive, Method: "vectors"}}}
	f := w.CheckSpeeches(round(3, "Ann", "a b c"), nil)
	require.Len(t, f, 1)
	require.Equal(t, 3, f[0].Round)
	require.False(t, f[0].Found)
}

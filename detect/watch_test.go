package detect_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/detect"
	"github.com/elenchus-go/debate/transcript"
)

func TestARuleSaysWhatIsWrongWithIt(t *testing.T) {
	for _, tt := range []struct {
		name string
		rule detect.Rule
		want string // a part of it; empty: nothing is wrong
	}{
		{"a sign", detect.Rule{Sign: detect.Repetitive}, ""},
		{"by vectors", detect.Rule{Sign: detect.Repetitive, By: "vectors", Use: detect.Stop, Threshold: 0.9}, ""},
		{"drift by marks has a scale of 10", detect.Rule{Sign: detect.Drifting, Threshold: 4}, ""},
		{"drift by words has a scale of 1", detect.Rule{Sign: detect.Drifting, By: "words", Threshold: 4}, "threshold 4: use 0 for the default, or up to 1"},
		{"rounds", detect.Rule{Sign: detect.Diminishing, Threshold: 4}, ""},
		{"no sign", detect.Rule{}, `sign "" is unknown, use one of`},
		{"means of another sign", detect.Rule{Sign: detect.Disengaged, By: "vectors"}, `by "vectors": disengaged goes by one of ["words"]`},
		{"an unknown use", detect.Rule{Sign: detect.Unanimous, Use: "shout"}, `use "shout" is unknown, use one of ["report" "advise" "stop"]`},
		{"a negative threshold", detect.Rule{Sign: detect.Unanimous, Threshold: -1}, "threshold -1"},
		{"a threshold that is no number", detect.Rule{Sign: detect.Unanimous, Threshold: math.NaN()}, "threshold NaN"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == "" {
				require.Empty(t, tt.rule.Check())
				return
			}
			require.Contains(t, tt.rule.Check(), tt.want)
		})
	}
}

// Each rule gives what its detector alone gives, with its threshold and use.
func TestAWatchFindsWhatItsDetectorsFind(t *testing.T) {
	const topic = "cars in our cities"
	seats := []transcript.Seat{{Name: "Ann"}, {Name: "Bob"}}
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
	engagement := &detect.Engagement{Topic: topic, Seats: seats, Least: 0.9}
	words, marks := &detect.Drift{Topic: topic, Similarity: 0.9}, &detect.Drift{Topic: topic}
	answers, judged := &detect.Convergence{Answer: first, Share: 0.5}, &detect.Convergence{}
	returns, unanimity := &detect.DiminishingReturns{Rounds: 2}, &detect.Unanimity{Answer: first}

	w := detect.Watch{Topic: topic, Seats: seats, Answer: first, Rules: []detect.Rule{
		{Sign: detect.Repetitive, Threshold: 0.4, Use: detect.Stop},
		{Sign: detect.Repetitive, By: "vectors", Threshold: 0.5, Use: detect.Advise},
		{Sign: detect.Disengaged, Threshold: 0.9},
		{Sign: detect.Drifting, By: "words", Threshold: 0.9},
		{Sign: detect.Drifting},
		{Sign: detect.Converged, By: "answers", Threshold: 0.5},
		{Sign: detect.Converged},
		{Sign: detect.Diminishing, Threshold: 2},
		{Sign: detect.Unanimous, Use: detect.Stop},
	}}
	uses := func(f detect.Finding, use string) detect.Finding {
		f.Use = use
		return f
	}
	for i, turns := range rounds {
		require.Equal(t, []detect.Finding{
			uses(repetition.Round(turns), detect.Stop), uses(echo.Round(embedded(turns)), detect.Advise),
			uses(engagement.Round(turns), detect.Report), uses(words.Round(turns), detect.Report),
			uses(answers.Round(turns), detect.Report), uses(unanimity.Round(turns), detect.Stop),
		}, w.Spoken(turns, embedded(turns)))

		s := scores[i]
		s.Repetitive = i == 1 // the watch knows by its first rule
		require.Equal(t, []detect.Finding{
			uses(marks.Scored(s.Round, 4), detect.Report), uses(judged.Judged(s.Round, true, true, false), detect.Report),
			uses(returns.Round(s), detect.Report),
		}, w.Judged(scores[i], 4, true, true, false))
	}
}

func TestAWatchWithoutRulesFindsNothing(t *testing.T) {
	var w detect.Watch
	require.Empty(t, w.Spoken(round(1, "Ann", "a b c"), nil))
	require.Empty(t, w.Judged(detect.Scores{Round: 1}, 1, true))
}

func TestWithoutVectorsNothingIsRepeated(t *testing.T) {
	w := detect.Watch{Rules: []detect.Rule{{Sign: detect.Repetitive, By: "vectors"}}}
	f := w.Spoken(round(3, "Ann", "a b c"), nil)
	require.Len(t, f, 1)
	require.Equal(t, 3, f[0].Round)
	require.False(t, f[0].Found)
}

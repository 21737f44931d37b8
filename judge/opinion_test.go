package judge_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/transcript"
)

type (
	word   = judge.Opinion[judge.Assessment]
	ruling = judge.Opinion[judge.Verdict]
)

// says returns an opinion on a round with these scores for Ann and Bob.
func says(j string, goOn bool, quality, ann, bob float64) word {
	return word{Judge: j, Value: judge.Assessment{
		Participants: []judge.ParticipantAssessment{
			{Name: "Ann", Strengths: []string{j + " on Ann"}, Criteria: []judge.CriterionScore{{Criterion: "wit", Score: ann}}, Score: ann},
			{Name: "Bob", Criteria: []judge.CriterionScore{{Criterion: "wit", Score: bob}}, Score: bob},
		},
		Reasoning: j + "'s reasons", Quality: quality, ShouldContinue: goOn, Recommendations: []string{j + "'s advice"},
	}}
}

func swapped[T any](o judge.Opinion[T]) judge.Opinion[T] {
	o.Swapped = true
	return o
}

func failed[T any](o judge.Opinion[T]) judge.Opinion[T] {
	o.Failed = true
	return o
}

// flagged sets a flag.
func flagged(o word, raise func(*judge.Assessment)) word {
	raise(&o.Value)
	return o
}

func converged(a *judge.Assessment) { a.Converged = true }

func TestBenchOfAssessments(t *testing.T) {
	for _, tt := range []struct {
		name          string
		bench         judge.Jury
		opinions      []word
		goOn          bool
		quality       float64
		ann, bob      float64
		texts         string // whose
		failed, agree bool   // agree: converged
		dissent       []string
		disagreement  []string
	}{
		{
			name: "a majority goes on", opinions: []word{says("J", false, 4, 5, 5), says("K", true, 6, 6, 6), says("L", true, 5, 7, 7)},
			goOn: true, quality: 5, ann: 6, bob: 6, texts: "K", dissent: []string{"J: should_continue is false: J's reasons"},
		},
		{
			name: "a majority ends", opinions: []word{says("J", true, 4, 5, 5), says("K", false, 6, 6, 6), says("L", false, 5, 7, 7)},
			quality: 5, ann: 6, bob: 6, texts: "K", dissent: []string{"J: should_continue is true: J's reasons"},
		},
		{
			name: "a tie goes on", opinions: []word{says("J", false, 4, 5, 5), says("K", true, 5, 6, 6)},
			goOn: true, quality: 4.5, ann: 5.5, bob: 5.5, texts: "K", dissent: []string{"J: should_continue is false: J's reasons"},
		},
		{
			name: "a tie raises no flag", opinions: []word{flagged(says("J", true, 4, 5, 5), converged), says("K", true, 5, 6, 6)},
			goOn: true, quality: 4.5, ann: 5.5, bob: 5.5, texts: "J", dissent: []string{"J: converged is true: J's reasons"},
		},
		{
			name: "a majority raises a flag", goOn: true, agree: true, quality: 5, ann: 5, bob: 5, texts: "J",
			opinions: []word{flagged(says("J", true, 5, 5, 5), converged), flagged(says("K", true, 5, 5, 5), converged), says("L", true, 5, 5, 5)},
			dissent:  []string{"L: converged is false: L's reasons"},
		},
		{
			name: "the mean", opinions: []word{says("J", true, 1, 1, 0), says("K", true, 2, 3, 0), says("L", true, 2, 4, 0)},
			goOn: true, quality: 1.67, ann: 2.67, texts: "J",
		},
		{
			name: "the median", bench: judge.Jury{Aggregation: judge.Median},
			opinions: []word{says("J", true, 9, 1, 0), says("K", true, 7, 3, 0), says("L", true, 8, 4, 0)},
			goOn:     true, quality: 8, ann: 3, texts: "J",
		},
		{
			name: "the median of an even number", bench: judge.Jury{Aggregation: judge.Median},
			opinions: []word{says("J", true, 7, 4, 0), says("K", true, 7, 2, 0), says("L", true, 7, 1, 0), says("M", true, 7, 3, 0)},
			goOn:     true, quality: 7, ann: 2.5, texts: "J",
		},
		{
			name: "scores far apart", opinions: []word{says("J", true, 2, 1, 5), says("K", true, 5.1, 8, 8), says("L", true, 3, 6, 5)},
			goOn: true, quality: 3.37, ann: 5, bob: 6, texts: "J",
			disagreement: []string{"quality: J gives 2, K gives 5.1", "score of Ann: J gives 1, K gives 8"},
		},
		{
			name: "one has failed", opinions: []word{failed(says("J", true, 5, 5, 5)), says("K", false, 8, 9, 9)},
			quality: 8, ann: 9, bob: 9, texts: "K",
		},
		{
			name: "all have failed", opinions: []word{failed(says("J", true, 5, 5, 5)), failed(says("K", true, 5, 5, 5))},
			goOn: true, quality: 5, ann: 5, bob: 5, texts: "J", failed: true,
		},
		{
			name: "one has failed without a score", opinions: []word{failed(says("J", true, 5, 4, 5)), failed(word{Judge: "K", Value: judge.Assessment{
				Participants: []judge.ParticipantAssessment{{Name: "Bob", Score: 5}}, Quality: 5, ShouldContinue: true,
			}})},
			goOn: true, quality: 5, ann: 4, bob: 5, texts: "J", failed: true,
		},
		{
			name: "both orders agree", opinions: []word{says("J", false, 4, 5, 5), swapped(says("J", false, 5, 6, 7))},
			quality: 4.5, ann: 5.5, bob: 6, texts: "J",
		},
		{
			name: "the orders contradict each other", goOn: true, quality: 4.5, ann: 5, bob: 5, texts: "J",
			opinions: []word{flagged(says("J", false, 4, 8, 2), converged), swapped(says("J", true, 5, 2, 8))},
			disagreement: []string{
				"J: should_continue is false in one order and should_continue is true in the other",
				"J: converged is true in one order and converged is false in the other",
				"J: score of Ann is 8 in one order and 2 in the other", "J: score of Bob is 2 in one order and 8 in the other",
			},
		},
		{
			name: "who contradicts itself abstains", quality: 4, ann: 4, bob: 4, texts: "K",
			opinions:     []word{says("J", false, 4, 4, 4), says("K", false, 4, 4, 4), swapped(says("J", true, 4, 4, 4)), swapped(says("K", false, 4, 4, 4))},
			disagreement: []string{"J: should_continue is false in one order and should_continue is true in the other"},
		},
		{
			name: "who judged twice is one voter", goOn: true, quality: 5, ann: 5, bob: 5, texts: "K",
			opinions: []word{says("J", false, 4, 4, 4), swapped(says("J", false, 4, 4, 4)), says("K", true, 6, 6, 6)},
			dissent:  []string{"J: should_continue is false: J's reasons"},
		},
		{
			name: "one order has failed", opinions: []word{failed(says("J", true, 5, 5, 5)), swapped(says("J", false, 8, 9, 9))},
			quality: 8, ann: 9, bob: 9, texts: "J",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before, err := json.Marshal(tt.opinions)
			require.NoError(t, err)
			joint, ok := tt.bench.CombineAssessments(tt.opinions)
			require.True(t, ok)
			after, err := json.Marshal(tt.opinions)
			require.NoError(t, err)
			require.Equal(t, before, after, "what was said stays as it is")
			require.Equal(t, tt.opinions, joint.Opinions)
			require.Equal(t, tt.failed, joint.Failed)
			require.Equal(t, tt.dissent, joint.Dissent)
			require.Equal(t, tt.disagreement, joint.Disagreement)

			want := says(tt.texts, tt.goOn, tt.quality, tt.ann, tt.bob).Value
			want.Converged = tt.agree
			require.Equal(t, want, joint.Value)
		})
	}
}

func TestABenchOfNobodySaysNothing(t *testing.T) {
	_, ok := judge.Jury{}.CombineAssessments(nil)
	require.False(t, ok)
	_, ok = judge.Jury{}.CombineVerdicts(nil)
	require.False(t, ok)
}

func TestABenchOfOneSaysWhatItSays(t *testing.T) {
	for _, bench := range []judge.Jury{{}, {Aggregation: judge.Median}} {
		a := judge.Assessment{
			Participants: []judge.ParticipantAssessment{{Name: "Ann", Criteria: []judge.CriterionScore{{Criterion: "wit", Score: 6.123}}, Score: 6.12}},
			Reasoning:    "so", Repetitive: true, Drifting: true, DiminishingReturns: true, Converged: true, Quality: 3.333,
		}
		joint, ok := bench.CombineAssessments([]word{{Judge: "J", Value: a}})
		require.True(t, ok)
		require.Equal(t, a, joint.Value)
		require.Empty(t, append(joint.Dissent, joint.Disagreement...))

		for _, winner := range []string{"", "Ann"} {
			v := judge.Verdict{Summary: "S", Winner: winner, WinnerReasoning: "W", Dissent: "D", Quality: 70.123, Insights: []string{"I"}}
			joint, ok := bench.CombineVerdicts([]ruling{{Judge: "J", Value: v}})
			require.True(t, ok)
			require.Equal(t, v, joint.Value)
			require.Empty(t, append(joint.Dissent, joint.Disagreement...))
		}
	}
}

// names returns a verdict for a winner.
func names(j, winner string, quality float64) ruling {
	return ruling{Judge: j, Value: judge.Verdict{
		Summary: j + "'s summary", Winner: winner, WinnerReasoning: j + "'s reasons", Dissent: j + "'s doubts", Quality: quality,
	}}
}

func TestBenchOfVerdicts(t *testing.T) {
	for _, tt := range []struct {
		name         string
		bench        judge.Jury
		opinions     []ruling
		winner       string
		quality      float64
		texts        string // whose texts; with a "!" only the summary
		failed       bool
		dissent      []string
		disagreement []string
	}{
		{
			name: "a majority", opinions: []ruling{names("J", "Bob", 60), names("K", "Ann", 70), names("L", "Ann", 80)},
			winner: "Ann", quality: 70, texts: "K", dissent: []string{"J: Bob won: J's reasons"},
		},
		{
			name: "a majority for no winner", opinions: []ruling{names("J", "Bob", 60), names("K", "", 70), names("L", "", 80)},
			quality: 70, texts: "K", dissent: []string{"J: Bob won: J's reasons"},
		},
		{
			name: "a tie", opinions: []ruling{names("J", "Bob", 60), names("K", "Ann", 70)},
			quality: 65, texts: "J!", dissent: []string{"J: Bob won: J's reasons", "K: Ann won: K's reasons"},
		},
		{
			name: "one vote for no winner is no majority", opinions: []ruling{names("J", "Ann", 60), names("K", "", 70)},
			quality: 65, texts: "K", dissent: []string{"J: Ann won: J's reasons"},
		},
		{
			name: "most is not more than half", opinions: []ruling{names("J", "Ann", 60), names("K", "Ann", 60), names("L", "Bob", 60), names("M", "Cy", 60)},
			quality: 60, texts: "J!", dissent: []string{"J: Ann won: J's reasons", "K: Ann won: K's reasons", "L: Bob won: L's reasons", "M: Cy won: M's reasons"},
		},
		{
			name: "the median, and far apart", bench: judge.Jury{Aggregation: judge.Median},
			opinions: []ruling{names("J", "Ann", 10), names("K", "Ann", 70), names("L", "Ann", 80)},
			winner:   "Ann", quality: 70, texts: "J", disagreement: []string{"quality: J gives 10, L gives 80"},
		},
		{
			name: "not far apart", opinions: []ruling{names("J", "Ann", 50), names("K", "Ann", 80)}, winner: "Ann", quality: 65, texts: "J",
		},
		{
			name: "one has failed", opinions: []ruling{failed(names("J", "", 50)), names("K", "Bob", 90)}, winner: "Bob", quality: 90, texts: "K",
		},
		{
			name: "all have failed", opinions: []ruling{failed(names("J", "", 50)), failed(names("K", "", 50))}, quality: 50, texts: "J", failed: true,
		},
		{
			name: "both orders agree", opinions: []ruling{names("J", "Bob", 60), swapped(names("J", "Bob", 70))}, winner: "Bob", quality: 65, texts: "J",
		},
		{
			name: "the orders contradict each other", opinions: []ruling{names("J", "Bob", 20), swapped(names("J", "Ann", 70))}, quality: 45, texts: "J!",
			disagreement: []string{"J: Bob won in one order and Ann won in the other", "J: quality is 20 in one order and 70 in the other"},
		},
		{
			name: "who contradicts itself abstains", winner: "Ann", quality: 60, texts: "K",
			opinions:     []ruling{names("J", "Bob", 60), swapped(names("J", "", 60)), names("K", "Ann", 60), swapped(names("K", "Ann", 60))},
			disagreement: []string{"J: Bob won in one order and nobody won in the other"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			joint, ok := tt.bench.CombineVerdicts(tt.opinions)
			require.True(t, ok)
			require.Equal(t, tt.opinions, joint.Opinions)
			require.Equal(t, tt.failed, joint.Failed)
			require.Equal(t, tt.dissent, joint.Dissent)
			require.Equal(t, tt.disagreement, joint.Disagreement)

			want := names(tt.texts[:1], tt.winner, tt.quality).Value
			if tt.texts[1:] != "" {
				want.WinnerReasoning, want.Dissent = "The judges did not agree on a winner.", ""
			}
			require.Equal(t, want, joint.Value)
		})
	}
}

func TestOpinionsAreWhatTurnsSay(t *testing.T) {
	good := json.RawMessage(`{"participants":[],"quality":3,"should_continue":false}`)
	contract := judge.AssessmentContract.Name()
	turns := []transcript.Turn{
		{Key: transcript.Key{Actor: "J"}, Contract: contract, Data: good},
		{Key: transcript.Key{Actor: "J", Target: judge.Swapped}, Contract: contract, Data: good, Flags: []transcript.Flag{transcript.Reasked}},
		{Key: transcript.Key{Actor: "K"}, Contract: contract, Data: good, Flags: []transcript.Flag{transcript.Reasked, transcript.Defaulted}},
		{Key: transcript.Key{Actor: "L"}, Contract: contract, Data: json.RawMessage(`{"quality":"high","should_continue":false}`)},
	}
	a := judge.Assessment{Participants: []judge.ParticipantAssessment{}, Quality: 3}
	var fallback judge.Assessment
	fallback.Default(nil)
	require.Equal(t, []word{
		{Judge: "J", Value: a}, {Judge: "J", Swapped: true, Value: a}, {Judge: "K", Failed: true, Value: a}, {Judge: "L", Failed: true, Value: fallback},
	}, judge.Opinions[judge.Assessment](turns...))

	type plain struct{ Quality float64 }
	require.Equal(t, []judge.Opinion[plain]{{Judge: "L", Failed: true}}, judge.Opinions[plain](turns[3:]...))
}

func TestAJointWordSurvivesJSON(t *testing.T) {
	joint, ok := judge.Jury{}.CombineAssessments([]word{says("J", false, 4, 5, 5), failed(says("K", true, 5, 6, 6))})
	require.True(t, ok)
	data, err := json.Marshal(joint)
	require.NoError(t, err)
	var back word
	require.NoError(t, json.Unmarshal(data, &back))
	require.Equal(t, joint, back)
	require.Contains(t, string(data), `"judge":"K","failed":true`)
}

func TestWhatIsWrongWithABench(t *testing.T) {
	require.Empty(t, judge.Jury{}.Check())
	require.Empty(t, judge.Jury{Aggregation: judge.Median, Swap: true}.Check())
	require.Equal(t, []string{`aggregation "best" is unknown, use one of ["mean" "median"]`}, judge.Jury{Aggregation: "best"}.Check())
}

// A stored opinion may contain what no contract accepts. That must not fail.
func TestABenchTakesAnAssessmentThatNamesSomebodyTwice(t *testing.T) {
	twice := judge.Assessment{Participants: []judge.ParticipantAssessment{
		{Name: "Ann", Criteria: []judge.CriterionScore{{Criterion: "wit", Score: 3}}}, {Name: "Ann", Criteria: []judge.CriterionScore{{Criterion: "charm", Score: 9}}},
	}}
	joint, ok := judge.Jury{}.CombineAssessments([]judge.Opinion[judge.Assessment]{{Judge: "J", Value: twice}, {Judge: "K", Value: twice}})
	require.True(t, ok)
	require.Equal(t, twice.Participants, joint.Value.Participants)
}

package judge_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/transcript"
)

// brief is a rubric of two criteria. The second has three times the weight of the first.
var brief = judge.Rubric{{Name: "wit", Weight: 1}, {Name: "clear_words", Weight: 3, Description: "is it plain?", Zero: "fog", Ten: "glass", Bands: []string{"1-5: mist"}}}

// marked returns an assessment of Alice alone with these criterion scores.
func marked(marks string) string {
	return `{"should_continue":true,"quality":7,"participants":[{"name":"Alice","criteria":` + marks + `}]}`
}

func assessmentOf(t *testing.T, r reply.Reply) judge.Assessment {
	t.Helper()
	a, err := transcript.Decode[judge.Assessment](transcript.Turn{Contract: judge.AssessmentContract.Name(), Data: r.Data})
	require.NoError(t, err)
	return a
}

func TestTheTotalIsTheMeanByWeight(t *testing.T) {
	for _, tt := range []struct {
		name   string
		rubric judge.Rubric
		marks  []float64
		want   float64
	}{
		{"the same score for all", nil, []float64{6, 6, 6, 6, 6, 6}, 6},
		{"the default weights", nil, []float64{10, 0, 0, 0, 0, 0}, 2},
		{"novelty", nil, []float64{0, 0, 0, 10, 0, 0}, 1.5},
		{"persuasiveness", nil, []float64{0, 0, 0, 0, 10, 0}, 1.5},
		{"relevance", nil, []float64{0, 0, 0, 0, 0, 10}, 1},
		{"both ends", nil, []float64{10, 10, 10, 10, 10, 10}, 10},
		{"rounded to hundredths", judge.Rubric{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}, {Name: "c", Weight: 1}}, []float64{1, 0, 0}, 0.33},
		{"weights are relative", judge.Rubric{{Name: "a", Weight: 0.1}, {Name: "b", Weight: 0.3}}, []float64{4, 8}, 7},
		{"a criterion without weight", judge.Rubric{{Name: "a"}, {Name: "b", Weight: 5}}, []float64{9, 2}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			marks := tt.rubric.UniformScores(0)
			require.Len(t, marks, len(tt.marks))
			for i := range marks {
				marks[i].Score = tt.marks[i]
			}
			text, err := json.Marshal(marks)
			require.NoError(t, err)
			r, err := tt.rubric.Contract().Parse(marked(string(text)), []string{"Alice"})
			require.NoError(t, err)
			require.InDelta(t, tt.want, assessmentOf(t, r).Participants[0].Score, 1e-12)
		})
	}
}

func TestATotalThatTheJudgeGivesIsNotBelieved(t *testing.T) {
	text := strings.Replace(marked(sixes), `"criteria"`, `"score":9.5,"criteria"`, 1)
	r, err := judge.AssessmentContract.Parse(text, []string{"Alice"})
	require.NoError(t, err)
	require.InDelta(t, 6, assessmentOf(t, r).Participants[0].Score, 0)
	require.Contains(t, string(r.Data), `"score":6}`, "what was computed is stored")

	var schema struct {
		Properties struct {
			Participants struct {
				Items struct{ Properties map[string]any }
			}
		}
	}
	require.NoError(t, json.Unmarshal(judge.AssessmentContract.Schema(), &schema))
	require.Contains(t, schema.Properties.Participants.Items.Properties, "criteria")
	require.NotContains(t, schema.Properties.Participants.Items.Properties, "score", "it is not asked for")
}

func TestEachCriterionHasOneMark(t *testing.T) {
	for _, tt := range []struct{ name, marks, fault string }{
		{"each once", `[{"criterion":"wit","score":1},{"criterion":"clear_words","score":2}]`, ""},
		{"in another order and spelling", `[{"criterion":"Clear Words","score":2},{"criterion":" WIT","score":1}]`, ""},
		{
			"one is missing", `[{"criterion":"wit","score":1}]`,
			`/participants/0/criteria: "clear_words" has no score`,
		},
		{
			"none at all", `[]`,
			`/participants/0/criteria: "clear_words" has no score; /participants/0/criteria: "wit" has no score`,
		},
		{
			"one twice", `[{"criterion":"wit","score":1},{"criterion":"clear-words","score":2},{"criterion":"Wit","score":9}]`,
			`/participants/0/criteria/2/criterion: "wit" appears twice`,
		},
		{
			"one of another rubric", `[{"criterion":"wit","score":1},{"criterion":"clear_words","score":2},{"criterion":"evidence","score":2}]`,
			`/participants/0/criteria/2/criterion: "evidence" is not a criterion; the criteria are ["wit" "clear_words"]`,
		},
		{"no list", `null`, `/participants/0/criteria: expected array, but got null`},
		{"too high", `[{"criterion":"wit","score":11}]`, `/participants/0/criteria/0/score: must be <= 10 but found 11`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := brief.Contract().Parse(marked(tt.marks), []string{"Alice"})
			if tt.fault != "" {
				require.EqualError(t, err, "parse reply: "+tt.fault)
				return
			}
			require.NoError(t, err)
			p := assessmentOf(t, r).Participants[0]
			require.ElementsMatch(t, []judge.CriterionScore{{Criterion: "wit", Score: 1}, {Criterion: "clear_words", Score: 2}}, p.Criteria)
			require.InDelta(t, 1.75, p.Score, 0)
		})
	}
}

func TestAReplyWithoutMarksIsNoFallback(t *testing.T) {
	_, err := judge.AssessmentContract.Parse(`{"should_continue":true,"quality":7,"participants":[{"name":"Alice"}]}`, []string{"Alice"})
	require.EqualError(t, err, "parse reply: /participants/0: missing properties: 'criteria'")
}

func TestAFallbackGoesByTheRubric(t *testing.T) {
	r, ok := brief.Contract().Default([]string{"Alice"})
	require.True(t, ok)
	p := assessmentOf(t, r).Participants[0]
	require.Equal(t, brief.UniformScores(5), p.Criteria)
	require.InDelta(t, 5, p.Score, 0)
}

func TestOutlineOfARubric(t *testing.T) {
	require.Equal(t, `- wit (25 %)
- clear_words (75 %): is it plain?
  - 0 means: fog
  - 10 means: glass
  - 1-5: mist`, brief.Outline())
	for _, want := range []string{
		"- logical_consistency (20 %): ", "- evidence (20 %): ", "- engagement (20 %): ", "- novelty (15 %): ", "- persuasiveness (15 %): ", "- relevance (10 %): ",
	} {
		require.Contains(t, judge.Rubric(nil).Outline(), want)
	}
	require.Equal(t, 6, strings.Count(judge.Rubric{}.Outline(), "  - 0 means: "))
	require.Equal(t, 6, strings.Count(judge.Rubric{}.Outline(), "  - 10 means: "))
}

func TestWhatIsWrongWithARubric(t *testing.T) {
	long := strings.Repeat("x", 401)
	var many judge.Rubric
	for i := range 17 {
		many = append(many, judge.Criterion{Name: fmt.Sprint("c", i), Weight: 1})
	}
	for _, tt := range []struct {
		name   string
		rubric judge.Rubric
		want   []string
	}{
		{"the default", nil, nil},
		{"a custom rubric", brief, nil},
		{"16 criteria", many[:16], nil},
		{"too many", many, []string{"17 criteria, at most 16 are allowed"}},
		{"no name", judge.Rubric{{Name: " ", Weight: 1}}, []string{`criterion 1: name is empty, use one such as "evidence"`}},
		{"similar names", judge.Rubric{{Name: "wit", Weight: 1}, {Name: "Wit ", Weight: 1}}, []string{`criterion 2: name "Wit " appears twice`}},
		{"negative", judge.Rubric{{Name: "a", Weight: -1}}, []string{"criterion 1: weight -1, use a number from 0 to 1000000"}},
		{"infinite", judge.Rubric{{Name: "a", Weight: math.Inf(1)}}, []string{"criterion 1: weight +Inf, use a number from 0 to 1000000"}},
		{"no number", judge.Rubric{{Name: "a", Weight: math.NaN()}}, []string{"criterion 1: weight NaN, use a number from 0 to 1000000"}},
		{"no weight at all", judge.Rubric{{Name: "a"}, {Name: "b"}}, []string{"all weights are 0, at least one must be greater"}},
		{
			"long texts",
			judge.Rubric{{Name: long, Weight: 1, Description: long, Zero: long, Ten: long, Bands: []string{"0: no", long}}},
			[]string{
				"criterion 1: name has 401 bytes, at most 100 are allowed", "criterion 1: description has 401 bytes, at most 400 are allowed",
				"criterion 1: zero has 401 bytes, at most 400 are allowed", "criterion 1: ten has 401 bytes, at most 400 are allowed",
				"criterion 1: band has 401 bytes, at most 400 are allowed",
			},
		},
		{
			"several lines",
			judge.Rubric{{Name: "a", Weight: 1, Description: "b\nc", Bands: make([]string, 12)}},
			[]string{"criterion 1: 12 bands, at most 11 are allowed", "criterion 1: description has several lines, use one"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tt.rubric.Check()) })
	}
}

func TestMeanOfACriterion(t *testing.T) {
	a := judge.Assessment{Participants: []judge.ParticipantAssessment{
		{Name: "Alice", Criteria: []judge.CriterionScore{{Criterion: judge.Novelty, Score: 3}, {Criterion: judge.Relevance, Score: 9}}},
		{Name: "Bob", Criteria: []judge.CriterionScore{{Criterion: judge.Novelty, Score: 6}}},
		{Name: "Cy"},
	}}
	require.InDelta(t, 4.5, a.MeanScore(judge.Novelty), 0)
	require.InDelta(t, 9, a.MeanScore(judge.Relevance), 0)
	require.True(t, math.IsNaN(a.MeanScore("wit")))
}

func TestAnAssessmentWithoutMarksIsStillRead(t *testing.T) {
	a, err := transcript.Decode[judge.Assessment](transcript.Turn{Contract: judge.AssessmentContract.Name(), Data: json.RawMessage(`{"participants":[{"name":"Alice","score":7}],"quality":6,"should_continue":true}`)})
	require.NoError(t, err)
	require.Contains(t, a.Text(), "Alice: 7 of 10\n")
}

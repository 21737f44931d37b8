package agreement_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/transcript"
)

// assessment returns the turn of an assessment with scores of Ada and Bo.
func assessment(t *testing.T, judgeName string, round int, ada, bo float64) transcript.Turn {
	data, err := json.Marshal(judge.Assessment{Participants: []judge.ParticipantAssessment{{Name: "Ada", Score: ada}, {Name: "Bo", Score: bo}}})
	require.NoError(t, err)
	turn := transcript.Turn{Contract: judge.AssessmentContract.Name(), Data: data}
	turn.Actor, turn.Round = judgeName, round
	return turn
}

func TestMeasureScores(t *testing.T) {
	turns := []transcript.Turn{
		assessment(t, "J", 1, 7, 5), assessment(t, "K", 1, 8, 5),
		assessment(t, "J", 2, 6, 5), assessment(t, "K", 2, 9, 4), // Ada's scores differ by three points
	}
	s := agreement.MeasureScores(turns...)
	assert.Equal(t, 2, s.Judges)
	assert.InDelta(t, .75, s.Raw.Value, 1e-12)
	// Of eight values with a mean of 49/8, squares of deviations sum to 20.875; those within units to 1/2 + 9/2 + 1/2.
	assert.InDelta(t, 1-7./8*(2*11.)/(2*20.875), s.Alpha.Value, 1e-9)
	assert.Equal(t, 2, s.Alpha.Groups, "the scores of a round depend on one another")
	assert.Contains(t, s.String(), "in 75 % of cases, the scores of two judges differ by at most 1 point; Krippendorff's alpha is 0.54 (too few rounds for an interval: 2 of 30)")

	swapped := assessment(t, "K", 2, 3, 6) // with the other order, K gives Ada 6 and Bo 5 on average
	swapped.Target = judge.Swapped
	assert.InDelta(t, 1, agreement.MeasureScores(append(turns, swapped)...).Raw.Value, 1e-12)

	failed := turns[3]
	failed.Flags = []transcript.Flag{transcript.Defaulted}
	assert.InDelta(t, 1, agreement.MeasureScores(turns[0], turns[1], turns[2], failed).Raw.Value, 1e-12, "a default is no score")

	assert.Nil(t, agreement.MeasureScores())
	assert.Nil(t, agreement.MeasureScores(turns[0], turns[2]), "one judge")
	assert.Nil(t, agreement.MeasureScores(turns[0], turns[3]), "other rounds")
	equal := agreement.MeasureScores(assessment(t, "J", 1, 5, 5), assessment(t, "K", 1, 5, 5))
	assert.Equal(t, "in 100 % of cases, the scores of two judges differ by at most 1 point; Krippendorff's alpha is undefined, because all scores are equal", equal.String())
}

func TestMeasureScoresOfManyRoundsHasAnInterval(t *testing.T) {
	var turns []transcript.Turn
	for round := range 40 {
		turns = append(turns, assessment(t, "J", round, float64(round%9), 5), assessment(t, "K", round, float64(round%8), 5))
	}
	s := agreement.MeasureScores(turns...)
	assert.True(t, s.Alpha.Known() && s.Alpha.Low < s.Alpha.Value && s.Alpha.Value < s.Alpha.High, s)
	assert.Contains(t, s.String(), "[")
}

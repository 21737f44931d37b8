package debatetest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/providers"
)

// LongAssessment returns an assessment of about 300 tokens that wants another round.
func LongAssessment(names ...string) judge.Assessment {
	a := Assessment(true, names...)
	a.Reasoning = "Both sides have come closer on what is at stake, yet the strongest point on each side, the price of transit " +
		"and the space that parking takes, stands unanswered, so another round promises more than repetition."
	for i := range a.Participants {
		a.Participants[i].Strengths = []string{"It answers the point about deliveries directly.", "It brings a new example, from a city of similar size."}
		a.Participants[i].Weaknesses = []string{"It repeats the claim about noise without new evidence.", "It passes over the cost to those who live outside."}
	}
	a.Recommendations = []string{"Ask for the cost of the alternative.", "Have each side name what would change its mind."}
	return a
}

// Encode returns v as JSON.
func Encode(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// Assessment returns an assessment of the participants with these names. It asks for another round if goOn is true.
func Assessment(goOn bool, names ...string) judge.Assessment {
	a := judge.Assessment{ShouldContinue: goOn, Quality: 6, Reasoning: "because"}
	for _, n := range names {
		a.Participants = append(a.Participants, judge.ParticipantAssessment{Name: n, Criteria: judge.Rubric(nil).UniformScores(6)})
	}
	return a
}

// AsksFor reports whether r asks for a structured reply of this kind, such as "verdict".
func AsksFor(r providers.Request, what string) bool { return r.SchemaName == what+"/1" }

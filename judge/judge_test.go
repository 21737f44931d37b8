package judge_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/transcript"
)

// sixes holds a score of 6 for each criterion.
const sixes = `[{"criterion":"logical_consistency","score":6},{"criterion":"evidence","score":6},{"criterion":"engagement","score":6},
	{"criterion":"novelty","score":6},{"criterion":"persuasiveness","score":6},{"criterion":"relevance","score":6}]`

// assess returns an assessment of these participants.
func assess(names ...string) string {
	var scores []string
	for _, n := range names {
		scores = append(scores, fmt.Sprintf(`{"name":%q,"criteria":%s}`, n, sixes))
	}
	return `{"should_continue":true,"quality":7,"participants":[` + strings.Join(scores, ",") + `]}`
}

func TestAssessmentSpeaksOfEachParticipantOnce(t *testing.T) {
	for _, tt := range []struct {
		name   string
		seats  []string
		spoken []string
		want   []string // the corrected names
		fault  string
	}{
		{"each once", seats, []string{"Alice", "Bob"}, []string{"Alice", "Bob"}, ""},
		{"in another order", seats, []string{"Bob", "Alice"}, []string{"Bob", "Alice"}, ""},
		{"in another spelling", seats, []string{"alice", " BOB "}, []string{"Alice", "Bob"}, ""},
		{"names that differ in case alone", []string{"ann", "Ann"}, []string{"Ann", "ann"}, []string{"Ann", "ann"}, ""},
		{
			"which of the two is not clear",
			[]string{"ann", "Ann"},
			[]string{"ANN", "ann"},
			nil,
			`/participants/0/name: "ANN" is not a participant; the participants are ["ann" "Ann"]; /participants: "Ann" has no assessment`,
		},
		{"one is missing", seats, []string{"Bob"}, nil, `/participants: "Alice" has no assessment`},
		{"nobody", seats, nil, nil, `/participants: "Alice" has no assessment; /participants: "Bob" has no assessment`},
		{"one twice", seats, []string{"Alice", "Bob", "alice"}, nil, `/participants/2/name: "Alice" appears twice`},
		{
			"a stranger", seats,
			[]string{"Alice", "Bob", "Zoe"},
			nil,
			`/participants/2/name: "Zoe" is not a participant; the participants are ["Alice" "Bob"]`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := judge.AssessmentContract.Parse(assess(tt.spoken...), tt.seats)
			if tt.fault != "" {
				require.EqualError(t, err, "parse reply: "+tt.fault)
				return
			}
			require.NoError(t, err)
			var a judge.Assessment
			require.NoError(t, json.Unmarshal(r.Data, &a))
			var got []string
			for _, p := range a.Participants {
				got = append(got, p.Name)
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestAssessmentStaysInItsBounds(t *testing.T) {
	_, err := judge.AssessmentContract.Parse(`{"quality":11,"participants":[{"name":"Alice","criteria":[{"criterion":"evidence","score":-1}]}]}`, seats)
	require.EqualError(t, err, "parse reply: /participants/0/criteria/0/score: must be >= 0 but found -1; "+
		"/quality: must be <= 10 but found 11; the reply: missing properties: 'should_continue'")
}

func TestAssessmentText(t *testing.T) {
	r, err := judge.AssessmentContract.Parse(typical, seats)
	require.NoError(t, err)
	require.Equal(t, `Alice took up the objection about enforcement and answered half of it, with evidence that Bob could only limit, not refute. Bob made the debate more precise by conceding the general claim, yet fell back on the first round where new evidence was due. The round moved the question from whether to how, and the open point is now who pays.
Alice: 8.2 of 10 (logical consistency 8, evidence 8, engagement 9, novelty 7, persuasiveness 8, relevance 9)
  strengths: Answers the strongest objection first instead of the easiest one; Cites two comparable programmes with figures and says where they differ
  weaknesses: Never says who would pay for the transition; Leaves the question of enforcement open once again
Bob: 6.7 of 10 (logical consistency 7, evidence 5, engagement 8, novelty 6.5, persuasiveness 6, relevance 8)
  strengths: Concedes what cannot be defended and narrows the claim accordingly; Shows that the quoted figures hold for small towns only
  weaknesses: Repeats the argument about cost of the first round nearly word for word; No evidence for the claim that people would move away
Quality of the round: 7 of 10
Recommendations: Alice: say who pays, with a figure; Bob: bring evidence for the claim about people moving away
The debate should continue.`, r.Text)
}

func TestAssessmentTextNamesTheSigns(t *testing.T) {
	a := judge.Assessment{Repetitive: true, Drifting: true, DiminishingReturns: true, Converged: true, Quality: 2.5}
	require.Equal(t, `Quality of the round: 2.5 of 10
Signals: repetitive, drifting off the topic, diminishing returns, converged
The debate should end.`, strings.ReplaceAll(a.Text(), "; ", ", "))
}

func TestVerdictNamesAParticipantOrNobody(t *testing.T) {
	for _, tt := range []struct {
		name, winner string
		seats        []string
		want, fault  string
	}{
		{"a participant", `"Bob"`, seats, "Bob", ""},
		{"in another spelling", `" bob"`, seats, "Bob", ""},
		{"null", `null`, seats, "", ""},
		{"empty", `""`, seats, "", ""},
		{"none", `"None"`, seats, "", ""},
		{"a draw", `" draw "`, seats, "", ""},
		{"a participant called Draw", `"draw"`, []string{"Draw", "Bob"}, "Draw", ""},
		{"a stranger", `"Zoe"`, seats, "", `/winner: "Zoe" is not a participant; the participants are ["Alice" "Bob"]`},
		{"both", `"Alice and Bob"`, seats, "", `/winner: "Alice and Bob" is not a participant; the participants are ["Alice" "Bob"]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := judge.VerdictContract.Parse(`{"summary":"Well.","quality":60,"winner":`+tt.winner+`}`, tt.seats)
			if tt.fault != "" {
				require.EqualError(t, err, "parse reply: "+tt.fault)
				return
			}
			require.NoError(t, err)
			v, err := transcript.Decode[judge.Verdict](transcript.Turn{Contract: judge.VerdictContract.Name(), Data: r.Data})
			require.NoError(t, err)
			require.Equal(t, tt.want, v.Winner)
		})
	}
}

func TestVerdictSpeaksOfNobodyTwiceAndOfNoStranger(t *testing.T) {
	_, err := judge.VerdictContract.Parse(`{"summary":"Well.","quality":60,"participants":[
		{"name":"bob","points":["cheap"]},{"name":"Bob","points":[]},{"name":"Zoe","points":[]}]}`, seats)
	require.EqualError(t, err, `parse reply: /participants/1/name: "Bob" appears twice; `+
		`/participants/2/name: "Zoe" is not a participant; the participants are ["Alice" "Bob"]`)
	r, err := judge.VerdictContract.Parse(`{"summary":"Well.","quality":60,"participants":[{"name":"bob","points":["cheap"]}]}`, seats)
	require.NoError(t, err)
	require.JSONEq(t, `{"summary":"Well.","quality":60,"participants":[{"name":"Bob","points":["cheap"]}]}`, string(r.Data))
}

func TestVerdictText(t *testing.T) {
	v := judge.Verdict{
		Summary:         "A close debate.",
		Participants:    []judge.KeyPoints{{Name: "Alice", Points: []string{"saves money", "works elsewhere"}}, {Name: "Bob"}},
		Agreement:       []string{"something must change"},
		Disagreement:    []string{"who pays", "when"},
		Winner:          "Alice",
		WinnerReasoning: "Her evidence stood.",
		Quality:         72.5,
		Insights:        []string{"towns differ"},
		Dissent:         "Bob was more precise.",
	}
	require.Equal(t, `A close debate.
Alice: saves money; works elsewhere
Agreement: something must change
Disagreement: who pays; when
Insights: towns differ
Winner: Alice
Reason: Her evidence stood.
Dissent: Bob was more precise.
Quality of the debate: 72.5 of 100`, v.Text())
}

func TestFallbacksAreSafeAndSaySo(t *testing.T) {
	r, ok := judge.AssessmentContract.Default(seats)
	require.True(t, ok)
	fives := strings.ReplaceAll(sixes, ":6", ":5")
	require.JSONEq(t, `{"should_continue":true,"quality":5,
		"participants":[{"name":"Alice","score":5,"criteria":`+fives+`},{"name":"Bob","score":5,"criteria":`+fives+`}],
		"reasoning":"The judge gave no valid assessment. Neutral default values are used instead."}`, string(r.Data))
	require.Contains(t, r.Text, "no valid assessment")

	r, ok = judge.AssessmentContract.Default(nil)
	require.True(t, ok)
	require.Contains(t, string(r.Data), `"participants":[]`)

	r, ok = judge.VerdictContract.Default(seats)
	require.True(t, ok)
	require.JSONEq(t, `{"summary":"The judge gave no valid verdict. The debate ends without a winner.","quality":50}`, string(r.Data))
	require.Contains(t, r.Text, "no valid verdict")
}

// TestSchemasSuitStrictServers checks the schemas that are sent: every object is closed, all its properties are required
// and described, except in the entry of a participant, and there is no keyword that strict servers reject. Anthropic allows
// 16 optional parts in all, so there are none in the entry of a participant.
func TestSchemasSuitStrictServers(t *testing.T) {
	allowed := []string{"type", "description", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "maxLength", "minItems", "maxItems"}
	var walk func(t *testing.T, schema map[string]any, entry bool)
	walk = func(t *testing.T, schema map[string]any, entry bool) {
		for keyword := range schema {
			require.Contains(t, allowed, keyword)
		}
		if items, ok := schema["items"].(map[string]any); ok {
			require.Contains(t, schema, "maxItems")
			walk(t, items, entry)
		}
		if alternatives, ok := schema["anyOf"].([]any); ok {
			require.False(t, entry)
			for _, a := range alternatives {
				walk(t, a.(map[string]any), entry)
			}
		}
		if schema["type"] == "string" {
			require.LessOrEqual(t, schema["maxLength"], 1999.0)
		}
		if schema["type"] != "object" {
			return
		}
		require.Equal(t, false, schema["additionalProperties"])
		properties := schema["properties"].(map[string]any)
		require.Len(t, schema["required"], len(properties))
		for name, p := range properties {
			inEntry := entry || slices.Contains(seats, name)
			require.NotEqual(t, inEntry, p.(map[string]any)["description"] != nil, name)
			walk(t, p.(map[string]any), inEntry)
		}
	}
	for _, c := range []*reply.Contract{judge.AssessmentContract, judge.VerdictContract} {
		t.Run(c.Name(), func(t *testing.T) {
			var schema map[string]any
			require.NoError(t, json.Unmarshal(c.Schema(), &schema))
			walk(t, schema, false)
			schema = nil
			require.NoError(t, json.Unmarshal(c.WithNames("participants", seats).WithNames("active", seats).WithNames("criteria", []string{"a", "b"}).Schema(), &schema))
			walk(t, schema, false)
		})
	}
}

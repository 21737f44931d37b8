package vote_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol/vote"
)

var names = []string{"Ann", "Bob"}

func TestBallotsAreValidated(t *testing.T) {
	for _, tt := range []struct {
		name, reply string
		want        vote.Ballot
		fault       string
	}{
		{"a ballot", `{"reasoning":"r","answer":"42","confidence":80}`, vote.Ballot{Reasoning: "r", Answer: "42", Confidence: 80}, ""},
		{"confidence is rounded", `{"reasoning":"","answer":"42","confidence":80.5}`, vote.Ballot{Answer: "42", Confidence: 81}, ""},
		{"no answer", `{"reasoning":"r","answer":"","confidence":0}`, vote.Ballot{Reasoning: "r"}, ""},
		{"certain", `{"reasoning":"","answer":"42","confidence":100}`, vote.Ballot{Answer: "42", Confidence: 100}, ""},
		{
			"confidence as a share", `{"reasoning":"","answer":"42","confidence":0.9}`,
			vote.Ballot{},
			"parse reply: /confidence: 0.9 looks like a share of 1: give a number from 2 to 100, or 0",
		},
		{
			"certain, as a share", `{"reasoning":"","answer":"42","confidence":1}`,
			vote.Ballot{},
			"parse reply: /confidence: 1 looks like a share of 1: give a number from 2 to 100, or 0",
		},
		{"hardly any confidence", `{"reasoning":"","answer":"42","confidence":1.6}`, vote.Ballot{Answer: "42", Confidence: 2}, ""},
		{"too certain", `{"reasoning":"","answer":"42","confidence":101}`, vote.Ballot{}, "parse reply: /confidence: must be <= 100 but found 101"},
		{"an answer is missing", `{"reasoning":"","confidence":10}`, vote.Ballot{}, "parse reply: the reply: missing properties: 'answer'"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := vote.BallotContract.Parse(tt.reply, names)
			if tt.fault != "" {
				require.EqualError(t, err, tt.fault)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, decode[vote.Ballot](t, r))
		})
	}
}

func TestRulingsNameAParticipantOrNobody(t *testing.T) {
	for _, tt := range []struct{ name, winner, want, fault string }{
		{"a participant", `"Bob"`, "Bob", ""},
		{"in another spelling", `" bob"`, "Bob", ""},
		{"nobody", `"none"`, "", ""},
		{"null", `null`, "", ""},
		{"a stranger", `"Zoe"`, "", `parse reply: /winner: "Zoe" is not a participant; the participants are ["Ann" "Bob"]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := vote.RulingContract.Parse(`{"reasoning":"r","winner":`+tt.winner+`}`, names)
			if tt.fault != "" {
				require.EqualError(t, err, tt.fault)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, decode[vote.Ruling](t, r).Winner)
		})
	}
}

func TestRepliesInWords(t *testing.T) {
	for _, tt := range []struct {
		c           *reply.Contract
		reply, want string
	}{
		{vote.BallotContract, `{"reasoning":"6 times 7.","answer":"42","confidence":80}`, "Answer: 42\nConfidence: 80 %\nReasoning: 6 times 7."},
		{vote.BallotContract, `{"reasoning":"","answer":"42","confidence":80}`, "Answer: 42\nConfidence: 80 %"},
		{vote.BallotContract, `{"reasoning":"Too vague.","answer":"","confidence":80}`, "No answer.\nReasoning: Too vague."},
		{vote.RulingContract, `{"reasoning":"It adds up.","winner":"Ann"}`, "The answer of Ann. It adds up."},
		{vote.RulingContract, `{"reasoning":"Nobody answered."}`, "No ruling. Nobody answered."},
	} {
		r, err := tt.c.Parse(tt.reply, names)
		require.NoError(t, err)
		require.Equal(t, tt.want, r.Text)
	}
}

func TestFallbacksCountForNothing(t *testing.T) {
	r, ok := vote.BallotContract.Default(names)
	require.True(t, ok)
	require.Equal(t, "No answer.\nReasoning: There is no valid answer. This ballot does not count.", r.Text)
	require.Zero(t, decode[vote.Ballot](t, r).Confidence)
	r, ok = vote.RulingContract.Default(names)
	require.True(t, ok)
	require.Empty(t, decode[vote.Ruling](t, r).Winner)
}

func decode[T any](t *testing.T, r reply.Reply) (v T) {
	t.Helper()
	require.NoError(t, json.Unmarshal(r.Data, &v))
	return v
}

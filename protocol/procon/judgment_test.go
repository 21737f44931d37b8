package procon_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/protocol/procon"
)

var names = []string{"Ann", "Bob"}

func TestJudgmentsAreValidated(t *testing.T) {
	for _, tt := range []struct{ name, participants, winner, want, fault string }{
		{"a winner", `{"name":"Ann","score":8},{"name":"Bob","score":6}`, `"Ann"`, "Ann", ""},
		{"in another spelling and order", `{"name":"BOB","score":8},{"name":" ann","score":6}`, `"bob "`, "Bob", ""},
		{"a draw", `{"name":"Ann","score":7},{"name":"Bob","score":7}`, `"draw"`, "", ""},
		{"nobody", `{"name":"Ann","score":8},{"name":"Bob","score":7}`, `null`, "", ""},
		{"a narrow victory", `{"name":"Ann","score":7},{"name":"Bob","score":7}`, `"Bob"`, "Bob", ""},
		{"the lesser one wins", `{"name":"Ann","score":8},{"name":"Bob","score":7}`, `"Bob"`, "Bob", ""},
		{"a stranger wins", `{"name":"Ann","score":8},{"name":"Bob","score":7}`, `"Zoe"`, "", `/winner: "Zoe" is not a participant; the participants are ["Ann" "Bob"]`},
		{"one without a score", `{"name":"Ann","score":8}`, `"Ann"`, "", `/participants: "Bob" has no score`},
		{"one twice", `{"name":"Ann","score":8},{"name":"Bob","score":7},{"name":"ann","score":7}`, `"Ann"`, "", `/participants/2/name: "Ann" appears twice`},
		{"too high a score", `{"name":"Ann","score":11},{"name":"Bob","score":7}`, `"Ann"`, "", `/participants/0/score: must be <= 10 but found 11`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := procon.JudgmentContract.Parse(
				`{"summary":"Well.","no_new_arguments":true,"participants":[`+tt.participants+`],"winner":`+tt.winner+`}`, names,
			)
			if tt.fault != "" {
				require.EqualError(t, err, "parse reply: "+tt.fault)
				return
			}
			require.NoError(t, err)
			var j procon.Judgment
			require.NoError(t, json.Unmarshal(r.Data, &j))
			require.Equal(t, tt.want, j.Winner)
			for _, s := range j.Participants {
				require.Contains(t, names, s.Name)
			}
		})
	}
}

func TestTheFallbackNamesNoWinner(t *testing.T) {
	r, ok := procon.JudgmentContract.Default(names)
	require.True(t, ok)
	require.JSONEq(t, `{
		"summary":"The judge gave no valid judgment. The debate ends without a winner, and the scores are neutral.",
		"no_new_arguments":false,"participants":[{"name":"Ann","score":5},{"name":"Bob","score":5}]}`, string(r.Data))
}

func TestJudgmentsInWords(t *testing.T) {
	j := procon.Judgment{
		Summary: "Ann had the figures.", NoNewArguments: true, Winner: "Ann",
		Participants: []procon.ParticipantScore{{Name: "Ann", Score: 8.5}, {Name: "Bob", Score: 6}},
	}
	require.Equal(t, "Ann had the figures.\nAnn: 8.5 of 10\nBob: 6 of 10\nThe last round of arguments brought no new argument.\nWinner: Ann", j.Text())
	j.Dissent = []string{"Jo: Bob won: he had the last word."}
	require.Equal(t, "Ann had the figures.\nAnn: 8.5 of 10\nBob: 6 of 10\nThe last round of arguments brought no new argument.\nWinner: Ann\nDissent: Jo: Bob won: he had the last word.", j.Text())
	j.NoNewArguments = false
	j.Winner = ""
	j.Dissent = nil
	require.Equal(t, "Ann had the figures.\nAnn: 8.5 of 10\nBob: 6 of 10\nNobody won.", j.Text())
}

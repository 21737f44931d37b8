package decision_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/transcript"
)

type (
	refund struct {
		Why     string `json:"why"`
		Percent int    `json:"percent" decision:"choice"`
	}
	merge struct {
		Merge bool `json:"merge" decision:"choice"`
	}
	team struct {
		Team string `json:"team" decision:"choice"`
	}
	note   struct{ Text string }
	double struct {
		A string `decision:"choice"`
		B string `decision:"choice"`
	}
	listed struct {
		A []string `decision:"choice"`
	}
	misspelled struct {
		A string `decision:"chosen"`
	}
)

func init() {
	reply.New[refund]("test-refund/1")
	reply.New[merge]("test-merge/1")
	reply.New[team]("test-team/1")
	reply.New[note]("test-note/1")
	reply.New[double]("test-double/1")
	reply.New[listed]("test-listed/1")
	reply.New[misspelled]("test-misspelled/1")
}

// turns returns the replies of judges, named J1 and so on. A reply that begins with "!" is a default.
func turns(contract string, replies ...string) (list []transcript.Turn) {
	for i, text := range replies {
		t := transcript.Turn{Key: transcript.Key{Actor: fmt.Sprint("J", i+1)}, Kind: transcript.Conclusion, Contract: contract, Text: text, Data: json.RawMessage(text)}
		if text[0] == '!' {
			t.Data, t.Flags = json.RawMessage(text[1:]), []transcript.Flag{transcript.Defaulted}
		}
		list = append(list, t)
	}
	return list
}

func TestSeveralJudgesDecideByTheMarkedField(t *testing.T) {
	for _, tt := range []struct {
		contract, choice, first string
		replies                 []string
		tie                     []string
	}{
		{"test-refund/1", "50", "The decision is: percent is 50.", []string{`{"why":"a","percent":50}`, `{"why":"b","percent":100}`, `{"why":"c","percent":50}`}, nil},
		{"test-merge/1", "no", "The decision is: merge is no.", []string{`{"merge":false}`, `{"merge":false}`, `{"merge":true}`}, nil},
		{"test-team/1", "", `There is no decision, because the votes are tied: 1 for "blue" (J1), 1 for "red" (J2).`, []string{`{"team":"blue"}`, `{"team":"red"}`}, []string{"blue", "red"}},
		{"test-team/1", "", `There is no decision, because no choice has a majority: 2 for "b" (J1, J2), 1 for "c" (J3), 1 for "d" (J4).`, []string{`{"team":"b"}`, `{"team":"b"}`, `{"team":"c"}`, `{"team":"d"}`}, nil},
		{"test-team/1", "red", "The decision is: team is red.", []string{`{"team":"red"}`, `!{"team":"blue"}`}, nil},
		{"test-team/1", "red", "The decision is: team is red.", []string{`{"team":"red"}`}, nil},
		{"test-team/1", "Blue", "The decision is: team is Blue.", []string{`{"team":"Blue"}`, `{"team":"red"}`, `{"team":"blue"}`}, nil},
	} {
		text, data := decision.Task{Contract: tt.contract}.Combine(judge.Scores{"Ada": 7}, turns(tt.contract, tt.replies...)...)
		var j decision.Joint[json.RawMessage]
		require.NoError(t, json.Unmarshal(data, &j))
		require.Equal(t, tt.choice, j.Choice)
		require.Equal(t, tt.tie, j.Tie)
		require.Len(t, j.Opinions, len(tt.replies))
		require.Equal(t, judge.Scores{"Ada": 7}, j.Scores)
		require.Contains(t, text, tt.first)
		if tt.choice != "" {
			require.JSONEq(t, tt.replies[0], string(j.Value))
		}
	}
}

func TestAContractWithoutAMarkTakesOneJudge(t *testing.T) {
	task := decision.Task{Contract: "test-note/1"}
	require.Empty(t, task.Check(1, false))
	require.Len(t, task.Check(2, false), 1)
	require.Contains(t, task.Check(2, false)[0], `marks no field with decision:"choice"`)
	require.Len(t, task.Check(1, true), 1, "two replies of one judge cannot be combined either")
	text, data := task.Combine(nil, turns("test-note/1", `{"Text":"Go."}`)...)
	require.Equal(t, "The judge has decided.\n{\"Text\":\"Go.\"}", text)
	var j decision.Joint[note]
	require.NoError(t, json.Unmarshal(data, &j))
	require.Equal(t, "Go.", j.Value.Text)
}

func TestMarksAreChecked(t *testing.T) {
	for contract, problem := range map[string]string{
		"test-double/1": "several fields", "test-listed/1": "has the type []string", "test-misspelled/1": `use decision:"choice"`,
	} {
		found := decision.Task{Contract: contract}.Check(1, false)
		require.Len(t, found, 1)
		require.Contains(t, found[0], problem)
	}
	require.Empty(t, decision.Task{Contract: "test-unknown/1"}.Check(3, true), "the engine says so")
	require.Len(t, decision.Task{Contract: "test-note/1", Options: []string{"a", "b"}}.Check(1, false), 1)
	for _, n := range []int{0, 1, 17} {
		require.Contains(t, decision.Task{Options: make([]string, n)}.Check(1, false), fmt.Sprintf("the number of options is %d, use 2 to 16", n))
	}
}

// An empty list of options is a mistake, and stays one in JSON. Without options and contract, nothing is decided.
func TestEmptyOptionsAreNotNoDecision(t *testing.T) {
	for text, zero := range map[string]bool{`{}`: true, `{"options":null}`: true, `{"options":[]}`: false, `{"options":["a","b"]}`: false, `{"contract":"test-note/1"}`: false} {
		var task decision.Task
		require.NoError(t, json.Unmarshal([]byte(text), &task))
		require.Equal(t, zero, task.IsZero(), text)
		b, err := json.Marshal(task)
		require.NoError(t, err)
		var again decision.Task
		require.NoError(t, json.Unmarshal(b, &again))
		require.Equal(t, task, again)
	}
	require.Equal(t, []string{"it has options and a contract, use one of them"}, decision.Task{Options: []string{}, Contract: "test-note/1"}.Check(1, false))
}

// A judge that chooses differently in the two orders abstains.
func TestASwappedJudgeThatContradictsItselfAbstains(t *testing.T) {
	list := turns("choice/1", `{"summary":"s","reasons":[],"option":1,"confidence":90}`, `{"summary":"s","reasons":[],"option":2,"confidence":90}`, `{"summary":"s","reasons":[],"option":2,"confidence":60}`)
	list[1].Actor, list[1].Target = "J1", judge.Swapped
	text, data := decision.Task{Options: []string{"Yes", "No"}}.Combine(nil, list...)
	var j decision.Joint[decision.Choice]
	require.NoError(t, json.Unmarshal(data, &j))
	require.Equal(t, "No", j.Choice)
	require.Equal(t, []string{"J1: Yes in one order and No in the other"}, j.Disagreement)
	require.Contains(t, text, "Disagreement: J1")
	require.InDelta(t, 60, j.Confidence, 0, "a judge who abstains does not count")
}

func TestChoicesAreValidated(t *testing.T) {
	contract := decision.Contract.WithCheck(decision.Task{Options: []string{"Yes", "No"}}.CheckReply(2))
	for text, fault := range map[string]string{
		`{"summary":"s","reasons":[{"text":"t","speaker":"ada","round":2}],"option":2,"confidence":80}`: "",
		`{"summary":"s","reasons":[{"text":"t"}],"option":1,"confidence":80}`:                           "",
		`{"summary":"s","reasons":[],"option":1,"confidence":80}`:                                       "/reasons: there is none",
		`{"summary":"s","reasons":[{"text":"t"}],"option":0,"confidence":80}`:                           "/option: 0 is no option, give a number from 1 to 2",
		`{"summary":"s","reasons":[{"text":"t"}],"option":3,"confidence":80}`:                           "/option: 3 is no option",
		`{"summary":"s","reasons":[{"text":"t","speaker":"Zoe","round":1}],"option":1,"confidence":80}`: `"Zoe" is not a participant`,
		`{"summary":"s","reasons":[{"text":"t","speaker":"Ada"}],"option":1,"confidence":80}`:           "/reasons/0/round: it is missing",
		`{"summary":"s","reasons":[{"text":"t","speaker":"Ada","round":3}],"option":1,"confidence":80}`: "/reasons/0/round: 3 is no round",
		`{"summary":"s","reasons":[{"text":"t"}],"option":1,"confidence":0.8}`:                          "/confidence: 0.8 looks like a share of 1",
	} {
		_, err := contract.Parse(text, []string{"Ada", "Bo"})
		if fault == "" {
			require.NoError(t, err, text)
		} else {
			require.ErrorContains(t, err, fault)
		}
	}
	said, err := contract.Parse(`{"summary":"It was late.","reasons":[{"text":"t"}],"option":2,"chosen":"Yes","confidence":80}`, nil)
	require.NoError(t, err)
	require.Equal(t, "Option 2: No, with a confidence of 80 %.\nIt was late.\nReason: t", said.Text, "the text of the option is not what the judge claims")
	again, err := decision.Contract.MapStrings(said, func(s string) string { return s })
	require.NoError(t, err)
	require.Equal(t, said, again)
	require.NotContains(t, string(decision.Contract.Schema()), "chosen")
	require.Equal(t, "Option 2, with a confidence of 0 %.\n", (&decision.Choice{Option: 2}).Text(), "of options that nobody knows")
	r, ok := contract.Default([]string{"Ada", "Bo"})
	require.True(t, ok)
	require.Contains(t, r.Text, "no valid decision")
}

func FuzzCombine(f *testing.F) {
	f.Add(`{"option":1}`, `{"option":-2}`, "choice/1")
	f.Add(`null`, `[]`, "test-team/1")
	f.Fuzz(func(t *testing.T, a, b, contract string) {
		if a == "" || b == "" {
			return
		}
		for _, task := range []decision.Task{{Options: []string{"Yes", "No"}}, {Contract: contract}} {
			_, data := task.Combine(nil, turns(contract, a, b)...)
			require.True(t, json.Valid(data) || !json.Valid([]byte(a)) || !json.Valid([]byte(b)), "%s", data)
		}
	})
}

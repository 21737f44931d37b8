package report_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/transcript"
)

// withChoices returns the report of a debate whose judges replied with the given choices.
func withChoices(t *testing.T, options []string, replies ...decision.Choice) *report.Report {
	t.Helper()
	var turns []transcript.Turn
	for i, c := range replies {
		data, err := json.Marshal(c)
		require.NoError(t, err)
		turns = append(turns, transcript.Turn{Key: transcript.Key{Actor: []string{"Cy", "Di", "Eve"}[i]}, Contract: decision.Contract.Name(), Data: data, Text: c.Text()})
	}
	a := protocol.Answer{Type: decision.Type}
	a.Text, a.Data = decision.Task{Options: options}.Combine(judge.Scores{"Ada": 8, "Bo": 6}, turns...)
	return concluded(&report.Report{Result: debate.Result{Protocol: "panel/1", State: fsm.Completed, Answer: a}})
}

func TestADecisionComesFirst(t *testing.T) {
	options := []string{"Refund in full", "Refuse"}
	yes := decision.Choice{Summary: "It was broken.", Reasons: []decision.Reason{{Text: "The photo shows it.", Speaker: "Bo", Round: 2}}, Conditions: []string{"The photo is real."}, WouldChange: []string{"A second photo."}, Option: 1, Confidence: 80}
	no := decision.Choice{Summary: "It was late.", Reasons: []decision.Reason{{Text: "The term was over."}}, Option: 2, Confidence: 60}

	r := withChoices(t, options, yes, no, yes)
	s := report.Summarize(r)
	require.Equal(t, "The decision is option 1: Refund in full; the confidence is 80 %; the votes are 2 for Refund in full and 1 for Refuse.", s.Answer)
	require.Equal(t, "It was broken.", s.Text)
	require.Contains(t, s.Reasons, report.Reason{Title: "Reasons", Name: "Cy, for option 1", Points: []string{"The photo shows it. (Bo, round 2)"}})
	require.Contains(t, s.Reasons, report.Reason{Title: "What would change it", Name: "Eve, for option 1", Points: []string{"A second photo."}})
	require.Contains(t, s.Reasons, report.Reason{Title: "Dissenting judges", Points: []string{"Di: Refuse: It was late."}})
	require.Equal(t, decided{
		Choice: "Refund in full", Option: 1, Confidence: 80, Scores: map[string]float64{"Ada": 8, "Bo": 6},
		Votes: map[string]int{"Refund in full": 2, "Refuse": 1}, Dissent: []string{"Di: Refuse: It was late."},
	}, decisionOf(r))

	s = report.Summarize(withChoices(t, options, yes))
	require.Equal(t, "The decision is option 1: Refund in full; the confidence is 80 %; the judge is Cy.", s.Answer)
	s = report.Summarize(withChoices(t, options, yes, no))
	require.Equal(t, `There is no decision, because the votes are tied: 1 for "Refund in full" (Cy), 1 for "Refuse" (Di).`, s.Answer)
}

// Each heading stands once, with an entry for each judge. A judge that decided in both orders has one for each.
func TestReasonsOfSeveralJudgesShareHeadings(t *testing.T) {
	turns := make([]transcript.Turn, 3)
	for i, who := range []transcript.Key{{Actor: "Cy"}, {Actor: "Di"}, {Actor: "Cy", Target: judge.Swapped}} {
		data, err := json.Marshal(decision.Choice{
			Summary: "So.", Option: 1, Confidence: 80, Reasons: []decision.Reason{{Text: "A reason."}}, Conditions: []string{"A condition."}, WouldChange: []string{"A fact."},
		})
		require.NoError(t, err)
		turns[i] = transcript.Turn{Key: who, Contract: decision.Contract.Name(), Data: data}
	}
	a := protocol.Answer{Type: decision.Type}
	a.Text, a.Data = decision.Task{Options: []string{"Yes", "No"}}.Combine(nil, turns...)
	s := report.Summarize(concluded(&report.Report{Result: debate.Result{Protocol: "panel/1", State: fsm.Completed, Answer: a}}))
	var titles, names []string
	for _, x := range s.Reasons {
		titles, names = append(titles, x.Title), append(names, x.Name)
	}
	require.Equal(t, []string{"Reasons", "Conditions", "What would change it"}, slices.Compact(titles))
	of := []string{"Cy, for option 1", "Di, for option 1", "Cy, in reversed order, for option 1"}
	require.Equal(t, slices.Concat(of, of, of), names)
}

// The first sentence says both: who won, and who has the higher score.
func TestAWinnerAgainstTheScores(t *testing.T) {
	data, err := json.Marshal(procon.Judgment{Summary: "So.", Winner: "Bo", Participants: []procon.ParticipantScore{{Name: "Ada", Score: 10}, {Name: "Bo"}}})
	require.NoError(t, err)
	r := &report.Report{Result: debate.Result{Protocol: procon.Protocol{}.Name(), State: fsm.Completed, Answer: protocol.Answer{
		Type: procon.Protocol{}.Name(), Data: data, Text: "So.", Warnings: []string{"Cy named Bo the winner against its own scores."},
	}}}
	s := report.Summarize(concluded(r))
	require.Equal(t, "Bo won with a score of 0 of 10, although Ada has the higher score, 10.", s.Answer)
	require.Contains(t, s.Notices, "Cy named Bo the winner against its own scores.")
}

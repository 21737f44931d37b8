package report_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/transcript"
)

// A protocol of a user that fills in an outcome has a report like those of the library.
func TestAProtocolOfAUserHasAWholeReport(t *testing.T) {
	o := protocol.Outcome{
		Kind: "Delphi", Office: "facilitator", Sentence: "The estimate is 40 days", Clauses: []string{"the spread is 5", ""},
		Text:  "It **converged**.",
		Notes: []string{"Cy gave no estimate."},
		Chart: &protocol.Chart{Title: "Estimates", Unit: "Days", Maximum: 60},
		Evidence: []protocol.Exhibit{
			{Title: "Spread", Header: []string{"Round", "Days"}, Rows: [][]string{{"1", "20"}, {"2", "5"}}},
		},
		Details: []protocol.Exhibit{{Title: "Prompts:", List: []string{"secret.txt"}, Internal: true}},
		Reasons: []protocol.Reason{{
			Title: "What they said", Name: "Ada", Points: []string{"So."},
			Speeches: []protocol.Speech{{Label: "First", Turn: 0}, {Turn: 9}},
		}},
	}
	o.Chart.SetRound(2, "Ada", 40)
	o.Chart.SetRound(1, "Ada", 30)
	o.Chart.SetRound(1, "Bo", 50)
	turns := []transcript.Turn{{Key: transcript.Key{Round: 1, Actor: "Ada"}, Kind: transcript.Speech, Text: "Forty days, I say."}}
	r := &report.Report{Result: debate.Result{Protocol: "delphi/1", State: fsm.Completed, Turns: turns, Outcome: o}}

	s := report.Summarize(r)
	require.Equal(t, "The estimate is 40 days; the spread is 5.", s.Answer)
	require.Equal(t, []report.Reason{{Title: "What they said", Name: "Ada", Points: []string{"So.", "First: Forty days, I say."}}},
		s.Reasons)
	require.Equal(t, []string{"Cy gave no estimate."}, s.Notices)
	text := markdown(t, r)
	require.Contains(t, text, "| Round | Ada | Bo |\n|---|---|---|\n| 1 | 30 | 50 |\n| 2 | 40 |  |\n", "rounds are in order")
	for _, part := range []string{"Delphi · ", "Spread:\n\n| Round | Days |", "secret.txt", "converged"} {
		require.Contains(t, text, part)
	}
	require.Contains(t, html(t, r), "<figcaption>Estimates</figcaption>")
	require.NotContains(t, markdown(t, r.Redact()), "secret.txt", "only prompts use it")
}

package report_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/transcript"
)

func TestNoticesSayWhatIsDegraded(t *testing.T) {
	speech := func(f ...transcript.Flag) transcript.Turn {
		return transcript.Turn{Key: transcript.Key{Run: 1, Round: 2, Phase: "speak", Actor: "Ann"}, Kind: transcript.Speech, Flags: f}
	}
	verdict := transcript.Turn{Key: transcript.Key{Run: 1, Phase: "verdict", Actor: "J"}, Kind: transcript.Conclusion, Flags: []transcript.Flag{transcript.Defaulted}}
	other := speech(transcript.Truncated)
	other.Actor = "Bob"
	answer := protocol.Answer{Text: "Yes."}
	tests := map[string]struct {
		report report.Report
		want   []string
	}{
		"all is well":     {report.Report{Result: debate.Result{State: fsm.Completed, Answer: answer, Turns: []transcript.Turn{speech(transcript.Reasked, transcript.Repaired)}}}, nil},
		"it goes on":      {report.Report{Result: debate.Result{State: fsm.AwaitingResponses}}, nil},
		"no verdict":      {report.Report{Result: debate.Result{State: fsm.Completed}}, []string{"There is no verdict."}},
		"a budget":        {report.Report{Result: debate.Result{State: fsm.Completed, Answer: answer, Ending: transcript.Ending{Outcome: transcript.CostBudget, Round: 3}}}, []string{"The debate ended early: cost budget in round 3."}},
		"a default":       {report.Report{Result: debate.Result{State: fsm.Completed, Answer: answer, Verdict: &verdict, Turns: []transcript.Turn{verdict}}}, []string{"The verdict is a default, because no valid reply was received."}},
		"a reply in part": {report.Report{Result: debate.Result{State: fsm.AwaitingResponses, Turns: []transcript.Turn{speech(transcript.Partial)}}}, []string{"Ann, speak, round 2: incomplete, because the model failed."}},
		"what is no speech": {
			report.Report{Result: debate.Result{
				State: fsm.AwaitingResponses,
				Turns: []transcript.Turn{speech(transcript.Refused), speech(transcript.SpokeForOthers)},
			}},
			[]string{
				"Ann, speak, round 2: a refusal: the model declined to speak.",
				"Ann, speak, round 2: cut off before the lines that the model wrote for others.",
			},
		},
		"many replies in part": {
			report.Report{Result: debate.Result{State: fsm.AwaitingResponses, Turns: []transcript.Turn{
				speech(transcript.Truncated), speech(transcript.Filtered), speech(transcript.Truncated), other, speech(transcript.Truncated, transcript.Partial),
			}}},
			[]string{
				"4 replies of Ann and Bob: cut off at the token limit.", "Ann, speak, round 2: incomplete, because the service filtered the rest.",
				"Ann, speak, round 2: incomplete, because the model failed.",
			},
		},
		"a judge dropped out, and an error": {
			report.Report{Dropped: []debate.Dropped{{Name: "J", Failure: &debate.Failure{Kind: providers.InvalidResponse}}, {Name: "K"}}, Result: debate.Result{State: fsm.Error, Answer: answer, Failure: &debate.Failure{Kind: providers.Billing}}},
			[]string{"The debate stopped with an error: billing.", "J dropped out after an error: invalid response.", "K dropped out."},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, test.report.Notices()) })
	}
}
